//! Scenarios that between them write every key of the language, with other values than the defaults.

pub const SAMPLES: &[&str] = &[CALLERS, LAWS, POLICIES, FAULTS];

const CALLERS: &str = "
$schema: https://example.org/scenario.json
version: 1
title: Everything about callers and services
description: Each key of these blocks once, away from its default.
run:
  duration: 100s
  window: 2s
  warmup: 10s
  drain: 5s
  seed: 7
  replications: 3
  trigger: { at: 20s, for: 10s }
  limits: { events: 1000000, calls: 1000, queue: 2000 }
clients:
  shop:
    instances: 200
    arrivals: { profile: { points: [ [0s, 500/s], [60s, 500/s], [61s, 2000/s], [90s, 500/s] ], process: paced, repeat: true } }
    operations: { browse: 90%, order: 10% }
    program:
      browse: [ { call: { to: gateway, operation: browse, policy: sdk, link: fast, optional: true } } ]
      order: [ { call: gateway } ]
  agents:
    instances: 50
    start: { uniform: [0s, 10s] }
    loop: [ { call: { to: gateway } }, { delay: { uniform: [9s, 11s] } } ]
  jobs: { arrivals: { paced: 2/s }, calls: [ gateway, { to: catalog, operation: order } ] }
services:
  gateway:
    replicas: 4
    concurrency: 1000
    holds_worker: false
    program:
      - call: { to: catalog, policy: sdk }
    operations:
      browse: { program: [ { call: { to: catalog, operation: order } } ] }
  catalog:
    replicas: 6
    balance: least_in_flight
    concurrency: 64
    queue: { capacity: 200, discipline: lifo }
    honours_cancellation: true
    idempotent: false
    retryable: false
    retry_only: [ timeout, 503, RESOURCE_EXHAUSTED ]
    operations:
      browse:
        idempotent: true
        retryable: true
        retry_only: [ 5xx ]
        program:
          - work: { lognormal: { p50: 2ms, p99: 15ms } }
          - parallel: [ { call: { to: price } }, [ { work: 1ms }, { call: { to: reviews, optional: true } } ] ]
          - choose: [ { weight: 1, do: { work: 1ms } }, { weight: 3, do: [ { delay: 2ms } ] } ]
          - repeat: { times: 3, do: { call: price } }
          - respond: ok
          - respond: { fail: { kind: overloaded, phase: send, retry_after: 2s } }
      order: { work: 3ms }
  price: { queue: 10, balance: random, work: 1ms }
  reviews: { balance: power_of_two, queue: { capacity: 5, discipline: deadline_drop }, work: 1ms }
links:
  default: { delay: 1ms }
  fast: { delay: { constant: 100us }, lose_request: 1%, lose_response: 0.02 }
  gateway -> catalog: { delay: 500us }
policies: { sdk: { attempt_timeout: 1s } }
expect: [ verdict == recovered ]
";

const LAWS: &str = "
version: 1
run: { duration: 10s }
clients:
  a: { arrivals: { renewal: { exponential: { mean: 5ms } } }, calls: [ s ] }
  b: { arrivals: { trace: { file: trace.csv, column: t, unit: 1ms, speed: 2x, repeat: true } }, calls: [ s ] }
  c: { arrivals: { rates: { file: rates.csv, unit: 1min, process: paced, repeat: true } }, calls: [ s ] }
  d: { arrivals: { trace: trace.csv }, calls: [ s ] }
services:
  s:
    program:
      - work: { exponential: 10ms }
      - work: { erlang: { shape: 4, mean: 10ms } }
      - work: { gamma: { shape: 2.5, mean: 10ms } }
      - work: { lognormal: { mean: 10ms, cv: 1.5 } }
      - work: { weibull: { shape: 0.7, scale: 10ms } }
      - work: { pareto: { shape: 2.5, scale: 10ms } }
      - work: { normal: { mean: 10ms, sd: 2ms } }
      - work: { hyperexponential: { mean: 10ms, cv: 2 } }
      - work: { mixture: [ { weight: 90%, law: 1ms }, { weight: 10%, law: { exponential: 1s } } ] }
      - work: { discrete: [ { weight: 3, value: 1ms }, { weight: 1, value: 4ms } ] }
      - work: { empirical: { percentiles: { min: 1ms, p50: 2ms, p99.9: 15ms, max: 20ms } } }
      - work: { empirical: { values: [ 1ms, 2ms, 3ms ] } }
      - work: { empirical: { file: x.hgrm, unit: 1us } }
