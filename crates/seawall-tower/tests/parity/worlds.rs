//! Worlds in which everything happens to calls.

use std::sync::Arc;

use seawall::{Entropy, Spec};
use sim::Scenario;
use sim::rng::SplitMix64;
use sim::scenario::{Format, Source, load};

/// Two layers under one policy, with drawn load and drawn trouble.
///
/// The web's calls reach a gateway, which asks two services at once, stops when its caller leaves, and hands its
/// deadline on. Services turn slow, fail in several ways, refuse and vanish; retries are switched off for a while.
pub(crate) fn under(spec: &Spec, seed: u64) -> Arc<Scenario> {
    let mut draws = SplitMix64::new(seed);
    let mut below = |n: u64| draws.next_u64() % n;
    let text = format!(
        "
version: 1
run: {{ duration: 12s, window: 1s, drain: 30s }}
clients:
  web: {{ instances: 2, arrivals: {{ poisson: {rate}/s }}, calls: [ {{ to: gateway, policy: p }} ] }}
services:
  gateway:
    replicas: 2
    honours_cancellation: true
    program:
      - parallel: [ {{ call: {{ to: api, policy: p }} }}, {{ call: {{ to: stock, policy: p }} }} ]
  api: {{ concurrency: {workers}, queue: 60, work: {{ exponential: {{ mean: 20ms }} }} }}
  stock: {{ concurrency: 4, queue: 20, idempotent: false, work: {{ exponential: {{ mean: 10ms }} }} }}
links:
  default: {{ delay: {{ exponential: {{ mean: 1ms }} }}, lose_request: 0.5%, lose_response: 0.5% }}
policies: {{ p: {{ attempt_timeout: 1s }} }}
faults:
  - {{ at: {slow}ms, for: 2s, slow: {{ service: api, factor: {factor} }} }}
  - {{ at: {failing}ms, for: 2s, errors: {{ service: api, share: 60%, fail: unavailable }} }}
  - {{ at: {asking}ms, for: 1s, errors: {{ service: api, share: 30%, fail: {{ kind: overloaded, retry_after: {wait}ms }} }} }}
  - {{ at: 7s, for: 300ms, refuse: stock }}
  - {{ at: 8s, for: 400ms, outage: api }}
  - {{ at: 9s, for: 500ms, kill_switch: p }}
  - {{ at: 9s, for: 500ms, errors: {{ service: api, share: 30%, fail: internal }} }}
",
        rate = 40 + below(80),
        workers = 3 + below(4),
        slow = 1000 + below(2000),
        factor = 5 + below(20),
        failing = 3000 + below(2000),
        asking = 5000 + below(2000),
        wait = 20 + below(2000),
    );
    let mut scenario = load_text(&text);
    let named = scenario.policies.iter_mut().find(|p| p.name == "p");
    named.expect("written above").policy = spec.check().expect("a sound spec");
    Arc::new(scenario)
}

fn load_text(text: &str) -> Scenario {
    let source = Source {
        name: "parity.yaml",
        text,
        format: Format::Yaml,
    };
    let none = &mut |path: &str| Err(format!("{path}: no files here"));
    load(&source, &[], none).unwrap_or_else(|problems| panic!("{problems}"))
}
