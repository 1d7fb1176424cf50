//! M. Brooker's studies of retry policies and of a service that collapses, with their parameters.

use seawall::FailureKind;
use sim::metrics::{Outcome, Window};

use crate::validate::case::Case;
use crate::validate::plan::{Experiment, Values};
use crate::validate::text::{Text, rate, span, work_then_fail};

/// Four policies against independent failures, by policy and by probability of failure.
///
/// The published bucket of 5 tokens lets a retry through while it holds *more* than one. Ours asks for at least one. With
/// deposits of a tenth, more than one is at least 1.1, so a bucket of 4.9 with a tenth less throughout decides the same.
pub(super) fn retry_policies(case: &Case) -> Vec<Experiment> {
    let policies = [
        ("none", "{}"),
        (
            "three",
            "{ retry: { max_attempts: 4, on: [ unavailable ] } }",
        ),
        (
            "bucket",
            "{ retry: { max_attempts: unlimited, on: [ unavailable ] }, budget: { ratio: { of: calls, ratio: 0.1, burst: 4.9 } } }",
        ),
        (
            "breaker",
            "{ retry: { max_attempts: 4, on: [ unavailable ] }, budget: { failure_share: 0.1 } }",
        ),
    ];
    let replications = case.run.replications.unwrap_or(30);
    let mut experiments = Vec::new();
    for failure in case.numbers("/leaf/failure_prob") {
        for (name, policy) in policies {
            let leg = 1.0 / case.number("/network_leg/rate");
            let (clients, each) = (case.number("/clients"), case.number("/rate_per_client"));
            let text = Text {
                title: format!("{}: {name}, failing with {failure}", case.id),
                duration: case.number("/duration"),
                drain: 60.0,
                clients: vec![format!(
                    "callers: {{ instances: {clients}, arrivals: {{ poisson: {} }}, calls: [ {{ to: leaf, policy: p }} ] }}",
                    rate(clients * each)
                )],
                services: vec![format!(
                    "leaf: {{ program: {} }}",
                    work_then_fail(None, failure)
                )],
                links: vec![format!(
                    "default: {{ delay: {{ exponential: {} }} }}",
                    span(leg)
                )],
                policies: vec![format!("p: {policy}")],
                ..Text::default()
            };
            let experiment = Experiment::counted(text, replications, |outcome| {
                let edge = &outcome.drained.edges[0];
                let calls = edge.calls as f64;
                vec![
                    ("success".into(), edge.ok as f64 / calls),
                    ("load".into(), edge.attempts as f64 / calls),
                ]
            });
            experiments.push(experiment.named(format!("{name}_f{failure}")));
        }
    }
    experiments
}

/// The seconds over which the study takes means.
const SPANS: [(u64, u64); 3] = [(10, 20), (25, 35), (60, 79)];

/// A service that slows down with every request at once, a spike, and callers that retry at once or after a while.
pub(super) fn collapse(case: &Case, scale: f64) -> Vec<Experiment> {
    let replications = f64::from(case.run.replications.unwrap_or(200)) * scale;
    let kinds = [
        ("none", "none"),
        (
            "backoff",
            "{ exponential: { base: 20s, multiplier: 2, jitter: full } }",
        ),
    ];
    let mut experiments: Vec<Experiment> = kinds
        .into_iter()
        .map(|(kind, backoff)| {
            let text = spiked(case, kind, backoff);
            Experiment::counted(text, replications as u32, move |outcome| {
                seconds(outcome, kind)
            })
        })
        .collect();
    // Before the spike: short runs, and many, since this is known more precisely.
    let calm = Text {
        duration: SPANS[0].1 as f64,
        ..spiked(case, "none", "none")
    };
    experiments.push(Experiment::counted(
        calm,
        (replications * 15.0) as u32,
        |outcome| {
            let inside = mean(outcome, SPANS[0], |window| {
                window.counts.services[0].inside_ns as f64 / 1e9
            });
            vec![("steady_concurrency_before".into(), inside)]
        },
    ));
    experiments
}

/// The world of the study.
fn spiked(case: &Case, kind: &str, backoff: &str) -> Text {
    Text {
        title: format!("{}: {}, backoff: {kind}", case.id, case.title),
        duration: case.number("/t_end"),
        window: 1.0,
        drain: 0.0,
        clients: vec![
            "source: { arrivals: { profile: { points: [ [0s, 40/s], [20s, 40/s], [20s, 80/s], [25s, 80/s], [25s, 40/s] ] } }, \
             calls: [ { to: server, policy: patient } ] }"
                .into(),
        ],
        // 1 s and 10 ms more for each request inside, itself counted: 1.01 s alone.
        services: vec![format!(
            "server: {{ work: 1010ms, contention: {{ usl: {{ alpha: {}, beta: 0, frozen: true }} }} }}",
            0.01 / 1.01
        )],
        links: vec![format!(
            "default: {{ delay: {{ exponential: {} }} }}",
            span(1.0 / case.number("/network_leg/rate"))
        )],
        policies: vec![format!(
            "patient: {{ attempt_timeout: {}, retry: {{ max_attempts: {}, backoff: {backoff}, on: [ timeout ] }} }}",
            span(case.number("/timeout")),
            case.number("/attempts")
        )],
        ..Text::default()
    }
}

/// The mean of `of` over the windows of a second from `from` to `to`.
fn mean(outcome: &Outcome, (from, to): (u64, u64), of: impl Fn(&Window) -> f64) -> f64 {
    let windows = &outcome.windows[from as usize..to as usize];
    windows.iter().map(of).sum::<f64>() / (to - from) as f64
}

fn seconds(outcome: &Outcome, kind: &str) -> Values {
    let mut values = Values::new();
    let ok = |window: &Window| window.counts.edges[0].ok as f64;
    let timeouts = |window: &Window| {
        window.counts.edges[0].attempt_failed[FailureKind::Timeout as usize] as f64
    };
    let given_up = |window: &Window| window.counts.edges[0].failed_calls() as f64;
    // The study counts a retry when it is decided, not when it is sent.
    let retries = |window: &Window| timeouts(window) - given_up(window);
    for span @ (from, to) in SPANS {
        for (what, value) in [
            ("successes", mean(outcome, span, ok)),
            ("retries", mean(outcome, span, retries)),
            ("timeouts", mean(outcome, span, timeouts)),
        ] {
            values.push((format!("{kind}_{what}_t{from}_{to}"), value));
        }
    }
    let calls = |window: &Window| window.counts.edges[0].calls as f64;
    let collapsed = mean(outcome, SPANS[2], ok) < mean(outcome, SPANS[2], calls) / 2.0;
    values.push((
        format!("{kind}_fraction_collapsed"),
        f64::from(u8::from(collapsed)),
    ));
    values
}
