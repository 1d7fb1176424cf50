//! What stops calls to a service that is failing: failure and slow rates, and the breakers of libraries in
//! production.

use seawall::breaker::{
    Aligned, GoBreaker, GoTrip, Hystrix, Linkerd, Polly, Resilience4j, Resilience4jWindow,
    Sentinel, SentinelGrade,
};
use seawall::{Breaker, BreakerRule, Counts, FailureKind, FailureSet, Ramp, Rates, Span, Window};
use serde_json::{Value as Json, json};

use super::limits::lay_tag;
use crate::scenario::problem::Problems;
use crate::scenario::tree::{Node, Value};
use crate::scenario::written::{
    Defs, Fields, Key, Keyed, Kinds, Layered, Opt, Percent, Ratio, Share, Tagged, Whole, Written,
    described, itself, lay_key, members, mirror, schema_of_record, unfold, words,
};

members! {
    /// A library's breaker.
    BreakerRule as "BreakerRule" {
        /// Failure rate and slow rate over a window; its keys may as well stand without this one.
        rates: Rates [BreakerRule::Rates(it)] [it],
        /// sony/gobreaker.
        gobreaker: GoBreaker [BreakerRule::GoBreaker(it)] [it],
        /// Hystrix.
        hystrix: Hystrix [BreakerRule::Hystrix(it)] [it],
        /// Consecutive failures as in the Linkerd proxy.
        linkerd: Linkerd [BreakerRule::Linkerd(it)] [it],
        /// Polly v8.
        polly: Polly [BreakerRule::Polly(it)] [it],
        /// resilience4j.
        resilience4j: Box<Resilience4j> [BreakerRule::Resilience4j(it)] [it],
        /// Sentinel's degrade rules.
        sentinel: Sentinel [BreakerRule::Sentinel(it)] [it],
    }
}

mirror! {
    /// Closed: results go into the window; once it holds `minimum_calls`, a failure rate of at least
    /// `failure_rate`, or a slow rate of at least `slow_rate`, opens it. Open: everything is refused for
    /// `open_for`. Half-open: `half_open_calls` trials decide by the same thresholds.
    Rates as "RatesBreaker" {
        /// What the rates are taken over: so many results (100), or the results of so much time ("10s").
        window: Window = 100,
        /// Share of failures that opens it, above 0.
        failure_rate: Share = "50%",
        /// Share of slow results that opens it, above 0. Without: slowness is ignored.
        slow_rate: Opt<Share> = "none",
        /// A result slower than this is slow.
        slow_after: Span = "1min",
        /// Results needed before any rate is believed. Default: 100, or as many as the window counts if
        /// that is fewer.
        minimum_calls: Whole<1> => match window {
            Window::Count(count) => count.min(100),
            Window::Time(_) => 100,
        },
        /// How long it stays open.
        open_for: Span = "1min",
        /// Trials let through when half-open.
        half_open_calls: Whole<1> = 10,
        /// How more and more is let through after good trials. Without: all at once.
        ramp: Opt<Ramp> = "none",
    }
}

mirror! {
    /// After good trials a rising share of calls is let through, in stages; each lasts until its time is over and
    /// `half_open_calls` results are in, and a threshold they reach opens the breaker again.
    Ramp as "Ramp" {
        /// The share of calls let through at first, above 0 and below 100%.
        from: Share = "10%",
        /// How many times more in each stage, above 1.
        factor: f64 = 2.0,
        /// How long a stage lasts at least.
        every: Span = "10s",
    }
}

impl Written for Window {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        match node.value {
            Value::Number(_) => Whole::<1>::decode(node, problems).map(|n| Window::Count(n.0)),
            _ => Span::decode(node, problems).map(Window::Time),
        }
    }

    fn schema(defs: &mut Defs) -> Json {
        json!({ "anyOf": [Whole::<1>::schema(defs), Span::schema(defs)] })
    }
}

impl Layered for Window {
    fn write(&self) -> Value {
        match self {
            Window::Count(count) => Whole::<1>(*count).write(),
            Window::Time(length) => length.write(),
        }
    }
}

itself!(Window);

