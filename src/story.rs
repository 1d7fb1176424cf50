//! What happened, in one sentence.

use serde_json::{Value, json};
use sim::metrics::Outcome;
use sim::scenario::Scenario;

use crate::figure::Scope;
use crate::number;
use crate::report::summary::Summary;

/// How the news sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As it should be.
    Good,
    /// With a dent.
    Warn,
    /// As it should not be.
    Bad,
}

/// What happened, for the top of every report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Story {
    /// How it sounds.
    pub tone: Tone,
    /// The finding.
    pub sentence: String,
}

impl Story {
    /// Of all replications together.
    #[must_use]
    pub fn of(scenario: &Scenario, outcomes: &[Outcome]) -> Story {
        let summary = Summary::of(scenario, outcomes);
        let success = summary.run().mean("success_rate").unwrap_or(0.0);
        let tone = match success {
            s if s >= 0.99 => Tone::Good,
            s if s >= 0.9 => Tone::Warn,
            _ => Tone::Bad,
        };
        let hit = summary
            .of_scope(Scope::Service)
            .filter_map(|row| Some((row.mean("amplification")?, &row.subject.name)))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let attempts = hit.map_or_else(String::new, |(amplification, name)| {
            format!(
                "; {name} gets {} attempts per call",
                number::plain(amplification)
            )
        });
        let sentence = format!("{} of calls ended well{attempts}", number::share(success));
        Story { tone, sentence }
    }

    /// As `summary.json` has it.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({ "sentence": self.sentence })
    }
}
