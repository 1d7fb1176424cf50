//! Hystrix's circuit breaker.
//!
//! Source: Netflix/Hystrix@7c03bafe `HystrixCircuitBreaker.java`, `HystrixCommandMetrics.java`,
//! `metric/consumer/BucketedRollingCounterStream.java`, `HystrixCommandProperties.java`.

use alloc::vec;
use alloc::vec::Vec;

use super::BreakerState;
use crate::found::Found;
use crate::time::{Span, Time};

/// `HystrixCommandProperties`, as far as the breaker goes.
///
/// The decision is made *only at ticks* of the snapshot interval, over the snapshots of the window:
/// `total >= volume threshold` and `trunc(failed / total * 100) >= error threshold`, the percentage cut
/// from binary floating point (29 of 50 reads 57). Successes, failures, timeouts and rejections by the
/// pool or semaphore count; refused calls do not.
///
/// One trial when `now > opened + sleep window`, in whole milliseconds. A success closes it and starts
/// the snapshots from empty; any failure, a late one too, opens it again with a new sleep window, and
/// so does a trial that is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hystrix {
    /// `circuitBreaker.requestVolumeThreshold`; default 20.
    pub request_volume_threshold: u32,
    /// `circuitBreaker.errorThresholdPercentage`; default 50.
    pub error_threshold_percentage: u32,
    /// `circuitBreaker.sleepWindowInMilliseconds`; default 5 s.
    pub sleep_window: Span,
    /// `metrics.rollingStats.timeInMilliseconds`, a multiple of the interval; default 10 s.
    pub rolling_window: Span,
    /// `metrics.healthSnapshot.intervalInMilliseconds`; default 500 ms.
    pub snapshot_interval: Span,
}

impl Default for Hystrix {
    fn default() -> Self {
        Hystrix {
            request_volume_threshold: 20,
            error_threshold_percentage: 50,
            sleep_window: Span::secs(5),
            rolling_window: Span::secs(10),
            snapshot_interval: Span::millis(500),
        }
    }
}

impl Hystrix {
    pub(crate) fn check(&self, found: &mut Found) {
        let interval = self.snapshot_interval;
        found.span_above_zero("breaker.snapshot_interval", interval);
        let whole = interval > Span::ZERO && self.rolling_window.0.is_multiple_of(interval.0);
        let snapshots = self.rolling_window.0 / interval.0.max(1);
        found.require(
            whole && (1..=100_000).contains(&snapshots),
            "breaker.rolling_window",
            "1 to 100000 snapshot intervals",
            self.rolling_window,
        );
        found.at_least_one(
            "breaker.request_volume_threshold",
            self.request_volume_threshold,
        );
    }
}

/// The running state of a [`Hystrix`] breaker.
#[derive(Clone, Debug)]
pub struct HystrixCircuit {
    spec: Hystrix,
    state: BreakerState,
    /// In milliseconds; meaningful when open.
    opened: u64,
    stream: HealthStream,
    openings: u64,
}

impl HystrixCircuit {
    /// A closed breaker; its ticks count from `now`.
    #[must_use]
    pub fn new(spec: &Hystrix, now: Time) -> Self {
        let snapshots = spec.rolling_window.0 / spec.snapshot_interval.0.max(1);
        HystrixCircuit {
            spec: *spec,
            state: BreakerState::Closed,
            opened: 0,
            stream: HealthStream {
                interval: spec.snapshot_interval.0.max(1),
                began: now,
                ticks: 0,
                current: [0; 2],
                snapshots: vec![[0; 2]; snapshots.clamp(1, 100_000) as usize],
                sum: [0; 2],
            },
            openings: 0,
        }
    }

    /// Asks to send.
    #[must_use]
    pub fn acquire(&mut self, now: Time) -> bool {
        self.tick(now);
        match self.state {
            BreakerState::Closed => true,
            BreakerState::Open if self.slept(self.opened, now) => {
                self.state = BreakerState::HalfOpen;
                true
            }
            BreakerState::Open | BreakerState::HalfOpen => false,
        }
    }

