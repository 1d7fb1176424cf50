//! Optimistic transactions that conflict.

use sim::metrics::JobEnd;

use crate::{jobs, run, wrong};

fn world(service: &str, policy: &str) -> String {
    format!(
        "
version: 1
run: {{ duration: 100s, window: 10s, drain: 100s }}
clients: {{ a: {{ arrivals: {{ trace: a.csv }}, calls: [ {{ to: store, policy: p }} ] }} }}
services: {{ store: {{ work: 10s, {service} }} }}
policies: {{ p: {{ {policy} }} }}
"
    )
}

#[test]
fn whoever_ends_while_others_are_at_work_conflicts() {
    let outcome = run(&world("conflicts: 100%", ""), &[("a.csv", "0\n1\n2\n50")]);
    let ends: Vec<JobEnd> = jobs(&outcome).iter().map(|job| job.end).collect();
    // The third ends when the first two are gone, the fourth was alone.
    use JobEnd::{Failed, Served};
    assert_eq!(ends, [Failed, Failed, Served, Served]);
    let failed = &outcome.drained.edges[0].attempt_failed;
    assert_eq!(failed[seawall::FailureKind::Conflict as usize], 2);
    let other = run(
        &world("conflicts: { share: 100%, fail: unavailable }", ""),
        &[("a.csv", "0\n1")],
    );
    let failed = &other.drained.edges[0].attempt_failed;
    assert_eq!(failed[seawall::FailureKind::Unavailable as usize], 1);
}

/// A transaction is open while its job waits for another service, with or without a worker.
#[test]
fn whoever_waits_is_at_work() {
    let ends = |holds_worker: bool| {
        let text = format!(
            "
version: 1
run: {{ duration: 100s, window: 10s, drain: 100s }}
clients: {{ a: {{ arrivals: {{ trace: a.csv }}, calls: [ store ] }} }}
services:
  store: {{ holds_worker: {holds_worker}, conflicts: 100%, program: [ {{ work: 1s }}, {{ call: disk }} ] }}
  disk: {{ work: 9s }}
"
        );
        let outcome = run(&text, &[("a.csv", "0\n5\n50")]);
        jobs(&outcome).iter().map(|job| job.end).collect::<Vec<_>>()
    };
    use JobEnd::{Failed, Served};
    assert_eq!(ends(true), [Failed, Served, Served]);
    assert_eq!(ends(false), [Failed, Served, Served]);
}

#[test]
fn conflicts_are_as_frequent_as_the_law_says() {
    // 40 at a time, one after the other: of those that end k-th, 40 - k others are at work.
    let arrivals: Vec<String> = (0..4000).map(|n| format!("{}", n / 40 * 20)).collect();
    let text = world("conflicts: 1%", "").replace("duration: 100s", "duration: 2000s");
    let outcome = run(&text, &[("a.csv", &arrivals.join("\n"))]);
    let failed = outcome.drained.services[0].failed as f64 / 4000.0;
    let expected: f64 = (0..40)
        .map(|others| 1.0 - (0..others).map(|_| 0.99).product::<f64>())
        .sum::<f64>()
        / 40.0;
    // Four standard deviations of a share of 4000.
    let sigma = (expected * (1.0 - expected) / 4000.0).sqrt();
    assert!(
        (failed - expected).abs() < 4.0 * sigma,
        "{failed} {expected}"
    );
}

#[test]
fn conflicts_that_cannot_be_are_refused() {
    let none = wrong(&world("conflicts: 0%", "").replace("trace: a.csv", "poisson: 1/s"));
    assert!(none.contains("conflicts: share: must be above 0"), "{none}");
    let alone = world("concurrency: 1, conflicts: 1%", "").replace("trace: a.csv", "poisson: 1/s");
    assert!(
        wrong(&alone).contains("nobody to conflict with"),
        "{}",
        wrong(&alone)
    );
}
