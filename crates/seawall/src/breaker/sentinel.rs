//! Sentinel's degrade rules.
//!
//! Source: alibaba/Sentinel@d75a6687 `sentinel-core/.../degrade/circuitbreaker/
//! AbstractCircuitBreaker.java`, `ExceptionCircuitBreaker.java`, `ResponseTimeCircuitBreaker.java`.

use super::BreakerState;
use crate::found::Found;
use crate::time::{Span, Time};

/// A `DegradeRule`.
///
/// One bucket, aligned to `t - t mod stat_interval` in whole milliseconds. Looked at after every call
/// that completes while closed, once there are `min_request_amount`: opens when the ratio or count is
/// *strictly above* the threshold (a slow ratio of exactly 1 with threshold 1 opens too). One trial at
/// `now >= next retry`; any completion decides then. A trial that is blocked by a later rule returns to
/// open without a new wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sentinel {
    /// What is compared.
    pub grade: SentinelGrade,
    /// `count` of an error rule or `slowRatioThreshold`.
    pub threshold: f64,
    /// `minRequestAmount`; default 5.
    pub min_request_amount: u32,
    /// `statIntervalMs`; default 1 s.
    pub stat_interval: Span,
    /// `timeWindow`: how long it stays open.
    pub recovery: Span,
}

/// The `grade` of a [`Sentinel`] rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentinelGrade {
    /// Share of calls that failed.
    ErrorRatio,
    /// Calls that failed.
    ErrorCount,
    /// Share of calls that took longer than this, in whole milliseconds.
    SlowRatio(Span),
}

impl Sentinel {
    pub(crate) fn check(&self, found: &mut Found) {
        let holds = self.threshold >= 0.0 && self.threshold.is_finite();
        found.require(
            holds,
            "breaker.threshold",
            "a number, 0 or more",
            self.threshold,
        );
        let milli = Span::millis(1);
        let interval = self.stat_interval;
        found.require(
            interval >= milli,
            "breaker.stat_interval",
            "at least 1ms",
            interval,
        );
        found.span_above_zero("breaker.recovery", self.recovery);
    }
}

/// The running state of a [`Sentinel`] breaker.
#[derive(Clone, Copy, Debug)]
pub struct SentinelCircuit {
    spec: Sentinel,
    state: BreakerState,
    /// In milliseconds; meaningful when open.
    next_retry: u64,
    bucket: u64,
    total: u64,
    bad: u64,
    openings: u64,
}

impl SentinelCircuit {
    /// A closed breaker.
    #[must_use]
    pub fn new(spec: &Sentinel, now: Time) -> Self {
        SentinelCircuit {
            spec: *spec,
            state: BreakerState::Closed,
            next_retry: 0,
            bucket: millis(now.0) / interval(spec),
            total: 0,
            bad: 0,
            openings: 0,
        }
    }

    /// Asks to send.
    #[must_use]
    pub fn acquire(&mut self, now: Time) -> bool {
        match self.state {
            BreakerState::Closed => true,
            BreakerState::Open if !self.refuses(now) => {
                self.state = BreakerState::HalfOpen;
                true
            }
            BreakerState::Open | BreakerState::HalfOpen => false,
        }
    }

    /// A call completed: whether it failed, and how long it took.
    pub fn complete(&mut self, now: Time, failed: bool, took: Span) {
        let bad = match self.spec.grade {
            SentinelGrade::ErrorRatio | SentinelGrade::ErrorCount => failed,
            SentinelGrade::SlowRatio(allowed) => millis(took.0) > millis(allowed.0),
        };
        let bucket = millis(now.0) / interval(&self.spec);
        if bucket > self.bucket {
            self.bucket = bucket;
            (self.total, self.bad) = (0, 0);
        }
        self.total += 1;
        self.bad += u64::from(bad);
        match self.state {
            BreakerState::Open => {}
            BreakerState::HalfOpen if bad => self.open(now),
            BreakerState::HalfOpen => {
                self.state = BreakerState::Closed;
                (self.total, self.bad) = (0, 0);
            }
            BreakerState::Closed if self.too_bad() => self.open(now),
            BreakerState::Closed => {}
        }
    }

    /// A trial was not made after all: open again, without a new wait.
    pub fn release(&mut self) {
        if self.state == BreakerState::HalfOpen {
            self.state = BreakerState::Open;
        }
    }

