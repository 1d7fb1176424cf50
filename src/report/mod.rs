//! Results of a run as files and tables.

pub mod csv;
pub mod file;
pub mod folder;
pub mod json;
pub mod manifest;
pub mod sparkline;
pub mod style;
pub mod summary;
pub mod table;
pub mod terminal;

use sim::metrics::Outcome;
use sim::scenario::model::Scenario;

use crate::number;
use crate::story::{Promise, Story};
use summary::Summary;

/// A run as it is reported on.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// What results are called by.
    pub name: &'a str,
    /// What was run.
    pub scenario: &'a Scenario,
    /// One per finished replication.
    pub outcomes: &'a [Outcome],
    /// What they come to.
    pub summary: &'a Summary,
    /// What happened.
    pub story: &'a Story,
    /// What the scenario promised.
    pub promises: &'a [Promise],
    /// Replications that were asked for.
    pub asked: usize,
    /// Whether Ctrl-C ended the run before they were all done.
    pub interrupted: bool,
}

impl Report<'_> {
    /// Duration, seed and replications in a few words.
    #[must_use]
    pub fn setup(&self) -> String {
        let run = &self.scenario.run;
        let duration = number::duration(run.duration.as_secs_f64());
        let seed = self.outcomes.first().map_or(run.seed, |o| o.seed);
        match self.outcomes.len() {
            1 => format!("{duration} simulated · seed {seed}"),
            n => format!(
                "{duration} simulated · {n} replications, seeds {seed} to {}",
                seed + n as u64 - 1
            ),
        }
    }
}
