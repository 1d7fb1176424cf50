//! What happened, for metrics and traces.

use seawall::{BreakerState, CallKey, Failure, Span, Time, Verdict, Wait};

/// Something that happened to a call or to the engine.
///
/// Made of seawall's own types alone: nothing of a request, a response or an error is in it, so whatever is done with it
/// can spill no secret.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A call began.
    Began {
        /// Which.
        call: CallKey,
    },
    /// An attempt was sent.
    Sent {
        /// Of which call.
        call: CallKey,
        /// Its number, from 1.
        attempt: u32,
        /// When it will be given up, from now.
        timeout: Option<Span>,
        /// The deadline sent along, when the policy propagates it.
        deadline: Option<Time>,
    },
    /// An attempt was answered.
    Answered {
        /// Of which call.
        call: CallKey,
        /// Its number, from 1.
        attempt: u32,
        /// How long the answer took.
        took: Span,
        /// What was wrong with the answer, if anything was.
        failure: Option<Failure>,
    },
    /// An attempt was given up unanswered: it timed out, or the caller left.
    Abandoned {
        /// Of which call.
        call: CallKey,
        /// Its number, from 1.
        attempt: u32,
        /// How long it was waited for.
        took: Span,
    },
    /// A call waits before its next attempt.
    Waits {
        /// Which.
        call: CallKey,
        /// For what: the end of a backoff, the rate limit, a bulkhead permit.
        on: Wait,
        /// For how long at most; `None`: as long as it takes.
        at_most: Option<Span>,
    },
    /// A call ended. Refused on this side before any attempt: `verdict.attempts` is 0. Its future dropped:
    /// [`seawall::Stopped::Cancelled`].
    Ended {
        /// Which.
        call: CallKey,
        /// How long it took.
        took: Span,
        /// How it ended.
        verdict: Verdict,
    },
    /// A breaker changed. That it is half-open once it has been open for long enough is noticed when a call next
    /// comes along.
    Breaker {
        /// Whose: the host, group or tenant that the policy tells apart; `None`: the one that is shared by all, or by the
        /// keys beyond the cap.
        key: Option<u64>,
        /// What it was.
        from: BreakerState,
        /// What it is.
        to: BreakerState,
    },
}

/// Told of everything that happens, on the task where it happens, outside the engine's lock.
///
/// It should be quick: count, or hand on. Any `Fn(Time, &Event)` is one.
pub trait Observer: Send + Sync {
    /// `event` happened at `at`, which counts from the making of the [`Engine`](crate::Engine).
    fn on_event(&self, at: Time, event: &Event);
}

impl<F: Fn(Time, &Event) + Send + Sync> Observer for F {
    fn on_event(&self, at: Time, event: &Event) {
        self(at, event);
    }
}
