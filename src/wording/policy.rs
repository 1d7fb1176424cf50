//! Policies in words: what is in effect, defaults included.

use std::fmt::Debug;

use seawall::{
    Backoff, Breaker, BreakerRule, Budget, BudgetEvent, Bulkhead, Counts, Deadline, FailureKind,
    FailureSet, Jitter, Limiter, LimiterRule, PhaseSet, RateLimit, Scope, Span, Spec, Window,
};

use crate::number;

/// What a policy does, one part per line; empty parts are left out.
#[must_use]
pub fn policy(spec: &Spec) -> Vec<String> {
    let mut lines = vec![deadline(spec), retry(spec)];
    lines.extend(budget(&spec.budget));
    lines.extend(spec.breaker.as_ref().map(|it| breaker(it, spec)));
    lines.extend(spec.rate_limit.as_ref().map(rate_limit));
    lines.extend(spec.bulkhead.as_ref().map(|it| bulkhead(it, spec)));
    lines.extend(spec.limiter.as_ref().map(limiter));
    lines.extend(composition(spec));
    lines
}

fn span(span: Span) -> String {
    match span {
        Span::MAX => "any time".into(),
        _ => number::duration(span.as_secs_f64()),
    }
}

fn deadline(spec: &Spec) -> String {
    let Deadline {
        limit,
        default,
        inherit,
        slack,
        propagate,
    } = spec.deadline;
    let mut words = Vec::new();
    match (limit, default) {
        (Some(limit), _) => words.push(format!("deadline {}", span(limit))),
        (None, Some(default)) => words.push(format!(
            "deadline {} unless the caller has one",
            span(default)
        )),
        (None, None) => words.push("no deadline of its own".into()),
    }
    if inherit && slack.0 > 0 {
        words.push(format!("at most the caller's less {}", span(slack)));
    } else if !inherit {
        words.push("the caller's is ignored".into());
    }
    if !propagate {
        words.push("not sent along".into());
    }
    words.push(match spec.attempt_timeout {
        Some(timeout) if spec.attempt_timeout_jitter != Jitter::None => format!(
            "attempt timeout {}, {}",
            span(timeout),
            jitter_words(spec.attempt_timeout_jitter)
        ),
        Some(timeout) => format!("attempt timeout {}", span(timeout)),
        None => "no attempt timeout".into(),
    });
    words.join(" · ")
}

fn retry(spec: &Spec) -> String {
    let retry = &spec.retry;
    if let Some(hedge) = spec.hedge {
        return format!(
            "hedged: up to {} attempts, {} apart, at once after {}",
            hedge.max_attempts,
            span(hedge.delay),
            kinds(hedge.on)
        );
    }
    let attempts = match retry.max_attempts {
        1 => return "1 attempt, no retries".into(),
        u32::MAX => "attempts without limit".into(),
        2 => "up to 2 attempts (1 retry)".into(),
        n => format!("up to {n} attempts ({} retries)", n - 1),
    };
    let mut words = vec![
        format!("{attempts} on {}", kinds(retry.on)),
        backoff(&retry.backoff),
    ];
    if retry.phases != PhaseSet::ALL {
        let phases: Vec<&str> = retry.phases.iter().map(|phase| phase.name()).collect();
        words.push(format!("failed in {} only", phases.join(", ")));
    }
    if retry.reserve.0 > 0 {
        words.push(format!("{} kept back for a backoff", span(retry.reserve)));
    }
    if !retry.retry_after.honour {
        words.push("Retry-After ignored".into());
    }
    words.join(" · ")
}

fn kinds(set: FailureSet) -> String {
    let names = |within: bool| {
        let kinds = FailureKind::ALL.iter();
        let kinds = kinds.filter(move |&&kind| set.contains(kind) == within);
        kinds.map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
    };
    match (set.iter().count(), FailureKind::ALL.len()) {
        (0, _) => "nothing".into(),
        (some, all) if some == all => "any failure".into(),
        (some, all) if all - some <= 4 => format!("any failure but {}", names(false)),
        _ => names(true),
    }
}

fn backoff(backoff: &Backoff) -> String {
    match backoff {
        Backoff::None => "no backoff".into(),
        Backoff::Fixed { delay, jitter } => {
            format!("backoff {}, {}", span(*delay), jitter_words(*jitter))
        }
        Backoff::Exponential {
            base,
            multiplier,
            max,
            jitter,
        } => format!(
            "backoff {} × {}ⁿ{}, {}",
            span(*base),
            number::plain(*multiplier),
            match *max {
                Span::MAX => String::new(),
                max => format!(" up to {}", span(max)),
            },
            jitter_words(*jitter)
        ),
        other => format!("backoff as in {}", dialect(other)),
    }
}

fn jitter_words(jitter: Jitter) -> String {
    match jitter {
        Jitter::None => "no jitter".into(),
        Jitter::Full => "full jitter".into(),
        Jitter::Equal => "equal jitter".into(),
        Jitter::Decorrelated => "decorrelated jitter".into(),
        Jitter::Proportional { ratio } => format!("jitter ±{}", number::share(ratio)),
        Jitter::Exponential => "spread as an exponential".into(),
    }
}

