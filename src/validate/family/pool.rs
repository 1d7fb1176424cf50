//! A pool of workers some of whose calls are stuck until one and the same deadline, when they fail.

use sim::metrics::Outcome;

use super::station;
use crate::validate::case::{Case, Size};
use crate::validate::plan::Experiment;
use crate::validate::text::{arrivals, span};

/// Deadlines that pass before anything is measured. The pool begins empty, so that its first workers get stuck together and
/// come back together, and again a deadline later: it takes many for them to spread out. After 3 of them a refusal is 0.4 %
/// too rare, after 23 it is 0.1 %.
const FORGOTTEN_AFTER: f64 = 100.0;

/// Whether a case is of this kind: a few lengths of work, no room to wait.
pub(super) fn is_one(case: &Case) -> bool {
    case.model["stations"][0]["service"]["type"] == "discrete"
}

/// One experiment with all metrics of the case. The plan's customers are spread over fewer runs, since each has its long
/// warm-up; only counts are looked at, so that no log is kept of it.
pub(super) fn experiments(case: &Case, scale: f64) -> Vec<Experiment> {
    let shares = case.numbers("/stations/0/service/p");
    let lengths = case.numbers("/stations/0/service/values");
    let deadline = lengths.iter().copied().fold(0.0, f64::max);
    let rate = case.number("/sources/0/arrival/rate");
    let planned = case.size(scale);
    let size = Size {
        replications: (planned.replications / 2).max(2),
        warmup: FORGOTTEN_AFTER * deadline * rate,
        ..planned
    };
    let arm = |(share, &length): (&f64, &f64)| {
        let fails = match length == deadline {
            true => ", { respond: { fail: unavailable } }",
            false => "",
        };
        let work = span(length);
        format!("{{ weight: {share}, do: [ {{ work: {work} }}{fails} ] }}")
    };
    let arms: Vec<String> = shares.iter().zip(&lengths).map(arm).collect();
    let mut text = station::sized(case, scale);
    text.clients = vec![format!(
        "source: {{ arrivals: {}, calls: [ {{ to: s }} ] }}",
        arrivals(case.get("/sources/0/arrival"))
    )];
    text.services = vec![format!(
        "s: {{ concurrency: {}, queue: 0, program: [ {{ choose: [ {} ] }} ] }}",
        case.number("/stations/0/servers"),
        arms.join(", ")
    )];
    text.duration = (size.customers + size.warmup) / rate;
    text.warmup = size.warmup / rate;
    text.window = text.duration;
    vec![Experiment::counted(text, size.replications, counts)]
}

fn counts(outcome: &Outcome) -> Vec<(String, f64)> {
    let pool = &outcome.totals.services[0];
    let seconds = (outcome.measured_to.since(outcome.measured_from)).as_secs_f64();
    let arrived = pool.arrived as f64;
    vec![
        ("p_block".into(), pool.shed_full as f64 / arrived),
        (
            "served_fraction".into(),
            (pool.served + pool.failed) as f64 / arrived,
        ),
        ("success_fraction".into(), pool.served as f64 / arrived),
        (
            "mean_busy_threads".into(),
            pool.busy_ns as f64 / 1e9 / seconds,
        ),
    ]
}
