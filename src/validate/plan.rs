//! What a case becomes: experiments, each a scenario (or a use of the library) and what to read off it.

use std::fmt;
use std::sync::Arc;

use sim::World;
use sim::metrics::Outcome;
use sim::scenario::{Format, Scenario, Source, load};

use super::measure::Run;

/// What one run says, by metric.
pub type Values = Vec<(String, f64)>;

/// What a case becomes.
#[derive(Debug, Default)]
pub struct Plan {
    /// Run one after the other; each adds its metrics.
    pub experiments: Vec<Experiment>,
}

/// Something that is run several times with different seeds.
pub struct Experiment {
    /// Which of the variants of the case; empty if there is only one.
    pub variant: String,
    /// The scenario, as a user would write it; `None` for a use of the library without a scenario.
    pub text: Option<String>,
    /// How often it is run.
    pub replications: u32,
    /// Metrics that are shares of independent trials, and how many of these each run has.
    pub trials: Vec<(&'static str, f64)>,
    run: Box<dyn Fn(u64) -> Values + Send + Sync>,
}

impl fmt::Debug for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Experiment")
            .field("variant", &self.variant)
            .field("replications", &self.replications)
            .finish_non_exhaustive()
    }
}

impl Experiment {
    /// Runs a scenario with a log of single calls and jobs, and measures each run.
    ///
    /// # Panics
    /// When the scenario has problems, which a test rules out for shipped cases.
    pub fn logged(
        text: impl fmt::Display,
        replications: u32,
        measure: impl Fn(&Run<'_>) -> Values + Send + Sync + 'static,
    ) -> Experiment {
        let text = text.to_string();
        let scenario = loaded(&text);
        Experiment::library(replications, move |seed| logged(&scenario, seed, &measure))
            .showing(text)
    }

    /// Runs a scenario and looks at what was counted.
    ///
    /// # Panics
    /// When the scenario has problems.
    pub fn counted(
        text: impl fmt::Display,
        replications: u32,
        measure: impl Fn(&Outcome) -> Values + Send + Sync + 'static,
    ) -> Experiment {
        let text = text.to_string();
        let scenario = loaded(&text);
        Experiment::library(replications, move |seed| {
            measure(&sim::run(&scenario, seed))
        })
        .showing(text)
    }

    /// Uses the library.
    pub fn library(
        replications: u32,
        run: impl Fn(u64) -> Values + Send + Sync + 'static,
    ) -> Experiment {
        Experiment {
            variant: String::new(),
            text: None,
            replications,
            trials: Vec::new(),
            run: Box::new(run),
        }
    }

    /// As one of several; `variant` is appended to the names of its metrics.
    #[must_use]
    pub fn named(mut self, variant: impl Into<String>) -> Experiment {
        self.variant = variant.into();
        self
    }

    /// Where some metrics are shares of `each` independent trials per run: what such a share says when it is none or all of
    /// them is known exactly.
    #[must_use]
    pub fn shares_of(mut self, metrics: &[&'static str], each: f64) -> Experiment {
        self.trials = metrics.iter().map(|metric| (*metric, each)).collect();
        self
    }

    /// Trials of all runs together for a metric, by its full name.
    #[must_use]
    pub fn trials_of(&self, metric: &str) -> Option<f64> {
        let base = match self.variant.as_str() {
            "" => metric,
            variant => metric.strip_suffix(variant)?.strip_suffix('_')?,
        };
        let (_, each) = self.trials.iter().find(|(name, _)| *name == base)?;
        Some(each * f64::from(self.replications))
    }

    /// With a scenario to show.
    #[must_use]
    pub fn showing(mut self, text: impl fmt::Display) -> Experiment {
        self.text = Some(text.to_string());
        self
    }

    /// One run.
    #[must_use]
    pub fn run(&self, seed: u64) -> Values {
        let values = (self.run)(seed);
        if self.variant.is_empty() {
            return values;
        }
        let named = |(name, value)| (format!("{name}_{}", self.variant), value);
        values.into_iter().map(named).collect()
    }
}

/// Reads a scenario that is known to be well written.
///
/// # Panics
/// When it is not.
#[must_use]
pub fn loaded(text: &str) -> Arc<Scenario> {
    let source = Source {
        name: "case.yaml",
        text,
        format: Format::Yaml,
    };
    let scenario = load(&source, &[], &mut |file| {
        Err(format!("no file {file} here"))
    });
    Arc::new(scenario.unwrap_or_else(|problems| panic!("{problems}\n{text}")))
}

/// One run with a log, measured.
pub fn logged<R>(scenario: &Arc<Scenario>, seed: u64, measure: impl Fn(&Run<'_>) -> R) -> R {
    let outcome = World::new(Arc::clone(scenario), seed).with_ends().run();
    measure(&Run::new(scenario, &outcome))
}
