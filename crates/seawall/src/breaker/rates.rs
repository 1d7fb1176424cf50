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
/// thresholds decide between closed and open. A result counts only in the state that admitted it.
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
    /// Trials reported: all, failed, slow.
    trials: [u64; 3],
    openings: u64,
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
            openings: 0,
        }
    }

    #[inline]
    pub(super) fn admit(&mut self, now: Time) -> Option<Permit> {
        if self.state == BreakerState::Open && now >= self.open_until {
            self.enter(BreakerState::HalfOpen);
        }
        if self.refuses(now) {
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
                        self.enter(BreakerState::Closed);
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
                u64::from(self.trials_out) + self.trials[0] >= u64::from(self.spec.half_open_calls)
            }
        }
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
