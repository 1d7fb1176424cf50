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

#[test]
fn messages_and_sessions_allocate_nothing_per_event() {
    let text = "
version: 1
run: { duration: 1s }
clients:
  tellers: { arrivals: { poisson: 50/s }, calls: [ { to: bookings, policy: p } ] }
  phones:
    instances: 200
    loop:
      - delay: { uniform: [0s, 2s] }
      - session: { call: { to: gateway, policy: p }, lasts: { exponential: 5s }, heartbeat: 1s }
services:
  bookings:
    replicas: 2
    concurrency: 20
    messages: { visibility: 1s, heartbeat: 300ms, max_receives: 3, groups: 50, retention: 20s }
    program: [ { work: { exponential: 200ms } }, { call: { to: ledger, policy: p } } ]
  ledger: { concurrency: 20, conflicts: 2%, work: { exponential: 20ms } }
  gateway: { replicas: 2, concurrency: 10, work: { exponential: 20ms }, pauses: { every: { exponential: 20s }, length: 200ms } }
links:
  default: { delay: 1ms, lose_response: 1% }
policies:
  p: { attempt_timeout: 1s, retry: { max_attempts: 2, on: [ timeout, reset, conflict ] } }
";
    let count = allocations_after_warm_up(text, Span::secs(8000), Span::secs(200));
    assert_eq!(count, 0);
}

#[test]
fn effects_and_what_guards_them_allocate_nothing_per_event() {
    let text = "
version: 1
run: { duration: 1s }
clients:
  shop: { instances: 20, arrivals: { poisson: 100/s }, calls: [ { to: orders, policy: p, key: per_call } ] }
  payer:
    arrivals: { poisson: 30/s }
    calls: [ { to: bank, operation: pay, policy: once, fallback: { look_up: { to: bank, operation: status, policy: p } } } ]
services:
  orders:
    concurrency: 10
    queue: { capacity: 100 }
    idempotency: { scope: [ tenant, operation ], claim: atomic, in_progress: conflict, retention: 30s }
    program: [ { work: { exponential: 10ms } }, { effect: order }, { call: { to: bank, operation: pay, policy: p } } ]
  bank:
    operations:
      pay: { program: [ { work: 5ms }, { effect: payment } ] }
      status: { work: 1ms }
links:
  default: { delay: 1ms, lose_request: 2%, lose_response: 2% }
policies:
  once: { attempt_timeout: 200ms }
  p: { attempt_timeout: 200ms, retry: { max_attempts: 3, on: [ timeout, unavailable ], backoff: { exponential: { base: 20ms, jitter: full } } } }
";
    let count = allocations_after_warm_up(text, Span::secs(2000), Span::secs(200));
    assert_eq!(count, 0);
}

#[test]
fn what_is_shared_allocates_nothing_per_event() {
    let text = "
version: 1
run: { duration: 1s }
clients:
  readers: { instances: 10, arrivals: { poisson: 200/s }, calls: [ { to: pages, policy: p } ] }
services:
  pages:
    replicas: 4
    program:
      - work: 1ms
      - cache: { keys: 200, skew: 1, ttl: 2s, scope: service, coalesce: true, miss: { call: { to: db, policy: p } } }
      - call: { to: db, policy: p, coalesce: 20, optional: true }
  db: { replicas: 3, concurrency: 40, work: { exponential: 50ms } }
  auth: { concurrency: 4, work: 20ms }
credentials:
  token: { from: auth, policy: p, lifetime: 30s }
links:
  default: { delay: 500us }
  readers -> pages: { delay: 1ms, credential: token }
  pages -> db: { delay: 1ms, phases: { connect: 1ms, tls: 2ms }, pool: { size: 20, idle_timeout: 1s } }
policies:
  p: { deadline: 2s, attempt_timeout: 150ms, retry: { max_attempts: 2, on: [ timeout, unavailable ] } }
";
    let count = allocations_after_warm_up(text, Span::secs(3000), Span::secs(200));
    assert_eq!(count, 0);
}
