//! Production dialects made of extremes, each one that a check lets pass.

use seawall::backoff::{
    self, AwsJitter, AwsJitterKind, AwsMode, AwsSdk, EnvoyRateLimited, FinagleKind, GoogleApiCore,
    GrpcJitter, GrpcVariant, PollyKind,
};
use seawall::breaker::{
    self, Aligned, GoBreaker, GoTrip, Hystrix, Linkerd, Resilience4jWindow, Sentinel, SentinelGrade,
};
use seawall::budget::{
    self, AwsCosts, AwsQuota, EnvoyRetryBudget, GrpcThrottling, SreAdaptive, SreHistory, TowerTps,
};
use seawall::limiter::{Aimd, Gradient2, SampleWindow, Vegas};
use seawall::rate_limit::{AwsAdaptive, Gcra, Resilience4jRate};
use seawall::{
    Backoff, BreakerRule, Budget, BudgetEvent, FailureKind, FailureSet, Limiter, LimiterRule,
    RateLimit, Span,
};

use crate::extremes::{number, span};
use crate::random::Draws;

fn any<T: Clone>(draws: &mut Draws, of: &[T]) -> T {
    of[draws.below(of.len())].clone()
}

fn milli_or_more(draws: &mut Draws) -> Span {
    span(draws).max(Span::millis(1))
}

fn variant(draws: &mut Draws) -> GrpcVariant {
    any(draws, &[GrpcVariant::Go, GrpcVariant::Java])
}

fn interval_function(draws: &mut Draws) -> backoff::Resilience4j {
    backoff::Resilience4j {
        initial: milli_or_more(draws),
        multiplier: any(draws, &[None, Some(1.0), Some(f64::MAX)]),
        randomization: any(draws, &[None, Some(0.0), Some(0.999)]),
        max: any(draws, &[None, Some(Span::millis(1)), Some(Span::MAX)]),
    }
}

pub(crate) fn backoff(draws: &mut Draws) -> Backoff {
    let kinds = [
        FinagleKind::Constant,
        FinagleKind::Exponential {
            multiplier: number(draws),
        },
        FinagleKind::Linear {
            offset: span(draws),
        },
        FinagleKind::DecorrelatedJittered,
        FinagleKind::EqualJittered,
        FinagleKind::ExponentialJittered,
    ];
    let jitters = [
        AwsJitterKind::None,
        AwsJitterKind::Full,
        AwsJitterKind::Equal,
        AwsJitterKind::Decorrelated,
    ];
    let modes = [AwsMode::Legacy, AwsMode::Standard20, AwsMode::Standard21];
    let polly = [
        PollyKind::Constant,
        PollyKind::Linear,
        PollyKind::Exponential,
    ];
    match draws.below(8) {
        0 => Backoff::AwsJitter(AwsJitter {
            kind: any(draws, &jitters),
            base: span(draws),
            cap: Span::MAX,
            first_exponent: number(draws),
        }),
        1 => Backoff::AwsSdk(AwsSdk::new(any(draws, &modes))),
        2 => Backoff::Envoy(backoff::Envoy {
            base: span(draws),
            max: Span::MAX,
            rate_limited: any(draws, &[None, Some(EnvoyRateLimited::default())]),
        }),
        3 => Backoff::Finagle(backoff::Finagle {
            kind: any(draws, &kinds),
            start: span(draws),
            maximum: Span::MAX,
        }),
        4 => Backoff::GoogleApiCore(GoogleApiCore {
            initial: span(draws),
            maximum: span(draws),
            multiplier: any(draws, &[f64::MIN_POSITIVE, 1.0, f64::MAX]),
        }),
        5 => Backoff::Grpc(backoff::Grpc {
            initial: span(draws),
            max: span(draws),
            multiplier: any(draws, &[f64::MIN_POSITIVE, 1.0, f64::MAX]),
            jitter: any(draws, &[GrpcJitter::PlusMinusFifth, GrpcJitter::Full]),
            variant: variant(draws),
        }),
        6 => Backoff::Polly(backoff::Polly {
            kind: any(draws, &polly),
            jitter: draws.below(2) == 0,
            delay: span(draws),
            max_delay: any(draws, &[None, Some(Span::ZERO)]),
        }),
        _ => Backoff::Resilience4j(interval_function(draws)),
    }
}