words! {
    /// What a policy counts.
    Counts, "Counts" {
        "attempts" => Counts::Attempts, "Each attempt.";
        "calls" => Counts::Calls, "Each call, by how it ended.";
    }
}

/// What every breaker is told, whatever its rule.
#[derive(Clone, Debug)]
struct Results {
    counts: Option<Counts>,
    count_refusals: bool,
    on: FailureSet,
    ignored: FailureSet,
}

mirror! {
    /// What is a result, and which.
    Results as "BreakerResults" {
        /// Whether each attempt is one result, or each call. Without: as `order` has it, and without one attempts.
        counts: Opt<Counts> = "none",
        /// Whether what layers inside it refuse is a failure to it.
        count_refusals: bool = false,
        /// Kinds that count as failures. By default all but those that are the caller's fault: conflict,
        /// permission_denied, invalid, cancelled.
        on: Kinds => not_the_callers_fault(),
        /// Kinds that are no result at all.
        ignored: Kinds => FailureSet::NONE,
    }
}

fn not_the_callers_fault() -> FailureSet {
    let callers = FailureSet::of(&[
        FailureKind::Conflict,
        FailureKind::PermissionDenied,
        FailureKind::Invalid,
        FailureKind::Cancelled,
    ]);
    let others = FailureKind::ALL
        .iter()
        .copied()
        .filter(|&kind| !callers.contains(kind));
    others.fold(FailureSet::NONE, FailureSet::with)
}

/// The keys of a breaker that has no tag, and those beside one.
const FLAT: &[Key] = &[
    Key::of("window"),
    Key::of("failure_rate"),
    Key::of("slow_rate"),
    Key::of("slow_after"),
    Key::of("minimum_calls"),
    Key::of("open_for"),
    Key::of("half_open_calls"),
    Key::of("ramp"),
    Key::of("counts"),
    Key::of("count_refusals"),
    Key::of("on"),
    Key::of("ignored"),
];

/// What of a breaker's map belongs where.
struct Parts {
    results: Node,
    /// The keys of rates, or one tag.
    rule: Node,
    tag: Option<String>,
}

impl Parts {
    fn of(node: &Node) -> Parts {
        let (mut results, mut rule, mut tag) = (Vec::new(), Vec::new(), None);
        let entries = match &node.value {
            Value::Map(entries) => entries.as_slice(),
            _ => &[],
        };
        for entry in entries {
            let is = |keys: &[Key]| keys.iter().any(|key| key.name() == entry.0.value);
            if is(Results::KEYS) {
                results.push(entry.clone());
            } else if is(Rates::KEYS) {
                rule.push(entry.clone());
            } else if BreakerRule::TAGS
                .iter()
                .any(|tag| tag.name == entry.0.value)
            {
                tag = Some(entry.0.value.clone());
                rule.push(entry.clone());
            }
        }
        let at = node.at;
        let map = |entries| Node {
            value: Value::Map(entries),
            at,
        };
        Parts {
            results: map(results),
            rule: map(rule),
            tag,
        }
    }
}

/// Puts the keys under `rates` beside the others.
fn flatten(node: &mut Node) {
    unfold(node, None);
    if let Value::Map(entries) = &mut node.value
        && let Some(index) = entries.iter().position(|(key, _)| key.value == "rates")
        && let Value::Map(rates) = entries[index].1.value.clone()
    {
        entries.remove(index);
        entries.extend(rates);
    }
}

impl Written for Breaker {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        // Says which keys are unknown, with all that are known.
        Fields::open(node, FLAT, BreakerRule::TAGS, None, problems)?;
        let parts = Parts::of(node);
        let results = Results::decode(&parts.results, problems);
        let rule = match parts.tag {
            Some(_) => BreakerRule::decode(&parts.rule, problems),
            None => Rates::decode(&parts.rule, problems).map(BreakerRule::Rates),
        };
        let results = results?;
        Some(Breaker {
            rule: rule?,
            counts: results.counts,
            count_refusals: results.count_refusals,
            on: results.on,
            ignored: results.ignored,
        })
    }

    fn absent() -> Option<Self> {
        None
    }

    fn schema(defs: &mut Defs) -> Json {
        defs.define::<Self>("Breaker", |defs| {
            let doc = "A circuit breaker that opens by failure rate and slow rate over a window.";
            let mut keys = Results::keys(defs);
            keys.extend(Rates::keys(defs));
            let rates = schema_of_record(doc, keys, None, None);
            let doc = "A circuit breaker exactly as a library has it, under its name.";
            let tags = BreakerRule::schema_of_tags(defs);
            let named = schema_of_record(doc, Results::keys(defs), Some(tags), None);
            let doc = "What stops calls to a service that is failing: closed, open, half-open.";
            described(doc, json!({ "anyOf": [rates, named] }))
        })
    }
}

