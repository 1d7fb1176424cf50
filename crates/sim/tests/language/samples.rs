//! Scenarios that between them write every key of the language, with other values than the defaults.

pub(crate) const SAMPLES: &[&str] = &[CALLERS, LAWS, POLICIES, DIALECTS, FAULTS, EFFECTS, SERVERS];

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
  limits: { events: 1000000, calls: 1000, queue: 2000, memory: 512MiB, standstill: 1000000 }
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
  phones:
    instances: 20
    loop: [ { session: { call: gateway, lasts: { exponential: 1h }, heartbeat: 30s } } ]
  jobs: { arrivals: { paced: 2/s }, calls: [ gateway, { to: catalog, operation: order } ] }
services:
  gateway:
    replicas: 4
    concurrency: 1000
    memory: { limit: 4GB, per_session: 1MB }
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
          - parallel: [ { call: { to: price, coalesce: { keys: 50, skew: 0.8 } } }, [ { work: 1ms }, { call: { to: reviews, optional: true } } ] ]
          - choose: [ { weight: 1, do: { work: 1ms } }, { weight: 3, do: [ { delay: 2ms } ] } ]
          - repeat: { times: 3, do: { call: price } }
          - cache:
              keys: 1000
              skew: 0.9
              capacity: 100
              ttl: 1min
              ttl_jitter: 10%
              scope: service
              coalesce: true
              on_failure: stale
              filled: true
              hit: { work: 10us }
              miss: [ { call: price } ]
          - respond: ok
          - respond: { fail: { kind: overloaded, phase: send, retry_after: 2s } }
      order: { work: 3ms }
  price: { queue: 10, balance: random, work: 1ms }
  reviews: { balance: power_of_two, queue: { capacity: 5, discipline: deadline_drop }, work: 1ms }
links:
  default: { delay: 1ms }
  fast: { delay: { constant: 100us }, lose_request: 1%, lose_response: 0.02 }
  gateway -> catalog: { delay: 500us }
  catalog -> price:
    phases:
      dns: { takes: 1ms, fails: 1%, kind: connect_refused, timeout: 10ms }
      connect: { takes: { exponential: 2ms } }
      tls: 3ms
      send: 1ms
      receive: 2ms
      decode: 50us
    pool:
      size: 20
      per_replica: 10
      streams: 2
      acquire_timeout: 50ms
      exhausted: { kind: overloaded }
      idle_timeout: 60s
      server_idle_timeout: 90s
      notices_close: false
      dns_ttl: 30s
      max_lifetime: 10min
      warm: 3
      accept: 1ms
  catalog -> reviews: { pool: { size: 5, ends_at: balancer }, credential: token }
credentials:
  token:
    from: catalog
    operation: order
    policy: sdk
    link: fast
    lifetime: 1h
    refresh_margin: 5min
    single_flight: false
    per: client
    fail: overloaded
    replay: false
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

pub(crate) const POLICIES: &str = "
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
      refusals: [ bulkhead_full, rate_limited ]
    budget: { ratio: { of: successes, ratio: 0.1, burst: 100 } }
    breaker:
      window: 10s
      failure_rate: 40%
      slow_rate: 80%
      slow_after: 2s
      minimum_calls: 20
      open_for: 30s
      half_open_calls: 5
      ramp: { from: 20%, factor: 1.5, every: 5s }
      counts: calls
      count_refusals: true
      on: [ timeout ]
      ignored: [ invalid ]
    bulkhead: { max_in_flight: 50, max_waiting: 10, max_wait: 50ms, hold_during_backoff: true }
  listed:
    order: [ rate_limit, total_timeout, bulkhead, retry, breaker, attempt_timeout ]
    deadline: 1s
    attempt_timeout: 300ms
    retry: { max_attempts: 3, on: 5xx, refusals: all }
    rate_limit: { gcra: { rate: 40/s, max_wait: 100ms } }
    breaker: { window: 20, minimum_calls: 10, open_for: 1s }
    bulkhead: { max_in_flight: 6 }
    budget: { ratio: { percent: 20, burst: 5 } }
    scope: { breaker: operation, budget: { tenant: { cap: 10 } }, bulkhead: { tenant: 1 }, rate_limit: { operation: 1 } }
  named: { order: resilience4j, retry: { max_attempts: 3, on: 5xx }, breaker: { window: 20, minimum_calls: 10, open_for: 1s }, bulkhead: 3, scope: { breaker: { host: 8 }, bulkhead: host } }
  hedged: { hedge: { max_attempts: 3, delay: 100ms, on: [ 5xx, 429 ], variant: java }, attempt_timeout: 1s }
  counted: { deadline: 1s, breaker: { window: 50 }, bulkhead: 10 }
  derived: { extends: sdk, attempt_timeout: 1s }
  fixed: { retry: { max_attempts: unlimited, backoff: { fixed: { delay: 100ms, jitter: equal } } } }
  short: { retry: { max_attempts: 2, backoff: { fixed: 100ms }, on: timeout } }
  spread: { retry: { max_attempts: 2, backoff: { exponential: { base: 1ms, jitter: { plusminus: 20% } } } } }
  aws: { retry: { max_attempts: 2, backoff: { exponential: { base: 1ms, max: 1s, jitter: decorrelated } } } }
  percent: { budget: { ratio: { percent: 10, burst: 3 } } }
  tired: { attempt_timeout: 100ms, attempt_timeout_jitter: exponential, retry: { max_attempts: 2, persistence: 80% } }
  lifetime: { budget: { failure_share: { max: 10% } } }
  window: { budget: { windowed: { of: successes, percent: 20%, window: 20s, floor: 3/s } } }
  share: { budget: { windowed: { of: not_retryable, ratio: 0.5 } } }
