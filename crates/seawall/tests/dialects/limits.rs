use seawall::limiter::Aimd;
use seawall::rate_limit::{AwsAdaptive, Gcra, Resilience4jRate};
use seawall::{
    Bulkhead, Call, Deadline, FailureKind, FailureSet, Limiter, LimiterRule, RateLimit, Span, Spec,
    Stopped,
};

use crate::desk::{Desk, ms, retrying, sent, stopped};

fn bulkhead(max_in_flight: u32, max_waiting: u32) -> Option<Bulkhead> {
    Some(Bulkhead {
        max_in_flight,
        queue_from: None,
        max_waiting,
        max_wait: Span::secs(1),
        hold_during_backoff: None,
    })
}

/// Two at once to begin with; overloaded servers drop.
fn aimd(max_in_flight: u32, max_waiting: u32) -> Desk {
    Desk::new(&Spec {
        bulkhead: bulkhead(max_in_flight, max_waiting),
        limiter: Some(Limiter {
            rule: LimiterRule::Aimd(Aimd {
                initial: 2,
                min: 1,
                backoff_ratio: 0.5,
                timeout: Span::millis(100),
                ..Aimd::default()
            }),
            dropped: FailureSet::of(&[FailureKind::Overloaded]),
            window: None,
        }),
        ..retrying(1)
    })
}

/// Calls that are sent when so many begin at once.
fn fit(desk: &mut Desk, at: u64, many: usize) -> Vec<Call> {
    let begun = (0..many).map(|_| desk.begin(ms(at)));
    let sent = begun.filter(|(_, actions)| sent(actions).is_some());
    sent.map(|(call, _)| call).collect()
}

#[test]
fn a_limiter_moves_the_permits_with_every_answer() {
    let mut desk = aimd(10, 0);
    let mut calls = fit(&mut desk, 0, 5);
    assert_eq!(calls.len(), 2);
    desk.ok(&mut calls[0], ms(10));
    desk.ok(&mut calls[1], ms(10));
    let mut calls = fit(&mut desk, 20, 5);
    assert_eq!(calls.len(), 4, "two answers, one more each");
    desk.fail(&mut calls[0], ms(30), FailureKind::Overloaded);
    assert_eq!(
        fit(&mut desk, 30, 5).len(),
        0,
        "two, and three are still out"
    );
    desk.fail(&mut calls[1], ms(30), FailureKind::Invalid);
    assert_eq!(fit(&mut desk, 30, 5).len(), 0, "that failure tells nothing");
    desk.ok(&mut calls[2], ms(40));
    assert_eq!(
        fit(&mut desk, 40, 5).len(),
        2,
        "three, and one is still out"
    );
}

#[test]
fn too_slow_an_answer_is_a_drop_and_the_bulkhead_is_the_most_a_limiter_gives() {
    let mut desk = aimd(3, 0);
    for _ in 0..9 {
        let mut calls = fit(&mut desk, 0, 5);
        desk.ok(&mut calls[0], ms(10));
        for call in &mut calls[1..] {
            desk.client.cancel(call, ms(10));
        }
    }
    let mut calls = fit(&mut desk, 1000, 5);
    assert_eq!(calls.len(), 3);
    for call in &mut calls {
        desk.ok(call, ms(1101));
    }
    assert_eq!(
        fit(&mut desk, 1101, 5).len(),
        1,
        "halved three times from 11 or less"
    );
}

#[test]
fn a_limit_that_grows_lets_those_in_who_wait() {
    let mut desk = aimd(10, 5);
    let mut calls: Vec<Call> = (0..5).map(|_| desk.begin(ms(0)).0).collect();
    assert_eq!(desk.client.bulkhead_load(), Some((2, 3)));
    desk.ok(&mut calls[0], ms(1));
    assert_eq!(
        desk.client.bulkhead_load(),
        Some((3, 1)),
        "one permit back, one more given"
    );
    let admitted: Vec<_> = std::iter::from_fn(|| desk.client.next_admitted()).collect();
    assert_eq!(admitted, [calls[2].key(), calls[3].key()]);
}

#[test]
fn a_thread_pool_queues_before_it_grows() {
    let mut desk = Desk::new(&Spec {
        bulkhead: Some(Bulkhead {
            queue_from: Some(1),
            ..bulkhead(2, 1).unwrap()
        }),
        ..retrying(1)
    });
    let outcomes: Vec<_> = (0..4)
        .map(|_| {
            let (_, actions) = desk.begin(ms(0));
            (sent(&actions), stopped(&actions))
        })
        .collect();
    let full = Some(Stopped::BulkheadFull);
    assert_eq!(
        outcomes,
        [(Some(1), None), (None, None), (Some(1), None), (None, full)]
    );
}

fn with(rate_limit: RateLimit, attempts: u32) -> Desk {
    Desk::new(&Spec {
        deadline: Deadline {
            limit: Some(Span::secs(2)),
            ..Deadline::default()
        },
        rate_limit: Some(rate_limit),
        ..retrying(attempts)
    })
}

fn gcra(max_wait: Span) -> RateLimit {
    RateLimit::Gcra {
        gcra: Gcra {
            period: Span::millis(100),
            burst: 1,
        },
        max_wait,
    }
}

