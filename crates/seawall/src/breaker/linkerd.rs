//! The `consecutive` failure accrual of the Linkerd proxy.
//!
//! Source: linkerd/linkerd2-proxy@29637b64 `linkerd/app/outbound/src/http/breaker/
//! consecutive_failures.rs`, `linkerd/exp-backoff/src/lib.rs`.

use super::BreakerState;
use crate::found::Found;
use crate::time::{Span, Time};

/// `balancer.linkerd.io/failure-accrual-consecutive-*`, per endpoint.
///
/// `max_failures` failures in a row shut it. The `i`-th penalty in a row (from 0) is
/// `b = min(min_penalty * 2^i, max_penalty)` plus `min(u * jitter * b, max_penalty - b)`; then exactly
/// one request is let through, and the next response decides: a success opens it and resets the
/// schedule, a failure shuts it for the next penalty. Responses while shut are ignored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linkerd {
    /// `max-failures`, at least 1; default 7.
    pub max_failures: u32,
    /// `min-penalty`; default 1 s.
    pub min_penalty: Span,
    /// `max-penalty`, at least `min_penalty` and above 0; default 1 min.
    pub max_penalty: Span,
    /// `jitter-ratio`, 0 to 100; default 0.5.
    pub jitter: f64,
}

impl Default for Linkerd {
    fn default() -> Self {
        Linkerd {
            max_failures: 7,
            min_penalty: Span::secs(1),
            max_penalty: Span::secs(60),
            jitter: 0.5,
        }
    }
}

impl Linkerd {
    pub(crate) fn check(&self, found: &mut Found) {
        found.at_least_one("breaker.max_failures", self.max_failures);
        found.span_above_zero("breaker.max_penalty", self.max_penalty);
        found.require(
            self.min_penalty <= self.max_penalty,
            "breaker.min_penalty",
            "at most max_penalty",
            self.min_penalty,
        );
        found.within("breaker.jitter", self.jitter, 0.0, 100.0);
    }

    /// The penalty after `earlier` ones in a row, for a unit draw `u`.
    #[must_use]
    pub fn penalty(&self, earlier: u32, u: f64) -> Span {
        let doubled = u128::from(self.min_penalty.0) << earlier.min(64);
        let base = Span(doubled.min(u128::from(self.max_penalty.0)) as u64);
        let extra = Span((base.0 as f64 * self.jitter * u) as u64);
        base.plus(extra.min(self.max_penalty.minus(base)))
    }
}

/// The running state of [`Linkerd`] accrual.
#[derive(Clone, Copy, Debug)]
pub struct LinkerdCircuit {
    spec: Linkerd,
    state: State,
    openings: u64,
    /// The unit draw for the next penalty.
    draw: f64,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Traffic flows.
    Open { failures: u32 },
    /// Nothing gets through until then; so many penalties came before.
    Shut { until: Time, earlier: u32 },
    /// One request may pass, or has.
    Probation { taken: bool, earlier: u32 },
}

impl LinkerdCircuit {
    /// With traffic flowing.
    #[must_use]
    pub fn new(spec: &Linkerd) -> Self {
        LinkerdCircuit {
            spec: *spec,
            state: State::Open { failures: 0 },
            openings: 0,
            draw: 0.5,
        }
    }

    /// Asks to send.
    #[must_use]
    pub fn acquire(&mut self, now: Time) -> bool {
        self.wake(now);
        match &mut self.state {
            State::Open { .. } => true,
            State::Probation { taken, .. } => !core::mem::replace(taken, true),
            State::Shut { .. } => false,
        }
    }

    /// A response came that counts as a success.
    pub fn success(&mut self, now: Time) {
        self.wake(now);
        if !matches!(self.state, State::Shut { .. }) {
            self.state = State::Open { failures: 0 };
        }
    }

