//! What stops calls to a dependency that is failing. One file per member of the family.
//!
//! The verbs: [`Circuit::admit`] asks for a [`Permit`]; [`Circuit::record`] says how what it was for
//! ended; [`Circuit::release`] gives it back with nothing learnt. A permit names the generation of
//! the state that gave it, so a member can tell a trial from a straggler.

mod rates;

use crate::spec::Breaker;
use crate::time::{Span, Time};

use rates::Rates;

/// What a breaker does with the next call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BreakerState {
    /// Lets it through.
    Closed,
    /// Lets it through if there is a trial left.
    HalfOpen,
    /// Refuses it.
    Open,
}

impl BreakerState {
    /// The word used in columns and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            BreakerState::Closed => "closed",
            BreakerState::HalfOpen => "half_open",
            BreakerState::Open => "open",
        }
    }
}

/// The right to send, given by one generation of the breaker's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permit(u32);

/// The running state of a [`Breaker`].
#[derive(Clone, Debug)]
pub enum Circuit {
    /// Failure rate and slow rate over a window.
    Rates(Rates),
}

impl Circuit {
    /// A closed breaker with an empty window.
    #[must_use]
    pub fn new(breaker: &Breaker, now: Time) -> Circuit {
        Circuit::Rates(Rates::new(breaker, now))
    }

    /// Asks to send; `None` refuses.
    #[inline]
    pub fn admit(&mut self, now: Time) -> Option<Permit> {
        match self {
            Circuit::Rates(circuit) => circuit.admit(now),
        }
    }

    /// Says how what the permit was for ended, and how long it took.
    #[inline]
    pub fn record(&mut self, now: Time, permit: Permit, failed: bool, took: Span) {
        match self {
            Circuit::Rates(circuit) => circuit.record(now, permit, failed, took),
        }
    }

    /// Gives a permit back with nothing learnt: it was not used, or its caller left.
    #[inline]
    pub fn release(&mut self, permit: Permit) {
        match self {
            Circuit::Rates(circuit) => circuit.release(permit),
        }
    }

    /// Whether [`Circuit::admit`] would refuse at `at` if nothing happened until then.
    #[inline]
    #[must_use]
    pub fn refuses(&self, at: Time) -> bool {
        match self {
            Circuit::Rates(circuit) => circuit.refuses(at),
        }
    }

    /// What it does with a call at `now`.
    #[must_use]
    pub fn state(&self, now: Time) -> BreakerState {
        match self {
            Circuit::Rates(circuit) => circuit.state(now),
        }
    }

    /// Times it went from closed or half-open to open.
    #[must_use]
    pub fn openings(&self) -> u64 {
        match self {
            Circuit::Rates(circuit) => circuit.openings(),
        }
    }
}