#[test]
fn who_comes_too_early_waits_and_asks_again() {
    let mut desk = with(gcra(Span::secs(1)), 1);
    assert_eq!(sent(&desk.begin(ms(0)).1), Some(1));
    let (mut first, actions) = desk.begin(ms(10));
    assert_eq!((actions, first.timer()), (vec![], Some(ms(100))));
    let (mut second, _) = desk.begin(ms(20));
    assert_eq!(second.timer(), Some(ms(100)), "nothing is reserved");
    assert_eq!(sent(&desk.wake(&mut first)), Some(1));
    assert_eq!(desk.wake(&mut second), []);
    assert_eq!(second.timer(), Some(ms(200)));
    assert_eq!(sent(&desk.wake(&mut second)), Some(1));
}

#[test]
fn a_wait_that_is_too_long_for_the_limit_or_the_deadline_is_not_begun() {
    let mut desk = with(gcra(Span::millis(50)), 1);
    desk.begin(ms(0));
    assert_eq!(stopped(&desk.begin(ms(49)).1), Some(Stopped::RateLimited));
    assert_eq!(stopped(&desk.begin(ms(50)).1), None);
    let slow = RateLimit::Gcra {
        gcra: Gcra {
            period: Span::secs(2),
            burst: 1,
        },
        max_wait: Span::MAX,
    };
    let mut desk = with(slow, 1);
    desk.begin(ms(0));
    assert_eq!(
        stopped(&desk.begin(ms(0)).1),
        Some(Stopped::DeadlineTooClose)
    );
}

#[test]
fn every_attempt_passes_the_rate_limit_a_retry_too() {
    let mut desk = with(gcra(Span::secs(1)), 2);
    let (mut call, _) = desk.begin(ms(0));
    assert_eq!(desk.fail(&mut call, ms(30), FailureKind::Unavailable), []);
    assert_eq!(call.timer(), Some(ms(100)));
    assert_eq!(sent(&desk.wake(&mut call)), Some(2));
}

#[test]
fn resilience4j_reserves_and_lets_a_refused_caller_sleep() {
    let mut desk = with(
        RateLimit::Resilience4j(Resilience4jRate {
            limit_for_period: 1,
            limit_refresh_period: Span::millis(100),
            timeout: Span::millis(150),
            blocking: true,
        }),
        1,
    );
    assert_eq!(sent(&desk.begin(ms(0)).1), Some(1));
    let (mut waits, _) = desk.begin(ms(10));
    let (mut refused, _) = desk.begin(ms(20));
    assert_eq!(
        (waits.timer(), refused.timer()),
        (Some(ms(100)), Some(ms(170)))
    );
    assert_eq!(sent(&desk.wake(&mut waits)), Some(1));
    assert_eq!(
        stopped(&desk.wake(&mut refused)),
        Some(Stopped::RateLimited)
    );
}

#[test]
fn what_was_reserved_for_a_wait_that_is_not_begun_goes_back() {
    let limit = Resilience4jRate {
        limit_for_period: 1,
        limit_refresh_period: Span::secs(3),
        timeout: Span::secs(60),
        blocking: true,
    };
    let mut desk = with(RateLimit::Resilience4j(limit), 1);
    assert_eq!(sent(&desk.begin(ms(0)).1), Some(1));
    for _ in 0..3 {
        let (_, actions) = desk.begin(ms(10));
        assert_eq!(stopped(&actions), Some(Stopped::DeadlineTooClose));
    }
    assert_eq!(sent(&desk.begin(ms(3000)).1), Some(1));
    let smithy = AwsAdaptive {
        reserves: true,
        ..AwsAdaptive::default()
    };
    let mut desk = with(RateLimit::AwsAdaptive(smithy), 1);
    let (mut call, _) = desk.begin(ms(0));
    desk.fail(&mut call, ms(0), FailureKind::Overloaded);
    // Half a token per second: two seconds for the first, more than the deadline leaves.
    for _ in 0..3 {
        let (_, actions) = desk.begin(ms(0));
        assert_eq!(stopped(&actions), Some(Stopped::DeadlineTooClose));
    }
    assert_eq!(sent(&desk.begin(ms(2000)).1), Some(1));
}

#[test]
fn the_adaptive_mode_is_off_until_throttled_and_then_paces_first_attempts() {
    let mut desk = with(RateLimit::AwsAdaptive(AwsAdaptive::default()), 1);
    for _ in 0..20 {
        let (mut call, actions) = desk.begin(ms(0));
        assert_eq!(sent(&actions), Some(1));
        desk.ok(&mut call, ms(0));
    }
    let (mut call, _) = desk.begin(ms(0));
    desk.fail(&mut call, ms(0), FailureKind::Overloaded);
    // Half a token per second, and none in the bucket.
    let (mut call, _) = desk.begin(ms(600));
    assert_eq!(call.timer(), Some(ms(2000)));
    assert_eq!(sent(&desk.wake(&mut call)), Some(1));
}

#[test]
fn a_call_that_leaves_while_it_waits_ends_at_once() {
    let mut desk = with(gcra(Span::secs(1)), 1);
    desk.begin(ms(0));
    let (mut call, _) = desk.begin(ms(0));
    desk.client.cancel(&mut call, ms(5));
    assert_eq!(call.timer(), None);
    assert_eq!(desk.client.stats().in_flight(), 1);
}
