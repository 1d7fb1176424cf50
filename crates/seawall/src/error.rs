//! The one kind of error a caller sees, made from a [`Verdict`].

use core::fmt;

use crate::action::{Stopped, Verdict};
use crate::failure::{FailureKind, Phase};
use crate::request::CallKey;
use crate::time::Span;

/// What a caller has to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorKind {
    /// Time ran out. What was asked for may or may not have been done.
    Timeout,
    /// The credential was refused.
    Authentication,
    /// The server says the caller, or everybody, sends too much.
    RateLimited,
    /// Refused on this side: too many calls in flight.
    CapacityExceeded,
    /// Refused on this side: the dependency is known to fail.
    CircuitOpen,
    /// The dependency, or the way to it, failed.
    Remote,
    /// The request or the response is wrong.
    Protocol,
    /// The caller left.
    Cancelled,
}

impl ErrorKind {
    /// All kinds, in declaration order.
    pub const ALL: [ErrorKind; 8] = [
        ErrorKind::Timeout,
        ErrorKind::Authentication,
        ErrorKind::RateLimited,
        ErrorKind::CapacityExceeded,
        ErrorKind::CircuitOpen,
        ErrorKind::Remote,
        ErrorKind::Protocol,
        ErrorKind::Cancelled,
    ];

    /// A stable code for logs, columns and alerts.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            ErrorKind::Timeout => "timeout",
            ErrorKind::Authentication => "authentication",
            ErrorKind::RateLimited => "rate_limited",
            ErrorKind::CapacityExceeded => "capacity_exceeded",
            ErrorKind::CircuitOpen => "circuit_open",
            ErrorKind::Remote => "remote",
            ErrorKind::Protocol => "protocol",
            ErrorKind::Cancelled => "cancelled",
        }
    }

    /// Whether the same call may go better later. It says nothing about whether to repeat it *now*: that
    /// was decided, and is in [`CallError::stopped`].
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        match self {
            ErrorKind::Timeout
            | ErrorKind::RateLimited
            | ErrorKind::CapacityExceeded
            | ErrorKind::CircuitOpen
            | ErrorKind::Remote => true,
            ErrorKind::Authentication | ErrorKind::Protocol | ErrorKind::Cancelled => false,
        }
    }
}

/// Why a call failed, as its caller sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallError {
    /// What the caller has to tell apart.
    pub kind: ErrorKind,
    /// Where the latest failure of an attempt happened; `None` when none failed.
    pub phase: Option<Phase>,
    /// Attempts sent, the first included.
    pub attempts: u32,
    /// Why no further attempt was made.
    pub stopped: Stopped,
    /// The driver's name for the call.
    pub key: CallKey,
}

impl Verdict {
    /// What the caller of a call that was given up has to tell apart; `None`: it ended well.
    #[must_use]
    pub fn error_kind(&self) -> Option<ErrorKind> {
        self.stopped.map(|stopped| kind(stopped, self.last))
    }

    /// The verdict as a result, for callers that want an error.
    ///
    /// # Errors
    /// When the call was given up.
    pub fn into_result(self, key: CallKey) -> Result<(), CallError> {
        match self.stopped {
            None => Ok(()),
            Some(stopped) => Err(CallError {
                kind: kind(stopped, self.last),
                phase: self.phase,
                attempts: self.attempts,
                stopped,
                key,
            }),
        }
    }
}

/// What stopped the call on this side comes first; otherwise the latest failure says what it was.
fn kind(stopped: Stopped, last: Option<FailureKind>) -> ErrorKind {
    match stopped {
        Stopped::Cancelled => return ErrorKind::Cancelled,
        Stopped::DeadlineExceeded => return ErrorKind::Timeout,
        Stopped::BreakerOpen => return ErrorKind::CircuitOpen,
        Stopped::BulkheadFull
        | Stopped::BulkheadTimeout
        | Stopped::Throttled
        | Stopped::RateLimited => {
            return ErrorKind::CapacityExceeded;
        }
        Stopped::NotRetryable
        | Stopped::NotIdempotent
        | Stopped::AttemptsUsed
        | Stopped::DeadlineTooClose
        | Stopped::BudgetEmpty
        | Stopped::RetryAfterTooLong { .. }
        | Stopped::KillSwitch => {}
    }
    match last {
        Some(
            FailureKind::Timeout | FailureKind::ConnectTimeout | FailureKind::DeadlineExceeded,
        ) => ErrorKind::Timeout,
        Some(FailureKind::Unauthenticated | FailureKind::PermissionDenied) => {
            ErrorKind::Authentication
        }
        Some(FailureKind::Overloaded) => ErrorKind::RateLimited,
        Some(
            FailureKind::Tls | FailureKind::Invalid | FailureKind::Conflict | FailureKind::Decode,
        ) => ErrorKind::Protocol,
        Some(
            FailureKind::Dns
            | FailureKind::ConnectRefused
            | FailureKind::Reset
            | FailureKind::Unavailable
            | FailureKind::BadGateway
            | FailureKind::Internal
            | FailureKind::Cancelled,
        )
        | None => ErrorKind::Remote,
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CallError {
            kind,
            phase,
            attempts,
            stopped,
            key,
        } = self;
        write!(f, "call {}: {}", key.0, kind.code())?;
        if let Some(phase) = phase {
            write!(f, " in phase {}", phase.name())?;
        }
        let s = if *attempts == 1 { "" } else { "s" };
        write!(
            f,
            " after {attempts} attempt{s}, stopped by {}",
            stopped.name()
        )?;
        match stopped {
            Stopped::RetryAfterTooLong { needed } if *needed < Span::MAX => {
                write!(f, " (the server asked for {needed})")
            }
            _ => Ok(()),
        }
    }
}

impl core::error::Error for CallError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn the_reason_on_this_side_names_the_error_before_the_last_failure_does() {
        let of = |stopped, last: Option<FailureKind>| {
            let verdict = Verdict {
                attempts: 2,
                stopped: Some(stopped),
                last,
                phase: last.map(FailureKind::phase),
            };
            verdict.into_result(CallKey(7)).map_err(|e| e.kind.code())
        };
        let unavailable = Some(FailureKind::Unavailable);
        assert_eq!(of(Stopped::AttemptsUsed, unavailable), Err("remote"));
        assert_eq!(of(Stopped::BreakerOpen, unavailable), Err("circuit_open"));
        assert_eq!(of(Stopped::BulkheadFull, None), Err("capacity_exceeded"));
        assert_eq!(
            of(Stopped::BudgetEmpty, Some(FailureKind::Overloaded)),
            Err("rate_limited")
        );
        assert_eq!(of(Stopped::DeadlineExceeded, None), Err("timeout"));
        assert_eq!(of(Stopped::Cancelled, unavailable), Err("cancelled"));
    }

    #[test]
    fn an_error_tells_its_story_in_one_line() {
        let verdict = Verdict {
            attempts: 1,
            stopped: Some(Stopped::RetryAfterTooLong {
                needed: Span::secs(120),
            }),
            last: Some(FailureKind::Overloaded),
            phase: Some(Phase::Server),
        };
        assert_eq!(
            verdict.into_result(CallKey(7)).unwrap_err().to_string(),
            "call 7: rate_limited in phase server after 1 attempt, \
             stopped by retry_after_too_long (the server asked for 120s)"
        );
    }
}
