//! Retries that line up: only the first of those who were refused tries again, at a rate that does not grow with their number.
//! The line is a service of one worker that waits, asks, and asks again until it is let in.

use sim::metrics::JobEnd;

use super::station;
use crate::validate::case::Case;
use crate::validate::measure::{Occupancy, Run, named};
use crate::validate::plan::Experiment;
use crate::validate::text::{arrivals, law};

/// One experiment with all metrics of the case.
pub(super) fn experiments(case: &Case, scale: f64) -> Vec<Experiment> {
    let mut text = station::sized(case, scale);
    let laws = case.get("/client/backoff").as_array();
    let laws = laws.map_or(&[][..], Vec::as_slice);
    text.clients = vec![format!(
        "source: {{ arrivals: {}, calls: [ {{ to: s, fallback: {{ direct: {{ to: orbit }} }} }} ] }}",
        arrivals(case.get("/sources/0/arrival"))
    )];
    let servers = case.number("/stations/0/servers");
    let room = case.number("/stations/0/capacity") - servers;
    assert!(
        servers == 1.0 && room == 0.0,
        "{}: full is where the one place is taken",
        case.id
    );
    text.services = vec![
        // Who is let in is told so at once.
        format!(
            "s: {{ concurrency: {servers}, queue: {room}, program: [ {{ respond: ok }}, {{ work: {} }} ] }}",
            law(case.get("/stations/0/service"))
        ),
        format!(
            "orbit: {{ concurrency: 1, program: [ {{ delay: {} }}, {{ call: {{ to: s, policy: until_let_in }} }} ] }}",
            law(&laws[0])
        ),
    ];
    text.policies = vec![format!(
        "until_let_in: {{ retry: {{ max_attempts: unlimited, backoff: {}, on: [ unavailable ] }} }}",
        station::backoff(laws)
    )];
    let names: Vec<String> = case.metrics.keys().cloned().collect();
    let replications = case.size(scale).replications;
    let id = case.id.clone();
    vec![Experiment::logged(text, replications, move |run| {
        let value = |name: &String| {
            let value = of_orbit(run, name).or_else(|| named(run, name));
            (
                name.clone(),
                value.unwrap_or_else(|| panic!("{id}: no metric {name}")),
            )
        };
        names.iter().map(value).collect()
    })]
}

/// What is read off another way than where each caller waits on its own.
fn of_orbit(run: &Run<'_>, name: &str) -> Option<f64> {
    let fresh = |edge: u32| {
        let caller = run.scenario.edges[edge as usize].caller;
        matches!(caller, sim::scenario::model::Caller::Client(_))
    };
    let retries = || run.jobs(0).filter(|job| !fresh(job.edge));
    let calls = || run.jobs(0).filter(|job| fresh(job.edge)).count() as f64;
    Some(match name {
        // Who is let in is answered at once: in the log the job has left then, though it still has the worker.
        "p_full" => run.outcome.totals.services[0].busy_ns as f64 / 1e9 / run.seconds(),
        "retry_rate" => retries().count() as f64 / run.seconds(),
        "amplification" => run.jobs(0).count() as f64 / calls(),
        "p_block_retry" => Run::share(retries(), |job| job.end == JobEnd::ShedFull),
        "p_served" => {
            let let_in = run.jobs(0).filter(|job| job.end != JobEnd::ShedFull);
            let_in.count() as f64 / calls()
        }
        "orbit_mean" => Occupancy::of_service(run, 1).average(run, |n| n as f64),
        "orbit_var" => {
            let orbit = Occupancy::of_service(run, 1);
            let mean = orbit.average(run, |n| n as f64);
            orbit.average(run, |n| (n as f64 - mean) * (n as f64 - mean))
        }
        _ => return None,
    })
}