pub(crate) fn budget(draws: &mut Draws) -> Budget {
    let events = [
        BudgetEvent::Calls,
        BudgetEvent::Successes,
        BudgetEvent::NotRetryable,
    ];
    let costs = [AwsCosts::Botocore20, AwsCosts::Smithy20, AwsCosts::V21];
    match draws.below(6) {
        0 => Budget::AwsQuota(AwsQuota {
            capacity: any(draws, &[0, 1, u32::MAX]),
            costs: any(draws, &costs),
            refill_per_sec: any(draws, &[0.0, 1e9]),
            success_reward: any(draws, &[0.0, 1e9]),
        }),
        1 => Budget::Envoy(budget::Envoy {
            max_retries: number(draws),
            retry_budget: any(
                draws,
                &[
                    None,
                    Some(EnvoyRetryBudget {
                        percent: 100.0,
                        min_retry_concurrency: 0,
                        interval: Some(Span::MAX),
                    }),
                ],
            ),
        }),
        2 => Budget::Finagle(budget::Finagle {
            ttl: any(draws, &[Span::secs(1), Span::secs(60)]),
            min_retries_per_sec: any(draws, &[0, u32::MAX]),
            percent_can_retry: any(draws, &[0.0, f64::MIN_POSITIVE, 1000.0]),
            deposits: any(draws, &events),
        }),
        3 => Budget::Grpc(GrpcThrottling {
            max_tokens: any(draws, &[f64::MIN_POSITIVE, 1000.0]),
            token_ratio: any(draws, &[f64::MIN_POSITIVE, f64::MAX]),
            variant: variant(draws),
        }),
        4 => Budget::SreAdaptive(SreAdaptive {
            k: any(draws, &[1.0, 1e6]),
            window: any(draws, &[Span(10), Span::MAX]),
            history: any(draws, &[SreHistory::Slices, SreHistory::Exact]),
            ..SreAdaptive::default()
        }),
        _ => Budget::TowerTps(TowerTps {
            ttl: any(draws, &[Span::secs(1), Span::secs(60)]),
            min_per_sec: any(draws, &[0, u32::MAX]),
            retry_percent: any(draws, &[0.0, f32::MIN_POSITIVE, 1000.0]),
            deposits: any(draws, &events),
        }),
    }
}

