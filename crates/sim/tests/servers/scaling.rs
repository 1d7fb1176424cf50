//! Replicas that come and go.

use crate::{run, wrong};

fn replicas(scaling: &str, load: &str) -> Vec<f64> {
    let text = format!(
        "
version: 1
run: {{ duration: 200s, window: 10s }}
clients: {{ a: {{ arrivals: {{ profile: {{ points: [ {load} ], process: paced }} }}, calls: [ api ] }} }}
services:
  api: {{ replicas: 2, concurrency: 10, balance: least_in_flight, work: 100ms, scaling: {{ max: 10, {scaling} }} }}
"
    );
    let outcome = run(&text, &[]);
    let standing =
        |window: &sim::metrics::Window| window.counts.services[0].replicas_ns as f64 / 1e10;
    outcome.windows.iter().map(standing).collect()
}

#[test]
fn replicas_follow_the_load_after_a_while() {
    // 100/s of 100 ms each hold 10 workers of 20: as it should be. 300/s would hold 30; what 20 can do is 200/s, so at
    // first all are held: 2 × 1 / 0.5 = 4, and with 4 replicas of which 30 of 40 are held 4 × 0.75 / 0.5 = 6.
    let windows = replicas(
        "workers: 50%, every: 10s, lag: 5s, cooldown: 60s",
        "[0s, 100/s], [50s, 100/s], [50s, 300/s], [120s, 300/s], [120s, 100/s]",
    );
    assert!(windows[..5].iter().all(|&n| n == 2.0), "{windows:?}");
    assert_eq!(windows[5], 2.0, "not seen yet");
    assert_eq!(windows[6], 3.0, "decided at 60 s, there at 65 s");
    let most = windows.iter().copied().fold(0.0, f64::max);
    assert!(most >= 6.0, "{windows:?}");
    assert!(windows[17] >= 5.0, "the cooldown holds them: {windows:?}");
    assert!(windows[19] <= 3.0, "{windows:?}");
}

#[test]
fn workers_that_wait_are_held_but_do_not_work() {
    let text = |signal: &str| {
        format!(
            "
version: 1
run: {{ duration: 200s, window: 10s }}
clients: {{ a: {{ arrivals: {{ paced: 100/s }}, calls: [ api ] }} }}
services:
  api:
    replicas: 2
    concurrency: 10
    scaling: {{ max: 10, {signal}: 50%, every: 10s, lag: 0s }}
    program: [ {{ work: 10ms }}, {{ call: db }} ]
  db: {{ work: 150ms }}
"
        )
    };
    let at_end = |signal: &str| {
        let outcome = run(&text(signal), &[]);
        outcome.windows[19].counts.services[0].replicas_ns as f64 / 1e10
    };
    // 16 of 20 workers are held: 2 × 0.8 / 0.5 = 4. One works: 2 × 0.05 / 0.5 is one.
    assert_eq!(at_end("workers"), 4.0);
    assert_eq!(at_end("cpu"), 2.0, "five minutes have not passed");
}

#[test]
fn a_queue_calls_for_replicas_too() {
    let windows = replicas("queue: 5, every: 10s, lag: 0s", "[0s, 250/s]");
    assert!(windows[0] == 2.0 && windows[19] >= 3.0, "{windows:?}");
}

#[test]
fn scaling_that_cannot_be_is_refused() {
    let problems = wrong(
        "
version: 1
run: { duration: 100s }
clients: { a: { arrivals: { poisson: 1/s }, calls: [ api ] } }
services: { api: { replicas: 3, scaling: { max: 2, workers: 0%, every: 0s }, work: 1ms } }
",
    );
    for expected in [
        "begins with 3 `replicas`, which is not from 1 to 2",
        "every: must be above 0s",
        "the target must be above 0",
        "workers are unlimited",
    ] {
        assert!(problems.contains(expected), "{problems}");
    }
}

/// Replicas that are still starting were asked for already.
#[test]
fn a_look_before_replicas_are_up_asks_for_no_more_of_them() {
    let text = "
version: 1
run: { duration: 200s, window: 10s }
clients: { a: { arrivals: { profile: { points: [ [0s, 100/s], [50s, 100/s], [50s, 300/s], [200s, 300/s] ], process: paced } }, calls: [ api ] } }
services:
  api:
    replicas: 2
    concurrency: 10
    queue: 1
    balance: least_in_flight
    work: 100ms
    scaling: { max: 10, workers: 50%, every: 10s, lag: 25s }
";
    let outcome = run(text, &[]);
    let standing = outcome
        .windows
        .iter()
        .map(|w| w.counts.services[0].replicas_ns as f64 / 1e10);
    let standing: Vec<f64> = standing.collect();
    // All 20 are held at 60 s: four. Up at 85 s; 30 of 40 are held then: six in the end. Asked for anew at each look, ten would be.
    let most = standing.iter().copied().fold(0.0, f64::max);
    assert_eq!(most, 6.0, "{standing:?}");
    assert_eq!(standing[8], 3.0, "from 85 s on: {standing:?}");
}

/// Nobody is there to die where replicas were taken away.
#[test]
fn who_was_taken_away_does_not_crash() {
    let text = "
version: 1
run: { duration: 200s, window: 10s }
clients: { a: { arrivals: { paced: 10/s }, calls: [ api ] } }
services: { api: { replicas: 4, concurrency: 10, work: 1ms, scaling: { min: 1, max: 4, workers: 50%, every: 10s, cooldown: 10s } } }
faults: [ { at: 150s, crash: api } ]
";
    let outcome = run(text, &[]);
    assert_eq!(
        outcome.windows[14].counts.services[0].replicas_ns,
        10_000_000_000
    );
    assert_eq!(outcome.drained.services[0].restarts, 1);
}