";

/// Policies that libraries in production run, each key away from its default.
pub(crate) const DIALECTS: &str = "
version: 1
run: { duration: 10s }
clients: { web: { arrivals: { poisson: 10/s }, calls: [ { to: s, policy: grpc } ] } }
services: { s: { work: 1ms } }
policies:
  grpc:
    retry: { max_attempts: 4, backoff: { grpc: { initial: 100ms, max: 1s, multiplier: 2, jitter: full, variant: java } } }
    budget: { grpc: { max_tokens: 10, token_ratio: 0.1, variant: java } }
  aws_blog: { retry: { max_attempts: 3, backoff: { aws_jitter: { kind: equal, base: 10ms, cap: 1s, first_exponent: 0 } } } }
  aws_sdk:
    retry: { max_attempts: 3, backoff: { aws_sdk: { mode: standard_2.1, service: dynamodb, retry_after: ignore } } }
    budget: { aws_quota: { capacity: 100, costs: smithy_2.0, refill_per_sec: 2, success_reward: 0.5 } }
    rate_limit: { aws_adaptive: { beta: 0.6, scale: 0.5, smoothing: 0.7, cost: 0.9, retry_cost: 200, transient_retry_cost: 300, reserves: true } }
  envoy:
    retry: { max_attempts: 2, backoff: { envoy: { base: 30ms, max: 200ms, rate_limited: { max_interval: 20s } } } }
    budget: { envoy: { max_retries: 4, retry_budget: { percent: 30%, min_retry_concurrency: 5, interval: 1s } } }
    bulkhead: { max_in_flight: 100, max_waiting: 50, max_wait: 1s, queue_from: 50 }
  finagle:
    retry: { max_attempts: 4, backoff: { finagle: { kind: { exponential: 2 }, start: 10ms, maximum: 1s } } }
    budget: { finagle: { ttl: 20s, min_retries_per_sec: 5, percent_can_retry: 10%, deposits: calls } }
  finagle_linear: { retry: { max_attempts: 4, backoff: { finagle: { kind: { linear: 20ms }, start: 10ms } } } }
  google: { retry: { max_attempts: unlimited, backoff: { google_api_core: { initial: 2s, maximum: 30s, multiplier: 3 } } } }
  polly:
    retry: { max_attempts: 4, backoff: { polly: { kind: exponential, jitter: true, delay: 1s, max_delay: 10s } } }
    breaker: { polly: { failure_ratio: 20%, minimum_throughput: 50, sampling: 20s, break_for: 2s }, counts: calls, on: [ timeout ], ignored: [ invalid ] }
  resilience4j:
    retry: { max_attempts: 3, backoff: { resilience4j: { initial: 200ms, multiplier: 1.5, randomization: 50%, max: 2s } } }
    breaker:
      resilience4j:
        window: 10s
        minimum_calls: 20
        failure_rate: 40%
        slow_rate: 80%
        slow_after: 2s
        wait_in_open: { initial: 30s, multiplier: 2 }
        automatic_transition: true
        permitted_in_half_open: 5
        max_wait_in_half_open: 10s
        closes_after_half_open_wait: true
    rate_limit: { resilience4j: { limit_for_period: 10, limit_refresh_period: 1s, timeout: 100ms, blocking: false } }
  gobreaker: { breaker: { gobreaker: { max_requests: 2, interval: 10s, bucket_period: 1s, timeout: 30s, trip: { failure_ratio: { min_requests: 10, at_least: 60% } } } } }
  gobreaker_row: { breaker: { gobreaker: { trip: { consecutive_failures_above: 3 } } } }
  hystrix: { breaker: { hystrix: { request_volume_threshold: 10, error_threshold_percentage: 40, sleep_window: 3s, rolling_window: 8s, snapshot_interval: 250ms } } }
  linkerd:
    budget: { tower_tps: { ttl: 20s, min_per_sec: 5, retry_percent: 10%, deposits: calls } }
    breaker: { linkerd: { max_failures: 5, min_penalty: 2s, max_penalty: 30s, jitter: 10% } }
  sentinel: { breaker: { sentinel: { grade: error_count, threshold: 5, min_request_amount: 10, stat_interval: 2s, recovery: 10s } } }
  sentinel_slow: { breaker: { sentinel: { grade: { slow_ratio: 100ms }, threshold: 0.5, recovery: 10s } } }
  rates: { breaker: { rates: { window: 20, failure_rate: 40%, slow_rate: 80%, slow_after: 2s, minimum_calls: 10, open_for: 30s, half_open_calls: 5, ramp: { from: 5%, factor: 3, every: 2s } }, counts: calls } }
  preset: { preset: resilience4j, attempt_timeout: 2s }
  derived: { extends: preset, breaker: none }
  sre: { budget: { sre_adaptive: { k: 1.5, window: 1min, history: exact, rejections: [ timeout ] } } }
  aimd: { bulkhead: 100, limiter: { aimd: { initial: 10, min: 5, max: 50, backoff_ratio: 0.8, timeout: 1s }, dropped: [ timeout ] } }
  gradient: { bulkhead: 100, limiter: { gradient2: { initial: 10, min: 5, max: 50, smoothing: 0.3, tolerance: 2, long_window: 100, queue: 2 } } }
  vegas: { bulkhead: 100, limiter: { vegas: { initial: 10, max: 50, smoothing: 0.5, probe_multiplier: 10 } } }
  windowed: { bulkhead: 100, limiter: { aimd: { initial: 10, min: 5 }, window: { min: 200ms, max: 2s, samples: 20, min_rtt: 1ms } } }
  gcra: { rate_limit: { gcra: { rate: 100/s, burst: 5, max_wait: 50ms } } }