    /// A response came that counts as a failure.
    pub fn failure(&mut self, now: Time) {
        self.wake(now);
        match self.state {
            State::Open { failures } if failures + 1 < self.spec.max_failures => {
                self.state = State::Open {
                    failures: failures + 1,
                };
            }
            State::Open { .. } => self.shut(now, 0),
            State::Probation { earlier, .. } => self.shut(now, earlier.saturating_add(1)),
            State::Shut { .. } => {}
        }
    }

    /// The request of the probation got no response at all: another may try.
    pub fn release(&mut self, now: Time) {
        self.wake(now);
        if let State::Probation { taken, .. } = &mut self.state {
            *taken = false;
        }
    }

    /// The unit draw that the next penalty uses.
    pub fn set_draw(&mut self, u: f64) {
        self.draw = u;
    }

    /// Whether penalties are spread.
    #[must_use]
    pub fn draws(&self) -> bool {
        self.spec.jitter > 0.0
    }

    /// Whether [`LinkerdCircuit::acquire`] would refuse at `at` if nothing happened until then.
    #[must_use]
    pub fn refuses(&self, at: Time) -> bool {
        match self.state {
            State::Open { .. } => false,
            State::Shut { until, .. } => at < until,
            State::Probation { taken, .. } => taken,
        }
    }

    /// What it does with a request at `now`. Where Linkerd says open, traffic flows: closed here.
    #[must_use]
    pub fn state(&self, now: Time) -> BreakerState {
        match self.state {
            State::Open { .. } => BreakerState::Closed,
            State::Shut { until, .. } if now < until => BreakerState::Open,
            State::Shut { .. } | State::Probation { .. } => BreakerState::HalfOpen,
        }
    }

    /// Times it was shut.
    #[must_use]
    pub fn openings(&self) -> u64 {
        self.openings
    }

    fn wake(&mut self, now: Time) {
        if let State::Shut { until, earlier } = self.state
            && now >= until
        {
            self.state = State::Probation {
                taken: false,
                earlier,
            };
        }
    }

    fn shut(&mut self, now: Time, earlier: u32) {
        let penalty = self.spec.penalty(earlier, self.draw);
        self.state = State::Shut {
            until: now.after(penalty),
            earlier,
        };
        self.openings += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Time {
        Time(seconds * 1_000_000_000)
    }

    #[test]
    fn jitter_adds_up_to_its_share_and_never_passes_the_maximum() {
        let linkerd = Linkerd::default();
        assert_eq!(linkerd.penalty(0, 0.0), Span::secs(1));
        assert_eq!(linkerd.penalty(0, 1.0), Span::millis(1500));
        assert_eq!(linkerd.penalty(5, 1.0), Span::secs(48));
        assert_eq!(linkerd.penalty(6, 1.0), Span::secs(60));
        assert_eq!(linkerd.penalty(u32::MAX, 1.0), Span::secs(60));
        let steep = Linkerd {
            jitter: 3.0,
            ..linkerd
        };
        assert_eq!(steep.penalty(5, 0.9), Span::secs(60));
    }

    #[test]
    fn a_late_response_decides_a_probation_that_nobody_has_used() {
        let spec = Linkerd {
            max_failures: 1,
            jitter: 0.0,
            ..Linkerd::default()
        };
        let mut circuit = LinkerdCircuit::new(&spec);
        circuit.failure(at(0));
        circuit.failure(at(1));
        assert_eq!(
            circuit.state(at(2)),
            BreakerState::Open,
            "shut for two seconds more"
        );
        circuit.success(at(3));
        assert_eq!(circuit.state(at(3)), BreakerState::Closed);
    }

    #[test]
    fn a_probe_without_any_response_leaves_room_for_another() {
        let spec = Linkerd {
            max_failures: 1,
            ..Linkerd::default()
        };
        let mut circuit = LinkerdCircuit::new(&spec);
        circuit.failure(at(0));
        assert!(circuit.acquire(at(2)) && !circuit.acquire(at(2)));
        circuit.release(at(2));
        assert!(circuit.acquire(at(2)));
    }
}
