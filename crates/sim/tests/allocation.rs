//! Nothing is allocated per event once a world has been at its fullest.

use std::sync::Arc;

use seawall::{Span, Time};
use sim::World;
use sim::scenario::{Format, Override, Source, load};

fn allocations_after_warm_up(text: &str, warm_up: Span, measured: Span) -> u64 {
    let source = Source {
        name: "test",
        text,
        format: Format::Yaml,
    };
    let whole = warm_up.0 + 2 * measured.0;
    // No window closes while it is counted: a window is a row of the result and kept.
    let overrides = [
        format!("run.duration={whole}ns"),
        format!("run.window={whole}ns"),
    ]
    .map(|text| Override::parse(&text).expect("an override"));
    let scenario = load(&source, &overrides, &mut |_| Err(String::new()));
    let mut world = World::new(Arc::new(scenario.unwrap_or_else(|p| panic!("{p}"))), 1);
    assert_eq!(world.run_until(Time(warm_up.0)), None, "still running");
    let counted = allocation_counter::measure(|| {
        assert_eq!(world.run_until(Time(warm_up.0 + measured.0)), None);
    });
    counted.count_total
}

#[test]
fn a_queue_allocates_nothing_per_event() {
    let text = include_str!("../benches/reference/mm1.yaml");
    let count = allocations_after_warm_up(text, Span::secs(200_000), Span::secs(50_000));
    assert_eq!(count, 0);
}

#[test]
fn retries_allocate_nothing_per_event() {
    let text = include_str!("../benches/reference/retry-storm.yaml");
    let count = allocations_after_warm_up(text, Span::secs(100_000), Span::secs(25_000));
    assert_eq!(count, 0);
}

#[test]
fn three_layers_with_every_policy_allocate_nothing_per_event() {
    let text = include_str!("../benches/reference/storm.yaml");
    let text = text.split("faults:").next().expect("a text");
    let count = allocations_after_warm_up(text, Span::secs(250), Span::secs(25));
    assert_eq!(count, 0);
}

#[test]
fn a_crowd_of_timers_allocates_nothing_per_event() {
    let text = include_str!("../benches/reference/hold.yaml");
    let text = text.replace("instances: 100", "instances: 20000");
    let count = allocations_after_warm_up(&text, Span::secs(40), Span::secs(10));
    assert_eq!(count, 0);
}

#[test]
fn services_that_do_all_they_can_allocate_nothing_per_event() {
    let text = "
version: 1
run: { duration: 1s }
clients:
  a: { instances: 5, arrivals: { poisson: 80/s }, calls: [ { to: gateway, policy: p } ] }
  b: { arrivals: { poisson: 40/s }, calls: [ { to: gateway, policy: p, priority: 1 } ] }
services:
  gateway: { serve: { processor_sharing: 2 }, program: [ { work: 1ms }, { call: store }, { call: disk } ] }
  store:
    replicas: 4
    concurrency: 2
    queue: { capacity: 20, discipline: fair, max_wait: 200ms, codel: {} }
    rate_limit: { gcra: { rate: 100/s, burst: 50 }, per_client: true }
    outlier: { interval: 1s }
    probes: { liveness: { period: 2s, failure_threshold: 1000 }, readiness: { period: 1s } }
    pauses: { every: { exponential: 2s }, length: 50ms }
    scaling: { max: 6, cpu: 50%, every: 2s, lag: 1s, cooldown: 10s }
    work: { exponential: 50ms }
  disk: { concurrency: 4, queue: { discipline: priority }, contention: { usl: { alpha: 0.1, beta: 0 } }, work: { exponential: 20ms } }
policies: { p: { deadline: 2s, retry: { max_attempts: 2, on: [ unavailable, overloaded ] } } }
";
    let count = allocations_after_warm_up(text, Span::secs(3000), Span::secs(200));
    assert_eq!(count, 0);
}