";

/// Policies with which those keys change what happens that the samples' values leave alone.
pub(crate) const POINTED: &str = "
- { attempt_timeout: 300ms, breaker: { window: 10, minimum_calls: 5, failure_rate: 40%, open_for: 1s, half_open_calls: 2, ramp: { from: 20%, factor: 2, every: 200ms } } }
- { retry: { max_attempts: 6, on: [ 5xx, 429, timeout, dns ], backoff: { exponential: { base: 100ms, max: 150ms } } } }
- { retry: { max_attempts: 6, on: [ 5xx, 429 ], backoff: { aws_jitter: { base: 50ms, cap: 100ms } } } }
- retry: { max_attempts: 4, on: [ 5xx, 429, timeout ], backoff: { aws_sdk: { mode: standard_2.1, service: dynamodb, retry_after: ignore } } }
  attempt_timeout: 300ms
  budget: { aws_quota: { capacity: 20, costs: smithy_2.0, refill_per_sec: 2, success_reward: 0.5 } }
- retry: { max_attempts: 3, on: [ 5xx, 429 ] }
  rate_limit: { aws_adaptive: { retry_cost: 200, transient_retry_cost: 300, reserves: true } }
- { retry: { max_attempts: 3, on: 429, retry_after: { honour: false } }, rate_limit: { aws_adaptive: { beta: 1, retry_cost: 20, reserves: true } } }
- { retry: { max_attempts: 3, on: [ 5xx, 429 ] }, budget: { envoy: { retry_budget: { percent: 1%, min_retry_concurrency: 1 } } } }
- { retry: { max_attempts: 3, on: [ 5xx, 429 ] }, budget: { grpc: { max_tokens: 3, token_ratio: 0.5009, variant: java } } }
- { breaker: { window: 100, minimum_calls: 5, open_for: 1s } }
- { breaker: { resilience4j: { window: 10, minimum_calls: 5, wait_in_open: { initial: 500ms, multiplier: 3 } } } }
- retry: { max_attempts: 4, on: [ 5xx, 429 ], backoff: { envoy: { base: 30ms, max: 40ms, rate_limited: { max_interval: 1s } } } }
  budget: { envoy: { retry_budget: { percent: 50%, min_retry_concurrency: 1, interval: 1s } } }