    /// A call ended well.
    pub fn success(&mut self, now: Time) {
        self.tick(now);
        if self.state == BreakerState::HalfOpen {
            self.state = BreakerState::Closed;
            self.stream.restart(now);
        } else {
            self.stream.current[0] += 1;
        }
    }

    /// A call failed, timed out, or was rejected by the pool or semaphore behind the breaker.
    pub fn failure(&mut self, now: Time) {
        self.tick(now);
        for count in &mut self.stream.current {
            *count += 1;
        }
        self.not_well(now);
    }

    /// A call was cancelled: not counted, but a trial that is cancelled opens the breaker again.
    pub fn cancelled(&mut self, now: Time) {
        self.tick(now);
        self.not_well(now);
    }

    /// Whether [`HystrixCircuit::acquire`] would refuse at `at` if nothing happened until then.
    #[must_use]
    pub fn refuses(&self, at: Time) -> bool {
        match self.state {
            BreakerState::Closed => self
                .opens_by(at)
                .is_some_and(|opened| !self.slept(millis(opened), at)),
            BreakerState::Open => !self.slept(self.opened, at),
            BreakerState::HalfOpen => true,
        }
    }

    /// The state at `now`, the ticks until then considered.
    #[must_use]
    pub fn state(&self, now: Time) -> BreakerState {
        if self.opens_by(now).is_some() {
            BreakerState::Open
        } else {
            self.state
        }
    }

    /// Times it went to open, as of the last verb.
    #[must_use]
    pub fn openings(&self) -> u64 {
        self.openings
    }

    /// Looks at the ticks that have come by `now`.
    fn tick(&mut self, now: Time) {
        if let Some(at) = self.opens_by(now) {
            self.open(at);
        }
        self.stream.advance(now);
    }

    /// The tick at which a closed breaker opens, if one that has come by `now` opens it.
    fn opens_by(&self, now: Time) -> Option<Time> {
        if self.state != BreakerState::Closed {
            return None;
        }
        let opens = |&(_, [total, failed]): &(Time, [u64; 2])| {
            total >= u64::from(self.spec.request_volume_threshold)
                && percentage(failed, total) >= u64::from(self.spec.error_threshold_percentage)
        };
        self.stream.due_ticks(now).find(opens).map(|(at, _)| at)
    }

    fn not_well(&mut self, now: Time) {
        if self.state == BreakerState::HalfOpen {
            self.open(now);
        }
    }

    fn open(&mut self, now: Time) {
        self.state = BreakerState::Open;
        self.opened = millis(now);
        self.openings += 1;
    }

    /// Whether one that was opened then, in milliseconds, has slept enough.
    fn slept(&self, opened: u64, now: Time) -> bool {
        millis(now) > opened.saturating_add(self.spec.sleep_window.0 / MILLI)
    }
}

const MILLI: u64 = 1_000_000;

const fn millis(now: Time) -> u64 {
    now.0 / MILLI
}

fn percentage(failed: u64, total: u64) -> u64 {
    (failed as f64 / total as f64 * 100.0) as u64
}

/// Results, all and failed, cut into snapshots by a timer.
#[derive(Clone, Debug)]
struct HealthStream {
    interval: u64,
    began: Time,
    /// Ticks since then.
    ticks: u64,
    current: [u64; 2],
    snapshots: Vec<[u64; 2]>,
    sum: [u64; 2],
}

impl HealthStream {
    /// Ticks that have come by `now` and were not looked at.
    fn due(&self, now: Time) -> u64 {
        (now.since(self.began).0 / self.interval).saturating_sub(self.ticks)
    }

    /// When each of them was, and the sum over the window then. After one window nothing is in it.
    fn due_ticks(&self, now: Time) -> impl Iterator<Item = (Time, [u64; 2])> {
        let size = self.snapshots.len() as u64;
        let mut sum = self.sum;
        (1..=self.due(now).min(size)).map(move |k| {
            let new = if k == 1 { self.current } else { [0; 2] };
            let old = self.snapshots[((self.ticks + k) % size) as usize];
            for (i, sum) in sum.iter_mut().enumerate() {
                *sum = *sum + new[i] - old[i];
            }
            let passed = (self.ticks + k).saturating_mul(self.interval);
            (self.began.after(Span(passed)), sum)
        })
    }

