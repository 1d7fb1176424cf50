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

/// More processes than steps: the last of them change when the time is up.
#[test]
fn of_very_many_processes_none_is_left_behind() {
    let text = world("change_policy: { policy: one, to: three, over: 50s }");
    let mut scenario = Arc::unwrap_or_clone(text);
    scenario.clients[0].instances = 1500;
    let out = sim::run(&Arc::new(scenario), 1);
    for second in 60..100 {
        assert!(
            (amplification(&out, second) - 3.0).abs() < 1e-9,
            "{second} s"
        );
    }
}

/// A call that began before its process changed is under the old policy, and so is what is switched off there.
#[test]
fn retries_are_switched_off_for_calls_that_began_earlier_too() {
    let attempts = |faults: &str| {
        let scenario = yaml(&format!(
            "
version: 1
run: {{ duration: 100s, window: 100s, drain: 0s }}
clients: {{ web: {{ arrivals: {{ profile: [ [0s, 1/s], [1s, 1/s], [1s, 0/s], [100s, 0/s] ] }}, calls: [ {{ to: api, policy: a }} ] }} }}
services: {{ api: {{ work: 1ms }} }}
policies:
  a: {{ retry: {{ max_attempts: unlimited, backoff: {{ fixed: 1s }}, on: [unavailable] }} }}
  b: {{}}
faults:
  - {{ at: 0s, errors: {{ service: api, fail: unavailable }} }}
  - {{ at: 10500ms, change_policy: {{ policy: a, to: b }} }}
{faults}"
        ));
        (1..=20)
            .map(|seed| sim::run(&Arc::new(scenario.clone()), seed).totals.edges[0].clone())
            .map(|count| (count.calls, count.attempts))
            .fold((0, 0), |(calls, all), (more, attempts)| {
                (calls + more, all + attempts)
            })
    };
    let (calls, all) = attempts("");
    assert!(all > 90 * calls, "they go on for ever: {all} for {calls}");
    let (calls, stopped) = attempts("  - { at: 20500ms, kill_switch: a }\n");
    assert!(
        stopped <= 21 * calls && stopped > 18 * calls,
        "{stopped} for {calls}"
    );
}
