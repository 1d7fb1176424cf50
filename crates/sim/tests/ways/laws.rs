//! Worlds in which much goes wrong at once: every run keeps its laws, or it would panic.

use std::sync::Arc;

use sim::World;
use sim::scenario::{Format, Source, load};

const POOLS: [&str; 8] = [
    "",
    "pool: 2,",
    "pool: { size: 3, streams: 4, idle_timeout: 200ms },",
    "pool: { size: 4, per_replica: 2, acquire_timeout: 30ms, warm: 2, accept: 3ms },",
    "pool: { ends_at: balancer, size: 3, max_lifetime: 300ms, server_idle_timeout: 50ms, idle_timeout: 1s },",
    "pool: { size: 5, server_idle_timeout: 20ms, notices_close: false, idle_timeout: 400ms, streams: 2 },",
    "pool: { per_replica: 1, streams: 3, max_lifetime: 100ms, dns_ttl: 2s },",
    "pool: { size: 2, acquire_timeout: 0s },",
];

const POLICIES: [&str; 4] = [
    "attempt_timeout: 60ms, retry: { max_attempts: 3, on: [ timeout, reset, connect_refused, connect_timeout, unavailable, tls, dns ] }",
    "deadline: 150ms, hedge: { delay: 20ms, max_attempts: 3 }",
    "deadline: 80ms, attempt_timeout: 50ms, retry: { max_attempts: 5, on: [ timeout, reset, connect_refused ] }, bulkhead: 3",
    "attempt_timeout: 40ms, scope: { breaker: host }, breaker: { window: 10, minimum_calls: 5, open_for: 100ms }, retry: { max_attempts: 2, on: [ timeout, 5xx ] }",
];

const CREDENTIALS: [&str; 3] = ["", "credential: token,", "credential: spare,"];

fn world(pool: &str, policy: &str, credential: &str, step: &str) -> String {
    let tokens = match credential {
        "" => String::new(),
        "credential: token," => {
            "credentials: { token: { from: auth, policy: p, lifetime: 500ms, refresh_margin: 100ms } }".into()
        }
        _ => "credentials: { spare: { from: auth, policy: p, lifetime: { exponential: 300ms }, \
              single_flight: false, per: client } }"
            .to_owned(),
    };
    let revoked = match credential {
        "" => "",
        "credential: token," => "  - { at: 3s, revoke: token }\n",
        _ => "  - { at: 3s, revoke: spare }\n",
    };
    let moves = !pool.is_empty();
    format!(
        "
version: 1
run: {{ duration: 6s, window: 1s, drain: 2s }}
clients:
  web: {{ instances: 2, arrivals: {{ poisson: 60/s }}, calls: [ {{ to: front, policy: p }} ] }}
  app: {{ arrivals: {{ poisson: 20/s }}, calls: [ {{ to: api, policy: p }} ] }}
services:
  front:
    replicas: 2
    restart: {{ after: 300ms, answer: nothing }}
    honours_cancellation: true
    program: [ {{ work: 1ms }}, {{ {step} }} ]
  api:
    replicas: 3
    concurrency: 2
    queue: {{ capacity: 20 }}
    restart: {{ after: 500ms, new_address: {moves} }}
    program: [ {{ work: {{ exponential: 10ms }} }}, {{ effect: row }}, {{ respond: ok }}, {{ work: 5ms }} ]
  auth: {{ concurrency: 2, work: {{ exponential: 20ms }} }}
links:
  default: {{ delay: 1ms }}
  front -> api: &way
    delay: {{ exponential: 2ms }}
    lose_request: 2%
    lose_response: 2%
    {credential}
    {pool}
    phases:
      dns: {{ takes: 1ms, fails: 1% }}
      connect: {{ takes: {{ exponential: 3ms }}, fails: 2%, timeout: 15ms }}
      tls: {{ takes: 2ms, fails: 2% }}
      send: {{ takes: {{ exponential: 1ms }}, fails: 1%, timeout: 4ms }}
      receive: {{ takes: {{ exponential: 2ms }}, fails: 1%, timeout: 10ms }}
      decode: {{ takes: 1ms, fails: 1% }}
  app -> api: *way
{tokens}
policies: {{ p: {{ {policy} }}, later: {{ attempt_timeout: 70ms, retry: {{ max_attempts: 2, on: [ timeout, reset ] }} }} }}
faults:
  - {{ at: 1s, crash: {{ service: api, replicas: 1 }} }}
  - {{ at: 1500ms, crash: {{ service: front, replicas: 1 }} }}
  - {{ at: 2s, for: 300ms, outage: api }}
  - {{ at: 2500ms, for: 200ms, refuse: api }}
{revoked}  - {{ at: 2200ms, for: 2s, change_policy: {{ policy: p, to: later, over: 1s }} }}
  - {{ at: 3500ms, for: 300ms, certificate: api }}
  - {{ at: 4s, for: 500ms, outage: auth }}
  - {{ at: 4500ms, for: 500ms, errors: {{ service: api, share: 50%, fail: unauthenticated }} }}
"
    )
    .replace("    \n", "")
    .lines()
    .map(|line| {
        // In a block of lines a comma ends nothing.
        let own = line.starts_with("    pool:") || line.starts_with("    credential:");
        match own {
            true => line.trim_end_matches(','),
            false => line,
        }
    })
    .collect::<Vec<_>>()
    .join("\n")
}

#[test]
fn whatever_goes_wrong_each_thing_ends_once() {
    let steps = [
        "call: { to: api, policy: p }",
        "call: { to: api, policy: p, coalesce: { keys: 3 } }",
        "parallel: [ { call: { to: api, policy: p } }, { call: { to: api, policy: p, coalesce: 2 } } ]",
    ];
    let (mut arrived, mut seed) = (0, 0);
    for pool in POOLS {
        for policy in POLICIES {
            for credential in CREDENTIALS {
                for step in steps {
                    let text = world(pool, policy, credential, step);
                    let source = Source {
                        name: "world.yaml",
                        text: &text,
                        format: Format::Yaml,
                    };
                    let scenario = load(&source, &[], &mut |_| Err(String::new()));
                    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}\n{text}"));
                    seed += 1;
                    let outcome = World::new(Arc::new(scenario), seed).with_log().run();
                    arrived += outcome.drained.services[1].arrived;
                }
            }
        }
    }
    assert!(arrived > 10_000, "{arrived}");
}
