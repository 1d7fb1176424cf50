//! What a [`Spec`] may say. All problems at once, each with its field, what is allowed and what was given.

use alloc::format;
use alloc::vec::Vec;

use crate::found::{Found, LARGEST_RING, SpecError};
use crate::hedge::HEDGED_ATTEMPTS_MAX;
use crate::order::Layer;
use crate::scope::Scope;
use crate::spec::{
    Backoff, Breaker, BreakerRule, Budget, Bulkhead, Jitter, LimiterRule, RateLimit, Rates, Retry,
    Spec, Window,
};
use crate::time::Span;

/// The largest token bucket, in tokens.
const LARGEST_BURST: f64 = 1e9;

pub(crate) fn problems(spec: &Spec) -> Vec<SpecError> {
    let mut found = Found(Vec::new());
    if let Some(limit) = spec.deadline.limit {
        found.span_above_zero("deadline.limit", limit);
    }
    if let Some(default) = spec.deadline.default {
        found.span_above_zero("deadline.default", default);
    }
    if let Some(timeout) = spec.attempt_timeout {
        found.span_above_zero("attempt_timeout", timeout);
    }
    attempt_timeout_jitter(spec, &mut found);
    retry(&spec.retry, &mut found);
    budget(&spec.budget, &mut found);
    if let Some(spec) = &spec.breaker {
        breaker(spec, &mut found);
    }
    if let Some(spec) = &spec.bulkhead {
        bulkhead(spec, &mut found);
    }
    if let Some(limiter) = &spec.limiter {
        if spec.bulkhead.is_none() {
            found.add("limiter", "needs a bulkhead, whose permits it moves");
        }
        match &limiter.rule {
            LimiterRule::Aimd(rule) => rule.check(&mut found),
            LimiterRule::Gradient2(rule) => rule.check(&mut found),
            LimiterRule::Vegas(rule) => rule.check(&mut found),
        }
        if let Some(window) = &limiter.window {
            window.check(&mut found);
        }
    }
    match &spec.rate_limit {
        None => {}
        Some(RateLimit::Gcra { gcra, .. }) => gcra.check(&mut found),
        Some(RateLimit::Resilience4j(limit)) => limit.check(&mut found),
        Some(RateLimit::AwsAdaptive(limit)) => limit.check(&mut found),
    }
    if let Some(hedge) = &spec.hedge {
        let holds = (2..=HEDGED_ATTEMPTS_MAX).contains(&hedge.max_attempts);
        found.require(
            holds,
            "hedge.max_attempts",
            format!("2 to {HEDGED_ATTEMPTS_MAX}"),
            hedge.max_attempts,
        );
        if spec.retry.max_attempts > 1 {
            found.add(
                "hedge",
                "takes the place of retries: leave retry.max_attempts at 1, or hedge out",
            );
        }
        if spec.scope.asks_for_host() {
            found.add(
                "hedge",
                "cannot be told apart by host: copies go to several at once",
            );
        }
        if !spec.retry.refusals.is_empty() {
            found.add(
                "hedge",
                "tries nothing again that was refused: leave retry.refusals out",
            );
        }
    }
    for (field, message) in spec.contradictions() {
        found.add(field, message);
    }
    scopes(spec, &mut found);
    found.0
}

fn scopes(spec: &Spec, found: &mut Found) {
    let scopes = &spec.scope;
    let parts = [
        ("scope.breaker", scopes.breaker, Some(Layer::Breaker)),
        ("scope.budget", scopes.budget, None),
        ("scope.bulkhead", scopes.bulkhead, Some(Layer::Bulkhead)),
        (
            "scope.rate_limit",
            scopes.rate_limit,
            Some(Layer::RateLimit),
        ),
    ];
    for (field, scope, layer) in parts {
        if scope.cap() == Some(0) {
            found.add(field, "must tell at least 1 key apart; got a cap of 0");
        }
        let there = match layer {
            Some(layer) => spec.has(layer),
            None => spec.budget != Budget::None,
        };
        if scope != Scope::Process && !there {
            found.add(field, "is about a part that the policy does not have");
        }
        match layer {
            None if scope.is_host() => {
                found.add(field, "cannot be host: a retry may go to another host");
            }
            Some(layer) if scope.is_host() && there && spec.outside_retry(layer) => {
                let name = layer.name();
                found.add(field, format!("cannot be host while order has {name} outside retry: each attempt has a host of its own"));
            }
            _ => {}
        }
    }
}

