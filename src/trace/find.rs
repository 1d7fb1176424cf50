//! Running a scenario until the call that is asked for, and all that it set in motion, is over.

use std::sync::Arc;

use seawall::Time;
use sim::World;
use sim::scenario::Scenario;
use sim::trace::{Call, Traces};

use crate::cli::trace::Pick;

/// A call and its number among those that clients began.
#[derive(Debug)]
pub struct Found {
    /// From 1.
    pub number: u64,
    /// The call, with all that is below it.
    pub call: Call,
}

/// After a call has ended, so many times as long as it took is waited for what still works for it.
const LATE_WORK: u64 = 10;

/// The `number`-th call that clients begin; `None`, with how many there were, when there are fewer.
///
/// # Errors
/// How many calls clients began.
pub fn numbered(scenario: &Arc<Scenario>, seed: u64, number: u64) -> Result<Found, usize> {
    let mut world = World::new(Arc::clone(scenario), seed).with_log();
    let window = scenario.run.window;
    let mut until = Time::ZERO;
    let mut patience: Option<Time> = None;
    loop {
        until = until.after(window);
        let over = world.run_until(until).is_some();
        let log = world.log().expect("it was asked for");
        // Looked at only once there are enough: putting traces together takes as long as running.
        let enough = log.calls_made.len() as u64 >= number;
        if !over && !enough {
            continue;
        }
        let traces = Traces::of(log);
        let known = usize::try_from(number).unwrap_or(usize::MAX);
        let call = traces.call(known);
        let ended = call.as_ref().and_then(|call| call.ended);
        if let (Some(call), Some(ended)) = (&call, ended) {
            let took = ended.since(call.began).0.max(window.0);
            patience.get_or_insert(Time(ended.0.saturating_add(took.saturating_mul(LATE_WORK))));
        }
        let waited = patience.is_some_and(|until_then| until >= until_then);
        match call {
            Some(call) if over || waited || traces.is_over(known) => {
                return Ok(Found { number, call });
            }
            None if over => return Err(traces.len()),
            _ => {}
        }
    }
}

/// The call of a whole run that `pick` describes; `None` when there is none.
#[must_use]
pub fn picked(scenario: &Arc<Scenario>, seed: u64, pick: Pick) -> Option<Found> {
    let world = World::new(Arc::clone(scenario), seed).with_log();
    let log = world.run().log.expect("it was asked for");
    let traces = Traces::of(&log);
    let ended = || {
        traces
            .tops()
            .filter_map(|(n, began, ended, verdict)| Some((n, began, ended?, verdict?)))
    };
    let number = match pick {
        Pick::Failed => ended().find(|(.., verdict)| !verdict.is_ok())?.0,
        Pick::Saved => {
            ended()
                .find(|(.., verdict)| verdict.is_ok() && verdict.attempts > 1)?
                .0
        }
        // The first of equals: `max_by_key` would take the last.
        Pick::Slowest => {
            let slower =
                |best: (usize, u64), this: (usize, u64)| if this.1 > best.1 { this } else { best };
            (ended()
                .map(|(n, began, end, _)| (n, end.since(began).0))
                .reduce(slower))?
            .0
        }
        Pick::MostAttempts => {
            let more = |best: (usize, usize), this: (usize, usize)| {
                if this.1 > best.1 { this } else { best }
            };
            let attempts = |n| traces.call(n).map_or(0, |call| attempts(&call));
            (ended().map(|(n, ..)| (n, attempts(n))).reduce(more))?.0
        }
    };
    Some(Found {
        number: number as u64,
        call: traces.call(number)?,
    })
}

/// Attempts of a call and of all calls below it.
#[must_use]
pub fn attempts(call: &Call) -> usize {
    let below = |attempt: &sim::trace::Attempt| match &attempt.job {
        Some(job) => job.calls.iter().map(attempts).sum(),
        None => 0,
    };
    call.attempts.iter().map(|attempt| 1 + below(attempt)).sum()
}
