//! What bounds retries over all calls: the generic kinds, and those that libraries in production keep.

use seawall::backoff::GrpcVariant;
use seawall::budget::{
    AwsCosts, AwsQuota, Envoy, EnvoyRetryBudget, Finagle, GrpcThrottling, SreAdaptive, SreHistory,
    TowerTps,
};
use seawall::{Budget, BudgetEvent, Span};
use serde_json::Value as Json;

use crate::scenario::problem::Problems;
use crate::scenario::tree::{At, Node, Position, Value};
use crate::scenario::written::{
    Defs, Kinds, Layered, Opt, Percent, Rate, Ratio, Whole, Written, itself, lay_key, members,
    mirror, record, unfold, words, written_map,
};

members! {
    /// What bounds retries over all calls of a process.
    Budget as "Budget" {
        /// Nothing does.
        none [Budget::None],
        /// A token bucket that calls or successes fill; a retry costs one token.
        ratio: RatioBudget [Budget::Ratio { of, ratio, burst }] [RatioBudget { of, ratio, burst }],
        /// Retries within a sliding window, as a share of the calls or successes in it.
        windowed: WindowedBudget
            [Budget::Windowed { of, ratio, window, floor_per_sec }]
            [WindowedBudget { of, ratio, window, floor_per_sec }],
        /// No retry while too many attempts have failed, of the calls since the start of the process.
        failure_share: FailureShareBudget [Budget::FailureShare { max }] [FailureShareBudget { max }],
        /// The retry quota of the AWS SDKs.
        aws_quota: AwsQuota [Budget::AwsQuota(it)] [it],
        /// Envoy's bound on concurrent retries.
        envoy: Envoy [Budget::Envoy(it)] [it],
        /// Finagle's RetryBudget.
        finagle: Finagle [Budget::Finagle(it)] [it],
        /// gRPC's retryThrottling.
        grpc: GrpcThrottling [Budget::Grpc(it)] [it],
        /// Adaptive throttling of the Google SRE book; it rejects first attempts too.
        sre_adaptive: SreAdaptive [Budget::SreAdaptive(it)] [it],
        /// tower's TpsBudget, as in Linkerd's service profiles.
        tower_tps: TowerTps [Budget::TowerTps(it)] [it],
    }
}

#[derive(Clone, Debug)]
struct RatioBudget {
    of: BudgetEvent,
    ratio: f64,
    burst: f64,
}

#[derive(Clone, Debug)]
struct FailureShareBudget {
    max: f64,
}

mirror! {
    /// Brooker's circuit breaker for retries: failed attempts ÷ calls, both since the start of the process.
    FailureShareBudget as "FailureShareBudget" [max] {
        /// Failed attempts per call up to which there are retries, above 0.
        max: Ratio,
    }
}

#[derive(Clone, Debug)]
struct WindowedBudget {
    of: BudgetEvent,
    ratio: f64,
    window: Span,
    floor_per_sec: f64,
}

record! {
    /// A token bucket.
    struct RatioBudgetFile {
        /// What earns.
        of: BudgetEvent = "calls",
        /// Tokens per event, in percent; write this or `ratio`.
        percent: Option<At<Percent>>,
        /// Tokens per event; write this or `percent`.
        ratio: Option<At<Ratio>>,
        /// Size of the bucket, which starts full; at least 1.
        burst: f64,
    }
}

record! {
    /// A sliding window, kept in ten slices.
    struct WindowedBudgetFile {
        /// What is counted.
        of: BudgetEvent = "calls",
        /// Retries per event, in percent; write this or `ratio`.
        percent: Option<At<Percent>>,
        /// Retries per event; write this or `percent`.
        ratio: Option<At<Ratio>>,
        /// Length of the window.
        window: Span = "10s",
        /// Retries that are always allowed.
        floor: Rate = "0/s",
    }
}

words! {
    /// What earns a retry.
    BudgetEvent, "BudgetEvent" {
        "calls" => BudgetEvent::Calls, "Every call that sent its first attempt.";
        "successes" => BudgetEvent::Successes, "Every call that ended well.";
        "not_retryable" => BudgetEvent::NotRetryable,
            "Every answer, good or bad, that is not of a kind that is retried.";
    }
}

/// The ratio, from whichever of the two keys is written.
fn one_ratio(
    percent: &Option<At<Percent>>,
    ratio: &Option<At<Ratio>>,
    position: Position,
    problems: &mut Problems,
) -> f64 {
    match (percent, ratio) {
        (Some(percent), None) => percent.value.0 / 100.0,
        (None, Some(ratio)) => ratio.value.0,
        (Some(percent), Some(_)) => {
            problems.report(
                percent.at,
                "`percent` or `ratio`: write only one of the two",
            );
            percent.value.0 / 100.0
        }
        (None, None) => {
            problems.report(position, "`percent` or `ratio` is needed");
            // It fits any range, so that nothing else is said of it.
            1.0
        }
    }
}

/// Lays the keys of a budget that says its ratio under one of two.
fn lay(own: &mut Node, base: &Node, others: &[&str]) {
    unfold(own, None);
    for key in others {
        lay_key(own, base, key, |_, _| {});
    }
    if own.get("percent").or(own.get("ratio")).is_none() {
        lay_key(own, base, "percent", |_, _| {});
        lay_key(own, base, "ratio", |_, _| {});
    }
}

impl Written for RatioBudget {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let file = RatioBudgetFile::decode(node, problems)?;
        Some(RatioBudget {
            of: file.of,
            ratio: one_ratio(&file.percent, &file.ratio, file.position, problems),
            burst: file.burst,
        })
    }

    fn schema(defs: &mut Defs) -> Json {
        RatioBudgetFile::schema(defs)
    }
}

