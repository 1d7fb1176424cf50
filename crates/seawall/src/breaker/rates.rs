//! Opens when the failure rate or the slow rate over a window reaches a threshold.
//!
//! `rate = count / results`, compared with `>=`, after every result, once `results >= minimum_calls`.
//! A result is slow when it took longer than `slow_after`. Results of permits from an earlier state
//! are dropped: a call sent before the breaker opened says nothing about how the dependency is now.

use alloc::boxed::Box;

use super::{BreakerState, Permit};
use crate::time::{Span, Time};
use crate::window::{Ring, Slices};

/// Failure rate and slow rate over a window.
///
/// Closed: results go into the window; once it holds `minimum_calls`, a failure rate of at least
/// `failure_rate` or a slow rate of at least `slow_rate` opens it. Open: everything is refused for
/// `open_for`. Half-open: `half_open_calls` trials are let through; when all have reported, the same
/// thresholds decide between closed (or the [`Ramp`] that leads there) and open. A result counts only in the state, and
/// the stage, that admitted it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// What the rates are taken over.
    pub window: Window,
    /// Share of failures that opens it, in (0, 1].
    pub failure_rate: f64,
    /// Share of slow results that opens it, in (0, 1]; `None` ignores slowness.
    pub slow_rate: Option<f64>,
    /// A result that took longer than this is slow, failed or not. (Counting calls: the whole call, its
    /// waits included.)
    pub slow_after: Span,
    /// Results needed before any rate is believed, at least 1, at most what a count window holds.
    pub minimum_calls: u32,
    /// How long it stays open.
    pub open_for: Span,
    /// Trials let through when half-open, at least 1.
    pub half_open_calls: u32,
    /// Whether good trials only begin a ramp; `None`: they close it at once.
    pub ramp: Option<Ramp>,
}

/// How more and more is let through after good trials, so that a service that is not warm yet is not met by all at once.
///
/// In stage `k` = 0, 1, … every so many-th call is let through that a share `from` · `factor`^k of them is. A stage is over
/// once it has lasted `every` *and* `half_open_calls` results of it are in; as soon as these are in and reach a threshold, it
/// opens again. From a share of 1 on it is closed. Until then it is half-open to whoever asks for its state.
///
/// Source: the slow start of load balancers, as Envoy's `slow_start_config` or `NGINX`' `slow_start`, put behind a condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// Share of calls let through at first, in (0, 1).
    pub from: f64,
    /// How many times more in each stage, above 1 and finite.
    pub factor: f64,
    /// How long a stage lasts at least.
    pub every: Span,
}

/// What the breaker's rates are taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// The last so many results, 1 to 1,000,000.
    Count(u32),
    /// The results of the last so much time, at least 10 ns, kept in ten slices: between 0.9 and 1 of it.
    Time(Span),
}

/// The running state of [`Rates`].
#[derive(Clone, Debug)]
pub struct RatesCircuit {
    spec: Rates,
    state: BreakerState,
    generation: u32,
    /// Meaningful when open.
    open_until: Time,
    results: Results,
    /// Trials admitted that have not reported; meaningful when half-open.
    trials_out: u32,
    /// Results since it is half-open, or in this stage of the ramp: all, failed, slow.
    trials: [u64; 3],
    /// Where on the ramp it is; `None`: not on it.
    stage: Option<Stage>,
    openings: u64,
}

/// A stage of the ramp.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// Of the calls that ask, this share is let through.
    share: f64,
    /// What the share has come to since the last one was.
    due: f64,
    since: Time,
}

#[derive(Clone, Debug)]
enum Results {
    Count(Ring),
    Time(Box<Slices<3>>),
}

impl RatesCircuit {
    pub(super) fn new(spec: &Rates, now: Time) -> Self {
        RatesCircuit {
            spec: *spec,
            state: BreakerState::Closed,
            generation: 0,
            open_until: Time::ZERO,
            results: match spec.window {
                Window::Count(size) => Results::Count(Ring::new(size)),
                Window::Time(length) => Results::Time(Box::new(Slices::new(length, now))),
            },
            trials_out: 0,
            trials: [0; 3],
            stage: None,
            openings: 0,
        }
    }

