//! Finding out how long a world takes to start up, for `run.warmup: auto`.

use std::sync::Arc;

use seawall::{Span, Time};
use sim::metrics::{Outcome, Window};
use sim::scenario::Scenario;
use sim::verdict::Trigger;

use crate::error::Error;
use crate::figure::top_edges;
use crate::number;
use crate::progress::Progress;
use crate::replicate;
use crate::stats::mser::{BATCH, BATCHES_MIN, mser5};

/// So many replications are looked at: their mean is smoother than any of them.
pub const PILOTS_MAX: usize = 10;

/// Where the warm-up of a run comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warmup {
    /// From the scenario.
    Given,
    /// From MSER-5.
    Detected,
    /// MSER-5 found no end of the start-up, for this reason.
    NotSettled(String),
}

impl Warmup {
    /// Words used in files, with their meaning.
    pub const NAMES: [(&'static str, &'static str); 3] = [
        ("given", "The scenario says how long."),
        ("detected", "`run.warmup: auto`, and MSER-5 found it."),
        (
            "not_settled",
            "`run.warmup: auto`, but the world was still on its way in the second half of the time before the trigger (or of the run), or that is too short to tell. Half of it was left out; do not trust the figures.",
        ),
    ];

    /// The word used in files.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        let index = match self {
            Warmup::Given => 0,
            Warmup::Detected => 1,
            Warmup::NotSettled(_) => 2,
        };
        Warmup::NAMES[index].0
    }
}

/// `scenario` with a warm-up that is given. With `run.warmup: auto`, the first replications are run up to the
/// trigger, and the number of jobs in each service and the goodput, by window and averaged over these replications, are
/// looked at with MSER-5; the warm-up is the longest that any of them needs. The draws are those of the
/// runs that count, so their windows are the same.
///
/// # Errors
/// [`Error::Interrupted`]; [`Error::Usage`] without enough threads.
pub fn settled(
    mut scenario: Scenario,
    seeds: &[u64],
    jobs: usize,
    progress: &Progress,
) -> Result<(Scenario, Warmup), Error> {
    if !scenario.run.detect_warmup {
        return Ok((scenario, Warmup::Given));
    }
    scenario.run.detect_warmup = false;
    let window = scenario.run.window;
    let quiet = Trigger::of(&scenario)
        .map_or(scenario.run.duration, |t| t.begin.since(Time::ZERO))
        .min(scenario.run.duration);
    let windows = (quiet.0 / window.0) as usize;
    let (leave_out, how) = if windows < BATCH * BATCHES_MIN {
        let why = format!(
            "there are {windows} windows before the trigger or the end; {} are needed",
            BATCH * BATCHES_MIN
        );
        (windows / 2, Warmup::NotSettled(why))
    } else {
        let mut pilot = scenario.clone();
        pilot.run.duration = Span(window.0 * windows as u64);
        pilot.run.drain = Span::ZERO;
        let pilot = Arc::new(pilot);
        let seeds = &seeds[..seeds.len().min(PILOTS_MAX)];
        let outcomes =
            replicate::on_threads(jobs, seeds, |&seed| replicate::run(&pilot, seed, progress))?;
        let outcomes: Option<Vec<Outcome>> = outcomes.into_iter().collect();
        detect(&pilot, &outcomes.ok_or(Error::Interrupted)?)
    };
    scenario.run.warmup = Span(window.0 * leave_out as u64);
    Ok((scenario, how))
}

/// Windows to leave out, and whether that is to be believed.
fn detect(scenario: &Scenario, outcomes: &[Outcome]) -> (usize, Warmup) {
    let mut longest = 0;
    for (name, values) in series(scenario, outcomes) {
        let Some(found) = mser5(&values) else {
            continue;
        };
        if !found.settled {
            let time = number::duration(scenario.run.duration.as_secs_f64());
            let why = format!("{name} is still on its way in the second half of {time}");
            return (values.len() / 2, Warmup::NotSettled(why));
        }
        longest = longest.max(found.leave_out);
    }
    (longest, Warmup::Detected)
}

/// What is looked at, by window, averaged over replications.
fn series(scenario: &Scenario, outcomes: &[Outcome]) -> Vec<(String, Vec<f64>)> {
    let averaged = |value: &dyn Fn(&Window) -> f64| -> Vec<f64> {
        let windows = outcomes.iter().map(|o| o.windows.len()).min().unwrap_or(0);
        (0..windows)
            .map(|i| {
                let sum: f64 = outcomes.iter().map(|o| value(&o.windows[i])).sum();
                sum / outcomes.len() as f64
            })
            .collect()
    };
    let top = top_edges(scenario);
    let goodput = averaged(&|w| top.iter().map(|&e| w.counts.edges[e].ok as f64).sum());
    let services = scenario.services.iter().enumerate().map(|(i, service)| {
        let inside = averaged(&|w| w.counts.services[i].inside_ns as f64);
        (format!("the number of jobs in {}", service.name), inside)
    });
    services.chain([("goodput".into(), goodput)]).collect()
}
