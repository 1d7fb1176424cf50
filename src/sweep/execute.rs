//! All runs of a sweep, on threads, each noted in the journal when it ends.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sim::expect::measured;

use super::journal::{Earlier, Journal};
use super::plan::Plan;
use super::results::{Results, Run};
use crate::error::Error;
use crate::figure::column::rounded;
use crate::interrupt;
use crate::progress::{PARTS, Progress};
use crate::replicate;

/// Runs whatever `earlier` does not have. What is running when Ctrl-C is pressed is left out of the results.
///
/// # Errors
/// [`Error::Io`] when the journal cannot be written; what [`Plan::load`] says.
pub fn execute(
    plan: &Plan,
    earlier: &Earlier,
    journal: &mut Journal,
    jobs: usize,
    progress: &Progress,
) -> Result<Results, Error> {
    let mut runs: Vec<Vec<Option<Run>>> = plan
        .spots
        .iter()
        .map(|spot| {
            let taken = |r| earlier.run(&spot.hash, spot.seed_of(r)).cloned();
            (0..plan.replications).map(taken).collect()
        })
        .collect();
    let open: Vec<(usize, u32)> = plan
        .runs()
        .filter(|&(spot, r)| runs[spot][r as usize].is_none())
        .collect();
    let work = Work {
        plan,
        journal: Mutex::new(journal),
        progress,
        open: runs
            .iter()
            .map(|runs| AtomicU32::new(runs.iter().filter(|run| run.is_none()).count() as u32))
            .collect(),
        done: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
    };
    progress.passed((plan.runs().count() - open.len()) as u64 * PARTS);
    let at_once = work
        .open
        .iter()
        .filter(|open| open.load(Ordering::Relaxed) == 0);
    work.point_done(at_once.count());
    let made = replicate::on_threads(jobs, &open, |&(spot, r)| work.run(spot, r))?;
    for ((spot, r), run) in open.into_iter().zip(made) {
        runs[spot][r as usize] = run?;
    }
    Ok(Results { runs })
}

struct Work<'a> {
    plan: &'a Plan,
    journal: Mutex<&'a mut Journal>,
    progress: &'a Progress,
    /// Runs still to be made, by point.
    open: Vec<AtomicU32>,
    /// Points with none.
    done: AtomicUsize,
    /// Whether an error has made going on pointless.
    failed: AtomicBool,
}

impl Work<'_> {
    fn run(&self, spot: usize, replication: u32) -> Result<Option<Run>, Error> {
        if interrupt::asked() || self.failed.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let run = self.measured(spot, replication);
        self.failed.fetch_or(run.is_err(), Ordering::Relaxed);
        run
    }

    fn measured(&self, spot: usize, replication: u32) -> Result<Option<Run>, Error> {
        let (scenario, measures) = self.plan.load(spot)?;
        let scenario = Arc::new(scenario);
        let planned = &self.plan.spots[spot];
        let seed = planned.seed_of(replication);
        let Some(outcome) = replicate::run(&scenario, seed, self.progress) else {
            return Ok(None);
        };
        let promised = planned.promises.iter();
        let all = measures.iter().chain(promised.map(|(_, p)| &p.measure));
        let value = |measure| measured(measure, &scenario, &outcome).map(rounded);
        let run = Run {
            ended: outcome.ended,
            trajectory: outcome.trajectory,
            values: all.map(value).collect(),
        };
        // A panic elsewhere does not make what this run found wrong.
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.append(&planned.hash, seed, &run)?;
        drop(journal);
        if self.open[spot].fetch_sub(1, Ordering::Relaxed) == 1 {
            self.point_done(1);
        }
        Ok(Some(run))
    }

    fn point_done(&self, points: usize) {
        let done = self.done.fetch_add(points, Ordering::Relaxed) + points;
        self.progress
            .say(&format!("{done} of {} points", self.plan.spots.len()));
    }
}