fn budget(budget: &Budget) -> Option<String> {
    Some(match budget {
        Budget::None => return None,
        Budget::Ratio { of, ratio, burst } => {
            let (ratio, burst) = (number::share(*ratio), number::plain(*burst));
            format!(
                "retry budget {ratio} of {}, burst {burst}, per process",
                event(*of)
            )
        }
        Budget::Windowed {
            of,
            ratio,
            window,
            floor_per_sec,
        } => format!(
            "retry budget {} of {} in the last {}, at least {}, per process",
            number::share(*ratio),
            event(*of),
            span(*window),
            number::rate(*floor_per_sec)
        ),
        Budget::FailureShare { max } => format!(
            "no retries above {} failed attempts per call, per process",
            number::share(*max)
        ),
        other => format!("retry budget as in {}, per process", dialect(other)),
    })
}

/// In which order, and for whom, where anybody said so.
fn composition(spec: &Spec) -> Option<String> {
    let mut words = Vec::new();
    if spec.order.is_some() {
        let layers = spec.effective_order();
        let layers: Vec<&str> = layers.layers().iter().map(|layer| layer.name()).collect();
        words.push(format!("outermost first: {}", layers.join(" › ")));
    }
    if !spec.retry.refusals.is_empty() {
        words.push("what this side refuses inside retry is tried again".into());
    }
    let scopes = [
        ("breaker", spec.scope.breaker),
        ("budget", spec.scope.budget),
        ("bulkhead", spec.scope.bulkhead),
        ("rate limit", spec.scope.rate_limit),
    ];
    for (part, scope) in scopes {
        let (key, cap) = match scope {
            Scope::Process => continue,
            Scope::Host { cap } => ("host", cap),
            Scope::Operation { cap } => ("operation", cap),
            Scope::Tenant { cap } => ("tenant", cap),
        };
        words.push(format!("a {part} per {key}, up to {cap}"));
    }
    (!words.is_empty()).then(|| words.join(" · "))
}

fn event(event: BudgetEvent) -> &'static str {
    match event {
        BudgetEvent::Calls => "calls",
        BudgetEvent::Successes => "successes",
        BudgetEvent::NotRetryable => "answers that are not retried",
    }
}

fn breaker(breaker: &Breaker, spec: &Spec) -> String {
    let what = match spec.breaker_counts().unwrap_or_default() {
        Counts::Attempts => "attempts",
        Counts::Calls => "calls",
    };
    match &breaker.rule {
        BreakerRule::Rates(rates) => {
            let window = match rates.window {
                Window::Count(n) => format!("the last {n} {what}"),
                Window::Time(length) => format!("{what} of the last {}", span(length)),
            };
            let slow = match rates.slow_rate {
                Some(rate) => format!(
                    " or {} slower than {}",
                    number::share(rate),
                    span(rates.slow_after)
                ),
                None => String::new(),
            };
            let ramp = match rates.ramp {
                Some(ramp) => format!(
                    ", then {} of all and {} more every {}",
                    number::share(ramp.from),
                    number::times(ramp.factor),
                    span(ramp.every)
                ),
                None => String::new(),
            };
            format!(
                "breaker opens for {} when {} of {window} failed{slow} (of at least {}); {} trials{ramp}",
                span(rates.open_for),
                number::share(rates.failure_rate),
                rates.minimum_calls,
                rates.half_open_calls
            )
        }
        other => format!("breaker as in {}, counting {what}", dialect(other)),
    }
}

fn bulkhead(bulkhead: &Bulkhead, spec: &Spec) -> String {
    let room = match bulkhead.max_waiting {
        0 => "none waits".to_string(),
        n => format!(
            "{} wait up to {}",
            number::count(u64::from(n)),
            span(bulkhead.max_wait)
        ),
    };
    let permit = if spec.holds_during_backoff() == Some(true) {
        "held"
    } else {
        "given back"
    };
    let limit = number::count(u64::from(bulkhead.max_in_flight));
    format!("bulkhead {limit} calls in flight, {room}; permit {permit} during backoff")
}

fn limiter(limiter: &Limiter) -> String {
    let (name, from, most) = match &limiter.rule {
        LimiterRule::Aimd(rule) => ("AIMD", rule.initial, rule.max),
        LimiterRule::Gradient2(rule) => ("Gradient2", rule.initial, rule.max),
        LimiterRule::Vegas(rule) => ("Vegas", rule.initial, rule.max),
    };
    format!("permits moved by {name}, from {from} up to {most}")
}

fn rate_limit(limit: &RateLimit) -> String {
    match limit {
        RateLimit::Gcra { gcra, max_wait } => format!(
            "at most {} attempts, {} at once, waiting up to {}, per process",
            number::rate(1.0 / gcra.period.as_secs_f64()),
            gcra.burst,
            span(*max_wait)
        ),
        RateLimit::Resilience4j(limit) => format!(
            "at most {} attempts in each {}, waiting up to {}, per process",
            limit.limit_for_period,
            span(limit.limit_refresh_period),
            span(limit.timeout)
        ),
        RateLimit::AwsAdaptive(_) => {
            "rate limited as in the adaptive mode of the AWS SDKs, per process".into()
        }
    }
}

/// The library that a member is taken from.
fn dialect(member: &impl Debug) -> String {
    let text = format!("{member:?}");
    let name = text
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    match name {
        "AwsJitter" => "the AWS Architecture Blog",
        "AwsSdk" | "AwsQuota" => "the AWS SDKs",
        "GoBreaker" => "sony/gobreaker",
        "GoogleApiCore" => "google.api_core",
        "Grpc" => "gRPC",
        "Polly" => "Polly v8",
        "Resilience4j" => "resilience4j",
        "SreAdaptive" => "the Google SRE book, which rejects first attempts too",
        "TowerTps" => "tower",
        name => name,
    }
    .into()
}
