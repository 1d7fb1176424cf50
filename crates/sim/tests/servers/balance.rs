//! A balancer that leaves replicas out.

use crate::{run, wrong};

fn bad_one(outlier: &str) -> sim::metrics::Outcome {
    let text = format!(
        "
version: 1
run: {{ duration: 100s, window: 10s }}
clients: {{ a: {{ arrivals: {{ paced: 100/s }}, calls: [ api ] }} }}
services: {{ api: {{ replicas: 4, {outlier} concurrency: 10, work: 10ms }} }}
faults: [ {{ at: 10s, bad_replicas: {{ service: api, errors: 100% }} }} ]
"
    );
    run(&text, &[])
}

#[test]
fn a_replica_that_fails_is_left_out() {
    let failed = |outlier: &str| bad_one(outlier).drained.edges[0].failed_calls();
    // A quarter of the 9000 calls after 10 s.
    assert_eq!(failed(""), 2250);
    // Five in a row each time; out for 30 s, then 60 s (to the next look, every 10 s): 10 s to 50 s, then for good.
    assert_eq!(failed("outlier: { max_ejection_percent: 50 },"), 10);
    // Of four hosts 10 % are none.
    assert_eq!(failed("outlier: {},"), 2250);
    let standing = bad_one("outlier: { max_ejection_percent: 50 },")
        .totals
        .services[0]
        .replicas_ns;
    assert!(
        (310_000_000_000..320_000_000_000).contains(&standing),
        "{standing}"
    );
}

#[test]
fn when_too_few_are_left_all_are_used() {
    let text = |threshold: &str| {
        format!(
            "
version: 1
run: {{ duration: 100s, window: 10s }}
clients: {{ a: {{ arrivals: {{ paced: 100/s }}, calls: [ api ] }} }}
services:
  api:
    replicas: 4
    outlier: {{ max_ejection_percent: 100 }}
    panic_threshold: {threshold}
    concurrency: 1
    queue: 10
    work: 20ms
faults: [ {{ at: 10s, bad_replicas: {{ service: api, replicas: 3, errors: 100% }} }} ]
"
        )
    };
    let served = |threshold: &str| run(&text(threshold), &[]).drained.services[0].served;
    // One replica can do 50 of 100 per second: left alone it is full, and its own refusals put it out as well.
    // In panic all four get requests, and the good one a quarter.
    let (without, with) = (served("0%"), served("50%"));
    assert!((3_000..3_500).contains(&with), "{with}");
    assert!(without != with, "{without}");
}

#[test]
fn answers_end_a_row_of_attempts_without_one() {
    let standing = |late: &str, at_once: &str| {
        let text = format!(
            "
version: 1
run: {{ duration: 100s, window: 10s }}
clients: {{ a: {{ arrivals: {{ paced: 100/s }}, calls: [ {{ to: api, policy: p }} ] }} }}
services:
  api:
    replicas: 4
    outlier: {{ split_local_origin: true, max_ejection_percent: 50 }}
    work: {{ discrete: [ {{ weight: {late}, value: 1s }}, {{ weight: {at_once}, value: 1ms }} ] }}
policies: {{ p: {{ attempt_timeout: 20ms }} }}
"
        );
        run(&text, &[]).totals.services[0].replicas_ns
    };
    // A late answer now and then is no row of five, however many there are in all.
    assert_eq!(standing("2%", "98%"), 400_000_000_000);
    assert!(standing("90%", "10%") < 400_000_000_000);
}

#[test]
fn one_replica_cannot_be_left_out() {
    let problems = wrong(
        "
version: 1
run: { duration: 100s }
clients: { a: { arrivals: { poisson: 1/s }, calls: [ api, other ] } }
services: { api: { outlier: { interval: 0s }, work: 1ms }, other: { panic_threshold: 50%, work: 1ms } }
",
    );
    for expected in [
        "of one replica none can be left out",
        "outlier.interval",
        "says nothing without `outlier`",
    ] {
        assert!(problems.contains(expected), "{problems}");
    }
}

/// Two replicas are bad and their breakers open; the third is dead. Nobody tries that one for want of a better.
#[test]
fn who_passes_over_all_picks_one_that_requests_are_given_to() {
    let text = "
version: 1
run: { duration: 60s, window: 10s }
clients: { a: { arrivals: { paced: 10/s }, calls: [ { to: api, policy: p } ] } }
services: { api: { replicas: 3, balance: round_robin, restart: 1h, work: 1ms } }
policies: { p: { breaker: { window: 4, minimum_calls: 4, failure_rate: 50%, open_for: 1h }, scope: { breaker: host } } }
faults:
  - { at: 0s, crash: { service: api, replicas: 1 } }
  - { at: 0s, errors: { service: api, fail: unavailable } }
";
    let outcome = run(text, &[]);
    let (service, edge) = (&outcome.drained.services[0], &outcome.drained.edges[0]);
    assert_eq!((service.unreachable, edge.attempts), (0, 8));
}
