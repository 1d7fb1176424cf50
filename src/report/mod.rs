//! Results of a run as files and tables.

pub mod certainty;
pub mod csv;
mod effects;
pub mod file;
pub mod folder;
pub mod json;
pub mod ledger;
pub mod manifest;
pub mod single;
pub mod sparkline;
pub mod style;
pub mod summary;
pub mod table;
pub mod terminal;
pub mod written;

use sim::metrics::{Ended, Outcome};
use sim::scenario::model::Scenario;

use crate::number;
use crate::precision::Reached;
use crate::story::{Promise, Story};
use crate::warmup::Warmup;
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
    /// Where the warm-up comes from.
    pub warmup: &'a Warmup,
    /// How sure which figures had to be.
    pub precision: &'a [Reached],
    /// Replications that were asked for.
    pub asked: usize,
    /// Whether Ctrl-C ended the run before they were all done.
    pub interrupted: bool,
}

impl Report<'_> {
    /// What ended runs before their time, in words; `None` when nothing did.
    #[must_use]
    pub fn cut_short(&self) -> Option<String> {
        let limits = self.scenario.run.limits;
        let mut cut = self.outcomes.iter().filter(|o| o.ended != Ended::Completed);
        let first = cut.next()?;
        let count = |n: u64, what: &str| format!("{} {what}", number::prefixed(n as f64));
        let (key, limit) = match first.ended {
            Ended::Completed | Ended::Interrupted => return None,
            Ended::EventLimit => ("events", count(limits.events, "events")),
            Ended::CallLimit => ("calls", count(limits.calls, "calls in flight")),
            Ended::QueueLimit => ("queue", count(limits.queue, "jobs waiting at one service")),
            Ended::MemoryLimit => ("memory", count(limits.memory, "bytes taken")),
            Ended::StandstillLimit => (
                "standstill",
                count(
                    limits.standstill,
                    "events in which no time passed: is there a loop without a pause, or a retry without a backoff?",
                ),
            ),
        };
        let at = number::duration(first.measured_to.0 as f64 / 1e9);
        let runs = match (cut.count() + 1, self.outcomes.len()) {
            (_, 1) => "the run".to_string(),
            (n, all) => format!("{n} of {all} replications"),
        };
        Some(format!(
            "cut short: {runs} reached run.limits.{key} ({limit}) at {at} (seed {}); figures are of the time before",
            first.seed
        ))
    }

    /// Whether results are less sure than was asked for.
    #[must_use]
    pub fn unsure(&self) -> bool {
        matches!(self.warmup, Warmup::NotSettled(_)) || self.precision.iter().any(|p| !p.reached)
    }

    /// The trajectory hash; that of several replications is made of theirs, in order.
    #[must_use]
    pub fn trajectory(&self) -> u64 {
        let hashes = self.outcomes.iter().map(|outcome| outcome.trajectory);
        hashes
            .reduce(|all, one| all.rotate_left(1) ^ one)
            .unwrap_or(0)
    }

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