- { retry: { max_attempts: 4, on: [ 5xx, 429 ], backoff: { envoy: { rate_limited: { max_interval: 3s } } } }, budget: { envoy: { max_retries: 1 } } }
- { retry: { max_attempts: 6, on: [ 5xx, 429 ], backoff: { finagle: { kind: { exponential: 2 }, start: 50ms, maximum: 60ms } } } }
- { retry: { max_attempts: 6, on: [ 5xx, 429 ], backoff: { google_api_core: { initial: 100ms, maximum: 150ms } } } }
- retry: { max_attempts: 3, on: [ 5xx, 429 ], backoff: { grpc: { initial: 2s, max: 1s, multiplier: 2, variant: java } } }
  budget: { grpc: { max_tokens: 60, token_ratio: 0.0999, variant: java } }
- { attempt_timeout: 300ms, breaker: { gobreaker: { interval: 300ms, max_requests: 3, timeout: 2s, trip: { consecutive_failures_above: 2 } } } }
- { attempt_timeout: 60ms, breaker: { hystrix: { request_volume_threshold: 400 } } }
- { retry: { max_attempts: 3, on: [ 5xx, 429 ] }, budget: { ratio: { percent: 10, burst: 3 } }, scope: { budget: { tenant: { cap: 1 } } } }
- { breaker: { linkerd: { max_failures: 3, min_penalty: 500ms, max_penalty: 700ms } } }
- { retry: { max_attempts: 3, on: [ 5xx, 429 ] }, budget: { tower_tps: { ttl: 2s, min_per_sec: 1, retry_percent: 10%, deposits: calls } } }
- { retry: { max_attempts: 3, on: [ 5xx, 429 ] }, budget: { ratio: { percent: 10, burst: 3 } } }
- { retry: { max_attempts: 3, on: [ 5xx, 429 ] }, budget: { windowed: { of: successes, percent: 5%, window: 5s, floor: 1/s } } }
- { retry: { max_attempts: 3, on: [ 5xx, 429 ], persistence: 50% } }
- { attempt_timeout: 300ms, attempt_timeout_jitter: full, retry: { max_attempts: 3, on: [ 5xx, 429, timeout ] } }
- { retry: { max_attempts: 3, on: [ 5xx, 429 ] }, budget: { failure_share: 5% } }
- { retry: { max_attempts: 3, on: [ 5xx, 429 ] }, budget: { windowed: { of: not_retryable, ratio: 0.05 } } }
- retry: { max_attempts: 6, on: [ 5xx, 429 ], backoff: { polly: { kind: exponential, delay: 100ms, max_delay: 150ms } } }
  breaker: { polly: { failure_ratio: 20%, minimum_throughput: 20, sampling: 5s, break_for: 2s }, counts: calls, on: [ 5xx, 4xx ], ignored: [ invalid ] }
