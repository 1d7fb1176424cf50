//! A scenario with overrides, and everything that a run of it writes.

use std::collections::BTreeMap;
use std::sync::Arc;

use retrystorm::cli::Talk;
use retrystorm::progress::Progress;
use retrystorm::report::summary::Summary;
use retrystorm::report::{Report, csv, json, ledger as book};
use retrystorm::story::{Story, promises};
use retrystorm::{replicate, warmup};
use serde_json::Value as Json;
use sim::scenario::{Format, Override, Scenario, Source, load, to_json};

/// So many calls are in the ledger.
const LEDGER: u64 = 100;

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct World {
    pub(crate) text: String,
    /// Paths and values.
    pub(crate) overrides: Vec<(String, String)>,
    yaml: bool,
}

impl World {
    pub(crate) fn yaml(text: &str, overrides: &[Override]) -> World {
        let pair = |one: &Override| (one.path.clone(), one.value.clone());
        World {
            text: text.into(),
            overrides: overrides.iter().map(pair).collect(),
            yaml: true,
        }
    }

    pub(crate) fn json(tree: &Json) -> World {
        World {
            text: tree.to_string(),
            overrides: Vec::new(),
            yaml: false,
        }
    }

    /// What it means; `files` are those it may name.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(crate) fn load(&self, files: &BTreeMap<String, String>) -> Result<Scenario, String> {
        let source = Source {
            name: "scenario",
            text: &self.text,
            format: if self.yaml {
                Format::Yaml
            } else {
                Format::Json
            },
        };
        let overrides = self
            .overrides
            .iter()
            .map(|(path, value)| Override::new(path, value));
        let mut fetch = |name: &str| files.get(name).cloned().ok_or("no such file".to_string());
        load(&source, &overrides.collect::<Vec<_>>(), &mut fetch)
            .map_err(|problems| problems.to_string())
    }

    /// The text of `summary.json` and `windows.csv`.
    ///
    /// # Errors
    /// As [`World::load`].
    pub(crate) fn run(&self, files: &BTreeMap<String, String>) -> Result<String, String> {
        self.written(files, None)
    }

    /// The text of `ledger.csv`.
    ///
    /// # Errors
    /// As [`World::load`].
    pub(crate) fn ledger(&self, files: &BTreeMap<String, String>) -> Result<String, String> {
        self.written(files, Some(LEDGER))
    }

    fn written(
        &self,
        files: &BTreeMap<String, String>,
        ledger: Option<u64>,
    ) -> Result<String, String> {
        let quiet = Talk {
            quiet: true,
            no_progress: true,
            no_color: true,
        };
        let scenario = self.load(files)?;
        let progress = Progress::new(quiet, "", 1);
        let asked = scenario.run.replications;
        let seeds = replicate::seeds(scenario.run.seed, asked);
        let (scenario, warmup) =
            warmup::settled(scenario, &seeds, 1, &progress).expect("not interrupted");
        let scenario = Arc::new(scenario);
        let run = |&seed: &u64| {
            replicate::run_as_far_as_possible(&scenario, seed, ledger, &progress)
                .expect("not interrupted")
        };
        let outcomes: Vec<_> = seeds.iter().map(run).collect();
        let summary = Summary::of(&scenario, &outcomes);
        let report = Report {
            name: "scenario",
            scenario: &scenario,
            outcomes: &outcomes,
            summary: &summary,
            story: &Story::of(&scenario, &outcomes, &summary),
            promises: &promises(&scenario, &outcomes),
            warmup: &warmup,
            precision: &[],
            asked: asked as usize,
            interrupted: false,
        };
        if ledger.is_some() {
            let entries = outcomes[0].ledger.as_ref().expect("a ledger was kept");
            return Ok(book::csv(&scenario, entries));
        }
        // The hash of the text would differ for any two texts.
        Ok(json::summary(&report, "") + &csv::windows(&scenario, &outcomes))
    }
}

/// A YAML text as a tree.
///
/// # Errors
/// What is wrong with its syntax.
pub(crate) fn tree(text: &str) -> Result<Json, String> {
    let source = Source {
        name: "snippet",
        text,
        format: Format::Yaml,
    };
    to_json(&source).map_err(|problems| problems.to_string())
}
