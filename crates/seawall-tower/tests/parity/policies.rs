//! Policies that between them use every part of a `Spec`.

use seawall::budget::{AwsCosts, AwsQuota, GrpcThrottling, TowerTps};
use seawall::rate_limit::{AwsAdaptive, Gcra, Resilience4jRate};
use seawall::{
    Backoff, Breaker, BreakerRule, Budget, BudgetEvent, Bulkhead, Counts, Deadline, FailureKind,
    FailureSet, Jitter, Limiter, LimiterRule, Preset, RateLimit, Rates, Retry, RetryAfter, Span,
    Spec, Window, backoff, breaker, budget, limiter,
};

fn transient() -> FailureSet {
    FailureSet::of(&[
        FailureKind::Timeout,
        FailureKind::Unavailable,
        FailureKind::Overloaded,
        FailureKind::ConnectRefused,
    ])
}

fn exponential(jitter: Jitter) -> Backoff {
    Backoff::Exponential {
        base: Span::millis(20),
        multiplier: 2.0,
        max: Span::secs(1),
        jitter,
    }
}

/// Three attempts of 150 ms, spread out.
pub(crate) fn retries() -> Spec {
    Spec {
        attempt_timeout: Some(Span::millis(150)),
        retry: Retry {
            max_attempts: 3,
            backoff: exponential(Jitter::Full),
            on: transient(),
            ..Retry::default()
        },
        ..Spec::default()
    }
}

pub(crate) fn bulkhead(max_in_flight: u32, hold_during_backoff: bool) -> Option<Bulkhead> {
    Some(Bulkhead {
        max_in_flight,
        queue_from: None,
        max_waiting: 4,
        max_wait: Span::millis(60),
        hold_during_backoff: Some(hold_during_backoff),
    })
}

pub(crate) fn breaks(rule: BreakerRule, counts: Counts) -> Option<Breaker> {
    Some(Breaker {
        rule,
        counts: Some(counts),
        count_refusals: false,
        on: transient(),
        ignored: FailureSet::of(&[FailureKind::Overloaded]),
    })
}

pub(crate) fn rates(window: Window) -> BreakerRule {
    BreakerRule::Rates(Rates {
        window,
        failure_rate: 0.5,
        slow_rate: Some(0.8),
        slow_after: Span::millis(100),
        minimum_calls: 10,
        open_for: Span::millis(400),
        half_open_calls: 3,
        ramp: None,
    })
}

/// Each with a name, and every preset.
pub(crate) fn all() -> Vec<(&'static str, Spec)> {
    let presets = Preset::ALL.map(|preset| (preset.name(), preset.spec()));
    let named = [
        plain(),
        budgets(),
        breakers(),
        limits(),
        presets.into(),
        crate::composed::all(),
    ];
    named.into_iter().flatten().collect()
}

