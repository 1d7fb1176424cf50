//! Resilience policies as a sans-IO engine.
#![cfg_attr(not(any(test, feature = "std")), no_std)]

extern crate alloc;

mod entropy;
mod failure;
mod spec;
mod time;

pub use entropy::Entropy;
pub use failure::{Failure, FailureKind, FailureSet, Phase, Reply};
pub use spec::{
    Backoff, Breaker, Budget, BudgetEvent, Bulkhead, Counts, Deadline, Jitter, Retry, RetryAfter,
    Spec, SpecError, Window,
};
pub use time::{Span, Time};

/// The driver's own name for a call; any number that is unique among calls in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallKey(pub u64);

/// What the driver knows about a call when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The driver's own name for the call.
    pub key: CallKey,
    /// The deadline the caller sent, if it did.
    pub deadline: Option<Time>,
    /// What the operation allows.
    pub operation: Operation,
}

/// What the operation behind a call allows a policy to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Whether it may be retried at all.
    pub retryable: bool,
    /// Whether doing it twice is the same as once, by nature or by an idempotency key that is sent along.
    pub idempotent: bool,
    /// When set, only these kinds may be retried, whatever the policy says beyond them.
    pub retry_only: Option<FailureSet>,
}

impl Default for Operation {
    /// Retryable and idempotent: a read.
    fn default() -> Self {
        Operation {
            retryable: true,
            idempotent: true,
            retry_only: None,
        }
    }
}

/// What a call asks its driver to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send one attempt.
    Send {
        /// Its number, from 1.
        attempt: u32,
        /// When the call will give up on it (also in [`Call::timer`]), for transports that want to know.
        timeout: Option<Span>,
        /// The deadline to send along, when the policy propagates it.
        deadline: Option<Time>,
    },
    /// Nobody waits for this attempt any more; cancel it if the transport can.
    Abandon(u32),
    /// The call is over. No further action follows.
    Finish(Verdict),
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Attempts sent, the first included; 0 if it was refused before any.
    pub attempts: u32,
    /// `None`: it ended well. Otherwise why no further attempt was made.
    pub stopped: Option<Stopped>,
    /// The failure of the last attempt, if one failed.
    pub last: Option<FailureKind>,
}

/// Why a call was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The failure is not of a kind that is retried, or the operation forbids it.
    NotRetryable,
    /// The operation is not idempotent and the server may have seen the request.
    NotIdempotent,
    /// All attempts are used.
    AttemptsUsed,
    /// The deadline passed.
    DeadlineExceeded,
    /// Not enough time left for the wait and another attempt.
    DeadlineTooClose,
    /// The retry budget is empty.
    BudgetEmpty,
    /// The breaker refuses.
    BreakerOpen,
    /// No permit, and no place to wait for one.
    BulkheadFull,
    /// No permit came within the longest wait.
    BulkheadTimeout,
    /// The server asked for a longer wait than is allowed or left.
    RetryAfterTooLong {
        /// The wait that would have been needed.
        needed: Span,
    },
    /// Retries are switched off.
    KillSwitch,
    /// The caller left.
    Cancelled,
}

impl Stopped {
    /// Number of reasons.
    pub const COUNT: usize = 12;
    /// The words used in columns and reports, by [`Stopped::index`].
    pub const NAMES: [&'static str; Stopped::COUNT] = [
        "not_retryable",
        "not_idempotent",
        "attempts_used",
        "deadline_exceeded",
        "deadline_too_close",
        "budget_empty",
        "breaker_open",
        "bulkhead_full",
        "bulkhead_timeout",
        "retry_after_too_long",
        "kill_switch",
        "cancelled",
    ];

    /// Position in [`Stopped::NAMES`].
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Stopped::NotRetryable => 0,
            Stopped::NotIdempotent => 1,
            Stopped::AttemptsUsed => 2,
            Stopped::DeadlineExceeded => 3,
            Stopped::DeadlineTooClose => 4,
            Stopped::BudgetEmpty => 5,
            Stopped::BreakerOpen => 6,
            Stopped::BulkheadFull => 7,
            Stopped::BulkheadTimeout => 8,
            Stopped::RetryAfterTooLong { .. } => 9,
            Stopped::KillSwitch => 10,
            Stopped::Cancelled => 11,
        }
    }

    /// The word used in columns and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Stopped::NAMES[self.index()]
    }
}
