//! What a policy is, as data. Checked once by [`Spec::check`]; afterwards nothing can fail.

pub use crate::backoff::{Backoff, Jitter};
pub use crate::breaker::{Breaker, BreakerRule, Counts, Ramp, Rates, Window};
pub use crate::budget::{Budget, BudgetEvent};
pub use crate::bulkhead::Bulkhead;
use crate::failure::{FailureKind, FailureSet, PhaseSet};
pub use crate::found::SpecError;
use crate::hedge::Hedge;
pub use crate::limiter::{Limiter, LimiterRule};
use crate::order::{Order, RefusalSet};
pub use crate::rate_limit::RateLimit;
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
