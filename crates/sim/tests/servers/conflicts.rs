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

/// What has answered has committed, and a probe commits nothing: neither is in anybody's way.
#[test]
fn only_open_transactions_conflict() {
    let ends = |operations: &str, more: &str| {
        let text = format!(
            "
version: 1
run: {{ duration: 100s, window: 10s, drain: 100s }}
clients: {{ a: {{ arrivals: {{ trace: a.csv }}, program: [ {{ parallel: [ [ {{ call: {{ to: store, operation: early }} }} ], [ {{ call: {{ to: store, operation: late }} }} ] ] }} ] }} }}
services: {{ store: {{ conflicts: 100%, {more} operations: {{ ping: {{ work: 900ms }}, {operations} }} }} }}
"
        );
        let outcome = run(&text, &[("a.csv", "0")]);
        let probed = outcome.drained.services[0].probes > 0;
        (
            jobs(&outcome).iter().map(|job| job.end).collect::<Vec<_>>(),
            probed,
        )
    };
    use JobEnd::{Failed, Served};
    let both = "early: { work: 5s }, late: { work: 10s }";
    assert_eq!(ends(both, ""), (vec![Failed, Served], false));
    let early = "early: { program: [ { respond: ok }, { work: 20s } ] }, late: { work: 10s }";
    assert_eq!(ends(early, ""), (vec![Served, Served], false));
    let probes = "probes: { liveness: { operation: ping, period: 1s } },";
    assert_eq!(ends(both, probes), (vec![Failed, Served], true));
}
