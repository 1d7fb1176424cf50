//! What a call asks its driver to do, and how it ends.

use crate::failure::{FailureKind, Phase};
use crate::time::{Span, Time};

/// What a call asks its driver to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Choose a host for this attempt and name it to [`crate::Client::on_host`]; only a policy with a
    /// [`crate::Scope::Host`] asks.
    Choose(u32),
    /// Send one attempt. Unless the policy hedges, no further action follows until it was answered or
    /// [`crate::Call::timer`] has come.
    Send {
        /// Its number, from 1.
        attempt: u32,
        /// When the call will give up on it, for transports that want to know. Unless the policy hedges, that is also
        /// [`crate::Call::timer`].
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
    /// The latest failure of an attempt, if one failed; `None` when the call ended well.
    pub last: Option<FailureKind>,
    /// Where that failure happened.
    pub phase: Option<Phase>,
}

impl Verdict {
    /// Whether the call ended well.
    #[must_use]
    pub const fn is_ok(&self) -> bool {
        self.stopped.is_none()
    }
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
    /// The client rejects on its own, since the dependency accepts too little.
    Throttled,
    /// The client sends as often as it may already.
    RateLimited,
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
    pub const COUNT: usize = 14;
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
        "throttled",
        "rate_limited",
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
            Stopped::Throttled => 12,
            Stopped::RateLimited => 13,
        }
    }

    /// The word used in columns and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Stopped::NAMES[self.index()]
    }
}
