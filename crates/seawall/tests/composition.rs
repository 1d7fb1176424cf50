//! What follows from the order of composition: each test is one consequence, seen in what a client does.

use seawall::{
    Action, Backoff, Breaker, BreakerRule, BreakerState, Bulkhead, Call, CallKey, Client, Deadline,
    Entropy, FailureKind, FailureSet, Jitter, Layer as L, Operation, Order, RateLimit, Rates,
    RefusalSet, Reply, Request, Retry, Span, Spec, Stopped, Time, Window, rate_limit::Gcra,
};

struct Zeros;

impl Entropy for Zeros {
    fn next_u64(&mut self) -> u64 {
        0
    }
}

fn ms(n: u64) -> Time {
    Time(n * 1_000_000)
}

fn retried() -> Spec {
    Spec {
        retry: Retry {
            max_attempts: 3,
            backoff: Backoff::Fixed {
                delay: Span::millis(10),
                jitter: Jitter::None,
            },
            on: FailureSet::of(&[FailureKind::Unavailable, FailureKind::Timeout]),
            ..Retry::default()
        },
        ..Spec::default()
    }
}

fn in_order(layers: &[L], spec: Spec) -> Client {
    let spec = Spec {
        order: Some(Order::of(layers)),
        ..spec
    };
    Client::new(spec.check().expect("sound"), Time::ZERO)
}

fn bulkhead(max_waiting: u32) -> Option<Bulkhead> {
    Some(Bulkhead {
        max_in_flight: 1,
        queue_from: None,
        max_waiting,
        max_wait: Span::millis(100),
        hold_during_backoff: None,
    })
}

/// Opens after two failures, for 25 ms.
fn breaker() -> Option<Breaker> {
    Some(Breaker {
        rule: BreakerRule::Rates(Rates {
            window: Window::Count(2),
            failure_rate: 1.0,
            slow_rate: None,
            slow_after: Span::MAX,
            minimum_calls: 2,
            open_for: Span::millis(25),
            half_open_calls: 1,
            ramp: None,
        }),
        counts: None,
        count_refusals: false,
        on: FailureSet::of(FailureKind::ALL),
        ignored: FailureSet::NONE,
    })
}

fn begin(client: &mut Client, key: u64, now: Time) -> Call {
    let request = Request {
        key: CallKey(key),
        deadline: None,
        operation: Operation::default(),
    };
    client.begin(now, request)
}

/// Polls and names what was done: the attempt sent, or why the call ended.
fn polled(client: &mut Client, call: &mut Call, now: Time) -> Vec<String> {
    let mut did = Vec::new();
    while let Some(action) = client.poll(call, now, &mut Zeros) {
        did.push(match action {
            Action::Choose(_) => "choose".into(),
            Action::Send { attempt, .. } => format!("send {attempt}"),
            Action::Abandon(attempt) => format!("abandon {attempt}"),
            Action::Finish(verdict) => verdict.stopped.map_or("ok", Stopped::name).into(),
        });
    }
    did
}

fn fail(client: &mut Client, call: &mut Call, now: Time) {
    let attempt = call.attempts();
    client.on_reply(
        call,
        now,
        attempt,
        Reply::Failed(FailureKind::Unavailable.into()),
    );
}

fn timer(client: &mut Client, call: &mut Call) -> Time {
    let at = call.timer().expect("it waits");
    client.on_timer(call, at);
    at
}

#[test]
fn a_permit_is_held_during_backoff_exactly_when_the_bulkhead_is_outside_retry() {
    for (layers, held) in [([L::Bulkhead, L::Retry], 1), ([L::Retry, L::Bulkhead], 0)] {
        let spec = Spec {
            bulkhead: bulkhead(0),
            ..retried()
        };
        let mut client = in_order(&layers, spec);
        let mut call = begin(&mut client, 1, ms(0));
        assert_eq!(polled(&mut client, &mut call, ms(0)), ["send 1"]);
        fail(&mut client, &mut call, ms(1));
        assert_eq!(polled(&mut client, &mut call, ms(1)), [""; 0]);
        assert_eq!(client.bulkhead_load(), Some((held, 0)));
        // Whoever comes meanwhile gets in, or does not.
        let mut other = begin(&mut client, 2, ms(2));
        let got = ["send 1", "bulkhead_full"][held as usize];
        assert_eq!(polled(&mut client, &mut other, ms(2)), [got]);
    }
}

