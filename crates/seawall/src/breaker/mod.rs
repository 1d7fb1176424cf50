//! What stops calls to a dependency that is failing. One file per member of the family.
//!
//! The verbs: [`Circuit::admit`] asks for a [`Permit`]; [`Circuit::record`] says how what it was for
//! ended; [`Circuit::release`] gives it back with nothing learnt. A permit names the generation of
//! the state that gave it, so a member can tell a trial from a straggler.

mod gobreaker;
mod hystrix;
mod linkerd;
mod polly_v8;
mod rates;
mod resilience4j;
mod seconds;
mod sentinel;

pub use gobreaker::{GoBreaker, GoCircuit, GoCounts, GoRefusal, GoTicket, GoTrip};
pub use hystrix::{Hystrix, HystrixCircuit};
pub use linkerd::{Linkerd, LinkerdCircuit};
pub use polly_v8::{Polly, PollyCircuit};
pub use rates::{Ramp, Rates, RatesCircuit, Window};
pub use resilience4j::{Resilience4j, Resilience4jCircuit, Resilience4jWindow};
pub use seconds::Aligned;
pub use sentinel::{Sentinel, SentinelCircuit, SentinelGrade};

use alloc::boxed::Box;

use crate::entropy::Entropy;
use crate::failure::FailureSet;
use crate::time::{Span, Time};

/// A circuit breaker: closed, open, half-open.
#[derive(Clone, Debug, PartialEq)]
pub struct Breaker {
    /// When it opens, and what it lets through afterwards.
    pub rule: BreakerRule,
    /// Whether each attempt is one result, or each call. `None`: by its place in [`Spec::order`](crate::Spec::order), and without one
    /// attempts. May not contradict the order.
    pub counts: Option<Counts>,
    /// Whether refusals by layers inside it are failures to it. If not they are no results.
    pub count_refusals: bool,
    /// Kinds that count as failures; any other outcome is a success, unless it is ignored.
    pub on: FailureSet,
    /// Kinds that are no result at all.
    pub ignored: FailureSet,
}

/// When a breaker opens, and what it lets through afterwards.
#[derive(Clone, Debug, PartialEq)]
pub enum BreakerRule {
    /// Failure rate and slow rate over a window.
    Rates(Rates),
    /// sony/gobreaker.
    GoBreaker(GoBreaker),
    /// Hystrix.
    Hystrix(Hystrix),
    /// Consecutive failures as in the Linkerd proxy.
    Linkerd(Linkerd),
    /// Polly v8.
    Polly(Polly),
    /// resilience4j.
    Resilience4j(Box<Resilience4j>),
    /// Sentinel's degrade rules.
    Sentinel(Sentinel),
}

/// What a policy counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counts {
    /// Each attempt.
    #[default]
    Attempts,
    /// Each call, by how it ended.
    Calls,
}

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
    Rates(RatesCircuit),
    /// sony/gobreaker.
    GoBreaker(Box<GoCircuit>),
    /// Hystrix.
    Hystrix(Box<HystrixCircuit>),
    /// Consecutive failures as in the Linkerd proxy.
    Linkerd(LinkerdCircuit),
    /// Polly v8.
    Polly(Box<PollyCircuit>),
    /// resilience4j.
    Resilience4j(Box<Resilience4jCircuit>),
    /// Sentinel's degrade rules.
    Sentinel(Box<SentinelCircuit>),
}

impl Circuit {
    /// A closed breaker with an empty window.
    #[must_use]
    pub fn new(breaker: &Breaker, now: Time) -> Circuit {
        match &breaker.rule {
            BreakerRule::Rates(rule) => Circuit::Rates(RatesCircuit::new(rule, now)),
            BreakerRule::GoBreaker(rule) => Circuit::GoBreaker(Box::new(GoCircuit::new(rule, now))),
            BreakerRule::Hystrix(rule) => {
                Circuit::Hystrix(Box::new(HystrixCircuit::new(rule, now)))
            }
            BreakerRule::Linkerd(rule) => Circuit::Linkerd(LinkerdCircuit::new(rule)),
            BreakerRule::Polly(rule) => Circuit::Polly(Box::new(PollyCircuit::new(rule, now))),
            BreakerRule::Resilience4j(rule) => {
                Circuit::Resilience4j(Box::new(Resilience4jCircuit::new(rule, now)))
            }
            BreakerRule::Sentinel(rule) => {
                Circuit::Sentinel(Box::new(SentinelCircuit::new(rule, now)))
            }
        }
    }

    /// Asks to send; `None` refuses. Where the time it will stay open is spread, this draws for it.
    #[inline]
    pub fn admit(&mut self, now: Time, entropy: &mut impl Entropy) -> Option<Permit> {
        match self {
            Circuit::Rates(circuit) => circuit.admit(now),
            _ => self.admit_as_peer(now, entropy),
        }
    }

