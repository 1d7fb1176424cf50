//! The `policies` block: every field of [`seawall::Spec`] under a key of its own.

use seawall::{
    Backoff, Budget, BudgetEvent, Deadline, Jitter, Phase, PhaseSet, Retry, RetryAfter, Span, Spec,
    SpecError,
};

use crate::scenario::context::Context;
use crate::scenario::tree::{At, Node, Position, Value};
use crate::scenario::written::{
    Kinds, Limit, Percent, Rate, Ratio, Several, Share, choice, record, words,
};

use super::breaker::{BreakerFile, BulkheadFile};

record! {
    /// What each process of a caller does about its calls to one service.
    pub(crate) struct PolicyFile {
        /// Another policy whose keys hold where this one does not say otherwise.
        #[allow(dead_code)]
        extends: Option<String>,
        /// The absolute deadline of a call; a bare length is its `limit`.
        deadline: DeadlineFile,
        /// The longest one attempt may take; without, the deadline alone bounds it.
        attempt_timeout: Option<Span>,
        /// When, how often and how soon to try again. Without: never.
        retry: Option<RetryFile>,
        /// What bounds retries over all calls of a process.
        budget: BudgetFile = "none",
        /// What stops calls to a service that is failing.
        breaker: Option<BreakerFile>,
        /// What bounds calls in flight.
        bulkhead: Option<BulkheadFile>,
    }
}

record! {
    /// The absolute deadline of a call: the earliest of now + `limit` and, with `inherit`, the caller's
    /// deadline less `slack`; with neither, now + `default`.
    pub(crate) struct DeadlineFile [limit] {
        /// The longest a call may take. Without: no limit of its own.
        limit: Option<Span>,
        /// The longest a call may take when there is no limit and the caller sent no deadline.
        default: Option<Span>,
        /// Whether the caller's deadline, when shorter, wins.
        inherit: bool = true,
        /// Time kept back from an inherited deadline for the way home.
        slack: Span = "0s",
        /// Whether attempts carry the deadline to the service.
        propagate: bool = true,
    }
}

record! {
    /// When, how often and how soon to try again.
    pub(crate) struct RetryFile {
        /// Attempts in all, the first included; 1 means no retries.
        max_attempts: Limit<1>,
        /// The wait before each retry.
        backoff: BackoffFile = "none",
        /// Kinds of failure that may be transient.
        on: Option<Kinds>,
        /// Phases in which they may be: a failure in another one is not retried, whatever its kind. By
        /// default any.
        phases: Option<Several<Phase>>,
        /// Kinds of failure in `on` after which even an operation that is not idempotent may be retried.
        /// By default those where the service cannot have seen the request.
        unprocessed: Option<Kinds>,
        /// Part of the remaining time that an attempt timeout leaves for a later backoff.
        reserve: Span = "0s",
        /// A retry is not begun with less time than this left after its wait.
        min_attempt: Span = "0s",
        /// What to do about a wait the service asks for.
        retry_after: RetryAfterFile,
    }
}

record! {
    /// What to do about a wait the service asks for: max(own backoff, asked) plus U(0, spread). Longer than
    /// `max` or than what is left of the deadline, the call stops; the wait is never shortened.
    pub(crate) struct RetryAfterFile {
        /// Whether to look at it at all.
        honour: bool = true,
        /// The longest wait accepted. Without: any.
        max: Option<Span>,
        /// Extra uniform wait, so that clients told the same do not all come back in one instant.
        spread: Span = "0s",
    }
}

choice! {
    /// The wait before a retry.
    pub(crate) enum BackoffFile {
        /// At once.
        none => None,
        /// The same each time, then jitter.
        fixed => Fixed(FixedBackoffFile),
        /// min(max, base × multiplier^n) before retry n = 0, 1, …, then jitter.
        exponential => Exponential(ExponentialBackoffFile),
    }
}

record! {
    /// The same wait each time. A bare length is its `delay`.
    pub(crate) struct FixedBackoffFile [delay] {
        /// The wait that jitter works on.
        delay: Span,
        /// How it is spread.
        jitter: JitterFile = "none",
    }
}

record! {
    /// A wait that grows.
    pub(crate) struct ExponentialBackoffFile {
        /// The cap of the first retry.
        base: Span,
        /// Growth per retry, at least 1.
        multiplier: f64 = 2,
        /// The largest cap. Without: none.
        max: Option<Span>,
        /// How it is spread.
        jitter: JitterFile = "none",
    }
}

choice! {
    /// How a wait is spread, given its cap.
    pub(crate) enum JitterFile {
        /// Exactly the cap.
        none => None,
        /// U(0, cap).
        full => Full,
        /// cap/2 + U(0, cap/2).
        equal => Equal,
        /// min(max, U(base, 3 × the wait before)).
        decorrelated => Decorrelated,
        /// cap × U(1 − x, 1 + x).
        plusminus => PlusMinus(Share),
    }
}

choice! {
    /// What bounds retries over all calls of a process.
    pub(crate) enum BudgetFile {
        /// Nothing does.
        none => None,
        /// A token bucket that calls or successes fill; a retry costs one token.
        ratio => Ratio(RatioBudgetFile),
        /// Retries within a sliding window, as a share of the calls or successes in it.
        windowed => Windowed(WindowedBudgetFile),
    }
}