impl Layered for Breaker {
    fn write(&self) -> Value {
        let results = Results {
            counts: self.counts,
            count_refusals: self.count_refusals,
            on: self.on,
            ignored: self.ignored,
        };
        let rule = match &self.rule {
            BreakerRule::Rates(rates) => rates.write(),
            other => other.write(),
        };
        match (rule, results.write()) {
            (Value::Map(mut rule), Value::Map(results)) => {
                rule.extend(results);
                Value::Map(rule)
            }
            (rule, _) => rule,
        }
    }

    fn lay(own: &mut Node, base: &Node) {
        let mut base = base.clone();
        flatten(own);
        flatten(&mut base);
        for key in Results::KEYS {
            lay_key(own, &base, key.name(), |_, _| {});
        }
        let (mine, theirs) = (Parts::of(own), Parts::of(&base));
        let open = mine.rule.value == Value::Map(Vec::new());
        match (mine.tag, theirs.tag) {
            (None, None) => {
                for key in Rates::KEYS {
                    lay_key(own, &base, key.name(), |_, _| {});
                }
            }
            (None, Some(_)) if !open => {}
            (_, Some(_)) => lay_tag::<BreakerRule>(own, &base),
            (Some(_), None) => {}
        }
    }
}

itself!(Breaker);

mirror! {
    /// sony/gobreaker's Settings.
    GoBreaker as "GoBreaker" {
        /// MaxRequests let through when half-open; so many successes in a row close it. 0 is 1.
        max_requests: Whole<0> = 1,
        /// Interval after which closed counts are cleared; 0s is never.
        interval: Span = "0s",
        /// BucketPeriod: let counts age in buckets of this length instead; 0s is not.
        bucket_period: Span = "0s",
        /// Timeout: how long it stays open. 0s is 60s.
        timeout: Span = "1min",
        /// ReadyToTrip, looked at after failures only. By default more than 5 failures in a row.
        trip: GoTrip => GoBreaker::default().trip,
    }
}

members! {
    /// When a closed gobreaker opens.
    GoTrip as "GoTrip" {
        /// More failures in a row than this.
        consecutive_failures_above: Whole<0> [GoTrip::ConsecutiveFailuresAbove(it)] [it],
        /// At least so many requests, and at least this share of them failed.
        failure_ratio: GoFailureRatio
            [GoTrip::FailureRatio { min_requests, at_least }]
            [GoFailureRatio { min_requests, at_least }],
    }
}

#[derive(Clone, Debug)]
struct GoFailureRatio {
    min_requests: u32,
    at_least: f64,
}

mirror! {
    /// At least so many requests, and at least this share of them failed.
    GoFailureRatio as "GoFailureRatio" {
        /// Requests needed; those in flight count.
        min_requests: Whole<0>,
        /// The share.
        at_least: Share,
    }
}

mirror! {
    /// HystrixCommandProperties; it decides only at ticks of the snapshot interval.
    Hystrix as "HystrixBreaker" {
        /// circuitBreaker.requestVolumeThreshold, at least 1.
        request_volume_threshold: Whole<0> = 20,
        /// circuitBreaker.errorThresholdPercentage.
        error_threshold_percentage: Whole<0> = 50,
        /// circuitBreaker.sleepWindowInMilliseconds.
        sleep_window: Span = "5s",
        /// metrics.rollingStats.timeInMilliseconds, a multiple of the snapshot interval.
        rolling_window: Span = "10s",
        /// metrics.healthSnapshot.intervalInMilliseconds.
        snapshot_interval: Span = "500ms",
    }
}