    /// Takes a snapshot at each of them.
    fn advance(&mut self, now: Time) {
        let (due, size) = (self.due(now), self.snapshots.len() as u64);
        for k in 1..=due.min(size + 1) {
            let index = ((self.ticks + k) % size) as usize;
            let new = core::mem::take(&mut self.current);
            let old = core::mem::replace(&mut self.snapshots[index], new);
            for (i, sum) in self.sum.iter_mut().enumerate() {
                *sum = *sum + new[i] - old[i];
            }
        }
        self.ticks += due;
    }

    fn restart(&mut self, now: Time) {
        self.began = now;
        self.ticks = 0;
        (self.current, self.sum) = ([0; 2], [0; 2]);
        self.snapshots.fill([0; 2]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Time {
        Time(millis * MILLI)
    }

    fn with(successes: u64, failures: u64) -> HystrixCircuit {
        let mut circuit = HystrixCircuit::new(&Hystrix::default(), Time::ZERO);
        for _ in 0..successes {
            circuit.success(at(1));
        }
        for _ in 0..failures {
            circuit.failure(at(1));
        }
        circuit
    }

    #[test]
    fn the_percentage_is_cut_from_binary_floating_point() {
        assert_eq!(percentage(29, 50), 57);
        let sharp = Hystrix {
            error_threshold_percentage: 58,
            ..Hystrix::default()
        };
        let mut circuit = with(21, 29);
        circuit.spec = sharp;
        assert_eq!(circuit.state(at(500)), BreakerState::Closed);
    }

    #[test]
    fn nothing_opens_between_ticks_and_the_sleep_counts_from_the_tick() {
        let mut circuit = with(0, 20);
        assert!(circuit.acquire(at(499)));
        assert_eq!(circuit.state(at(499)), BreakerState::Closed);
        assert_eq!(circuit.state(at(500)), BreakerState::Open);
        assert!(!circuit.acquire(at(3_000)));
        assert!(!circuit.acquire(at(5_500)));
        assert!(circuit.acquire(at(5_501)));
    }

    #[test]
    fn twenty_snapshots_count_and_the_one_before_does_not() {
        assert_eq!(with(0, 20).state(at(10_000)), BreakerState::Open);
        let mut circuit = HystrixCircuit::new(&Hystrix::default(), Time::ZERO);
        for _ in 0..10 {
            circuit.failure(at(1));
        }
        let mut in_time = circuit.clone();
        for (circuit, late) in [(&mut in_time, 9_999), (&mut circuit, 10_000)] {
            for _ in 0..10 {
                circuit.failure(at(late));
            }
        }
        assert_eq!(in_time.state(at(20_000)), BreakerState::Open);
        assert_eq!(circuit.state(at(20_000)), BreakerState::Closed);
    }

    #[test]
    fn a_late_failure_or_a_cancelled_trial_opens_it_again() {
        for cancelled in [false, true] {
            let mut circuit = with(0, 20);
            assert!(circuit.acquire(at(500 + 5_001)) && circuit.openings() == 1);
            if cancelled {
                circuit.cancelled(at(6_000));
            } else {
                circuit.failure(at(6_000));
            }
            assert!(!circuit.acquire(at(11_000)));
            assert!(circuit.acquire(at(11_001)));
            circuit.success(at(11_002));
            assert_eq!(
                circuit.state(at(11_600)),
                BreakerState::Closed,
                "starts from empty"
            );
        }
    }

    #[test]
    fn a_late_failure_while_open_does_not_prolong_the_sleep() {
        let mut circuit = with(0, 20);
        assert!(!circuit.acquire(at(501)));
        circuit.failure(at(4_000));
        assert!(circuit.acquire(at(5_501)));
    }

    #[test]
    fn the_end_of_time_and_back_does_no_harm() {
        let mut circuit = with(3, 30);
        for now in [Time::MAX, Time::ZERO, at(7), Time::MAX, at(1)] {
            let _ = circuit.acquire(now);
            circuit.failure(now);
            circuit.success(now);
            circuit.cancelled(now);
        }
    }
}
