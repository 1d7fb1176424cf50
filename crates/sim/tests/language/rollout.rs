//! Changes of policy on the timeline.

use std::sync::Arc;

use sim::Scenario;
use sim::metrics::Outcome;

use crate::yaml;

/// Ten processes make 100 calls a second of which each attempt fails, under `one` (one attempt) or `three`.
fn world(change: &str) -> Arc<Scenario> {
    Arc::new(yaml(&format!(
        "
version: 1
run: {{ duration: 100s, window: 1s }}
clients: {{ web: {{ instances: 10, arrivals: {{ paced: 100/s }}, calls: [ {{ to: api, policy: one }} ] }} }}
services: {{ api: {{ work: 1ms }} }}
policies:
  one: {{ attempt_timeout: 1s }}
  three: {{ retry: {{ max_attempts: 3, backoff: none, on: [unavailable] }} }}
faults:
  - {{ at: 0s, errors: {{ service: api, fail: unavailable }} }}
  - {{ at: 10s, {change} }}
"
    )))
}

fn outcome(change: &str) -> Outcome {
    sim::run(&world(change), 1)
}

/// Attempts per call in the window that begins at `second`.
fn amplification(outcome: &Outcome, second: usize) -> f64 {
    let count = &outcome.windows[second].counts.edges[0];
    count.attempts as f64 / count.calls as f64
}

#[test]
fn all_processes_change_at_once_and_go_back_when_it_is_over() {
    let out = outcome("for: 30s, change_policy: { policy: one, to: three }");
    for (second, attempts) in [
        (5, 1.0),
        (9, 1.0),
        (10, 3.0),
        (39, 3.0),
        (40, 1.0),
        (99, 1.0),
    ] {
        assert!(
            (amplification(&out, second) - attempts).abs() < 1e-9,
            "{second} s"
        );
    }
}

#[test]
fn a_canary_is_a_share_of_the_processes() {
    let out = outcome("change_policy: { policy: one, to: three, share: 20% }");
    let retries: u64 = out.windows[10..]
        .iter()
        .map(|w| w.counts.edges[0].attempts - w.counts.edges[0].calls)
        .sum();
    // 9000 calls on ten processes at random; two of them try twice more: 3600, and four standard deviations.
    assert!(
        (3600.0 - retries as f64).abs() < 4.0 * 2.0 * (9000.0 * 0.2 * 0.8f64).sqrt(),
        "{retries}"
    );
    assert!((amplification(&out, 9) - 1.0).abs() < 1e-9);
}

#[test]
fn one_after_another_in_the_time_it_takes() {
    let out = outcome("change_policy: { policy: one, to: three, over: 50s }");
    let mean = |from: usize, to: usize| {
        let sum: f64 = (from..to).map(|second| amplification(&out, second)).sum();
        sum / (to - from) as f64
    };
    // The first of ten at 10 s, the last one at 55 s.
    assert!((amplification(&out, 9) - 1.0).abs() < 1e-9);
    assert!((mean(10, 15) - 1.2).abs() < 0.15, "{}", mean(10, 15));
    assert!((mean(30, 35) - 2.0).abs() < 0.25, "{}", mean(30, 35));
    assert!(amplification(&out, 54) < 3.0);
    assert!((amplification(&out, 55) - 3.0).abs() < 1e-9);
    assert!((amplification(&out, 99) - 3.0).abs() < 1e-9);
}

#[test]
fn a_call_under_way_ends_as_it_began_and_every_law_holds() {
    // Work takes longer than the gap between two changes, so that many calls are under way at each.
    let scenario = yaml(
        "
version: 1
run: { duration: 60s, drain: 10s }
clients: { web: { instances: 3, arrivals: { poisson: 50/s }, calls: [ { to: api, policy: a } ] } }
services: { api: { concurrency: 20, queue: 50, work: { exponential: { mean: 500ms } } } }
policies:
  a: { attempt_timeout: 800ms, bulkhead: 30, retry: { max_attempts: 3, on: [timeout] } }
  b: { attempt_timeout: 300ms, bulkhead: 5, hedge: { max_attempts: 2, delay: 100ms }, breaker: { window: 10, minimum_calls: 5, failure_rate: 50%, open_for: 1s, half_open_calls: 2 } }
faults:
  - { at: 10s, for: 5s, change_policy: { policy: a, to: b, share: 40% } }
  - { at: 12s, for: 20s, change_policy: { policy: a, to: b, over: 10s } }
  - { at: 20s, for: 15s, kill_switch: a }
  - { at: 25s, for: 5s, kill_switch: b }
",
    );
    // The conservation laws are checked at the end of each run.
    for seed in 1..=20 {
        let out = sim::run(&Arc::new(scenario.clone()), seed);
        assert_eq!(out.open[0], 0, "seed {seed}");
    }
}