    /// Whether [`SentinelCircuit::acquire`] would refuse at `at` if nothing happened until then.
    #[must_use]
    pub fn refuses(&self, at: Time) -> bool {
        match self.state {
            BreakerState::Closed => false,
            BreakerState::Open => millis(at.0) < self.next_retry,
            BreakerState::HalfOpen => true,
        }
    }

    /// The state after the last verb.
    #[must_use]
    pub fn state(&self) -> BreakerState {
        self.state
    }

    /// Times it went to open.
    #[must_use]
    pub fn openings(&self) -> u64 {
        self.openings
    }

    fn too_bad(&self) -> bool {
        if self.total < u64::from(self.spec.min_request_amount) {
            return false;
        }
        let ratio = self.bad as f64 / self.total as f64;
        let threshold = self.spec.threshold;
        match self.spec.grade {
            SentinelGrade::ErrorCount => self.bad as f64 > threshold,
            SentinelGrade::ErrorRatio => ratio > threshold,
            SentinelGrade::SlowRatio(_) => ratio > threshold || (ratio == 1.0 && threshold == 1.0),
        }
    }

    fn open(&mut self, now: Time) {
        self.state = BreakerState::Open;
        self.next_retry = millis(now.0).saturating_add(millis(self.spec.recovery.0));
        self.openings += 1;
    }
}

const fn millis(nanos: u64) -> u64 {
    nanos / 1_000_000
}

const fn interval(spec: &Sentinel) -> u64 {
    let interval = millis(spec.stat_interval.0);
    if interval == 0 { 1 } else { interval }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Time {
        Time(millis * 1_000_000)
    }

    fn circuit(grade: SentinelGrade, threshold: f64) -> SentinelCircuit {
        let spec = Sentinel {
            grade,
            threshold,
            min_request_amount: 2,
            stat_interval: Span::secs(1),
            recovery: Span::secs(1),
        };
        SentinelCircuit::new(&spec, Time::ZERO)
    }

    #[test]
    fn a_blocked_trial_returns_to_open_without_a_new_wait() {
        let mut circuit = circuit(SentinelGrade::ErrorCount, 1.0);
        circuit.complete(at(0), true, Span::ZERO);
        circuit.complete(at(0), true, Span::ZERO);
        assert!(circuit.acquire(at(1000)));
        circuit.release();
        assert_eq!(circuit.state(), BreakerState::Open);
        assert!(circuit.acquire(at(1000)));
        assert_eq!(circuit.openings(), 1);
    }

    #[test]
    fn slowness_counts_in_whole_milliseconds_and_only_for_its_rule() {
        let mut slow = circuit(SentinelGrade::SlowRatio(Span::millis(200)), 0.4);
        let almost = Span(200_999_999);
        slow.complete(at(0), true, almost);
        slow.complete(at(0), true, almost);
        assert_eq!(slow.state(), BreakerState::Closed, "errors do not count");
        slow.complete(at(0), false, Span::millis(201));
        slow.complete(at(0), false, Span::millis(201));
        assert_eq!(slow.state(), BreakerState::Open, "2 of 4 > 0.4");
    }

    #[test]
    fn only_a_slow_ratio_may_equal_its_threshold_and_only_at_one() {
        let mut half = circuit(SentinelGrade::SlowRatio(Span::ZERO), 0.5);
        half.complete(at(0), false, Span::millis(1));
        half.complete(at(0), false, Span::ZERO);
        assert_eq!(half.state(), BreakerState::Closed);
        let mut all_errors = circuit(SentinelGrade::ErrorRatio, 1.0);
        for _ in 0..9 {
            all_errors.complete(at(0), true, Span::ZERO);
        }
        assert_eq!(all_errors.state(), BreakerState::Closed);
    }

    #[test]
    fn completions_while_open_fill_the_bucket_and_decide_nothing() {
        let mut circuit = circuit(SentinelGrade::ErrorRatio, 0.5);
        for _ in 0..5 {
            circuit.complete(at(0), true, Span::ZERO);
        }
        assert!(circuit.acquire(at(1500)));
        circuit.complete(at(1500), false, Span::ZERO);
        assert_eq!(circuit.state(), BreakerState::Closed);
        circuit.complete(at(1501), true, Span::ZERO);
        assert_eq!(
            circuit.state(),
            BreakerState::Closed,
            "the bucket was cleared"
        );
    }
}
