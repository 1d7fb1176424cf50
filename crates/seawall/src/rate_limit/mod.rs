//! What bounds how often attempts are sent. One file per member of the family.
//!
//! The verbs: [`Pacer::pass`] asks for one attempt, [`Pacer::answered`] says how one was answered.

mod aws_adaptive;
mod gcra;
mod resilience4j;

pub use aws_adaptive::{AwsAdaptive, AwsAdaptiveState};
pub use gcra::{Gcra, GcraState, TooManyCells};
pub use resilience4j::{RateReservation, Resilience4jRate, Resilience4jRateState};

use alloc::boxed::Box;

use crate::failure::FailureKind;
use crate::time::{Span, Time};

/// What bounds how often attempts are sent, or calls begun where it is outside retry. A wait that leaves no time
/// for the attempt is not begun.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateLimit {
    /// The generic cell rate algorithm.
    Gcra {
        /// Rate and burst.
        gcra: Gcra,
        /// The longest wait; zero refuses at once. Who waits asks again afterwards.
        max_wait: Span,
    },
    /// resilience4j's `RateLimiter`.
    Resilience4j(Resilience4jRate),
    /// The adaptive mode of the AWS SDKs.
    AwsAdaptive(AwsAdaptive),
}

/// What a rate limit says about the next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// It may be sent.
    Go,
    /// Not before this wait is over.
    Wait(Span, Then),
}

/// What to do when the wait is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Send: it is reserved.
    Go,
    /// Ask again.
    Ask,
    /// Give up: it is refused.
    GiveUp,
}

/// The running state of a [`RateLimit`].
#[derive(Clone, Debug)]
pub enum Pacer {
    /// The generic cell rate algorithm, and the longest wait.
    Gcra(GcraState, Span),
    /// resilience4j's `RateLimiter`.
    Resilience4j(Box<Resilience4jRateState>),
    /// The adaptive mode of the AWS SDKs.
    AwsAdaptive(Box<(AwsAdaptive, AwsAdaptiveState)>),
}

impl Pacer {
    /// With the whole burst.
    #[must_use]
    pub fn new(limit: &RateLimit, now: Time) -> Pacer {
        match limit {
            RateLimit::Gcra { gcra, max_wait } => Pacer::Gcra(GcraState::new(gcra), *max_wait),
            RateLimit::Resilience4j(limit) => {
                Pacer::Resilience4j(Box::new(Resilience4jRateState::new(limit, now)))
            }
            RateLimit::AwsAdaptive(limit) => {
                Pacer::AwsAdaptive(Box::new((*limit, AwsAdaptiveState::new(limit, now))))
            }
        }
    }

    /// Asks for one attempt, a retry after `failure` if there was one.
    pub fn pass(&mut self, now: Time, failure: Option<FailureKind>) -> Passing {
        match self {
            Pacer::Gcra(state, max_wait) => match state.check(now, 1) {
                Ok(None) => Passing::Go,
                Ok(Some(wait)) if wait <= *max_wait => Passing::Wait(wait, Then::Ask),
                Ok(Some(_)) | Err(TooManyCells) => Passing::Wait(Span::ZERO, Then::GiveUp),
            },
            Pacer::Resilience4j(state) => match state.reserve(now, 1) {
                RateReservation::Granted { wait: Span::ZERO } => Passing::Go,
                RateReservation::Granted { wait } => Passing::Wait(wait, Then::Go),
                RateReservation::Refused { sleeps } => Passing::Wait(sleeps, Then::GiveUp),
            },
            Pacer::AwsAdaptive(limit) => {
                let (spec, state) = &mut **limit;
                match state.acquire(now, spec.cost_after(failure)) {
                    Span::ZERO => Passing::Go,
                    wait if spec.reserves => Passing::Wait(wait, Then::Go),
                    wait => Passing::Wait(wait, Then::Ask),
                }
            }
        }
    }

    /// Takes back what was reserved for one attempt whose wait is not begun, since it would end too late.
    pub fn put_back(&mut self, failure: Option<FailureKind>) {
        match self {
            Pacer::Gcra(..) => {}
            Pacer::Resilience4j(state) => state.put_back(1),
            Pacer::AwsAdaptive(limit) => {
                let (spec, state) = &mut **limit;
                state.put_back(spec.cost_after(failure));
            }
        }
    }

    /// An attempt was answered, or will not be; with which failure, if it failed.
    pub fn answered(&mut self, now: Time, failure: Option<FailureKind>) {
        if let Pacer::AwsAdaptive(limit) = self {
            limit
                .1
                .response(now, failure == Some(FailureKind::Overloaded));
        }
    }
}