    #[inline]
    pub(super) fn admit(&mut self, now: Time) -> Option<Permit> {
        if self.state == BreakerState::Open && now >= self.open_until {
            self.enter(BreakerState::HalfOpen);
        }
        if self.refuses(now) || !self.due() {
            return None;
        }
        if self.state == BreakerState::HalfOpen {
            self.trials_out += 1;
        }
        Some(Permit(self.generation))
    }

    #[inline]
    pub(super) fn record(&mut self, now: Time, permit: Permit, failed: bool, took: Span) {
        if permit.0 != self.generation {
            return;
        }
        let slow = took > self.spec.slow_after;
        match self.state {
            BreakerState::Closed => {
                let tally = self.results.push(now, failed, slow);
                if tally[0] >= u64::from(self.spec.minimum_calls) && self.too_bad(tally) {
                    self.open(now);
                }
            }
            BreakerState::HalfOpen => {
                self.trials_out = self.trials_out.saturating_sub(1);
                self.trials[0] += 1;
                self.trials[1] += u64::from(failed);
                self.trials[2] += u64::from(slow);
                if self.trials[0] >= u64::from(self.spec.half_open_calls) {
                    if self.too_bad(self.trials) {
                        self.open(now);
                    } else {
                        self.go_on(now);
                    }
                }
            }
            // No permit carries the generation of an open state.
            BreakerState::Open => {}
        }
    }

    #[inline]
    pub(super) fn release(&mut self, permit: Permit) {
        if permit.0 == self.generation && self.state == BreakerState::HalfOpen {
            self.trials_out = self.trials_out.saturating_sub(1);
        }
    }

    #[inline]
    pub(super) fn refuses(&self, at: Time) -> bool {
        match self.state {
            BreakerState::Closed => false,
            BreakerState::Open => at < self.open_until,
            BreakerState::HalfOpen => {
                self.stage.is_none()
                    && u64::from(self.trials_out) + self.trials[0]
                        >= u64::from(self.spec.half_open_calls)
            }
        }
    }

    /// Whether the next call is one of the share that the ramp lets through. Each call that asks counts.
    #[inline]
    fn due(&mut self) -> bool {
        let Some(stage) = &mut self.stage else {
            return true;
        };
        stage.due += stage.share;
        let due = stage.due >= 1.0;
        stage.due -= f64::from(u8::from(due));
        due
    }

    /// Enough results, and good ones: the next stage, if this one has lasted.
    fn go_on(&mut self, now: Time) {
        let Some(ramp) = self.spec.ramp else {
            return self.enter(BreakerState::Closed);
        };
        let share = match self.stage {
            None => ramp.from,
            Some(stage) if now >= stage.since.after(ramp.every) => stage.share * ramp.factor,
            Some(_) => return,
        };
        if share >= 1.0 {
            return self.enter(BreakerState::Closed);
        }
        self.enter(BreakerState::HalfOpen);
        self.stage = Some(Stage {
            share,
            due: 0.0,
            since: now,
        });
    }

    pub(super) fn state(&self, now: Time) -> BreakerState {
        match self.state {
            BreakerState::Open if now >= self.open_until => BreakerState::HalfOpen,
            state => state,
        }
    }

    pub(super) fn openings(&self) -> u64 {
        self.openings
    }

    fn too_bad(&self, [all, failed, slow]: [u64; 3]) -> bool {
        let reaches = |count: u64, rate: f64| count as f64 / all as f64 >= rate;
        reaches(failed, self.spec.failure_rate)
            || self.spec.slow_rate.is_some_and(|rate| reaches(slow, rate))
    }

    fn open(&mut self, now: Time) {
        self.open_until = now.after(self.spec.open_for);
        self.openings += 1;
        self.enter(BreakerState::Open);
    }

    fn enter(&mut self, state: BreakerState) {
        self.state = state;
        self.generation = self.generation.wrapping_add(1);
        self.trials_out = 0;
        self.trials = [0; 3];
        self.stage = None;
        self.results.clear();
    }
}

impl Results {
    /// Puts one result in; results held, failed ones, slow ones.
    fn push(&mut self, now: Time, failed: bool, slow: bool) -> [u64; 3] {
        match self {
            Results::Count(ring) => {
                ring.push(failed, slow);
                ring.tally()
            }
            Results::Time(slices) => {
                slices.add(now, 0);
                if failed {
                    slices.add(now, 1);
                }
                if slow {
                    slices.add(now, 2);
                }
                *slices.sum(now)
            }
        }
    }

