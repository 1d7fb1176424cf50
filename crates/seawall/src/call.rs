//! One call on its way: where it is, and what it remembers.

use crate::action::Stopped;
use crate::backoff::Progress;
use crate::breaker::Permit;
use crate::budget::Grant;
use crate::bulkhead::Place;
use crate::failure::{FailureKind, FailureSet, Phase};
use crate::rate_limit::Then;
use crate::request::CallKey;
use crate::scope::Slots;
use crate::time::{Span, Time};

/// One logical call between [`crate::Client::begin`] and [`crate::Action::Finish`].
///
/// Plain data of at most 128 bytes without heap, kept wherever the driver likes. It is meant to be
/// moved, not doubled: two copies driven on would give the same permits back twice.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub(crate) key: CallKey,
    /// `Time::MAX`: none.
    pub(crate) deadline: Time,
    /// `Time::MAX`: none.
    pub(crate) timer: Time,
    pub(crate) began: Time,
    pub(crate) state: State,
    pub(crate) backoff: Progress,
    /// Attempts sent.
    pub(crate) attempts: u32,
    /// Kinds that policy and operation together retry.
    pub(crate) retry_on: FailureSet,
    pub(crate) grant: Option<Grant>,
    pub(crate) permit: Option<Permit>,
    pub(crate) last: Option<(FailureKind, Phase)>,
    pub(crate) idempotent: bool,
    /// Whether it holds a bulkhead permit.
    pub(crate) inside: bool,
    /// Steps of the plan it has passed.
    pub(crate) stage: u8,
    /// Tries of it that this side refused, and that another followed.
    pub(crate) refused: u8,
    pub(crate) slots: Slots,
    /// Where its attempts are kept while it is hedged.
    pub(crate) race: u32,
    /// Whether it may be hedged: the policy does so, and to send it twice does no harm.
    pub(crate) hedges: bool,
    /// When the try under way began, where its timeout counts from then.
    pub(crate) tried: Time,
}

/// What a call that has nothing to poll waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The answer to the attempt that is out, or its timeout.
    Answer,
    /// The end of the wait before a retry.
    Backoff,
    /// The rate limit.
    Pace,
    /// The host of the next attempt: [`crate::Client::on_host`].
    Host,
    /// A bulkhead permit.
    Permit,
}

/// Where a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing was decided yet.
    New,
    /// In line for a bulkhead permit.
    Waiting(Place),
    /// The next attempt comes too early for the rate limit.
    Pacing(Then),
    /// The host of the next attempt is to be named; whether the driver has been asked.
    Choosing { asked: bool },
    /// This side refused the try, and it may be tried again.
    Refused(Stopped),
    /// An attempt is out; so many were in flight with it.
    Sent { at: Time, in_flight: u32 },
    /// One attempt or several are out, and others may follow before they end.
    Racing,
    /// An attempt failed and nobody decided yet what to do about it. `abandon`: the driver has to be
    /// told first that nobody waits for it.
    Failed { asked: Asked, abandon: bool },
    /// The wait before a retry.
    Backoff,
    /// What it waited for has come; it goes on.
    Ready,
    /// The end is decided, the driver not told.
    Ending {
        stopped: Option<Stopped>,
        abandon: bool,
    },
    /// The driver was told.
    Over,
}

/// The wait a server asked for, if it did, in eight bytes: one more than the wait, 0 for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked(u64);

impl From<Option<Span>> for Asked {
    fn from(asked: Option<Span>) -> Self {
        Asked(asked.map_or(0, |span| span.0.saturating_add(1)))
    }
}

impl Asked {
    /// `Span::MAX` stays what it is: never.
    pub(crate) fn span(self) -> Option<Span> {
        match self.0 {
            0 => None,
            u64::MAX => Some(Span::MAX),
            one_more => Some(Span(one_more - 1)),
        }
    }
}

impl Call {
    /// Tries so far: attempts, and those that were refused on this side.
    #[inline]
    pub(crate) fn tries(&self) -> u32 {
        self.attempts.saturating_add(u32::from(self.refused))
    }

    /// Its end is decided.
    #[inline]
    pub(crate) fn end(&mut self, stopped: Option<Stopped>, abandon: bool) {
        self.timer = Time::MAX;
        self.state = State::Ending { stopped, abandon };
    }

    /// The next instant at which [`crate::Client::on_timer`] must be called; `None`: only a reply (or a permit)
    /// brings this call on. May change with every verb that takes the call.
    #[inline]
    #[must_use]
    pub fn timer(&self) -> Option<Time> {
        (self.timer != Time::MAX).then_some(self.timer)
    }

    /// What it waits for; `None` while there is something to poll, and after its end.
    #[inline]
    #[must_use]
    pub fn waits_for(&self) -> Option<Wait> {
        match self.state {
            State::Sent { .. } | State::Racing => Some(Wait::Answer),
            State::Backoff => Some(Wait::Backoff),
            State::Pacing(_) => Some(Wait::Pace),
            State::Waiting(_) => Some(Wait::Permit),
            State::Choosing { asked: true } => Some(Wait::Host),
            State::New
            | State::Choosing { .. }
            | State::Refused(_)
            | State::Failed { .. }
            | State::Ready
            | State::Ending { .. }
            | State::Over => None,
        }
    }

    /// Whether a further attempt may follow the first, going by policy and operation.
    #[inline]
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        !self.retry_on.is_empty() || self.hedges
    }

    /// The request cannot be sent again: whatever fails from now on is [`Stopped::NotRetryable`]. A hedged call sends no
    /// further copy, and the first failure of those that are out ends it.
    #[inline]
    pub fn forbid_retries(&mut self) {
        self.retry_on = FailureSet::NONE;
        self.hedges = false;
    }

    /// Whether [`crate::Action::Finish`] has been handed out.
    #[inline]
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.state == State::Over
    }

    /// The driver's name for it.
    #[inline]
    #[must_use]
    pub fn key(&self) -> CallKey {
        self.key
    }

    /// Attempts sent so far.
    #[inline]
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// The absolute deadline, if it has one.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        (self.deadline != Time::MAX).then_some(self.deadline)
    }
}