    fn admit_as_peer(&mut self, now: Time, entropy: &mut impl Entropy) -> Option<Permit> {
        let (admitted, openings) = match self {
            Circuit::Rates(circuit) => return circuit.admit(now),
            Circuit::GoBreaker(circuit) => {
                return circuit
                    .acquire(now)
                    .ok()
                    .map(|ticket| Permit(ticket.bits()));
            }
            Circuit::Hystrix(circuit) => (circuit.acquire(now), circuit.openings()),
            Circuit::Linkerd(circuit) => {
                if circuit.draws() {
                    circuit.set_draw(entropy.unit());
                }
                (circuit.acquire(now), circuit.openings())
            }
            Circuit::Polly(circuit) => (circuit.acquire(now), circuit.openings()),
            Circuit::Resilience4j(circuit) => {
                if circuit.draws() {
                    circuit.set_draw(entropy.unit());
                }
                (circuit.acquire(now), circuit.openings())
            }
            Circuit::Sentinel(circuit) => (circuit.acquire(now), circuit.openings()),
        };
        // The number of openings tells a trial from a call of before.
        admitted.then_some(Permit(openings as u32))
    }

    /// Says how what the permit was for ended, and how long it took.
    #[inline]
    pub fn record(&mut self, now: Time, permit: Permit, failed: bool, took: Span) {
        match self {
            Circuit::Rates(circuit) => circuit.record(now, permit, failed, took),
            Circuit::GoBreaker(circuit) if failed => {
                circuit.failure(now, GoTicket::from_bits(permit.0));
            }
            Circuit::GoBreaker(circuit) => circuit.success(now, GoTicket::from_bits(permit.0)),
            Circuit::Hystrix(circuit) if failed => circuit.failure(now),
            Circuit::Hystrix(circuit) => circuit.success(now),
            Circuit::Linkerd(circuit) if failed => circuit.failure(now),
            Circuit::Linkerd(circuit) => circuit.success(now),
            Circuit::Polly(circuit) if failed => circuit.failure(now),
            Circuit::Polly(circuit) => circuit.success(now),
            Circuit::Resilience4j(circuit) if failed => circuit.failure(now, took),
            Circuit::Resilience4j(circuit) => circuit.success(now, took),
            Circuit::Sentinel(circuit) => circuit.complete(now, failed, took),
        }
    }

    /// Gives a permit back with nothing learnt: it was not used, its outcome is ignored, or its caller
    /// left. What a member makes of that differs: for Polly it is a success, for Hystrix a trial that
    /// did not go well.
    #[inline]
    pub fn release(&mut self, now: Time, permit: Permit) {
        match self {
            Circuit::Rates(circuit) => circuit.release(permit),
            Circuit::GoBreaker(circuit) => circuit.release(now, GoTicket::from_bits(permit.0)),
            Circuit::Hystrix(circuit) => circuit.cancelled(now),
            Circuit::Linkerd(circuit) if permit.0 == circuit.openings() as u32 => {
                circuit.release(now);
            }
            Circuit::Linkerd(_) => {}
            Circuit::Polly(circuit) => circuit.success(now),
            Circuit::Resilience4j(circuit) => circuit.release(now),
            Circuit::Sentinel(circuit) if permit.0 == circuit.openings() as u32 => {
                circuit.release()
            }
            Circuit::Sentinel(_) => {}
        }
    }

    /// A call was refused by the bulkhead behind the breaker. Hystrix counts that as a failure; the call had passed the
    /// breaker before, so one that was to be the trial opens it again.
    #[inline]
    pub fn rejected(&mut self, now: Time) {
        if let Circuit::Hystrix(circuit) = self
            && circuit.acquire(now)
        {
            circuit.failure(now);
        }
    }

    /// Whether [`Circuit::admit`] is known to refuse at `at` if nothing happens until then. On a ramp nothing is known.
    #[inline]
    #[must_use]
    pub fn refuses(&self, at: Time) -> bool {
        match self {
            Circuit::Rates(circuit) => circuit.refuses(at),
            Circuit::GoBreaker(circuit) => circuit.refuses(at),
            Circuit::Hystrix(circuit) => circuit.refuses(at),
            Circuit::Linkerd(circuit) => circuit.refuses(at),
            Circuit::Polly(circuit) => circuit.refuses(at),
            Circuit::Resilience4j(circuit) => circuit.refuses(at),
            Circuit::Sentinel(circuit) => circuit.refuses(at),
        }
    }

    /// What it does with a call at `now`.
    #[must_use]
    pub fn state(&self, now: Time) -> BreakerState {
        match self {
            Circuit::Rates(circuit) => circuit.state(now),
            Circuit::GoBreaker(circuit) => circuit.state(now),
            Circuit::Hystrix(circuit) => circuit.state(now),
            Circuit::Linkerd(circuit) => circuit.state(now),
            Circuit::Polly(circuit) => circuit.state(),
            Circuit::Resilience4j(circuit) => circuit.state(now),
            Circuit::Sentinel(circuit) => circuit.state(),
        }
    }

    /// Times it went from closed or half-open to open.
    #[must_use]
    pub fn openings(&self) -> u64 {
        match self {
            Circuit::Rates(circuit) => circuit.openings(),
            Circuit::GoBreaker(circuit) => circuit.openings(),
            Circuit::Hystrix(circuit) => circuit.openings(),
            Circuit::Linkerd(circuit) => circuit.openings(),
            Circuit::Polly(circuit) => circuit.openings(),
            Circuit::Resilience4j(circuit) => circuit.openings(),
            Circuit::Sentinel(circuit) => circuit.openings(),
        }
    }
}