    fn clear(&mut self) {
        match self {
            Results::Count(ring) => ring.clear(),
            Results::Time(slices) => slices.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: Rates = Rates {
        window: Window::Count(4),
        failure_rate: 0.5,
        slow_rate: None,
        slow_after: Span::MAX,
        minimum_calls: 2,
        open_for: Span(100),
        half_open_calls: 2,
        ramp: Some(Ramp {
            from: 0.25,
            factor: 2.0,
            every: Span(10),
        }),
    };

    /// Open since 0, its trials done well at `at`.
    fn on_the_ramp(at: u64) -> RatesCircuit {
        let mut circuit = RatesCircuit::new(&RATES, Time::ZERO);
        for failed in [true, true] {
            let permit = circuit.admit(Time::ZERO).expect("closed");
            circuit.record(Time::ZERO, permit, failed, Span::ZERO);
        }
        assert_eq!(circuit.state(Time(99)), BreakerState::Open);
        let trials = [(); 2].map(|()| circuit.admit(Time(at)).expect("a trial"));
        assert_eq!(circuit.admit(Time(at)), None);
        for permit in trials {
            circuit.record(Time(at), permit, false, Span::ZERO);
        }
        circuit
    }

    /// Which of eight calls are let through, and end so.
    fn eight(circuit: &mut RatesCircuit, at: u64, failed: bool) -> [bool; 8] {
        [(); 8].map(|()| {
            let permit = circuit.admit(Time(at));
            if let Some(permit) = permit {
                circuit.record(Time(at), permit, failed, Span::ZERO);
            }
            permit.is_some()
        })
    }

    #[test]
    fn after_good_trials_a_rising_share_is_let_through() {
        let mut circuit = on_the_ramp(100);
        let (y, n) = (true, false);
        assert_eq!(circuit.state(Time(100)), BreakerState::HalfOpen);
        assert_eq!(eight(&mut circuit, 101, false), [n, n, n, y, n, n, n, y]);
        // Two good results of it are in, and it has lasted ten: a result later, half of all.
        assert_eq!(eight(&mut circuit, 110, false), [n, n, n, y, n, y, n, y]);
        assert_eq!(circuit.state(Time(119)), BreakerState::HalfOpen);
        // The next result that comes when this stage has lasted as well closes it.
        assert_eq!(eight(&mut circuit, 120, false), [n, y, y, y, y, y, y, y]);
        assert_eq!(circuit.state(Time(120)), BreakerState::Closed);
    }

    #[test]
    fn a_stage_waits_for_results_however_long_it_lasts() {
        let mut circuit = on_the_ramp(100);
        let asked = [(); 8].map(|()| circuit.admit(Time(500)));
        assert_eq!(asked.iter().flatten().count(), 2);
        circuit.record(Time(500), asked[3].expect("let through"), false, Span::ZERO);
        assert_eq!(
            [(); 4].map(|()| circuit.admit(Time(501)).is_some()),
            [false, false, false, true]
        );
        circuit.record(Time(502), asked[7].expect("let through"), false, Span::ZERO);
        assert_eq!(
            [(); 2].map(|()| circuit.admit(Time(503)).is_some()),
            [false, true]
        );
    }

    #[test]
    fn bad_results_on_the_ramp_open_it_again() {
        let mut circuit = on_the_ramp(100);
        let _ = eight(&mut circuit, 101, true);
        assert_eq!(circuit.state(Time(101)), BreakerState::Open);
        assert_eq!(circuit.openings(), 2);
        assert_eq!(circuit.state(Time(201)), BreakerState::HalfOpen);
    }

    #[test]
    fn without_a_ramp_good_trials_close_it_at_once() {
        let mut circuit = RatesCircuit::new(
            &Rates {
                ramp: None,
                ..RATES
            },
            Time::ZERO,
        );
        for _ in 0..2 {
            let permit = circuit.admit(Time::ZERO).expect("closed");
            circuit.record(Time::ZERO, permit, true, Span::ZERO);
        }
        for _ in 0..2 {
            let permit = circuit.admit(Time(100)).expect("a trial");
            circuit.record(Time(100), permit, false, Span::ZERO);
        }
        assert_eq!(circuit.state(Time(100)), BreakerState::Closed);
    }
}
