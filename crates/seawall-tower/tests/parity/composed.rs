//! Policies whose parts are in other orders, or are told apart by keys.

use seawall::{
    Budget, BudgetEvent, Counts, Deadline, Hedge, HedgeVariant, Layer, Order, RateLimit,
    RefusalSet, Retry, Scope, Scopes, Span, Spec, Window, rate_limit::Gcra,
};

use crate::policies::{Named, breaks, bulkhead, rates, retries};

/// Every part there is, none of them said to be anywhere.
fn everything() -> Spec {
    let mut spec = Spec {
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
        rate_limit: Some(RateLimit::Gcra {
            gcra: Gcra {
                period: Span::millis(12),
                burst: 4,
            },
            max_wait: Span::millis(70),
        }),
        ..retries()
    };
    spec.retry.refusals = RefusalSet::ALL;
    if let Some(breaker) = &mut spec.breaker {
        breaker.counts = None;
        breaker.count_refusals = true;
    }
    if let Some(bulkhead) = &mut spec.bulkhead {
        bulkhead.hold_during_backoff = None;
    }
    spec
}

/// Up to four copies, close to each other.
fn hedged(spec: Spec) -> Spec {
    Spec {
        attempt_timeout: Some(Span::millis(250)),
        hedge: Some(Hedge {
            max_attempts: 4,
            delay: Span::millis(35),
            on: retries().retry.on,
            variant: HedgeVariant::Proposal,
        }),
        ..spec
    }
}

pub(crate) fn all() -> Named {
    use Layer as L;
    let in_order = |order: Order| Spec {
        order: Some(order),
        ..everything()
    };
    let per = |scope: Scopes| Spec {
        scope,
        ..everything()
    };
    let inside_the_timeout = [
        L::Bulkhead,
        L::RateLimit,
        L::TotalTimeout,
        L::Retry,
        L::AttemptTimeout,
        L::Breaker,
    ];
    let calls = [
        L::Breaker,
        L::TotalTimeout,
        L::Bulkhead,
        L::Retry,
        L::AttemptTimeout,
        L::RateLimit,
    ];
    vec![
        ("order of resilience4j", in_order(Order::resilience4j())),
        ("order of .NET", in_order(Order::dotnet_standard())),
        ("order of Envoy", in_order(Order::envoy())),
        ("order of Finagle", in_order(Order::finagle())),
        (
            "a breaker that sees no timeout",
            in_order(Order::of(&inside_the_timeout)),
        ),
        ("a breaker of calls, outermost", in_order(Order::of(&calls))),
        ("hedged", hedged(Spec::default())),
        (
            "hedged, throttled, behind a breaker and a bulkhead",
            hedged(Spec {
                retry: Retry::default(),
                scope: Scopes {
                    bulkhead: Scope::Operation { cap: 8 },
                    ..Scopes::default()
                },
                ..everything()
            }),
        ),
        (
            "per host",
            per(Scopes {
                breaker: Scope::Host { cap: 8 },
                bulkhead: Scope::Host { cap: 8 },
                rate_limit: Scope::Host { cap: 1 },
                ..Scopes::default()
            }),
        ),
        (
            "per tenant and operation",
            per(Scopes {
                breaker: Scope::Operation { cap: 8 },
                budget: Scope::Tenant { cap: 8 },
                bulkhead: Scope::Tenant { cap: 1 },
                rate_limit: Scope::Operation { cap: 8 },
            }),
        ),
    ]
}
