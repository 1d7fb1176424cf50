//! What a policy is, as data. Checked once by [`Spec::check`]; afterwards nothing can fail.

use alloc::boxed::Box;

use crate::backoff;
use crate::breaker;
use crate::budget;
use crate::failure::{FailureKind, FailureSet, PhaseSet};
pub use crate::found::SpecError;
use crate::hedge::Hedge;
use crate::limiter;
use crate::order::{Order, RefusalSet};
use crate::rate_limit;
pub use crate::retry_after::RetryAfter;
use crate::scope::Scopes;
use crate::time::Span;

/// Everything one client process does about calls to one dependency.
///
/// `Spec::default()` does nothing at all: one attempt, no timeout, no deadline, no limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The absolute deadline of a call.
    pub deadline: Deadline,
    /// The longest one attempt may take, above 0; `None` leaves it to the deadline. The effective timeout
    /// is `min(attempt_timeout, remaining - retry.reserve)`.
    pub attempt_timeout: Option<Span>,
    /// How the attempt timeout of each attempt is spread; not decorrelated. `attempt_timeout` is the cap.
    pub attempt_timeout_jitter: Jitter,
    /// When, how often and how soon to try again.
    pub retry: Retry,
    /// Copies that do not wait for the attempts before them to end; takes the place of retries. Only what is
    /// idempotent is hedged.
    pub hedge: Option<Hedge>,
    /// What bounds retries over all calls of the process.
    pub budget: Budget,
    /// What stops calls to a dependency that is failing.
    pub breaker: Option<Breaker>,
    /// What bounds calls in flight.
    pub bulkhead: Option<Bulkhead>,
    /// What moves the number of bulkhead permits.
    pub limiter: Option<Limiter>,
    /// What bounds how often attempts are sent.
    pub rate_limit: Option<RateLimit>,
    /// In which order a call passes these parts, outermost first. `None`: total timeout, retry, rate limit, breaker,
    /// bulkhead, attempt timeout, with breaker and bulkhead outside retry where [`Breaker::counts`] and
    /// [`Bulkhead::hold_during_backoff`] say so.
    pub order: Option<Order>,
    /// Which calls share a breaker, a budget, a bulkhead, a rate limit.
    pub scope: Scopes,
}

/// One absolute deadline per call, shared by waiting, attempts and backoff.
///
/// The deadline is the earliest of `now + limit` and, with `inherit`, the caller's deadline minus
/// `slack`; with neither, `now + default`; with none of the three there is no deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// The longest a call may take.
    pub limit: Option<Span>,
    /// Used when there is no limit and the caller sent no deadline.
    pub default: Option<Span>,
    /// Whether the caller's deadline, when shorter, wins.
    pub inherit: bool,
    /// Time kept back from an inherited deadline for the way home.
    pub slack: Span,
    /// Whether attempts carry the deadline to the dependency.
    pub propagate: bool,
}

impl Default for Deadline {
    fn default() -> Self {
        Deadline {
            limit: None,
            default: None,
            inherit: true,
            slack: Span::ZERO,
            propagate: true,
        }
    }
}

/// When, how often and how soon to try again.
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    /// Attempts in all, the first included; 1 means no retries. At least 1.
    pub max_attempts: u32,
    /// The wait before each retry.
    pub backoff: Backoff,
    /// Failure kinds that may be transient.
    pub on: FailureSet,
    /// Phases in which they may be: a failure in another phase is not retried, whatever its kind.
    pub phases: PhaseSet,
    /// Failure kinds in `on` after which even an operation that is not idempotent may be retried,
    /// since the server cannot have seen the request. The same goes for any failure reported in a
    /// phase before [`crate::Phase::Send`].
    pub unprocessed: FailureSet,
    /// Part of the remaining time that an attempt timeout leaves for a later backoff. The last attempt
    /// keeps nothing back, nor does one to which the reserve would leave nothing.
    pub reserve: Span,
    /// A retry is not begun with less time than this left after its wait.
    pub min_attempt: Span,
    /// Probability that a caller who may try again does so, above 0, at most 1; otherwise the call ends as if all its attempts
    /// were used. People persist so; in queueing theory it is the persistence function of a retrial queue.
    pub persistence: f64,
    /// What to do about a wait the server asks for.
    pub retry_after: RetryAfter,
    /// What this side refuses inside retry and is tried again, as if an attempt had failed: it waits out a backoff,
    /// and the try counts. A refusal outside retry is final whatever this says. At most 255 tries of a call
    /// may be refused.
    pub refusals: RefusalSet,
}

