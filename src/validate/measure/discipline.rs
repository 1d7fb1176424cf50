//! What cases about queue disciplines know.

use sim::law::Law;
use sim::metrics::JobEnd;
use sim::rng::{Purpose, Stream};
use sim::step::Instr;

use super::{Run, inside, waited};
use crate::stats::series;

/// The value of a metric by its name; `None` for a name that means nothing here.
pub(super) fn named(run: &Run<'_>, name: &str) -> Option<f64> {
    Some(match name {
        "p_abandon" => Run::share(run.jobs(0), |job| job.end == JobEnd::ShedWaited),
        "mean_slowdown" => mean_slowdown(run)?,
        "conservation_sum_rho_Wq" => load_weighted_wait(run)?,
        _ => return None,
    })
}

/// The law of the first step of an operation of the station, which is work.
fn law<'r>(run: &Run<'r>, operation: usize) -> Option<&'r Law> {
    let entry = run.scenario.services[0].operations.get(operation)?.entry;
    match run.scenario.code.instrs[entry.0 as usize] {
        Instr::Work(law) => Some(&run.scenario.code.laws[law as usize]),
        _ => None,
    }
}

/// Time inside ÷ own work, mean over jobs, at a station where everybody begins at once: work is then drawn in the
/// order of arrival, and can be drawn again.
fn mean_slowdown(run: &Run<'_>) -> Option<f64> {
    let law = law(run, 0)?;
    let station = &run.scenario.services[0].name;
    let mut work = Stream::new(run.outcome.seed, Purpose::Work, station);
    let mut jobs: Vec<_> = run
        .log()
        .jobs
        .iter()
        .filter(|job| job.service == 0)
        .collect();
    jobs.sort_by_key(|job| job.arrived);
    let slowdowns: Vec<f64> = jobs
        .into_iter()
        .map(|job| (job, law.sample(&mut work).as_secs_f64()))
        .filter(|(job, work)| run.measures(job.arrived) && *work > 0.0)
        .map(|(job, work)| inside(job) / work)
        .collect();
    Some(series::mean(&slowdowns))
}

/// Load of a class × its mean wait, summed over the classes: no order without idling changes it (Kleinrock's
/// conservation law).
fn load_weighted_wait(run: &Run<'_>) -> Option<f64> {
    let classes = run.scenario.clients.len();
    let of = |class: usize| {
        let waits: Vec<f64> = (run.jobs(0))
            .filter(|job| job.edge as usize == class)
            .map(waited)
            .collect();
        let work = law(run, class)?.mean()?;
        let load = waits.len() as f64 / run.seconds() * work;
        Some(load * series::mean(&waits))
    };
    (0..classes).map(of).sum()
}