#[test]
fn a_breaker_outside_retry_counts_calls_and_inside_it_attempts() {
    for (layers, state) in [
        ([L::Breaker, L::Retry], BreakerState::Closed),
        ([L::Retry, L::Breaker], BreakerState::Open),
    ] {
        let mut client = in_order(
            &layers,
            Spec {
                breaker: breaker(),
                ..retried()
            },
        );
        let mut call = begin(&mut client, 1, ms(0));
        assert_eq!(polled(&mut client, &mut call, ms(0)), ["send 1"]);
        fail(&mut client, &mut call, ms(1));
        let _ = polled(&mut client, &mut call, ms(1));
        let at = timer(&mut client, &mut call);
        assert_eq!(polled(&mut client, &mut call, at), ["send 2"]);
        fail(&mut client, &mut call, at);
        assert_eq!(client.breaker_state(at), Some(state));
    }
}

#[test]
fn a_total_timeout_counts_from_admission_when_the_bulkhead_is_outside() {
    for (layers, deadline) in [
        ([L::TotalTimeout, L::Bulkhead, L::Retry], ms(50)),
        ([L::Bulkhead, L::TotalTimeout, L::Retry], ms(80)),
    ] {
        let mut spec = Spec {
            bulkhead: bulkhead(1),
            ..retried()
        };
        spec.deadline = Deadline {
            limit: Some(Span::millis(50)),
            ..Deadline::default()
        };
        let mut client = in_order(&layers, spec);
        let mut first = begin(&mut client, 1, ms(0));
        let mut second = begin(&mut client, 2, ms(0));
        assert_eq!(polled(&mut client, &mut first, ms(0)), ["send 1"]);
        assert_eq!(polled(&mut client, &mut second, ms(0)), [""; 0]);
        client.on_reply(&mut first, ms(30), 1, Reply::Ok);
        assert_eq!(polled(&mut client, &mut first, ms(30)), ["ok"]);
        assert_eq!(client.next_admitted(), Some(CallKey(2)));
        assert_eq!(polled(&mut client, &mut second, ms(30)), ["send 1"]);
        assert_eq!(second.deadline(), Some(deadline));
        assert_eq!(second.timer(), Some(deadline), "no attempt outlives it");
    }
}

#[test]
fn a_rate_limit_is_paid_per_call_outside_retry_and_per_attempt_inside() {
    for (layers, second) in [
        ([L::RateLimit, L::Retry], "send 2"),
        ([L::Retry, L::RateLimit], "rate_limited"),
    ] {
        let gcra = Gcra {
            period: Span::secs(1),
            burst: 1,
        };
        let rate_limit = Some(RateLimit::Gcra {
            gcra,
            max_wait: Span::ZERO,
        });
        let mut client = in_order(
            &layers,
            Spec {
                rate_limit,
                ..retried()
            },
        );
        let mut call = begin(&mut client, 1, ms(0));
        assert_eq!(polled(&mut client, &mut call, ms(0)), ["send 1"]);
        fail(&mut client, &mut call, ms(1));
        let _ = polled(&mut client, &mut call, ms(1));
        let at = timer(&mut client, &mut call);
        assert_eq!(polled(&mut client, &mut call, at), [second]);
    }
}

#[test]
fn a_refusal_inside_retry_is_tried_again_where_the_policy_says_so_and_one_outside_never() {
    for (layers, refusals, ends) in [
        ([L::Retry, L::Breaker], RefusalSet::ALL, None),
        (
            [L::Retry, L::Breaker],
            RefusalSet::NONE,
            Some("breaker_open"),
        ),
        (
            [L::Breaker, L::Retry],
            RefusalSet::ALL,
            Some("breaker_open"),
        ),
    ] {
        let mut spec = Spec {
            breaker: breaker(),
            ..retried()
        };
        spec.retry.refusals = refusals;
        let mut client = in_order(&layers, spec);
        for key in 0..2 {
            // Invalid is not retried: one result each, whichever way it counts.
            let mut call = begin(&mut client, key, ms(0));
            assert_eq!(polled(&mut client, &mut call, ms(0)), ["send 1"]);
            client.on_reply(
                &mut call,
                ms(0),
                1,
                Reply::Failed(FailureKind::Invalid.into()),
            );
            assert_eq!(polled(&mut client, &mut call, ms(0)), ["not_retryable"]);
        }
        let mut call = begin(&mut client, 9, ms(1));
        let did = polled(&mut client, &mut call, ms(1));
        match ends {
            Some(reason) => assert_eq!(did, [reason]),
            None => {
                // Refused at 1 ms and at 11 ms; at 21 ms the tries are used up.
                assert_eq!(did, [""; 0]);
                let at = timer(&mut client, &mut call);
                assert_eq!(polled(&mut client, &mut call, at), [""; 0]);
                let at = timer(&mut client, &mut call);
                assert_eq!(polled(&mut client, &mut call, at), ["breaker_open"]);
                assert_eq!((at, client.stats().refusals_retried), (ms(21), 2));
                assert_eq!(client.stats().attempts, 2, "no refused try is an attempt");
            }
        }
    }
}

