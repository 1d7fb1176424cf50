//! Effects, keys and scripts: what is written, and what makes no sense together.

use seawall::{FailureKind, Reply, Span};
use sim::scenario::effects::{InProgress, KeySent, Say};

use crate::{wrong, yaml};

fn world(call: &str, service: &str, rest: &str) -> String {
    format!(
        "version: 1
run: {{ duration: 10s }}
clients: {{ shop: {{ arrivals: {{ at: [0s] }}, calls: [ {call} ] }} }}
services:
  orders: {{ {service} }}
{rest}"
    )
}

const KEYED: &str = "{ to: orders, key: per_call }";
const ORDER: &str = "program: [ { effect: order } ]";

#[test]
fn what_is_written_is_what_is_meant() {
    let service = "program: [ { effect: order }, { choose: [ { weight: 1, do: { effect: mail } }, { weight: 1, do: { delay: 1ms } } ] } ],
    idempotency: { scope: [operation], lease: 2s, in_progress: { poll: { every: 5ms, times: 3 } } },
    script: [ 503, { status: 429, retry_after: { date: 6s } }, lost, program ]";
    let scenario = yaml(&world("{ to: orders, key: numbered }", service, ""));
    let effects = scenario.effects.expect("used");
    let names: Vec<&str> = effects.effects.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["order", "mail"]);
    let rules = &effects.rules[0][0];
    // One arm sends no mail.
    assert_eq!(
        (&rules.least[..], &rules.touches[..]),
        (&[(0, 1)][..], &[0, 1][..])
    );
    assert_eq!(effects.sends[0].key, KeySent::Numbered);
    let store = &effects.stores[0];
    assert_eq!((store.by_tenant, store.by_operation), (false, true));
    assert_eq!(store.lease, Span::secs(2));
    assert_eq!(
        store.in_progress,
        InProgress::Polls {
            every: Span::millis(5),
            times: 3
        }
    );
    let said: Vec<_> = effects.scripts[0]
        .answers
        .iter()
        .map(|a| (a.say.clone(), a.program))
        .collect();
    let fails = |kind: FailureKind, status, date: Option<&str>| Say::Answer {
        reply: Reply::Failed(kind.into()),
        status,
        date: date.map(String::from),
    };
    assert_eq!(
        said,
        [
            (fails(FailureKind::Unavailable, 503, None), false),
            (
                fails(
                    FailureKind::Overloaded,
                    429,
                    Some("Thu, 01 Jan 2026 00:00:06 GMT")
                ),
                false
            ),
            (Say::Nothing, true),
            (Say::AsUsual, true),
        ]
    );
}

#[test]
fn a_world_without_any_has_none_of_it() {
    assert!(yaml(&world("orders", "work: 1ms", "")).effects.is_none());
}

#[test]
fn keys_that_nobody_reads_or_sends_are_refused() {
    for (call, service, rest, says) in [
        (
            KEYED,
            ORDER,
            "",
            "3:59: key: nobody reads it: the operation has no `idempotency`",
        ),
        (
            "orders",
            "idempotency: {}, program: [ { effect: order } ]",
            "",
            "idempotency of `orders`: no call says which key it sends",
        ),
        (
            "{ to: orders, body: changed }",
            ORDER,
            "",
            "3:73: clients.shop: body: goes with a `key`",
        ),
        (
            "{ to: orders, key: inherited }",
            ORDER,
            "",
            "clients.shop: key: a client has no request to inherit one from",
        ),
        (
            "{ to: orders, key: per_call, body: changed }",
            "idempotency: { fingerprint: false }, work: 1ms",
            "",
            "body: nobody looks at it",
        ),
        (
            KEYED,
            "idempotency: { claim: check_then_act, in_progress: conflict, lease: 1s }, work: 1ms",
            "",
            "services.orders.idempotency: in_progress: nothing is ever in progress",
        ),
        (
            KEYED,
            "idempotency: { protects: [oder] }, program: [ { effect: order } ]",
            "",
            "no effect here is called `oder`: did you mean `order`?",
        ),
        ("{ effect: order }", ORDER, "", "unknown key `effect`"),
        (
            "orders",
            "work: 1ms, script: [ { status: 200, retry_after: 2s } ]",
            "",
            "`retry_after` goes with a failure",
        ),
        (
            "orders",
            "work: 1ms, script: [ { status: 503, retry_after: { date: 1500ms } } ]",
            "",
            "an HTTP date has whole seconds, got 1.5s",
        ),
        (
            "orders",
            "work: 1ms, script: [ 302 ]",
            "",
            "expected an HTTP status (200 to 299, 400 to 599), `lost` or `program`, got the number 302",
        ),
        (
            "orders",
            "work: 1ms",
            "expect: [ effects(orders) == 1 ]",
            "orders has no `effect` step",
        ),
        (
            "orders",
            "work: 1ms",
            "expect: [ effects == 1 ]",
            "no service has an `effect` step",
        ),
        (
            "orders",
            "work: 1ms",
            "expect: [ replayed(orders) == 1 ]",
            "`orders` has no `idempotency`",
        ),
        (
            "orders",
            ORDER,
            "expect: [ 'effects(orders, oder) == 1' ]",
            "no effect is called `oder`: did you mean `order`?",
        ),
    ] {
        let problems = wrong(&world(call, service, rest));
        assert!(problems.contains(says), "{says}\n{problems}");
    }
}

#[test]
fn a_client_has_no_effects() {
    let text = world("orders", ORDER, "").replace(
        "calls: [ orders ]",
        "program: [ { effect: order }, { call: orders } ]",
    );
    let problems = wrong(&text);
    assert!(
        problems.contains("effect: only what a service does is counted"),
        "{problems}"
    );
}