";

const POLICIES: &str = "
version: 1
run: { duration: 10s }
clients: { web: { arrivals: { poisson: 10/s }, calls: [ { to: s, policy: sdk } ] } }
services: { s: { work: 1ms } }
policies:
  sdk:
    deadline: { limit: 12s, default: 800ms, inherit: false, slack: 30ms, propagate: false }
    attempt_timeout: 8s
    retry:
      max_attempts: 3
      backoff: { exponential: { base: 100ms, multiplier: 3, max: 2s, jitter: full } }
      on: [ timeout, UNAVAILABLE, 429, 5xx ]
      phases: [ connect, server ]
      unprocessed: [ dns ]
      reserve: 50ms
      min_attempt: 20ms
      retry_after: { honour: false, max: 10s, spread: 1s }
    budget: { ratio: { of: successes, ratio: 0.1, burst: 100 } }
    breaker:
      window: 10s
      failure_rate: 40%
      slow_rate: 80%
      slow_after: 2s
      minimum_calls: 20
      open_for: 30s
      half_open_calls: 5
      counts: calls
      on: [ timeout ]
      ignored: [ invalid ]
    bulkhead: { max_in_flight: 50, max_waiting: 10, max_wait: 50ms, hold_during_backoff: true }
  counted: { deadline: 1s, breaker: { window: 50 }, bulkhead: 10 }
  derived: { extends: sdk, attempt_timeout: 1s }
  fixed: { retry: { max_attempts: unlimited, backoff: { fixed: { delay: 100ms, jitter: equal } } } }
  short: { retry: { max_attempts: 2, backoff: { fixed: 100ms }, on: timeout } }
  spread: { retry: { max_attempts: 2, backoff: { exponential: { base: 1ms, jitter: { plusminus: 20% } } } } }
  aws: { retry: { max_attempts: 2, backoff: { exponential: { base: 1ms, max: 1s, jitter: decorrelated } } } }
  percent: { budget: { ratio: { percent: 10, burst: 3 } } }
  window: { budget: { windowed: { of: successes, percent: 20%, window: 20s, floor: 3/s } } }
  share: { budget: { windowed: { of: not_retryable, ratio: 0.5 } } }
";

const FAULTS: &str = "
version: 1
run: { duration: 100s }
clients: { web: { arrivals: { poisson: 10/s }, calls: [ { to: s, policy: sdk } ] } }
services: { s: { concurrency: 10, work: 1ms } }
policies: { sdk: { attempt_timeout: 1s } }
faults:
  - { at: 1s, for: 1s, slow: { service: s, factor: 3x } }
  - { at: 2s, errors: { service: s, share: 50%, fail: { kind: internal, phase: connect, retry_after: 1s } } }
  - { at: 3s, errors: { service: s, fail: overloaded } }
  - { at: 4s, lose_capacity: { service: s, share: 0.5 } }
  - { at: 5s, outage: { service: s } }
  - { at: 6s, refuse: s }
  - { at: 7s, load: { client: web, factor: 2 } }
  - { at: 8s, kill_switch: { policy: sdk } }
";

/// The files that the samples name.
pub fn fetch(file: &str) -> Result<String, String> {
    match file {
        "trace.csv" => Ok("n,t\n100,200\n101,350\n105,360\n".into()),
        "rates.csv" => Ok("0.5,10\n1.5,20\n2.5,0\n".into()),
        "x.hgrm" => Ok("Value Percentile TotalCount 1/(1-Percentile)\n\n1.0 0.0 1 1.00\n2.0 0.5 5 2.00\n9.0 1.0 10 inf\n".into()),
        _ => Err("no such file".into()),
    }
}
