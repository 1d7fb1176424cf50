//! What is read off one run: by name, from its log of single calls and jobs.
//!
//! A job counts when it arrived while the run was measured, a call when it began then; states are
//! integrated over exactly that time.

mod discipline;
mod names;
mod occupancy;

use seawall::Time;
use sim::metrics::{CallRecord, JobEnd, JobRecord, Log, Outcome};
use sim::scenario::Scenario;

pub use names::{known, named};
pub use occupancy::Occupancy;

/// One run with its log.
#[derive(Clone, Copy, Debug)]
pub struct Run<'r> {
    /// What was run.
    pub scenario: &'r Scenario,
    /// What came of it.
    pub outcome: &'r Outcome,
    log: &'r Log,
}

impl<'r> Run<'r> {
    /// # Panics
    /// When the run kept no log.
    #[must_use]
    pub fn new(scenario: &'r Scenario, outcome: &'r Outcome) -> Run<'r> {
        Run {
            scenario,
            outcome,
            log: outcome.log.as_ref().expect("the run kept a log"),
        }
    }

    /// Everything in the log.
    #[must_use]
    pub fn log(&self) -> &'r Log {
        self.log
    }

    /// Measured time in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        let Outcome {
            measured_from,
            measured_to,
            ..
        } = *self.outcome;
        measured_to.since(measured_from).as_secs_f64()
    }

    /// Whether `at` is measured.
    #[must_use]
    pub fn measures(&self, at: Time) -> bool {
        self.outcome.measured_from <= at && at < self.outcome.measured_to
    }

    /// Jobs that arrived at a service while it was measured.
    pub fn jobs(&self, service: usize) -> impl Iterator<Item = &'r JobRecord> {
        let run = *self;
        self.log
            .jobs
            .iter()
            .filter(move |job| job.service as usize == service && run.measures(job.arrived))
    }

    /// Calls of an edge that began while it was measured.
    pub fn calls(&self, edge: usize) -> impl Iterator<Item = &'r CallRecord> {
        let run = *self;
        self.log
            .calls
            .iter()
            .filter(move |call| call.edge as usize == edge && run.measures(call.began))
    }

    /// The share of `all` for which `is` holds.
    pub fn share<T>(all: impl Iterator<Item = T>, is: impl Fn(&T) -> bool) -> f64 {
        let (mut yes, mut count) = (0u64, 0u64);
        for one in all {
            count += 1;
            yes += u64::from(is(&one));
        }
        yes as f64 / count as f64
    }
}

/// Whether a job was let in, to wait or to be worked on.
#[must_use]
pub fn let_in(job: &JobRecord) -> bool {
    job.started.is_some() || job.left > job.arrived || job.end == JobEnd::ShedExpired
}

/// Seconds from arrival to departure.
#[must_use]
pub fn inside(job: &JobRecord) -> f64 {
    job.left.since(job.arrived).as_secs_f64()
}

/// Seconds from arrival to start; to departure for one that was never started.
#[must_use]
pub fn waited(job: &JobRecord) -> f64 {
    let until = job.started.unwrap_or(job.left);
    until.since(job.arrived).as_secs_f64()
}