fn retry(retry: &Retry, found: &mut Found) {
    found.at_least_one("retry.max_attempts", retry.max_attempts);
    if !(retry.persistence > 0.0 && retry.persistence <= 1.0) {
        found.expected("retry.persistence", "above 0, at most 1", retry.persistence);
    }
    match &retry.backoff {
        Backoff::None => {}
        Backoff::Fixed { jitter: spread, .. } => {
            jitter(*spread, found);
            if *spread == Jitter::Decorrelated {
                found.add(
                    "retry.backoff.jitter",
                    "decorrelated needs a base and a max: use it with exponential, not with fixed",
                );
            }
        }
        Backoff::Exponential {
            base,
            multiplier,
            max,
            jitter: spread,
        } => {
            found.span_above_zero("retry.backoff.base", *base);
            // NaN is not allowed either, hence not the other way round.
            if !(*multiplier >= 1.0 && multiplier.is_finite()) {
                found.expected(
                    "retry.backoff.multiplier",
                    "a number of at least 1",
                    multiplier,
                );
            }
            if max < base {
                found.expected("retry.backoff.max", format!("at least base ({base})"), max);
            }
            jitter(*spread, found);
        }
        Backoff::AwsJitter(backoff) => backoff.check(found),
        Backoff::AwsSdk(_) | Backoff::Polly(_) => {}
        Backoff::Envoy(backoff) => backoff.check(found),
        Backoff::Finagle(backoff) => backoff.check(found),
        Backoff::GoogleApiCore(backoff) => backoff.check(found),
        Backoff::Grpc(backoff) => backoff.check(found),
        Backoff::Resilience4j(backoff) => backoff.check(found),
    }
}

fn attempt_timeout_jitter(spec: &Spec, found: &mut Found) {
    const FIELD: &str = "attempt_timeout_jitter";
    match spec.attempt_timeout_jitter {
        Jitter::None => return,
        Jitter::Decorrelated => {
            found.add(FIELD, "decorrelated is for waits that follow each other")
        }
        Jitter::Proportional { ratio } => found.within(FIELD, ratio, 0.0, 1.0),
        Jitter::Full | Jitter::Equal | Jitter::Exponential => {}
    }
    if spec.attempt_timeout.is_none() {
        found.add(FIELD, "needs an attempt_timeout, which it spreads");
    }
    if spec.order.is_some() {
        found.add(FIELD, "goes with the usual order only: leave order out");
    }
    if spec.hedge.is_some() {
        found.add(
            FIELD,
            "does not go with hedge, whose attempts have one timeout",
        );
    }
}

fn jitter(jitter: Jitter, found: &mut Found) {
    if let Jitter::Proportional { ratio } = jitter {
        found.within("retry.backoff.jitter.ratio", ratio, 0.0, 1.0);
    }
}

fn budget(budget: &Budget, found: &mut Found) {
    match *budget {
        Budget::None => {}
        Budget::Ratio { ratio, burst, .. } => {
            if !(ratio > 0.0 && ratio <= 1000.0) {
                found.expected("budget.ratio", "above 0, at most 1000", ratio);
            }
            found.within("budget.burst", burst, 1.0, LARGEST_BURST);
        }
        Budget::Windowed {
            ratio,
            window,
            floor_per_sec,
            ..
        } => {
            found.within("budget.ratio", ratio, 0.0, 1000.0);
            found.window("budget.window", window);
            found.within("budget.floor_per_sec", floor_per_sec, 0.0, 1e9);
        }
        Budget::FailureShare { max } => {
            if !(max > 0.0 && max <= 1000.0) {
                found.expected("budget.max", "above 0, at most 1000", max);
            }
        }
        Budget::AwsQuota(ref budget) => budget.check(found),
        Budget::Envoy(ref budget) => budget.check(found),
        Budget::Finagle(ref budget) => budget.check(found),
        Budget::Grpc(ref budget) => budget.check(found),
        Budget::SreAdaptive(ref budget) => budget.check(found),
        Budget::TowerTps(ref budget) => budget.check(found),
    }
}