pub(crate) fn breaker(draws: &mut Draws) -> BreakerRule {
    let trips = [
        GoTrip::ConsecutiveFailuresAbove(number(draws)),
        GoTrip::FailureRatio {
            min_requests: 0,
            at_least: 0.0,
        },
    ];
    let windows = [
        Resilience4jWindow::Count(1),
        Resilience4jWindow::Seconds {
            count: 3,
            aligned: any(draws, &[Aligned::Epoch, Aligned::Creation]),
        },
    ];
    let grades = [
        SentinelGrade::ErrorCount,
        SentinelGrade::ErrorRatio,
        SentinelGrade::SlowRatio(span(draws)),
    ];
    match draws.below(6) {
        0 => BreakerRule::GoBreaker(GoBreaker {
            max_requests: number(draws),
            interval: any(draws, &[Span::ZERO, Span(7), Span::MAX]),
            bucket_period: any(draws, &[Span::ZERO, Span(1 << 62), Span::MAX]),
            timeout: span(draws),
            trip: any(draws, &trips),
        }),
        1 => BreakerRule::Hystrix(Hystrix {
            request_volume_threshold: 1,
            error_threshold_percentage: any(draws, &[0, 100, u32::MAX]),
            sleep_window: span(draws),
            ..any(
                draws,
                &[
                    Hystrix::default(),
                    Hystrix {
                        rolling_window: Span::MAX,
                        snapshot_interval: Span::MAX,
                        ..Hystrix::default()
                    },
                ],
            )
        }),
        2 => BreakerRule::Linkerd(Linkerd {
            max_failures: number(draws),
            min_penalty: span(draws),
            max_penalty: Span::MAX,
            jitter: any(draws, &[0.0, 100.0]),
        }),
        3 => BreakerRule::Polly(breaker::Polly {
            failure_ratio: any(draws, &[f64::MIN_POSITIVE, 1.0]),
            minimum_throughput: any(draws, &[2, u32::MAX]),
            sampling: any(draws, &[Span(10), Span::secs(1), Span::MAX]),
            break_for: span(draws),
        }),
        4 => BreakerRule::Resilience4j(Box::new(breaker::Resilience4j {
            window: any(draws, &windows),
            minimum_calls: number(draws),
            failure_rate: any(draws, &[f32::MIN_POSITIVE, 100.0]),
            slow_rate: any(draws, &[f32::MIN_POSITIVE, 100.0]),
            slow_after: span(draws),
            wait_in_open: interval_function(draws),
            automatic_transition: draws.below(2) == 0,
            permitted_in_half_open: any(draws, &[1, 1000]),
            max_wait_in_half_open: any(draws, &[Span::ZERO, Span::millis(1), Span::MAX]),
            closes_after_half_open_wait: draws.below(2) == 0,
        })),
        _ => BreakerRule::Sentinel(Sentinel {
            grade: any(draws, &grades),
            threshold: any(draws, &[0.0, 1.0, f64::MAX]),
            min_request_amount: any(draws, &[0, u32::MAX]),
            stat_interval: milli_or_more(draws),
            recovery: span(draws),
        }),
    }
}

pub(crate) fn limiter(draws: &mut Draws) -> Limiter {
    let rules = [
        LimiterRule::Aimd(Aimd {
            initial: any(draws, &[0, u32::MAX]),
            min: 1,
            max: number(draws),
            backoff_ratio: 0.5,
            timeout: span(draws),
        }),
        LimiterRule::Gradient2(Gradient2 {
            initial: any(draws, &[0, u32::MAX]),
            min: 1,
            max: number(draws),
            smoothing: any(draws, &[0.0, 1.0]),
            tolerance: any(draws, &[1.0, 1e6]),
            long_window: any(draws, &[0, u32::MAX]),
            queue: any(draws, &[0, u32::MAX]),
        }),
        LimiterRule::Vegas(Vegas {
            initial: any(draws, &[0, u32::MAX]),
            max: number(draws),
            smoothing: any(draws, &[0.0, 1.0]),
            probe_multiplier: any(draws, &[0, 1, u32::MAX]),
        }),
    ];
    Limiter {
        rule: any(draws, &rules),
        dropped: any(draws, &[FailureSet::NONE, FailureSet::of(FailureKind::ALL)]),
        window: any(
            draws,
            &[
                None,
                Some(SampleWindow {
                    min: Span::millis(100),
                    max: Span::MAX,
                    samples: 10,
                    min_rtt: Span::ZERO,
                }),
            ],
        ),
    }
}

pub(crate) fn rate_limit(draws: &mut Draws) -> RateLimit {
    match draws.below(3) {
        0 => RateLimit::Gcra {
            gcra: Gcra {
                period: span(draws),
                burst: number(draws),
            },
            max_wait: any(draws, &[Span::ZERO, Span::MAX]),
        },
        1 => RateLimit::Resilience4j(Resilience4jRate {
            limit_for_period: number(draws),
            limit_refresh_period: span(draws),
            timeout: any(draws, &[Span::ZERO, Span::MAX]),
            blocking: draws.below(2) == 0,
        }),
        _ => RateLimit::AwsAdaptive(any(draws, &[AwsAdaptive::default(), AwsAdaptive::smithy()])),
    }
}