record! {
    /// A token bucket.
    pub(crate) struct RatioBudgetFile {
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
    pub(crate) struct WindowedBudgetFile {
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

impl PolicyFile {
    /// Its meaning, checked by the engine; `node` is where it is written.
    pub(crate) fn mean(&self, node: &Node, context: &mut Context<'_>) -> seawall::Policy {
        let spec = Spec {
            deadline: self.deadline.mean(),
            attempt_timeout: self.attempt_timeout,
            retry: self
                .retry
                .as_ref()
                .map_or_else(Retry::default, RetryFile::mean),
            budget: self.budget.mean(context),
            breaker: self.breaker.as_ref().map(BreakerFile::mean),
            bulkhead: self.bulkhead.as_ref().map(BulkheadFile::mean),
            ..Spec::default()
        };
        spec.check().unwrap_or_else(|errors| {
            for SpecError { field, message } in errors {
                let at = place(node, field);
                context.within(field, |context| context.report(at, message));
            }
            seawall::Policy::default()
        })
    }
}

/// Where the engine's `field` is written: as far down its path as there are keys.
fn place(node: &Node, field: &str) -> Position {
    let mut node = node;
    for part in field.split('.') {
        // The scenario says some things in other words, and puts a tag above each of several kinds.
        let words: &[&str] = match part {
            "ratio" => &["percent", "ratio", "plusminus"],
            "floor_per_sec" => &["floor"],
            _ => &[part],
        };
        let tagged = match &node.value {
            Value::Map(entries) if entries.len() == 1 => Some(&entries[0].1),
            _ => None,
        };
        let mut places = tagged.into_iter().chain([node]);
        match places.find_map(|place| words.iter().find_map(|word| place.get(word))) {
            Some(below) => node = below,
            None => break,
        }
    }
    node.at
}

impl DeadlineFile {
    fn mean(&self) -> Deadline {
        Deadline {
            limit: self.limit,
            default: self.default,
            inherit: self.inherit,
            slack: self.slack,
            propagate: self.propagate,
        }
    }
}

impl RetryFile {
    fn mean(&self) -> Retry {
        let usual = Retry::default();
        Retry {
            max_attempts: self.max_attempts.0.unwrap_or(u32::MAX),
            backoff: self.backoff.mean(),
            on: self.on.map_or(usual.on, |kinds| kinds.0),
            phases: self
                .phases
                .as_ref()
                .map_or(usual.phases, |phases| PhaseSet::of(&phases.0)),
            unprocessed: self.unprocessed.map_or(usual.unprocessed, |kinds| kinds.0),
            reserve: self.reserve,
            min_attempt: self.min_attempt,
            retry_after: RetryAfter {
                honour: self.retry_after.honour,
                max: self.retry_after.max.unwrap_or(Span::MAX),
                spread: self.retry_after.spread,
            },
        }
    }
}

impl BackoffFile {
    fn mean(&self) -> Backoff {
        match self {
            BackoffFile::None => Backoff::None,
            BackoffFile::Fixed(fixed) => Backoff::Fixed {
                delay: fixed.delay,
                jitter: fixed.jitter.mean(),
            },
            BackoffFile::Exponential(exponential) => Backoff::Exponential {
                base: exponential.base,
                multiplier: exponential.multiplier,
                max: exponential.max.unwrap_or(Span::MAX),
                jitter: exponential.jitter.mean(),
            },
        }
    }
}

impl JitterFile {
    fn mean(&self) -> Jitter {
        match self {
            JitterFile::None => Jitter::None,
            JitterFile::Full => Jitter::Full,
            JitterFile::Equal => Jitter::Equal,
            JitterFile::Decorrelated => Jitter::Decorrelated,
            JitterFile::PlusMinus(share) => Jitter::Proportional { ratio: share.0 },
        }
    }
}

impl BudgetFile {
    fn mean(&self, context: &mut Context<'_>) -> Budget {
        match self {
            BudgetFile::None => Budget::None,
            BudgetFile::Ratio(written) => Budget::Ratio {
                of: written.of,
                ratio: one_ratio(&written.percent, &written.ratio, written.position, context),
                burst: written.burst,
            },
            BudgetFile::Windowed(written) => Budget::Windowed {
                of: written.of,
                ratio: one_ratio(&written.percent, &written.ratio, written.position, context),
                window: written.window,
                floor_per_sec: written.floor.0,
            },
        }
    }
}

/// The ratio, from whichever of the two keys is written.
fn one_ratio(
    percent: &Option<At<Percent>>,
    ratio: &Option<At<Ratio>>,
    position: Position,
    context: &mut Context<'_>,
) -> f64 {
    match (percent, ratio) {
        (Some(percent), None) => percent.value.0,
        (None, Some(ratio)) => ratio.value.0,
        (Some(percent), Some(_)) => {
            context.report(
                percent.at,
                "`percent` or `ratio`: write only one of the two",
            );
            percent.value.0
        }
        (None, None) => {
            context.report(position, "budget: `percent` or `ratio` is needed");
            // It fits any range, so that nothing else is said of it.
            1.0
        }
    }
}