impl Default for Retry {
    fn default() -> Self {
        Retry {
            max_attempts: 1,
            backoff: Backoff::None,
            on: FailureSet::of(&[
                FailureKind::ConnectRefused,
                FailureKind::ConnectTimeout,
                FailureKind::Unavailable,
            ]),
            phases: PhaseSet::ALL,
            unprocessed: FailureSet::of(&[
                FailureKind::Dns,
                FailureKind::ConnectRefused,
                FailureKind::ConnectTimeout,
            ]),
            reserve: Span::ZERO,
            min_attempt: Span::ZERO,
            persistence: 1.0,
            retry_after: RetryAfter::default(),
            refusals: RefusalSet::NONE,
        }
    }
}

/// The wait before a retry. `n` counts retries from 0: the wait before the first is `n = 0`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Backoff {
    /// At once.
    #[default]
    None,
    /// The same each time: `delay`, then jitter.
    Fixed {
        /// The cap the jitter works on.
        delay: Span,
        /// How it is spread.
        jitter: Jitter,
    },
    /// `cap = min(max, base * multiplier^n)`, then jitter.
    Exponential {
        /// The cap of the first retry.
        base: Span,
        /// Growth per retry, at least 1.
        multiplier: f64,
        /// The largest cap.
        max: Span,
        /// How it is spread.
        jitter: Jitter,
    },
    /// The AWS Architecture Blog's four kinds.
    AwsJitter(backoff::AwsJitter),
    /// The AWS SDKs, by retry mode.
    AwsSdk(backoff::AwsSdk),
    /// Envoy's router.
    Envoy(backoff::Envoy),
    /// Finagle's `Backoff`.
    Finagle(backoff::Finagle),
    /// google.api_core's `Retry`.
    GoogleApiCore(backoff::GoogleApiCore),
    /// gRPC's `retryPolicy`.
    Grpc(backoff::Grpc),
    /// Polly v8's `RetryStrategyOptions`.
    Polly(backoff::Polly),
    /// resilience4j's `IntervalFunction`.
    Resilience4j(backoff::Resilience4j),
}

/// How a backoff is spread, given its cap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Jitter {
    /// Exactly the cap.
    #[default]
    None,
    /// `U(0, cap)`.
    Full,
    /// `cap/2 + U(0, cap/2)`.
    Equal,
    /// `min(max, U(base, 3 * previous))`, the previous wait starting at `base`.
    Decorrelated,
    /// `cap * U(1 - ratio, 1 + ratio)`.
    Proportional {
        /// 0 to 1.
        ratio: f64,
    },
    /// Drawn from an exponential with the cap as its mean: memoryless, and without a bound.
    Exponential,
}

/// What bounds retries over all calls of one process.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Budget {
    /// Nothing does.
    #[default]
    None,
    /// A token bucket: `ratio` tokens come in per event, a retry costs one, `burst` is both the
    /// size of the bucket and what it starts with.
    Ratio {
        /// The event that earns.
        of: BudgetEvent,
        /// Tokens per event, above 0.
        ratio: f64,
        /// Bucket size, at least 1.
        burst: f64,
    },
    /// Retries in the last `window` may not exceed `ratio` times the events in it, or
    /// `floor_per_sec` times its length, whichever is more.
    Windowed {
        /// The event counted.
        of: BudgetEvent,
        /// Retries per event, 0 to 1000.
        ratio: f64,
        /// Length of the sliding window, at least 10 ns; kept in ten slices.
        window: Span,
        /// Retries per second that are always allowed.
        floor_per_sec: f64,
    },
    /// No retry while more attempts failed than `max` times the calls begun, both since the start of the process.
    FailureShare {
        /// Above 0, at most 1000.
        max: f64,
    },
    /// The retry quota of the AWS SDKs.
    AwsQuota(budget::AwsQuota),
    /// Envoy's bound on concurrent retries.
    Envoy(budget::Envoy),
    /// Finagle's `RetryBudget`.
    Finagle(budget::Finagle),
    /// gRPC's `retryThrottling`.
    Grpc(budget::GrpcThrottling),
    /// Adaptive throttling of the Google SRE book; it rejects first attempts too.
    SreAdaptive(budget::SreAdaptive),
    /// tower's `TpsBudget`, as in Linkerd's service profiles.
    TowerTps(budget::TowerTps),
}

/// What earns a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetEvent {
    /// Every call that sent its first attempt. (One refused on this side before that earns nothing:
    /// an open breaker must not save up retries for the moment it closes.)
    Calls,
    /// Every call that ended well.
    Successes,
    /// Every answer, good or bad, that is not of a kind that is retried.
    NotRetryable,
}