mirror! {
    /// Failures in a row, and a penalty that doubles.
    Linkerd as "LinkerdBreaker" {
        /// max-failures in a row, at least 1.
        max_failures: Whole<0> = 7,
        /// min-penalty.
        min_penalty: Span = "1s",
        /// max-penalty.
        max_penalty: Span = "1min",
        /// jitter-ratio: up to so much of the penalty is added to it.
        jitter: Ratio = 0.5,
    }
}

mirror! {
    /// Polly's CircuitBreakerStrategyOptions; judged after failures only.
    Polly as "PollyBreaker" {
        /// FailureRatio, above 0.
        failure_ratio: Share = 0.1,
        /// MinimumThroughput, at least 2.
        minimum_throughput: Whole<0> = 100,
        /// SamplingDuration.
        sampling: Span = "30s",
        /// BreakDuration.
        break_for: Span = "5s",
    }
}

mirror! {
    /// resilience4j's CircuitBreakerConfig.
    Resilience4j as "Resilience4jBreaker" {
        /// slidingWindow: so many calls (100), or so many whole seconds ("10s").
        window: Resilience4jWindow = 100,
        /// minimumNumberOfCalls.
        minimum_calls: Whole<0> = 100,
        /// failureRateThreshold, above 0%.
        failure_rate: Percent = "50%",
        /// slowCallRateThreshold, above 0%.
        slow_rate: Percent = "100%",
        /// slowCallDurationThreshold.
        slow_after: Span = "1min",
        /// waitDurationInOpenState, or an interval function over the openings in a row. A bare length is
        /// always the same.
        wait_in_open: seawall::backoff::Resilience4j => Resilience4j::default().wait_in_open,
        /// automaticTransitionFromOpenToHalfOpenEnabled.
        automatic_transition: bool = false,
        /// permittedNumberOfCallsInHalfOpenState.
        permitted_in_half_open: Whole<0> = 10,
        /// maxWaitDurationInHalfOpenState; 0s is unlimited.
        max_wait_in_half_open: Span = "0s",
        /// Whether it closes, not opens, after that wait.
        closes_after_half_open_wait: bool = false,
    }
}

impl Written for Resilience4jWindow {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        if let Value::Number(_) = node.value {
            return Whole::<1>::decode(node, problems).map(|n| Resilience4jWindow::Count(n.0));
        }
        let length = Span::decode(node, problems)?;
        let count = u32::try_from(length.0 / 1_000_000_000).ok();
        match count.filter(|&count| count > 0 && length == Span::secs(count.into())) {
            Some(count) => Some(Resilience4jWindow::Seconds {
                count,
                aligned: Aligned::Epoch,
            }),
            None => {
                let message = format!("expected whole seconds, at least \"1s\", got \"{length}\"");
                problems.report(node.at, message);
                None
            }
        }
    }

    fn schema(defs: &mut Defs) -> Json {
        json!({ "anyOf": [Whole::<1>::schema(defs), Span::schema(defs)] })
    }
}

/// In a simulation breakers are made at a whole second, so that both alignments are the same.
impl Layered for Resilience4jWindow {
    fn write(&self) -> Value {
        match *self {
            Resilience4jWindow::Count(count) => Whole::<1>(count).write(),
            Resilience4jWindow::Seconds { count, .. } => Span::secs(count.into()).write(),
        }
    }
}

itself!(Resilience4jWindow);

mirror! {
    /// Sentinel's DegradeRule.
    Sentinel as "SentinelBreaker" {
        /// What is compared.
        grade: SentinelGrade = "error_ratio",
        /// What it must exceed: a share, or a number of errors.
        threshold: f64,
        /// minRequestAmount.
        min_request_amount: Whole<0> = 5,
        /// statIntervalMs.
        stat_interval: Span = "1s",
        /// timeWindow: how long it stays open.
        recovery: Span,
    }
}

members! {
    /// What a Sentinel rule compares.
    SentinelGrade as "SentinelGrade" {
        /// Share of calls that failed.
        error_ratio [SentinelGrade::ErrorRatio],
        /// Calls that failed.
        error_count [SentinelGrade::ErrorCount],
        /// Share of calls that took longer than this.
        slow_ratio: Span [SentinelGrade::SlowRatio(it)] [it],
    }
}
