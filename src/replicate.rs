//! Runs on threads, with results in the order of seeds whatever the number of threads.

use std::cell::RefCell;
use std::sync::Arc;

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use seawall::{Span, Time};
use sim::World;
use sim::metrics::{Ended, Outcome};
use sim::scenario::Scenario;

use crate::error::Error;
use crate::interrupt;
use crate::progress::{PARTS, Progress};

thread_local! {
    static RUNNING: RefCell<Option<u64>> = const { RefCell::new(None) };
}

/// The seed of the run that this thread is in the middle of.
#[must_use]
pub fn running_seed() -> Option<u64> {
    RUNNING.with_borrow(|seed| *seed)
}

/// Runs `work` for each of `items` on `jobs` threads; results are in the order of the items.
///
/// # Errors
/// [`Error::Usage`] when the system does not give as many threads.
pub fn on_threads<I: Sync, R: Send>(
    jobs: usize,
    items: &[I],
    work: impl Fn(&I) -> R + Sync + Send,
) -> Result<Vec<R>, Error> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build()
        .map_err(|e| Error::Usage(format!("cannot start {jobs} threads: {e}")))?;
    // One item may take as long as a hundred others, so each can go to whichever thread is free.
    let each = items.par_iter().with_max_len(1);
    Ok(pool.install(|| each.map(work).collect()))
}

/// Events between two looks at whether Ctrl-C was pressed: some tenths of a second.
const EVENTS_BETWEEN_LOOKS: u64 = 1 << 21;

/// One run; `None` when Ctrl-C was pressed before its end.
#[must_use]
pub fn run(scenario: &Arc<Scenario>, seed: u64, progress: &Progress) -> Option<Outcome> {
    run_as_far_as_possible(scenario, seed, None, progress)
        .filter(|outcome| outcome.ended != Ended::Interrupted)
}

/// One run that keeps a ledger of so many calls, if any. Ctrl-C ends it where it is; `None` when it was pressed before.
#[must_use]
pub fn run_as_far_as_possible(
    scenario: &Arc<Scenario>,
    seed: u64,
    ledger: Option<u64>,
    progress: &Progress,
) -> Option<Outcome> {
    if interrupt::asked() {
        return None;
    }
    RUNNING.set(Some(seed));
    let mut world = World::new(Arc::clone(scenario), seed);
    if let Some(calls) = ledger {
        world = world.with_ledger(calls);
    }
    let outcome = run_in_parts(world, scenario, progress);
    RUNNING.set(None);
    Some(outcome)
}

fn run_in_parts(mut world: World, scenario: &Scenario, progress: &Progress) -> Outcome {
    let duration = scenario.run.duration;
    'parts: for part in 1..=PARTS {
        let until = Span((u128::from(duration.0) * u128::from(part) / u128::from(PARTS)) as u64);
        let until = Time::ZERO.after(until);
        loop {
            if interrupt::asked() {
                world.interrupt();
            }
            if world.run_for(until, EVENTS_BETWEEN_LOOKS).is_some() {
                progress.passed(PARTS + 1 - part);
                break 'parts;
            }
            if world.now() >= until {
                break;
            }
        }
        progress.passed(1);
    }
    world.run()
}

/// Threads to use when nobody says how many.
#[must_use]
pub fn threads(asked: Option<u16>) -> usize {
    match asked {
        Some(jobs) => usize::from(jobs),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    }
}

/// The seeds of `replications` runs.
#[must_use]
pub fn seeds(first: u64, replications: u32) -> Vec<u64> {
    (0..u64::from(replications))
        .map(|i| first.wrapping_add(i))
        .collect()
}
