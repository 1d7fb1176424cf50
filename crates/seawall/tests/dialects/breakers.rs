use seawall::backoff;
use seawall::breaker::{
    GoBreaker, GoTrip, Hystrix, Linkerd, Polly, Resilience4j, Resilience4jWindow, Sentinel,
    SentinelGrade,
};
use seawall::{
    Breaker, BreakerRule, BreakerState, Bulkhead, Counts, FailureKind, FailureSet, Span, Spec,
    Stopped,
};

use crate::desk::{Desk, Draw, ms, retrying, sent, stopped};

const UNAVAILABLE: FailureKind = FailureKind::Unavailable;
const IGNORED: FailureKind = FailureKind::Conflict;

fn with(rule: BreakerRule) -> Spec {
    Spec {
        breaker: Some(Breaker {
            rule,
            counts: None,
            count_refusals: false,
            on: FailureSet::of(&[UNAVAILABLE]),
            ignored: FailureSet::of(&[IGNORED]),
        }),
        ..retrying(1)
    }
}

fn state(desk: &Desk, at: u64) -> BreakerState {
    desk.client.breaker_state(ms(at)).unwrap()
}

/// Begins a call and lets its only attempt fail.
fn fails(desk: &mut Desk, at: u64) {
    let (mut call, actions) = desk.begin(ms(at));
    assert_eq!(sent(&actions), Some(1));
    desk.fail(&mut call, ms(at), UNAVAILABLE);
}

fn refused(desk: &mut Desk, at: u64) -> bool {
    stopped(&desk.begin(ms(at)).1) == Some(Stopped::BreakerOpen)
}

/// Two failures of two open it for a second; two trials.
fn resilience4j() -> Desk {
    Desk::new(&with(BreakerRule::Resilience4j(Box::new(Resilience4j {
        window: Resilience4jWindow::Count(2),
        minimum_calls: 2,
        wait_in_open: backoff::Resilience4j {
            initial: Span::secs(1),
            ..backoff::Resilience4j::default()
        },
        permitted_in_half_open: 2,
        ..Resilience4j::default()
    }))))
}

#[test]
fn resilience4j_takes_late_results_for_trials() {
    let mut desk = resilience4j();
    let (mut late, _) = desk.begin(ms(0));
    let (mut later, _) = desk.begin(ms(0));
    fails(&mut desk, 1);
    fails(&mut desk, 1);
    assert_eq!(state(&desk, 1), BreakerState::Open);
    let (_trial, actions) = desk.begin(ms(1002));
    assert_eq!(sent(&actions), Some(1));
    desk.fail(&mut late, ms(1003), UNAVAILABLE);
    assert_eq!(state(&desk, 1003), BreakerState::HalfOpen);
    desk.fail(&mut later, ms(1003), UNAVAILABLE);
    assert_eq!(
        state(&desk, 1003),
        BreakerState::Open,
        "no trial has reported yet"
    );
}

#[test]
fn resilience4j_gives_the_permit_of_an_ignored_outcome_to_the_next_trial() {
    let mut desk = resilience4j();
    fails(&mut desk, 0);
    fails(&mut desk, 0);
    let (mut first, _) = desk.begin(ms(1001));
    let (mut second, _) = desk.begin(ms(1001));
    assert!(refused(&mut desk, 1001));
    desk.fail(&mut first, ms(1002), IGNORED);
    desk.client.cancel(&mut second, ms(1002));
    for _ in 0..2 {
        assert_eq!(state(&desk, 1002), BreakerState::HalfOpen);
        let (mut call, _) = desk.begin(ms(1002));
        desk.ok(&mut call, ms(1002));
    }
    assert_eq!(state(&desk, 1002), BreakerState::Closed);
}

#[test]
fn polly_takes_a_cancelled_trial_for_a_success() {
    let mut desk = Desk::new(&with(BreakerRule::Polly(Polly {
        failure_ratio: 1.0,
        minimum_throughput: 2,
        ..Polly::default()
    })));
    fails(&mut desk, 0);
    fails(&mut desk, 0);
    assert!(refused(&mut desk, 4999));
    let (mut trial, _) = desk.begin(ms(5000));
    assert!(refused(&mut desk, 60_000), "no end of its own");
    desk.client.cancel(&mut trial, ms(60_000));
    assert_eq!(state(&desk, 60_000), BreakerState::Closed);
}