#[test]
fn refusals_inside_the_breaker_are_failures_to_it_only_where_it_counts_them() {
    for (count_refusals, layers, state) in [
        (
            true,
            [L::Retry, L::Breaker, L::Bulkhead],
            BreakerState::Open,
        ),
        (
            false,
            [L::Retry, L::Breaker, L::Bulkhead],
            BreakerState::Closed,
        ),
        (
            true,
            [L::Retry, L::Bulkhead, L::Breaker],
            BreakerState::Closed,
        ),
    ] {
        let mut spec = Spec {
            breaker: breaker(),
            bulkhead: bulkhead(0),
            ..retried()
        };
        if let Some(breaker) = &mut spec.breaker {
            breaker.count_refusals = count_refusals;
        }
        let mut client = in_order(&layers, spec);
        let mut calls: Vec<Call> = (0..3).map(|key| begin(&mut client, key, ms(0))).collect();
        assert_eq!(polled(&mut client, &mut calls[0], ms(0)), ["send 1"]);
        for call in &mut calls[1..] {
            assert_eq!(polled(&mut client, call, ms(0)), ["bulkhead_full"]);
        }
        assert_eq!(client.breaker_state(ms(0)), Some(state));
    }
}

#[test]
fn a_breaker_inside_the_attempt_timeout_does_not_see_it() {
    for (layers, state) in [
        (
            [L::Retry, L::Breaker, L::AttemptTimeout],
            BreakerState::Open,
        ),
        (
            [L::Retry, L::AttemptTimeout, L::Breaker],
            BreakerState::Closed,
        ),
    ] {
        let spec = Spec {
            attempt_timeout: Some(Span::millis(5)),
            breaker: breaker(),
            ..retried()
        };
        let mut client = in_order(&layers, spec);
        let mut call = begin(&mut client, 1, ms(0));
        let mut now = ms(0);
        for attempt in 1..=2 {
            assert_eq!(
                polled(&mut client, &mut call, now),
                [format!("send {attempt}")]
            );
            now = timer(&mut client, &mut call);
            let _ = polled(&mut client, &mut call, now);
            if attempt == 1 {
                now = timer(&mut client, &mut call);
            }
        }
        assert_eq!(client.breaker_state(now), Some(state));
    }
}

#[test]
fn the_wait_for_a_permit_is_part_of_the_attempt_where_the_bulkhead_is_inside_its_timeout() {
    for (layers, left) in [
        ([L::Retry, L::Bulkhead, L::AttemptTimeout], 40),
        ([L::Retry, L::AttemptTimeout, L::Bulkhead], 10),
    ] {
        let spec = Spec {
            attempt_timeout: Some(Span::millis(40)),
            bulkhead: bulkhead(1),
            ..retried()
        };
        let mut client = in_order(&layers, spec);
        let mut first = begin(&mut client, 1, ms(0));
        let mut second = begin(&mut client, 2, ms(0));
        let _ = polled(&mut client, &mut first, ms(0));
        let _ = polled(&mut client, &mut second, ms(0));
        client.on_reply(&mut first, ms(30), 1, Reply::Ok);
        let _ = polled(&mut client, &mut first, ms(30));
        assert_eq!(client.next_admitted(), Some(CallKey(2)));
        assert_eq!(polled(&mut client, &mut second, ms(30)), ["send 1"]);
        assert_eq!(second.timer(), Some(ms(30).after(Span::millis(left))));
    }
}
