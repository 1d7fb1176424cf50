//! Worlds put together at random from everything about effects, keys, scripts and fallbacks: the conservation laws hold
//! in all of them (the kernel checks them after every run), and a ledger changes nothing.

use std::sync::Arc;

use seawall::Entropy;
use sim::World;
use sim::rng::SplitMix64;

use crate::yaml;

/// One of several, and whether something is written at all.
struct Dice(SplitMix64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }

    fn maybe(&mut self, of: &[&'static str]) -> &'static str {
        if self.below(2) == 0 { "" } else { self.one(of) }
    }
}

const KEYS: &[&str] = &[
    "none",
    "per_call",
    "per_attempt",
    "numbered",
    "per_call, body: changed",
];

const STORES: &[&str] = &[
    "retention: 50ms",
    "claim: check_then_act, retention: 1s",
    "scope: [operation], in_progress: { poll: { every: 5ms, times: 4 } }, lease: 30ms",
    "scope: [tenant], failures: replay, lease: 1ms",
    "in_progress: { fail: { kind: 503, retry_after: 20ms } }, required: true",
    "protects: [order]",
];

const SCRIPTS: &[&str] = &[
    "script: { answers: [503, lost, program], then: normal }, ",
    "script: { answers: [ { status: 503, program: true }, { status: lost, program: false } ], then: normal }, ",
    "script: { answers: [ { status: 201, program: false }, 429 ], then: normal, per: call }, ",
];

const STEPS: &[&str] = &[
    "{ work: { exponential: 5ms } }",
    "{ effect: mail }",
    "{ respond: ok }, { delay: 2ms }",
    "{ repeat: { times: 3, do: [ { work: 1ms }, { effect: item } ] } }",
    "{ choose: [ { weight: 1, do: { effect: order } }, { weight: 1, do: { delay: 2ms } } ] }",
    "{ parallel: [ { effect: order }, [ { delay: 3ms }, { effect: mail } ] ] }",
];

const FALLBACKS: &[&str] = &[
    ", fallback: { instead: omit }",
    ", fallback: { snapshot: { max_age: 100ms, at: 1s }, permits: 2 }",
    ", fallback: { direct: { to: spare, policy: b }, permits: 3 }",
    ", fallback: { look_up: { to: spare, policy: b }, permits: 2 }",
];

const FAULTS: &[&str] = &[
    "{ at: 500ms, for: 200ms, outage: orders }",
    "{ at: 700ms, for: 200ms, outage: gateway }",
    "{ at: 300ms, for: 1s, errors: { service: orders, share: 50%, after_program: true } }",
    "{ at: 900ms, for: 500ms, refuse: orders }",
];

const RETRIES: &[&str] = &[
    "max_attempts: 4, backoff: none",
    "max_attempts: 2, backoff: { fixed: 10ms }",
];
const BOUNDS: &[&str] = &[", bulkhead: 4", ", deadline: 60ms"];

fn world(dice: &mut Dice) -> String {
    let policy = |dice: &mut Dice| {
        format!(
            "{{ attempt_timeout: {}, retry: {{ {}, on: [timeout, unavailable, conflict, internal] }}{} }}",
            dice.one(&["5ms", "20ms", "80ms"]),
            dice.one(RETRIES),
            dice.maybe(BOUNDS)
        )
    };
    let service = |dice: &mut Dice| {
        format!(
            "concurrency: {}, honours_cancellation: {}, holds_worker: {}, idempotency: {{ {} }}, {}",
            1 + dice.below(6),
            dice.one(&["true", "false"]),
            dice.one(&["true", "false"]),
            dice.one(STORES),
            dice.maybe(SCRIPTS)
        )
    };
    format!(
        "version: 1
run: {{ duration: 2s, window: 500ms, drain: {} }}
clients:
  shop: {{ instances: 3, arrivals: {{ poisson: 150/s }}, calls: [ {{ to: gateway, policy: a, key: {}{} }} ] }}
  bot: {{ instances: 2, loop: [ {{ call: {{ to: orders, policy: a, key: {}, optional: true{} }} }}, {{ delay: 10ms }} ] }}
services:
  gateway: {{ replicas: 2, {}program: [ {{ call: {{ to: orders, policy: b, key: {}{} }} }}, {{ effect: order }} ] }}
  orders: {{ queue: 20, {}program: [ {}, {}, {{ effect: order }} ] }}
  spare: {{ concurrency: 2, queue: 5, program: [ {{ work: 3ms }}, {{ effect: seen }} ] }}
links: {{ default: {{ delay: {}, lose_request: 5%, lose_response: 10% }} }}
policies: {{ a: {}, b: {} }}
faults: [ {}, {} ]
",
        dice.one(&["0s", "100ms", "5s"]),
        dice.one(KEYS),
        dice.maybe(FALLBACKS),
        dice.one(KEYS),
        dice.maybe(FALLBACKS),
        service(dice),
        dice.one(&["inherited", "per_call", "none"]),
        dice.maybe(FALLBACKS),
        service(dice),
        dice.one(STEPS),
        dice.one(STEPS),
        dice.one(&["0s", "500us", "{ exponential: 1ms }"]),
        policy(dice),
        policy(dice),
        dice.one(FAULTS),
        dice.one(FAULTS),
    )
}

#[test]
fn the_laws_hold_in_worlds_put_together_at_random_and_a_ledger_changes_nothing() {
    let (mut done, mut again, mut skipped, mut served) = (0, 0, 0, 0);
    for seed in 0..60 {
        let text = world(&mut Dice(SplitMix64::new(seed)));
        let scenario = Arc::new(yaml(&text));
        let plain = World::new(Arc::clone(&scenario), seed).run();
        let noted = World::new(Arc::clone(&scenario), seed)
            .with_ledger(20)
            .run();
        assert_eq!(plain.trajectory, noted.trajectory, "{text}");
        let ledger = noted.ledger.expect("one was kept");
        assert!(ledger.len() >= 20, "{} entries\n{text}", ledger.len());
        for count in &plain.drained.effects {
            done += count.committed;
            again += count.duplicates;
            skipped += count.skipped;
        }
        let answers = plain.drained.answers.iter();
        served += answers
            .map(|count| count.answered() - count.live)
            .sum::<u64>();
    }
    // All of it was met.
    assert!(done > 10_000, "{done}");
    assert!(
        again > 1000 && skipped > 100 && served > 100,
        "{again} {skipped} {served}"
    );
}
