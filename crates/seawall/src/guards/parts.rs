//! A breaker and a bulkhead with what else the policy says about them.

use crate::action::Stopped;
use crate::breaker::Circuit;
use crate::bulkhead::Gate;
use crate::call::Call;
use crate::entropy::Entropy;
use crate::failure::{FailureKind, FailureSet};
use crate::limiter::{LimiterState, Sample, Windowed};
use crate::spec::{Breaker, Bulkhead, Limiter};
use crate::time::{Span, Time};

/// A breaker and what it counts.
#[derive(Clone, Debug)]
pub(super) struct Breaking {
    pub(super) circuit: Circuit,
    pub(super) count_refusals: bool,
    on: FailureSet,
    ignored: FailureSet,
}

/// A bulkhead and how it is waited for.
#[derive(Clone, Debug)]
pub(super) struct Bounding {
    pub(super) gate: Gate,
    pub(super) max_wait: Span,
    /// Whether it is among those that have given permits.
    pub(super) listed: bool,
    /// The most permits a limiter may give.
    max_in_flight: u32,
    limiter: Option<Limiting>,
}

/// What moves the permits of a bulkhead.
#[derive(Clone, Debug)]
struct Limiting {
    state: LimiterState,
    window: Option<Windowed>,
    dropped: FailureSet,
    /// Drawn when an attempt is sent, for when it is answered.
    draw: u64,
}

impl Breaking {
    pub(super) fn new(breaker: &Breaker, now: Time) -> Self {
        Breaking {
            circuit: Circuit::new(breaker, now),
            count_refusals: breaker.count_refusals,
            on: breaker.on,
            ignored: breaker.ignored,
        }
    }

    pub(super) fn admit(
        &mut self,
        call: &mut Call,
        now: Time,
        entropy: &mut impl Entropy,
    ) -> Result<(), Stopped> {
        call.permit = self.circuit.admit(now, entropy);
        call.permit.map(|_| ()).ok_or(Stopped::BreakerOpen)
    }

    pub(super) fn record(
        &mut self,
        call: &mut Call,
        now: Time,
        failure: Option<FailureKind>,
        since: Time,
    ) {
        if let Some(permit) = call.permit.take() {
            if failure.is_some_and(|kind| self.ignored.contains(kind)) {
                self.circuit.release(now, permit);
                return;
            }
            let failed = failure.is_some_and(|kind| self.on.contains(kind));
            self.circuit.record(now, permit, failed, now.since(since));
        }
    }

    /// The call failed by what this side refused.
    pub(super) fn record_failure(&mut self, call: &mut Call, now: Time) {
        if let Some(permit) = call.permit.take() {
            self.circuit
                .record(now, permit, true, now.since(call.began));
        }
    }

    /// A try was refused by a layer inside the breaker, `full`: by a bulkhead; whether it is for the breaker to
    /// `count`.
    pub(super) fn refused_inside(
        &mut self,
        now: Time,
        count: bool,
        full: bool,
        entropy: &mut impl Entropy,
    ) {
        if full {
            self.circuit.rejected(now);
        }
        if count
            && self.count_refusals
            && let Some(permit) = self.circuit.admit(now, entropy)
        {
            self.circuit.record(now, permit, true, Span::ZERO);
        }
    }

    pub(super) fn release(&mut self, call: &mut Call, now: Time) {
        if let Some(permit) = call.permit.take() {
            self.circuit.release(now, permit);
        }
    }
}

impl Bounding {
    pub(super) fn new(bulkhead: &Bulkhead, limiter: Option<&Limiter>) -> Self {
        let mut bounding = Bounding {
            gate: Gate::new(bulkhead),
            max_wait: bulkhead.max_wait,
            listed: false,
            max_in_flight: bulkhead.max_in_flight,
            limiter: limiter.map(|limiter| Limiting {
                state: LimiterState::new(&limiter.rule),
                window: limiter.window.as_ref().map(Windowed::new),
                dropped: limiter.dropped,
                draw: 0,
            }),
        };
        bounding.follow_limiter();
        bounding
    }

    /// An attempt was sent; attempts in flight with it.
    pub(super) fn sent(&mut self, entropy: &mut impl Entropy) -> u32 {
        if let Some(limiter) = &mut self.limiter
            && limiter.state.draws()
        {
            limiter.draw = entropy.next_u64();
        }
        self.gate.in_use()
    }

    pub(super) fn answered(
        &mut self,
        now: Time,
        rtt: Span,
        in_flight: u32,
        failure: Option<FailureKind>,
    ) {
        let Some(limiter) = &mut self.limiter else {
            return;
        };
        let dropped = failure.is_some_and(|kind| limiter.dropped.contains(kind));
        if failure.is_none() || dropped {
            let sample = Sample {
                rtt,
                in_flight,
                dropped,
            };
            let seen = match &mut limiter.window {
                None => Some(sample),
                Some(window) => window.gather(now, sample),
            };
            if let Some(sample) = seen {
                limiter.state.sample(sample, &mut Drawn(limiter.draw));
                self.follow_limiter();
            }
        }
    }

    fn follow_limiter(&mut self) {
        if let Some(limiter) = &self.limiter {
            let permits = limiter.state.limit().min(self.max_in_flight);
            self.gate.set_permits(permits);
        }
    }

    pub(super) fn leave(&mut self, call: &mut Call) {
        if call.inside {
            call.inside = false;
            self.gate.release();
        }
    }
}

/// A draw that was made before it was known whether it is needed.
struct Drawn(u64);

impl Entropy for Drawn {
    fn next_u64(&mut self) -> u64 {
        self.0
    }
}