pub(crate) type Named = Vec<(&'static str, Spec)>;

fn plain() -> Named {
    let deadline = Deadline {
        limit: Some(Span::millis(300)),
        slack: Span::millis(5),
        ..Deadline::default()
    };
    let jittered = |backoff| Spec {
        retry: Retry {
            backoff,
            ..retries().retry
        },
        ..retries()
    };
    vec![
        ("retries", retries()),
        (
            "deadline",
            Spec {
                deadline,
                retry: Retry {
                    min_attempt: Span::millis(30),
                    reserve: Span::millis(20),
                    retry_after: RetryAfter {
                        max: Span::millis(500),
                        spread: Span::millis(10),
                        ..RetryAfter::default()
                    },
                    ..retries().retry
                },
                ..retries()
            },
        ),
        (
            "decorrelated jitter",
            jittered(exponential(Jitter::Decorrelated)),
        ),
        (
            "Polly's backoff",
            jittered(Backoff::Polly(backoff::Polly::default())),
        ),
        (
            "at once",
            Spec {
                deadline,
                ..jittered(Backoff::None)
            },
        ),
    ]
}

fn budgets() -> Named {
    let with = |budget| Spec {
        budget,
        ..retries()
    };
    vec![
        (
            "ratio of calls",
            with(Budget::Ratio {
                of: BudgetEvent::Calls,
                ratio: 0.1,
                burst: 5.0,
            }),
        ),
        (
            "share of a window",
            with(Budget::Windowed {
                of: BudgetEvent::Successes,
                ratio: 0.2,
                window: Span::secs(2),
                floor_per_sec: 0.5,
            }),
        ),
        ("tower", with(Budget::TowerTps(TowerTps::default()))),
        ("Finagle", with(Budget::Finagle(budget::Finagle::default()))),
        ("Envoy", with(Budget::Envoy(budget::Envoy::default()))),
        ("AWS", with(Budget::AwsQuota(AwsQuota::new(AwsCosts::V21)))),
        (
            "gRPC",
            with(Budget::Grpc(GrpcThrottling {
                max_tokens: 10.0,
                token_ratio: 0.1,
                variant: backoff::GrpcVariant::default(),
            })),
        ),
        (
            "adaptive throttling",
            with(Budget::SreAdaptive(budget::SreAdaptive {
                window: Span::secs(5),
                ..budget::SreAdaptive::default()
            })),
        ),
    ]
}

fn breakers() -> Named {
    let with = |rule, counts| Spec {
        breaker: breaks(rule, counts),
        ..retries()
    };
    vec![
        (
            "rates of attempts",
            with(rates(Window::Count(20)), Counts::Attempts),
        ),
        (
            "rates of calls",
            with(rates(Window::Time(Span::secs(1))), Counts::Calls),
        ),
        (
            "gobreaker",
            with(
                BreakerRule::GoBreaker(breaker::GoBreaker {
                    timeout: Span::millis(500),
                    ..breaker::GoBreaker::default()
                }),
                Counts::Attempts,
            ),
        ),
        (
            "Hystrix",
            with(
                BreakerRule::Hystrix(breaker::Hystrix {
                    sleep_window: Span::millis(500),
                    ..breaker::Hystrix::default()
                }),
                Counts::Calls,
            ),
        ),
        (
            "Linkerd",
            with(
                BreakerRule::Linkerd(breaker::Linkerd::default()),
                Counts::Attempts,
            ),
        ),
        (
            "Polly",
            with(
                BreakerRule::Polly(breaker::Polly::default()),
                Counts::Attempts,
            ),
        ),
        (
            "resilience4j",
            with(BreakerRule::Resilience4j(Box::default()), Counts::Attempts),
        ),
    ]
}

fn limits() -> Named {
    let limited = |rule| Spec {
        bulkhead: bulkhead(20, false),
        limiter: Some(Limiter {
            rule,
            dropped: transient(),
            window: None,
        }),
        ..retries()
    };
    let paced = |limit| Spec {
        rate_limit: Some(limit),
        deadline: Deadline {
            default: Some(Span::secs(2)),
            ..Deadline::default()
        },
        ..retries()
    };
    let gcra = |max_wait| RateLimit::Gcra {
        gcra: Gcra {
            period: Span::millis(25),
            burst: 3,
        },
        max_wait,
    };
    vec![
        (
            "bulkhead kept in backoff",
            Spec {
                bulkhead: bulkhead(3, true),
                ..retries()
            },
        ),
        (
            "bulkhead, breaker and budget",
            Spec {
                bulkhead: bulkhead(3, false),
                breaker: breaks(rates(Window::Count(20)), Counts::Attempts),
                budget: Budget::Ratio {
                    of: BudgetEvent::Successes,
                    ratio: 0.2,
                    burst: 10.0,
                },
                deadline: Deadline {
                    limit: Some(Span::millis(400)),
                    ..Deadline::default()
                },
                ..retries()
            },
        ),
        ("AIMD", limited(LimiterRule::Aimd(limiter::Aimd::default()))),
        (
            "Gradient2",
            limited(LimiterRule::Gradient2(limiter::Gradient2::default())),
        ),
        (
            "Vegas",
            limited(LimiterRule::Vegas(limiter::Vegas::default())),
        ),
        ("GCRA", paced(gcra(Span::ZERO))),
        ("GCRA that waits", paced(gcra(Span::millis(80)))),
        (
            "resilience4j's rate",
            paced(RateLimit::Resilience4j(Resilience4jRate::default())),
        ),
        (
            "the adaptive mode of AWS",
            paced(RateLimit::AwsAdaptive(AwsAdaptive::default())),
        ),
    ]
}
