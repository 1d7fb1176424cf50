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

#[test]
fn conflicts_are_as_frequent_as_the_law_says() {
    // 40 at a time, one after the other: of those that end k-th, 40 - k others are at work.
    let arrivals: Vec<String> = (0..4000).map(|n| format!("{}", n / 40 * 20)).collect();
    let text = world("conflicts: 1%", "").replace("duration: 100s", "duration: 2000s");
    let outcome = run(&text, &[("a.csv", &arrivals.join("\n"))]);
    let failed = outcome.drained.services[0].failed as f64 / 4000.0;
    let (mut expected, mut gets_by) = (0.0, 1.0);
    for _ in 0..40 {
        expected += (1.0 - gets_by) / 40.0;
        gets_by *= 0.99;
    }
    // Four standard deviations of a share of 4000.
    let sigma = f64::sqrt(expected * (1.0 - expected) / 4000.0);
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