- { retry: { max_attempts: 2 }, breaker: { rates: { window: 3s, minimum_calls: 20, slow_rate: 30%, slow_after: 200ms, open_for: 1s }, counts: calls, ignored: [ overloaded ] } }
- { breaker: { window: 20, minimum_calls: 10, failure_rate: 20%, slow_rate: 30%, slow_after: 200ms, open_for: 1s, ignored: [ overloaded ] } }
- breaker: { resilience4j: { window: 2s, minimum_calls: 20, slow_rate: 30%, slow_after: 200ms, wait_in_open: { initial: 1s, multiplier: 3 }, automatic_transition: true, permitted_in_half_open: 5, max_wait_in_half_open: 30ms, closes_after_half_open_wait: true } }
- { retry: { max_attempts: 6, on: [ 5xx, 429 ], backoff: { resilience4j: { initial: 50ms, multiplier: 2, max: 80ms } } } }
- { deadline: { default: 300ms } }
- { deadline: { limit: 400ms, propagate: false } }
- { deadline: { inherit: true, slack: 3500ms } }
- { deadline: 1s, attempt_timeout: 600ms, retry: { max_attempts: 3, on: [ timeout, 5xx ], backoff: { fixed: 100ms }, reserve: 300ms, min_attempt: 300ms } }
- { retry: { max_attempts: 2, on: 429, retry_after: { max: 1s } } }
- { retry: { max_attempts: 2, on: 429, retry_after: { spread: 500ms } } }
- { retry: { max_attempts: 2, on: [ unavailable ], unprocessed: [ unavailable ] } }
- { retry: { max_attempts: 3, on: [ 5xx, 429 ], backoff: { fixed: 100ms } }, bulkhead: { max_in_flight: 5, max_waiting: 10, hold_during_backoff: true } }
- { budget: { sre_adaptive: { k: 1.1, window: 5s, history: exact, rejections: [ unavailable ] } } }
- { bulkhead: 100, limiter: { aimd: { initial: 3, min: 1, max: 4 } } }
- { bulkhead: 100, limiter: { vegas: { initial: 4, max: 5 } } }
- { bulkhead: 100, limiter: { aimd: { initial: 3, min: 1 }, window: { min: 100ms, max: 200ms, samples: 11 } } }
- { bulkhead: 100, limiter: { aimd: { initial: 3, min: 1 }, window: { min: 100ms, min_rtt: 500ms } } }
- { order: envoy, retry: { max_attempts: 3, on: 5xx, backoff: { fixed: 100ms }, refusals: [ bulkhead_full ] }, bulkhead: 3, breaker: { window: 20, minimum_calls: 10, open_for: 1s, count_refusals: true } }
- { breaker: { window: 20, minimum_calls: 10, open_for: 1s }, scope: { breaker: { host: 1 } } }
";

const FAULTS: &str = "
version: 1
run: { duration: 100s }
clients: { web: { arrivals: { poisson: 10/s }, calls: [ { to: s, policy: sdk } ] } }
services: { s: { concurrency: 10, program: [ { work: 1ms }, { cache: { keys: 5, miss: { work: 1ms } } } ] } }
policies: { sdk: { attempt_timeout: 1s }, rates: { attempt_timeout: 2s } }
faults:
  - { at: 1s, for: 1s, slow: { service: s, factor: 3x } }
  - { at: 2s, errors: { service: s, share: 50%, fail: { kind: internal, phase: connect, retry_after: 1s } } }
  - { at: 3s, errors: { service: s, fail: overloaded } }
  - { at: 4s, lose_capacity: { service: s, share: 0.5 } }
  - { at: 5s, outage: { service: s } }
  - { at: 6s, refuse: s }
  - { at: 7s, load: { client: web, factor: 2 } }
  - { at: 8s, kill_switch: { policy: sdk } }
  - { at: 8s, deploy: { service: s, at_once: 2, every: 5s, drain: 1s } }
  - { at: 8s, for: 1s, throttle: { service: s, limit: { gcra: { rate: 5/s } } } }
  - { at: 9s, for: 5s, change_policy: { policy: sdk, to: rates, share: 10%, over: 2s } }
  - { at: 9s, for: 1s, certificate: { service: s } }
  - { at: 9s, revoke: { credential: token } }
  - { at: 9s, for: 1s, change_link: { link: default, to: far } }
  - { at: 10s, empty_cache: { service: s, share: 50%, replicas: 2 } }
links: { default: { phases: { tls: 1ms } }, far: { delay: 9ms }, secure: { credential: token }, web -> s: { credential: token } }
credentials: { token: { from: s, link: default, lifetime: 1h } }
";

const EFFECTS: &str = "
version: 1
run: { duration: 10s }
clients: { shop: { arrivals: { at: [ 0s, 5s ] }, calls: [ { to: orders, operation: order, key: per_call, body: changed }, { to: orders, key: none }, { to: mail, key: numbered }, { to: bill, key: per_attempt, fallback: { direct: { to: mail, policy: one }, on: [ 503 ], permits: 2 } }, { to: bill, fallback: { instead: omit } }, { to: orders, operation: order, key: none, fallback: { look_up: { to: mail, policy: one } } }, { to: bill, fallback: { snapshot: { max_age: 1min, item: rates, at: 2s } } } ] } }
services:
  orders:
    script: [ 503, lost ]
    idempotency: { scope: [ tenant ], retention: 1h, claim: check_then_act, fingerprint: false, required: true, failures: replay }
    operations:
      read: { work: 1ms }
      order:
        status: 201
        script: { answers: [ { status: 429, program: true, retry_after: 2s }, { status: 503, retry_after: { date: 6s } } ], then: normal, per: call }
        idempotency: { lease: 30s, in_progress: { poll: { every: 20ms, times: 5 } } }
        program: [ { effect: order } ]
  bill: { idempotency: { in_progress: { fail: { kind: unavailable, retry_after: 1s } } }, work: 1ms }
  mail: { idempotency: { protects: [ mail ] }, program: [ { effect: mail }, { effect: copy } ] }
