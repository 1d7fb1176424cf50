//! The storm and its cure, as policies.

use seawall::{
    Backoff, Breaker, BreakerRule, Budget, BudgetEvent, FailureKind, FailureSet, Jitter, Rates,
    Retry, Span, Spec, Window,
};

/// Retries the cure's budget holds at the start, and at most.
pub(crate) const BURST: f64 = 20.0;
/// Retries it earns per call.
pub(crate) const RATIO: f64 = 0.1;

fn transient() -> FailureSet {
    FailureSet::of(&[
        FailureKind::Timeout,
        FailureKind::Unavailable,
        FailureKind::ConnectRefused,
        FailureKind::Reset,
    ])
}

/// Four attempts, one right after the other.
pub(crate) fn naive() -> Spec {
    Spec {
        attempt_timeout: Some(Span::millis(200)),
        retry: Retry {
            max_attempts: 4,
            on: transient(),
            ..Retry::default()
        },
        ..Spec::default()
    }
}

/// The same four attempts, spread out, paid for from a budget, and none at all while most of them fail.
pub(crate) fn cure() -> Spec {
    let naive = naive();
    Spec {
        retry: Retry {
            backoff: Backoff::Exponential {
                base: Span::millis(50),
                multiplier: 2.0,
                max: Span::secs(1),
                jitter: Jitter::Full,
            },
            ..naive.retry
        },
        budget: Budget::Ratio {
            of: BudgetEvent::Calls,
            ratio: RATIO,
            burst: BURST,
        },
        breaker: Some(Breaker {
            rule: BreakerRule::Rates(Rates {
                window: Window::Time(Span::secs(1)),
                failure_rate: 0.5,
                slow_rate: None,
                slow_after: Span::MAX,
                minimum_calls: 20,
                open_for: Span::millis(300),
                half_open_calls: 3,
                ramp: None,
            }),
            counts: None,
            count_refusals: false,
            on: transient(),
            ignored: FailureSet::NONE,
        }),
        ..naive
    }
}