/// A circuit breaker: closed, open, half-open.
#[derive(Clone, Debug, PartialEq)]
pub struct Breaker {
    /// When it opens, and what it lets through afterwards.
    pub rule: BreakerRule,
    /// Whether each attempt is one result, or each call. `None`: by its place in [`Spec::order`], and without one
    /// attempts. May not contradict the order.
    pub counts: Option<Counts>,
    /// Whether refusals by layers inside it are failures to it. If not they are no results.
    pub count_refusals: bool,
    /// Kinds that count as failures; any other outcome is a success, unless it is ignored.
    pub on: FailureSet,
    /// Kinds that are no result at all.
    pub ignored: FailureSet,
}

/// When a breaker opens, and what it lets through afterwards.
#[derive(Clone, Debug, PartialEq)]
pub enum BreakerRule {
    /// Failure rate and slow rate over a window.
    Rates(Rates),
    /// sony/gobreaker.
    GoBreaker(breaker::GoBreaker),
    /// Hystrix.
    Hystrix(breaker::Hystrix),
    /// Consecutive failures as in the Linkerd proxy.
    Linkerd(breaker::Linkerd),
    /// Polly v8.
    Polly(breaker::Polly),
    /// resilience4j.
    Resilience4j(Box<breaker::Resilience4j>),
    /// Sentinel's degrade rules.
    Sentinel(breaker::Sentinel),
}

/// Failure rate and slow rate over a window.
///
/// Closed: results go into the window; once it holds `minimum_calls`, a failure rate of at least
/// `failure_rate` or a slow rate of at least `slow_rate` opens it. Open: everything is refused for
/// `open_for`. Half-open: `half_open_calls` trials are let through; when all have reported, the same
/// thresholds decide between closed and open. A result counts only in the state that admitted it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// What the rates are taken over.
    pub window: Window,
    /// Share of failures that opens it, in (0, 1].
    pub failure_rate: f64,
    /// Share of slow results that opens it, in (0, 1]; `None` ignores slowness.
    pub slow_rate: Option<f64>,
    /// A result that took longer than this is slow, failed or not. (Counting calls: the whole call, its
    /// waits included.)
    pub slow_after: Span,
    /// Results needed before any rate is believed, at least 1, at most what a count window holds.
    pub minimum_calls: u32,
    /// How long it stays open.
    pub open_for: Span,
    /// Trials let through when half-open, at least 1.
    pub half_open_calls: u32,
}

/// What the breaker's rates are taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// The last so many results, 1 to 1,000,000.
    Count(u32),
    /// The results of the last so much time, at least 10 ns, kept in ten slices: between 0.9 and 1 of it.
    Time(Span),
}

/// What a policy counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counts {
    /// Each attempt.
    #[default]
    Attempts,
    /// Each call, by how it ended.
    Calls,
}

/// A bound on calls in flight, with a bounded waiting room in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bulkhead {
    /// Permits, at least 1. With a limiter, the most that it may give.
    pub max_in_flight: u32,
    /// Calls in flight from which on others line up first, and go in flight only when the line is
    /// full: the core size of a thread pool with a queue. At least 1; `None`: `max_in_flight`.
    pub queue_from: Option<u32>,
    /// Calls that may wait for a permit; 0 refuses at once.
    pub max_waiting: u32,
    /// The longest wait for a permit (also bounded by the deadline); above 0 if anybody may wait.
    pub max_wait: Span,
    /// Whether a call keeps its permit during backoff. If not, it queues anew for each attempt. `None`: by its place
    /// in [`Spec::order`], and without one it does not. May not contradict the order.
    pub hold_during_backoff: Option<bool>,
}

/// What moves the number of bulkhead permits: latency and drops of attempts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limiter {
    /// How.
    pub rule: LimiterRule,
    /// Failures that are drops. Any other failure tells nothing.
    pub dropped: FailureSet,
}

/// How a limiter moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LimiterRule {
    /// Up by one, down by a share.
    Aimd(limiter::Aimd),
    /// By the ratio of long-term to latest latency.
    Gradient2(limiter::Gradient2),
    /// By the queue that latency betrays.
    Vegas(limiter::Vegas),
}

/// What bounds how often attempts are sent, or calls begun where it is outside retry. A wait that leaves no time
/// for the attempt is not begun.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateLimit {
    /// The generic cell rate algorithm.
    Gcra {
        /// Rate and burst.
        gcra: rate_limit::Gcra,
        /// The longest wait; zero refuses at once. Who waits asks again afterwards.
        max_wait: Span,
    },
    /// resilience4j's `RateLimiter`.
    Resilience4j(rate_limit::Resilience4jRate),
    /// The adaptive mode of the AWS SDKs.
    AwsAdaptive(rate_limit::AwsAdaptive),
}