#[test]
fn hystrix_counts_rejections_by_the_bulkhead_and_decides_at_ticks() {
    let mut desk = Desk::new(&Spec {
        bulkhead: Some(Bulkhead {
            max_in_flight: 1,
            queue_from: None,
            max_waiting: 0,
            max_wait: Span::ZERO,
            hold_during_backoff: None,
        }),
        ..with(BreakerRule::Hystrix(Hystrix::default()))
    });
    let (_holder, _) = desk.begin(ms(10));
    for _ in 0..20 {
        let (_, actions) = desk.begin(ms(20));
        assert_eq!(stopped(&actions), Some(Stopped::BulkheadFull));
    }
    assert_eq!(state(&desk, 499), BreakerState::Closed);
    assert!(
        refused(&mut desk, 500),
        "with the bulkhead full as well, it is the breaker that refuses"
    );
    // The trial is refused by the bulkhead, which opens the breaker for another 5 s.
    let (_, actions) = desk.begin(ms(5501));
    assert_eq!(stopped(&actions), Some(Stopped::BulkheadFull));
    assert!(refused(&mut desk, 5502));
    assert!(refused(&mut desk, 10_501));
    let (_, actions) = desk.begin(ms(10_502));
    assert_eq!(stopped(&actions), Some(Stopped::BulkheadFull));
}

#[test]
fn hystrix_opens_again_when_a_trial_is_cancelled() {
    let mut desk = Desk::new(&with(BreakerRule::Hystrix(Hystrix::default())));
    for _ in 0..20 {
        fails(&mut desk, 10);
    }
    assert!(refused(&mut desk, 5500));
    let (mut trial, actions) = desk.begin(ms(5501));
    assert_eq!(sent(&actions), Some(1));
    desk.client.cancel(&mut trial, ms(5600));
    assert!(refused(&mut desk, 10_600));
    assert_eq!(sent(&desk.begin(ms(10_601)).1), Some(1));
}

#[test]
fn gobreaker_drops_the_result_of_an_older_generation() {
    let mut desk = Desk::new(&with(BreakerRule::GoBreaker(GoBreaker {
        timeout: Span::secs(1),
        trip: GoTrip::ConsecutiveFailuresAbove(0),
        ..GoBreaker::default()
    })));
    let (mut late, _) = desk.begin(ms(0));
    fails(&mut desk, 0);
    let (mut trial, _) = desk.begin(ms(1001));
    desk.fail(&mut late, ms(1002), UNAVAILABLE);
    assert_eq!(state(&desk, 1002), BreakerState::HalfOpen);
    desk.ok(&mut trial, ms(1003));
    assert_eq!(state(&desk, 1003), BreakerState::Closed);
}

#[test]
fn sentinel_lets_another_try_when_a_trial_is_cancelled_but_not_when_a_straggler_is() {
    let mut desk = Desk::new(&with(BreakerRule::Sentinel(Sentinel {
        grade: SentinelGrade::ErrorCount,
        threshold: 0.0,
        min_request_amount: 1,
        stat_interval: Span::secs(1),
        recovery: Span::secs(1),
    })));
    let (mut straggler, _) = desk.begin(ms(0));
    fails(&mut desk, 0);
    let (mut trial, _) = desk.begin(ms(1000));
    desk.client.cancel(&mut straggler, ms(1001));
    assert!(refused(&mut desk, 1001));
    desk.client.cancel(&mut trial, ms(1002));
    let (mut trial, actions) = desk.begin(ms(1002));
    assert_eq!(sent(&actions), Some(1));
    desk.ok(&mut trial, ms(1003));
    assert_eq!(state(&desk, 1003), BreakerState::Closed);
}

#[test]
fn linkerd_spreads_the_penalty_by_a_draw_of_the_client() {
    let mut desk = Desk::new(&with(BreakerRule::Linkerd(Linkerd {
        max_failures: 1,
        ..Linkerd::default()
    })));
    desk.draw = Draw(0.5);
    fails(&mut desk, 0);
    assert!(refused(&mut desk, 1249), "1 s and half of half a second");
    let (mut probe, actions) = desk.begin(ms(1250));
    assert_eq!(sent(&actions), Some(1));
    desk.fail(&mut probe, ms(1250), UNAVAILABLE);
    assert!(refused(&mut desk, 1250 + 2499));
    assert_eq!(sent(&desk.begin(ms(1250 + 2500)).1), Some(1));
}

#[test]
fn a_breaker_of_calls_sees_one_result_of_a_retried_call() {
    let rule = BreakerRule::GoBreaker(GoBreaker {
        trip: GoTrip::ConsecutiveFailuresAbove(1),
        ..GoBreaker::default()
    });
    for (counts, after_one_call) in [
        (Counts::Attempts, BreakerState::Open),
        (Counts::Calls, BreakerState::Closed),
    ] {
        let mut spec = with(rule.clone());
        spec.retry.max_attempts = 2;
        spec.breaker.as_mut().unwrap().counts = Some(counts);
        let mut desk = Desk::new(&spec);
        let (mut call, _) = desk.begin(ms(0));
        desk.fail(&mut call, ms(0), UNAVAILABLE);
        desk.fail(&mut call, ms(0), UNAVAILABLE);
        assert_eq!(state(&desk, 0), after_one_call);
    }
}
