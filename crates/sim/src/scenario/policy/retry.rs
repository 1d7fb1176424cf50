//! When to try again.

use seawall::{Backoff, Jitter, Phase, PhaseSet, RefusalSet, Retry, RetryAfter, Span};

use crate::scenario::tree::{Node, Position, Value};
use crate::scenario::written::{
    Bound, Form, Kinds, Layered, Limit, Several, Share, members, mirror,
};

mirror! {
    /// When, how often and how soon to try again.
    Retry as "Retry" {
        /// Attempts in all, the first included; 1 means no retries.
        max_attempts: Limit<1>,
        /// The wait before each retry.
        backoff: Backoff = "none",
        /// Kinds of failure that may be transient.
        on: Kinds => Retry::default().on,
        /// Phases in which they may be: a failure in another one is not retried, whatever its kind. By
        /// default any.
        phases: Several<Phase> => PhaseSet::ALL,
        /// Kinds of failure in `on` after which even an operation that is not idempotent may be retried.
        /// By default those where the service cannot have seen the request.
        unprocessed: Kinds => Retry::default().unprocessed,
        /// Part of the remaining time that an attempt timeout leaves for a later backoff.
        reserve: Span = "0s",
        /// A retry is not begun with less time than this left after its wait.
        min_attempt: Span = "0s",
        /// Probability that who may try again does so; otherwise the call ends as if all its attempts were used.
        persistence: Share = 1,
        /// What to do about a wait the service asks for.
        retry_after: RetryAfter => RetryAfter::default(),
        /// What this side refuses inside retry and is tried again after a backoff, as if an attempt had failed: `none`,
        /// `all`, or a list. What is refused outside retry is final.
        refusals: RefusalSet = "none",
    }
}

mirror! {
    /// What to do about a wait the service asks for: max(own backoff, asked) plus U(0, spread). Longer than
    /// `max` or than what is left of the deadline, the call stops; the wait is never shortened.
    RetryAfter as "RetryAfter" {
        /// Whether to look at it at all.
        honour: bool = true,
        /// The longest wait accepted.
        max: Bound = "unlimited",
        /// Extra uniform wait, so that clients told the same do not all come back in one instant.
        spread: Span = "0s",
    }
}

members! {
    /// How a wait is spread, given its cap.
    Jitter as "Jitter" {
        /// Exactly the cap.
        none [Jitter::None],
        /// U(0, cap).
        full [Jitter::Full],
        /// cap/2 + U(0, cap/2).
        equal [Jitter::Equal],
        /// min(max, U(base, 3 × the wait before)).
        decorrelated [Jitter::Decorrelated],
        /// cap × U(1 − x, 1 + x).
        plusminus: Share [Jitter::Proportional { ratio }] [ratio],
        /// Drawn from an exponential with the cap as its mean: memoryless, without a bound.
        exponential [Jitter::Exponential],
    }
}

impl Layered for Several<Phase> {
    fn write(&self) -> Value {
        let at = Position::default();
        let node = |phase: &Phase| Node {
            value: phase.write(),
            at,
        };
        Value::Seq(self.0.iter().map(node).collect())
    }
}

impl Form<PhaseSet> for Several<Phase> {
    fn mean(self) -> PhaseSet {
        PhaseSet::of(&self.0)
    }

    fn of(value: &PhaseSet) -> Self {
        Several(value.iter().collect())
    }
}