fn breaker(breaker: &Breaker, found: &mut Found) {
    match &breaker.rule {
        BreakerRule::Rates(rule) => rates(rule, found),
        BreakerRule::GoBreaker(rule) => rule.check(found),
        BreakerRule::Hystrix(rule) => rule.check(found),
        BreakerRule::Linkerd(rule) => rule.check(found),
        BreakerRule::Polly(rule) => rule.check(found),
        BreakerRule::Resilience4j(rule) => rule.check(found),
        BreakerRule::Sentinel(rule) => rule.check(found),
    }
}

fn rates(breaker: &Rates, found: &mut Found) {
    match breaker.window {
        Window::Count(size) => {
            if !(1..=LARGEST_RING).contains(&size) {
                found.expected(
                    "breaker.window",
                    format!("1 to {LARGEST_RING} results"),
                    size,
                );
            } else if breaker.minimum_calls > size {
                found.expected(
                    "breaker.minimum_calls",
                    format!("at most the window ({size} results), or it never opens"),
                    breaker.minimum_calls,
                );
            }
        }
        Window::Time(length) => found.window("breaker.window", length),
    }
    found.rate("breaker.failure_rate", breaker.failure_rate);
    if let Some(rate) = breaker.slow_rate {
        found.rate("breaker.slow_rate", rate);
    }
    found.at_least_one("breaker.minimum_calls", breaker.minimum_calls);
    found.span_above_zero("breaker.open_for", breaker.open_for);
    found.at_least_one("breaker.half_open_calls", breaker.half_open_calls);
    if let Some(ramp) = breaker.ramp {
        let below_one = ramp.from > 0.0 && ramp.from < 1.0;
        found.require(
            below_one,
            "breaker.ramp.from",
            "above 0 and below 1",
            ramp.from,
        );
        let grows = ramp.factor > 1.0 && ramp.factor.is_finite();
        found.require(grows, "breaker.ramp.factor", "above 1", ramp.factor);
    }
}

