//! From the empty system on, without a warm-up: what is true at given instants.

use sim::metrics::Outcome;

use crate::validate::case::Case;
use crate::validate::plan::Experiment;
use crate::validate::text::{Text, arrivals, law};

/// Random transients are many short runs; the deterministic one is a single run.
pub(super) fn experiments(case: &Case, scale: f64) -> Vec<Experiment> {
    if case.run.replications.is_none() {
        return vec![overload(case)];
    }
    // Instants are whole multiples of the smallest one in all of these cases.
    let mut instants: Vec<(String, f64, bool)> = Vec::new();
    for name in case.metrics.keys() {
        let (what, at) = name.rsplit_once("_t").expect("an instant at the end");
        let at = at.parse().expect("an instant in seconds");
        instants.push((name.clone(), at, what == "p_empty"));
    }
    let window = instants
        .iter()
        .map(|(_, at, _)| *at)
        .fold(f64::INFINITY, f64::min)
        .min(50.0);
    let last = instants.iter().map(|(_, at, _)| *at).fold(0.0, f64::max);
    let text = Text {
        duration: last,
        window,
        drain: 0.0,
        ..queue(case)
    };
    let replications = f64::from(case.run.replications.unwrap_or(1)) * scale;
    vec![Experiment::logged(text, replications as u32, move |run| {
        let value = |(name, at, empty): &(String, f64, bool)| {
            let number = inside_at(run.outcome, *at);
            (
                name.clone(),
                if *empty {
                    f64::from(u8::from(number == 0.0))
                } else {
                    number
                },
            )
        };
        instants.iter().map(value).collect()
    })]
}

/// Jobs in the station when the window that ends at `at` seconds closed.
fn inside_at(outcome: &Outcome, at: f64) -> f64 {
    let window = outcome
        .windows
        .iter()
        .find(|window| window.end.0 == (at * 1e9) as u64)
        .expect("a window that ends there");
    let gauge = window.services[0];
    (gauge.queue + gauge.workers_busy) as f64
}

/// A deterministic spike above capacity: a backlog builds up and drains.
fn overload(case: &Case) -> Experiment {
    let segments = case.get("/sources/0/arrival/segments");
    let spike_ends = segments[2][0].as_f64().unwrap_or(0.0);
    let text = Text {
        duration: case.run.duration.unwrap_or(0.0),
        window: 0.1,
        ..queue(case)
    };
    Experiment::logged(text, 1, move |run| {
        let backlog = inside_at(run.outcome, spike_ends);
        let calm = run
            .outcome
            .windows
            .iter()
            .find(|w| w.end.0 > (spike_ends * 1e9) as u64 && w.services[0].queue == 0)
            .map_or(f64::NAN, |w| w.end.0 as f64 / 1e9);
        let waits = run.log().jobs.iter().map(crate::validate::measure::waited);
        vec![
            ("backlog_end_of_spike".into(), backlog),
            ("drain_seconds".into(), calm - spike_ends),
            ("max_wait".into(), waits.fold(0.0, f64::max)),
        ]
    })
}

fn queue(case: &Case) -> Text {
    Text {
        title: format!("{}: {}", case.id, case.title),
        clients: vec![format!(
            "source: {{ arrivals: {}, calls: [ {{ to: s }} ] }}",
            arrivals(case.get("/sources/0/arrival"))
        )],
        services: vec![format!(
            "s: {{ concurrency: 1, work: {} }}",
            law(case.get("/stations/0/service"))
        )],
        ..Text::default()
    }
}
