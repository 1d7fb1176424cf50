//! What well-known libraries do when nobody configures them.

use alloc::boxed::Box;

use crate::backoff;
use crate::breaker;
use crate::budget;
use crate::failure::{FailureKind, FailureSet};
use crate::order::{Order, RefusalSet};
use crate::retry_after::RetryAfter;
use crate::spec::{Backoff, Breaker, BreakerRule, Budget, Bulkhead, Deadline, Retry, Spec};
use crate::time::Span;

/// A library's documented defaults, as a [`Spec`] to begin with: `..Preset::Grpc.spec()`.
///
/// Where a library has no default and its documentation an example, it is the example's. What each
/// leaves out, and where the values are from, is in the documentation of the policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// gRPC: the retry policy and retry throttling of proposal A6's example (there is no default).
    Grpc,
    /// Envoy: a route with `retry_on` set and everything else left alone.
    Envoy,
    /// Istio: what it makes of a `VirtualService` and a `DestinationRule` that say nothing.
    Istio,
    /// The AWS SDKs in standard mode, version 2.1.
    AwsStandard,
    /// resilience4j: retry, breaker, time limiter and bulkhead, each by its `ofDefaults`.
    Resilience4j,
    /// Polly v8: retry, breaker and timeout strategies, each with new options.
    Polly,
    /// .NET: `AddStandardResilienceHandler`.
    DotnetStandard,
    /// Finagle: requeues within the default retry budget.
    Finagle,
    /// Linkerd: a retryable route of a service profile with the documentation's retry budget.
    Linkerd,
    /// Hystrix: a command with its default properties.
    Hystrix,
    /// Nothing: one attempt, no timeout.
    None,
}

use FailureKind as K;

/// No connection, or one that broke.
const CONNECTION: &[K] = &[K::Dns, K::ConnectRefused, K::ConnectTimeout, K::Reset];
/// HTTP 500 to 599.
const SERVER: &[K] = &[
    K::Internal,
    K::BadGateway,
    K::Unavailable,
    K::DeadlineExceeded,
];

fn kinds(groups: &[&[K]]) -> FailureSet {
    let kinds = groups.iter().flat_map(|group| group.iter());
    kinds.fold(FailureSet::NONE, |set, &kind| set.with(kind))
}

fn all_but(without: &[K]) -> FailureSet {
    let kinds = K::ALL.iter().filter(|kind| !without.contains(kind));
    kinds.fold(FailureSet::NONE, |set, &kind| set.with(kind))
}

/// HTTP clients neither inherit a deadline nor send one along.
const HTTP: Deadline = Deadline {
    limit: None,
    default: None,
    inherit: false,
    slack: Span::ZERO,
    propagate: false,
};

impl Preset {
    /// All of them.
    pub const ALL: [Preset; 11] = [
        Preset::Grpc,
        Preset::Envoy,
        Preset::Istio,
        Preset::AwsStandard,
        Preset::Resilience4j,
        Preset::Polly,
        Preset::DotnetStandard,
        Preset::Finagle,
        Preset::Linkerd,
        Preset::Hystrix,
        Preset::None,
    ];

    /// The word used in scenarios and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Preset::Grpc => "grpc",
            Preset::Envoy => "envoy",
            Preset::Istio => "istio",
            Preset::AwsStandard => "aws-standard",
            Preset::Resilience4j => "resilience4j",
            Preset::Polly => "polly",
            Preset::DotnetStandard => "dotnet-standard",
            Preset::Finagle => "finagle",
            Preset::Linkerd => "linkerd",
            Preset::Hystrix => "hystrix",
            Preset::None => "none",
        }
    }

    /// What it says. Every one of them passes [`Spec::check`].
    #[must_use]
    pub fn spec(self) -> Spec {
        match self {
            Preset::Grpc => grpc(),
            Preset::Envoy => envoy(),
            Preset::Istio => istio(),
            Preset::AwsStandard => aws_standard(),
            Preset::Resilience4j => resilience4j(),
            Preset::Polly => polly(),
            Preset::DotnetStandard => dotnet_standard(),
            Preset::Finagle => finagle(),
            Preset::Linkerd => linkerd(),
            Preset::Hystrix => hystrix(),
            Preset::None => Spec::default(),
        }
    }
}

/// The library does not look at a Retry-After.
const UNHEARD: RetryAfter = RetryAfter {
    honour: false,
    max: Span::MAX,
    spread: Span::ZERO,
};

fn grpc() -> Spec {
    Spec {
        retry: Retry {
            max_attempts: 4,
            backoff: Backoff::Grpc(backoff::Grpc {
                initial: Span::millis(100),
                max: Span::secs(1),
                multiplier: 2.0,
                jitter: backoff::GrpcJitter::PlusMinusFifth,
                variant: backoff::GrpcVariant::Go,
            }),
            on: kinds(&[CONNECTION, &[K::Unavailable]]),
            ..Retry::default()
        },
        budget: Budget::Grpc(budget::GrpcThrottling {
            max_tokens: 10.0,
            token_ratio: 0.1,
            variant: backoff::GrpcVariant::Go,
        }),
        ..Spec::default()
    }
}

fn envoy() -> Spec {
    Spec {
        deadline: Deadline {
            limit: Some(Span::secs(15)),
            ..HTTP
        },
        retry: Retry {
            max_attempts: 2,
            backoff: Backoff::Envoy(backoff::Envoy::default()),
            on: kinds(&[CONNECTION, SERVER, &[K::Timeout]]),
            ..Retry::default()
        },
        budget: Budget::Envoy(budget::Envoy::default()),
        bulkhead: Some(Bulkhead {
            max_in_flight: 1024,
            queue_from: None,
            max_waiting: 1024,
            max_wait: Span::MAX,
            hold_during_backoff: None,
        }),
        order: Some(Order::envoy()),
        ..Spec::default()
    }
}