fn bulkhead(bulkhead: &Bulkhead, found: &mut Found) {
    found.at_least_one("bulkhead.max_in_flight", bulkhead.max_in_flight);
    if let Some(from) = bulkhead.queue_from {
        let holds = (1..=bulkhead.max_in_flight).contains(&from);
        found.require(holds, "bulkhead.queue_from", "1 to max_in_flight", from);
    }
    if bulkhead.max_waiting > 0 && bulkhead.max_wait == Span::ZERO {
        found.expected(
            "bulkhead.max_wait",
            format!("above 0, since {} may wait", bulkhead.max_waiting),
            bulkhead.max_wait,
        );
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use crate::failure::FailureSet;
    use crate::spec::*;
    use crate::time::Span;

    fn fields(spec: &Spec) -> Vec<&'static str> {
        let problems = spec.check().err().unwrap_or_default();
        problems.iter().map(|problem| problem.field).collect()
    }

    const RATES: Rates = Rates {
        window: Window::Count(10),
        failure_rate: 0.5,
        slow_rate: None,
        slow_after: Span::MAX,
        minimum_calls: 10,
        open_for: Span(1),
        half_open_calls: 1,
        ramp: None,
    };

    fn breaker(rates: Rates) -> Option<Breaker> {
        Some(Breaker {
            rule: BreakerRule::Rates(rates),
            counts: None,
            count_refusals: false,
            on: FailureSet::NONE,
            ignored: FailureSet::NONE,
        })
    }

    #[test]
    fn all_that_is_wrong_is_reported_at_once() {
        let spec = Spec {
            deadline: Deadline {
                limit: Some(Span::ZERO),
                default: Some(Span::ZERO),
                ..Deadline::default()
            },
            attempt_timeout: Some(Span::ZERO),
            retry: Retry {
                max_attempts: 0,
                backoff: Backoff::Exponential {
                    base: Span(10),
                    multiplier: f64::NAN,
                    max: Span(9),
                    jitter: Jitter::Proportional { ratio: 1.5 },
                },
                ..Retry::default()
            },
            budget: Budget::Ratio {
                of: BudgetEvent::Calls,
                ratio: f64::NAN,
                burst: 0.0,
            },
            breaker: breaker(Rates {
                window: Window::Time(Span(9)),
                failure_rate: 0.0,
                slow_rate: Some(f64::NAN),
                minimum_calls: 0,
                open_for: Span::ZERO,
                half_open_calls: 0,
                ramp: None,
                ..RATES
            }),
            bulkhead: Some(Bulkhead {
                max_in_flight: 0,
                queue_from: None,
                max_waiting: 1,
                max_wait: Span::ZERO,
                hold_during_backoff: Some(true),
            }),
            ..Spec::default()
        };
        assert_eq!(
            fields(&spec),
            [
                "deadline.limit",
                "deadline.default",
                "attempt_timeout",
                "retry.max_attempts",
                "retry.backoff.multiplier",
                "retry.backoff.max",
                "retry.backoff.jitter.ratio",
                "budget.ratio",
                "budget.burst",
                "breaker.window",
                "breaker.failure_rate",
                "breaker.slow_rate",
                "breaker.minimum_calls",
                "breaker.open_for",
                "breaker.half_open_calls",
                "bulkhead.max_in_flight",
                "bulkhead.max_wait",
            ]
        );
    }

    #[test]
    fn a_message_says_what_is_allowed_and_what_was_given() {
        let spec = Spec {
            retry: Retry {
                max_attempts: 0,
                ..Retry::default()
            },
            ..Spec::default()
        };
        let problems = spec.check().unwrap_err();
        assert_eq!(problems[0].message, "must be at least 1; got 0");
    }

    #[test]
    fn numbers_that_are_not_numbers_and_infinite_ones_are_refused() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
            let ratio = Budget::Ratio {
                of: BudgetEvent::Calls,
                ratio: bad,
                burst: bad,
            };
            let windowed = Budget::Windowed {
                of: BudgetEvent::Calls,
                ratio: bad,
                window: Span(10),
                floor_per_sec: bad,
            };
            for budget in [ratio, windowed] {
                let spec = Spec {
                    budget,
                    ..Spec::default()
                };
                assert_eq!(fields(&spec).len(), 2, "{bad}");
            }
            let spec = Spec {
                breaker: breaker(Rates {
                    failure_rate: bad,
                    slow_rate: Some(bad),
                    ..RATES
                }),
                ..Spec::default()
            };
            assert_eq!(fields(&spec).len(), 2, "{bad}");
        }
    }

    #[test]
    fn a_breaker_that_could_never_open_is_refused() {
        let with = |window, minimum_calls| Spec {
            breaker: breaker(Rates {
                window,
                minimum_calls,
                ..RATES
            }),
            ..Spec::default()
        };
        assert_eq!(fields(&with(Window::Count(10), 10)), [""; 0]);
        assert_eq!(
            fields(&with(Window::Count(10), 11)),
            ["breaker.minimum_calls"]
        );
        assert_eq!(
            fields(&with(Window::Count(u32::MAX), 1)),
            ["breaker.window"]
        );
        assert_eq!(fields(&with(Window::Time(Span(10)), 11)), [""; 0]);
    }

    #[test]
    fn decorrelated_jitter_needs_something_to_work_on() {
        let spec = Spec {
            retry: Retry {
                backoff: Backoff::Fixed {
                    delay: Span(10),
                    jitter: Jitter::Decorrelated,
                },
                ..Retry::default()
            },
            ..Spec::default()
        };
        assert_eq!(fields(&spec), ["retry.backoff.jitter"]);
    }
}
