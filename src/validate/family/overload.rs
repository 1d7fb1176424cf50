//! A service that refuses, at no cost, what is above so many requests a second; callers that come back, and callers that hold
//! themselves back.

use sim::metrics::Outcome;

use super::station::backoff;
use crate::validate::case::Case;
use crate::validate::plan::Experiment;
use crate::validate::text::{Text, arrivals, rate, span};

/// Refused calls are tried again.
pub(super) fn retried(case: &Case) -> Vec<Experiment> {
    let attempts = match case.get("/client/max_attempts").as_u64() {
        Some(attempts) => attempts.to_string(),
        None => "unlimited".into(),
    };
    let laws = case.get("/client/backoff").as_array();
    let mut text = world(
        case,
        arrivals(case.get("/sources/0/arrival")),
        case.number("/leaf/rate_limit_per_second"),
    );
    text.policies = vec![format!(
        "again: {{ retry: {{ max_attempts: {attempts}, backoff: {}, on: [ overloaded ] }} }}",
        backoff(laws.map_or(&[][..], Vec::as_slice))
    )];
    let per_second = case.metrics.contains_key("load_second0");
    vec![Experiment::counted(
        text,
        1,
        move |outcome| match per_second {
            true => each_second(outcome),
            false => steady(outcome),
        },
    )]
}

fn world(case: &Case, arrivals: String, limit: f64) -> Text {
    Text {
        title: format!("{}: {}", case.id, case.title),
        duration: case.run.duration.unwrap_or(0.0),
        warmup: case.run.discard.unwrap_or(0.0),
        window: 1.0,
        clients: vec![format!(
            "source: {{ arrivals: {arrivals}, calls: [ {{ to: leaf, policy: again }} ] }}"
        )],
        services: vec![format!(
            "leaf: {{ rate_limit: {{ per_period: {{ limit: {limit}, period: 1s }}, retry_after: none }}, work: 0s }}"
        )],
        ..Text::default()
    }
}

fn each_second(outcome: &Outcome) -> Vec<(String, f64)> {
    let windows = outcome.windows.iter().enumerate();
    windows
        .map(|(second, window)| {
            let arrived = window.counts.services[0].arrived;
            (format!("load_second{second}"), arrived as f64)
        })
        .collect()
}

fn steady(outcome: &Outcome) -> Vec<(String, f64)> {
    let (leaf, edge) = (&outcome.totals.services[0], &outcome.totals.edges[0]);
    let seconds = seconds(outcome);
    let calls = edge.calls as f64;
    vec![
        ("load".into(), leaf.arrived as f64 / seconds),
        ("amplification".into(), edge.attempts as f64 / calls),
        (
            "p_reject_attempt".into(),
            leaf.rate_limited as f64 / leaf.arrived as f64,
        ),
        ("p_lost".into(), edge.failed_calls() as f64 / calls),
    ]
}

fn seconds(outcome: &Outcome) -> f64 {
    outcome
        .measured_to
        .since(outcome.measured_from)
        .as_secs_f64()
}

/// Adaptive throttling, one process at each rate.
pub(super) fn throttled(case: &Case) -> Vec<Experiment> {
    let one = |per_second: f64| {
        let arrivals = format!("{{ poisson: {} }}", rate(per_second));
        let mut text = world(case, arrivals, case.number("/leaf/rate_limit"));
        text.policies = vec![format!(
            "again: {{ budget: {{ sre_adaptive: {{ k: {}, window: {} }} }} }}",
            case.number("/client/throttle/K"),
            span(case.number("/client/throttle/window"))
        )];
        Experiment::counted(text, 1, |outcome| {
            let leaf = &outcome.totals.services[0];
            let seconds = seconds(outcome);
            vec![
                ("sent".into(), leaf.arrived as f64 / seconds),
                ("accepted".into(), leaf.served as f64 / seconds),
            ]
        })
        .named(format!("X{per_second}"))
    };
    case.numbers("/sources/0/arrival/rate")
        .into_iter()
        .map(one)
        .collect()
}