policies: { one: { attempt_timeout: 1s } }
faults: [ { at: 1s, errors: { service: mail, after_program: true } } ]
expect: [ 'duplicate_effects(mail, copy) == 0' ]
";

const SERVERS: &str = "
version: 1
run: { duration: 100s }
links: { web -> a: { pool: 7 } }
clients: { web: { arrivals: { poisson: 10/s }, calls: [ { to: a, priority: 3 }, b, c, d, e, f, g ] } }
services:
  a:
    replicas: 3
    concurrency: 4
    queue:
      capacity: 30
      discipline: { adaptive_lifo: { above: 5 } }
      codel: { target: 10ms, interval: 200ms }
      max_wait: { exponential: 1s }
      retry_after: 3s
    contention: { usl: { alpha: 0.1, beta: 0.01, frozen: true } }
    conflicts: { share: 1%, fail: unavailable }
    rate_limit: { gcra: { rate: 40/s, burst: 3 }, per_client: true, fail: unavailable, retry_after: exact }
    memory: { limit: 512MB, base: 64MiB, per_job: 1MB, leak: 2kB }
    restart: { after: 5s, cold: { factor: 3, for: 20s, jobs: 100 }, answer: nothing, new_address: true }
    pauses: { every: { exponential: 10s }, length: 100ms }
    outlier:
      interval: 5s
      base_ejection_time: 20s
      max_ejection_time: 200s
      max_ejection_time_jitter: 1s
      max_ejection_percent: 40
      always_eject_one_host: true
      consecutive_5xx: 6
      enforcing_consecutive_5xx: 90
      consecutive_gateway_failure: 4
      enforcing_consecutive_gateway_failure: 80
      split_local_origin: true
      consecutive_local_origin_failure: 3
      enforcing_consecutive_local_origin_failure: 70
      success_rate: { minimum_hosts: 2, request_volume: 10, stdev_factor: 1500, enforcing: 60, enforcing_local_origin: 50 }
      failure_percentage: { minimum_hosts: 3, request_volume: 20, threshold: 50, enforcing: 40, enforcing_local_origin: 30 }
    panic_threshold: 30%
    probes:
      startup: { period: 1s }
      liveness:
        operation: health
        period: 5s
        initial_delay: 2s
        timeout: 2s
        failure_threshold: 4
        success_threshold: 2
        spread: false
        aside: true
      readiness: { timeout: 2s }
    scaling: { min: 2, max: 9, workers: 50%, tolerance: 20%, every: 10s, lag: 5s, cooldown: 1min }
    work: 1ms
    operations: { health: { work: 1us } }
  b: { concurrency: 4, serve: { processor_sharing: { cores: 2 } }, scaling: { max: 3, cpu: 50% }, work: 1ms }
  c: { serve: { preemptive_lifo: 1 }, rate_limit: { per_period: { limit: 5, period: 1s } }, work: 1ms }
  d: { serve: { preemptive_priority: 1 }, work: 1ms }
  e: { concurrency: 1, scaling: { max: 3, queue: 2 }, work: 1ms }
  f:
    messages:
      visibility: 30s
      max_receives: 3
      gives_back: { after: { exponential: 5s } }
      receipt: in_time
      heartbeat: 10s
      retention: 1h
      groups: { keys: 10, skew: 1 }
    work: 1ms
  g: { messages: { visibility: 1min, gives_back: never, receipt: any }, work: 1ms }
faults:
  - { at: 1s, for: 2s, crash: { service: a, replicas: 2 } }
  - { at: 2s, for: 2s, pause: { service: a, replicas: 2 } }
  - { at: 3s, bad_replicas: { service: a, replicas: 2, errors: 50%, fail: unavailable, slow: 2 } }
";

/// The files that the samples name.
pub(crate) fn fetch(file: &str) -> Result<String, String> {
    match file {
        "trace.csv" => Ok("n,t\n100,200\n101,350\n105,360\n".into()),
        "rates.csv" => Ok("0.5,10\n1.5,20\n2.5,0\n".into()),
        "x.hgrm" => Ok("Value Percentile TotalCount 1/(1-Percentile)\n\n1.0 0.0 1 1.00\n2.0 0.5 5 2.00\n9.0 1.0 10 inf\n".into()),
        _ => Err("no such file".into()),
    }
}