fn istio() -> Spec {
    Spec {
        deadline: HTTP,
        retry: Retry {
            max_attempts: 3,
            backoff: Backoff::Envoy(backoff::Envoy::default()),
            on: kinds(&[&[
                K::Dns,
                K::ConnectRefused,
                K::ConnectTimeout,
                K::Unavailable,
                K::Cancelled,
            ]]),
            ..Retry::default()
        },
        ..Spec::default()
    }
}

fn aws_standard() -> Spec {
    Spec {
        deadline: HTTP,
        attempt_timeout: Some(Span::secs(60)),
        retry: Retry {
            max_attempts: 3,
            backoff: Backoff::AwsSdk(backoff::AwsSdk::new(backoff::AwsMode::Standard21)),
            on: kinds(&[CONNECTION, SERVER, &[K::Timeout, K::Overloaded]]),
            ..Retry::default()
        },
        budget: Budget::AwsQuota(budget::AwsQuota::new(budget::AwsCosts::V21)),
        ..Spec::default()
    }
}

fn resilience4j() -> Spec {
    Spec {
        deadline: HTTP,
        attempt_timeout: Some(Span::secs(1)),
        retry: Retry {
            max_attempts: 3,
            backoff: Backoff::Resilience4j(backoff::Resilience4j::default()),
            on: all_but(&[]),
            // `CallNotPermittedException` and the others are exceptions, and by default all are retried.
            refusals: RefusalSet::ALL,
            retry_after: UNHEARD,
            ..Retry::default()
        },
        breaker: Some(Breaker {
            rule: BreakerRule::Resilience4j(Box::default()),
            counts: None,
            // And all are recorded as failures.
            count_refusals: true,
            on: all_but(&[]),
            ignored: FailureSet::NONE,
        }),
        bulkhead: Some(Bulkhead {
            max_in_flight: 25,
            queue_from: None,
            max_waiting: 0,
            max_wait: Span::ZERO,
            hold_during_backoff: None,
        }),
        order: Some(Order::resilience4j()),
        ..Spec::default()
    }
}

fn polly() -> Spec {
    Spec {
        deadline: HTTP,
        attempt_timeout: Some(Span::secs(30)),
        retry: Retry {
            max_attempts: 4,
            backoff: Backoff::Polly(backoff::Polly::default()),
            on: all_but(&[K::Cancelled]),
            refusals: RefusalSet::ALL,
            retry_after: UNHEARD,
            ..Retry::default()
        },
        breaker: Some(Breaker {
            rule: BreakerRule::Polly(breaker::Polly::default()),
            counts: None,
            count_refusals: false,
            on: all_but(&[K::Cancelled]),
            ignored: FailureSet::NONE,
        }),
        ..Spec::default()
    }
}

fn dotnet_standard() -> Spec {
    let transient = kinds(&[CONNECTION, SERVER, &[K::Tls, K::Timeout, K::Overloaded]]);
    Spec {
        deadline: Deadline {
            limit: Some(Span::secs(30)),
            ..HTTP
        },
        attempt_timeout: Some(Span::secs(10)),
        retry: Retry {
            max_attempts: 4,
            backoff: Backoff::Polly(backoff::Polly {
                kind: backoff::PollyKind::Exponential,
                jitter: true,
                ..backoff::Polly::default()
            }),
            on: transient,
            ..Retry::default()
        },
        breaker: Some(Breaker {
            rule: BreakerRule::Polly(breaker::Polly::default()),
            counts: None,
            count_refusals: false,
            on: transient,
            ignored: FailureSet::NONE,
        }),
        bulkhead: Some(Bulkhead {
            max_in_flight: 1000,
            queue_from: None,
            max_waiting: 0,
            max_wait: Span::ZERO,
            hold_during_backoff: None,
        }),
        order: Some(Order::dotnet_standard()),
        ..Spec::default()
    }
}

fn finagle() -> Spec {
    Spec {
        retry: Retry {
            // A fifth of the budget's reserve of 100, which one request may use at most.
            max_attempts: 21,
            on: kinds(&[&[K::Dns, K::ConnectRefused, K::ConnectTimeout, K::Unavailable]]),
            retry_after: UNHEARD,
            ..Retry::default()
        },
        budget: Budget::Finagle(budget::Finagle::default()),
        order: Some(Order::finagle()),
        ..Spec::default()
    }
}

fn linkerd() -> Spec {
    Spec {
        deadline: HTTP,
        retry: Retry {
            max_attempts: u32::MAX,
            on: kinds(&[SERVER]),
            retry_after: UNHEARD,
            ..Retry::default()
        },
        budget: Budget::TowerTps(budget::TowerTps::default()),
        ..Spec::default()
    }
}

fn hystrix() -> Spec {
    Spec {
        deadline: HTTP,
        attempt_timeout: Some(Span::secs(1)),
        breaker: Some(Breaker {
            rule: BreakerRule::Hystrix(breaker::Hystrix::default()),
            counts: None,
            count_refusals: false,
            on: all_but(&[K::Invalid]),
            ignored: FailureSet::of(&[K::Invalid]),
        }),
        bulkhead: Some(Bulkhead {
            max_in_flight: 10,
            queue_from: None,
            max_waiting: 0,
            max_wait: Span::ZERO,
            hold_during_backoff: None,
        }),
        ..Spec::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_a_sound_policy() {
        for preset in Preset::ALL {
            assert_eq!(preset.spec().check().err(), None, "{}", preset.name());
        }
    }

    #[test]
    fn names_are_told_apart() {
        let mut names = Preset::ALL.map(Preset::name);
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