impl Layered for RatioBudget {
    fn write(&self) -> Value {
        written_map([
            ("of", self.of.write()),
            ("ratio", Ratio(self.ratio).write()),
            ("burst", self.burst.write()),
        ])
    }

    fn lay(own: &mut Node, base: &Node) {
        lay(own, base, &["of", "burst"]);
    }
}

impl Written for WindowedBudget {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let file = WindowedBudgetFile::decode(node, problems)?;
        Some(WindowedBudget {
            of: file.of,
            ratio: one_ratio(&file.percent, &file.ratio, file.position, problems),
            window: file.window,
            floor_per_sec: file.floor.0,
        })
    }

    fn schema(defs: &mut Defs) -> Json {
        WindowedBudgetFile::schema(defs)
    }
}

impl Layered for WindowedBudget {
    fn write(&self) -> Value {
        written_map([
            ("of", self.of.write()),
            ("ratio", Ratio(self.ratio).write()),
            ("window", self.window.write()),
            ("floor", Rate(self.floor_per_sec).write()),
        ])
    }

    fn lay(own: &mut Node, base: &Node) {
        lay(own, base, &["of", "window", "floor"]);
    }
}

itself!(RatioBudget, WindowedBudget);

mirror! {
    /// The retry quota of the AWS SDKs: a bucket that each retry pays from, by kind of failure.
    AwsQuota as "AwsQuotaBudget" {
        /// What it starts with and never exceeds.
        capacity: Whole<0> = 500,
        /// What a retry costs.
        costs: AwsCosts = "standard_2.1",
        /// Tokens that come back by time (smithy).
        refill_per_sec: f64 = 0,
        /// Tokens that each success adds besides (smithy).
        success_reward: f64 = 0,
    }
}

words! {
    /// What a retry costs in the AWS SDKs, by version of the standard mode.
    AwsCosts, "AwsCosts" {
        "botocore_2.0" => AwsCosts::Botocore20, "5, after a timeout 10.";
        "smithy_2.0" => AwsCosts::Smithy20, "5, after a timeout or another transient error 10.";
        "standard_2.1" => AwsCosts::V21, "14, after a throttling error 5.";
    }
}

mirror! {
    /// Envoy's bound on concurrent retries of a cluster. A slot is held through backoff and the retried
    /// attempt.
    Envoy as "EnvoyBudget" {
        /// max_retries; not looked at with a retry budget.
        max_retries: Whole<0> = 3,
        /// retry_budget.
        retry_budget: Opt<EnvoyRetryBudget> = "none",
    }
}

mirror! {
    /// max(trunc(percent of requests in flight), min_retry_concurrency) retries at once.
    EnvoyRetryBudget as "EnvoyRetryBudget" {
        /// budget_percent, 0% to 100%.
        percent: Percent = "20%",
        /// min_retry_concurrency.
        min_retry_concurrency: Whole<0> = 3,
        /// budget_interval: count the attempts sent in this time instead of those in flight. Whole
        /// milliseconds, at least 10ms.
        interval: Opt<Span> = "none",
    }
}

mirror! {
    /// Finagle's RetryBudget.
    Finagle as "FinagleBudget" {
        /// How long a deposit counts, 1s to 60s.
        ttl: Span = "10s",
        /// Retries per second that are always allowed.
        min_retries_per_sec: Whole<0> = 10,
        /// Retries per deposit, 0 to 1000.
        percent_can_retry: Ratio = 0.2,
        /// What deposits: successes for RequeueFilter, calls for RetryFilter.
        deposits: BudgetEvent = "successes",
    }
}

mirror! {
    /// gRPC's retryThrottling: a failure takes 1 of `max_tokens`, a success adds `token_ratio`; retries are
    /// allowed above half.
    GrpcThrottling as "GrpcThrottling" {
        /// maxTokens, above 0, at most 1000.
        max_tokens: f64,
        /// tokenRatio, above 0.
        token_ratio: f64,
        /// Whose arithmetic.
        variant: GrpcVariant = "go",
    }
}

mirror! {
    /// Adaptive throttling of the Google SRE book: rejects first attempts too, with probability
    /// max(0, (requests − k × accepts) / (requests + 1)).
    SreAdaptive as "SreAdaptiveBudget" {
        /// At least 1; a lower one rejects more.
        k: f64 = 2,
        /// Length of the history.
        window: Span = "2min",
        /// How the history is kept.
        history: SreHistory = "slices",
        /// Kinds of failure that mean the service did not accept the request. By default dns,
        /// connect_refused, connect_timeout, reset, timeout, unavailable, overloaded.
        rejections: Kinds => SreAdaptive::default().rejections,
    }
}

words! {
    /// How adaptive throttling keeps its history.
    SreHistory, "SreHistory" {
        "slices" => SreHistory::Slices, "In ten slices: between 0.9 and one window.";
        "exact" => SreHistory::Exact, "Every instant: memory as the traffic of one window.";
    }
}

mirror! {
    /// tower's TpsBudget, as in Linkerd's service profiles.
    TowerTps as "TowerTpsBudget" {
        /// How long a deposit counts, 1s to 60s.
        ttl: Span = "10s",
        /// Retries per second that are always allowed.
        min_per_sec: Whole<0> = 10,
        /// Retries per deposit, 0 to 1000.
        retry_percent: Ratio = 0.2,
        /// What deposits; in Linkerd every answer that is not retryable.
        deposits: BudgetEvent = "not_retryable",
    }
}
