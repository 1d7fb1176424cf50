//! Polly v8's circuit breaker.
//!
//! Source: App-vNext/Polly@173d6d1d `src/Polly.Core/CircuitBreaker/Controller/
//! CircuitStateController.cs`, `AdvancedCircuitBehavior.cs`, `Health/RollingHealthMetrics.cs`,
//! `SingleHealthMetrics.cs`.

use super::BreakerState;
use crate::found::Found;
use crate::time::{Span, Time};

/// `CircuitBreakerStrategyOptions`.
///
/// Looked at after *failures* only: `throughput >= minimum` and `failures / throughput >= ratio` over
/// ten windows of `sampling / 10` that begin with their first event; a window is dropped once it began
/// `sampling` ago. A sampling below 200 ms uses one window that is cleared as a whole.
///
/// The break ends at `now >= blocked until`, at the next call, which is the one trial. Half-open has
/// no end of its own: without an outcome everything stays refused. Late results only count while open;
/// when half-open, any result decides. An outcome that is not handled counts as success, a cancelled
/// call too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polly {
    /// `FailureRatio`, above 0, at most 1; default 0.1.
    pub failure_ratio: f64,
    /// `MinimumThroughput`, at least 2; default 100.
    pub minimum_throughput: u32,
    /// `SamplingDuration`; default 30 s.
    pub sampling: Span,
    /// `BreakDuration`; default 5 s.
    pub break_for: Span,
}

impl Default for Polly {
    fn default() -> Self {
        Polly {
            failure_ratio: 0.1,
            minimum_throughput: 100,
            sampling: Span::secs(30),
            break_for: Span::secs(5),
        }
    }
}

impl Polly {
    pub(crate) fn check(&self, found: &mut Found) {
        found.rate("breaker.failure_ratio", self.failure_ratio);
        found.require(
            self.minimum_throughput >= 2,
            "breaker.minimum_throughput",
            "at least 2",
            self.minimum_throughput,
        );
        found.window("breaker.sampling", self.sampling);
        found.span_above_zero("breaker.break_for", self.break_for);
    }
}

/// The running state of a [`Polly`] breaker.
#[derive(Clone, Debug)]
pub struct PollyCircuit {
    spec: Polly,
    state: BreakerState,
    blocked_until: Time,
    health: Health,
    openings: u64,
}

impl PollyCircuit {
    /// A closed breaker.
    #[must_use]
    pub fn new(spec: &Polly, now: Time) -> Self {
        PollyCircuit {
            spec: *spec,
            state: BreakerState::Closed,
            blocked_until: Time::ZERO,
            health: Health::new(spec.sampling, now),
            openings: 0,
        }
    }

    /// Asks to send.
    #[must_use]
    pub fn acquire(&mut self, now: Time) -> bool {
        match self.state {
            BreakerState::Closed => true,
            BreakerState::Open if now >= self.blocked_until => {
                self.state = BreakerState::HalfOpen;
                true
            }
            BreakerState::Open | BreakerState::HalfOpen => false,
        }
    }

    /// A call ended well, or in a way that is not handled.
    pub fn success(&mut self, now: Time) {
        self.health.count(now, false);
        if self.state == BreakerState::HalfOpen {
            self.state = BreakerState::Closed;
            self.health.clear(now);
        }
    }

    /// A call failed in a way that is handled.
    pub fn failure(&mut self, now: Time) {
        match self.state {
            BreakerState::Closed => {
                self.health.count(now, true);
                let [successes, failures] = self.health.sum;
                let throughput = successes + failures;
                let ratio = failures as f64 / throughput as f64;
                if throughput >= u64::from(self.spec.minimum_throughput)
                    && ratio >= self.spec.failure_ratio
                {
                    self.open(now);
                }
            }
            BreakerState::Open => self.health.count(now, true),
            BreakerState::HalfOpen => self.open(now),
        }
    }

    /// Whether [`PollyCircuit::acquire`] would refuse at `at` if nothing happened until then.
    #[must_use]
    pub fn refuses(&self, at: Time) -> bool {
        match self.state {
            BreakerState::Closed => false,
            BreakerState::Open => at < self.blocked_until,
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

    fn open(&mut self, now: Time) {
        self.state = BreakerState::Open;
        self.blocked_until = now.after(self.spec.break_for);
        self.openings += 1;
    }
}

/// The current window and those before it that began less than a sampling ago: ten, and one more
/// while the oldest is about to go.
const WINDOWS: usize = 12;

/// Successes and failures in windows that begin with their first event.
#[derive(Clone, Debug)]
struct Health {
    sampling: Span,
    /// Length of a window; as the sampling when there is only one.
    width: Span,
    windows: [Window; WINDOWS],
    first: usize,
    count: usize,
    sum: [u64; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    began: Time,
    counts: [u64; 2],
}

impl Health {
    fn new(sampling: Span, now: Time) -> Self {
        const TEN_WINDOWS_FROM: Span = Span::millis(200);
        let width = if sampling < TEN_WINDOWS_FROM {
            sampling
        } else {
            Span(sampling.0 / 10)
        };
        let mut health = Health {
            sampling,
            width,
            windows: [Window::default(); WINDOWS],
            first: 0,
            count: 0,
            sum: [0; 2],
        };
        health.clear(now);
        health
    }

    fn clear(&mut self, now: Time) {
        (self.count, self.sum) = (0, [0; 2]);
        if self.width == self.sampling {
            // The single window begins when the breaker does, not with its first event.
            self.begin_window(now);
        }
    }

    fn count(&mut self, now: Time, failed: bool) {
        if self.count == 0 || now.since(self.last().began) >= self.width {
            self.begin_window(now);
        }
        while self.count > 0 && now.since(self.windows[self.first].began) >= self.sampling {
            self.drop_oldest();
        }
        let i = usize::from(failed);
        self.last().counts[i] += 1;
        self.sum[i] += 1;
    }

    fn begin_window(&mut self, now: Time) {
        if self.count == WINDOWS {
            self.drop_oldest();
        }
        self.count += 1;
        *self.last() = Window {
            began: now,
            counts: [0; 2],
        };
    }

    fn drop_oldest(&mut self) {
        for (sum, old) in self.sum.iter_mut().zip(self.windows[self.first].counts) {
            *sum -= old;
        }
        self.first = (self.first + 1) % WINDOWS;
        self.count -= 1;
    }

    fn last(&mut self) -> &mut Window {
        &mut self.windows[(self.first + self.count + WINDOWS - 1) % WINDOWS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Time {
        Time(millis * 1_000_000)
    }

    fn spec(sampling: Span) -> Polly {
        Polly {
            failure_ratio: 0.5,
            minimum_throughput: 4,
            sampling,
            break_for: Span::secs(5),
        }
    }

    /// The state after failures at these instants.
    fn after_failures(sampling: Span, at: &[Time]) -> BreakerState {
        let mut circuit = PollyCircuit::new(&spec(sampling), Time::ZERO);
        for &now in at {
            circuit.failure(now);
        }
        circuit.state()
    }

    #[test]
    fn windows_begin_with_their_first_event_and_leave_a_sampling_later() {
        let sampling = Span::secs(1);
        // The window that begins at 50 ms takes in the failure at 149 ms and takes it along at 1050 ms.
        let kept = [at(50), at(149), at(1049), at(1049)];
        assert_eq!(after_failures(sampling, &kept), BreakerState::Open);
        let gone = [at(50), at(149), at(1050), at(1050)];
        assert_eq!(after_failures(sampling, &gone), BreakerState::Closed);
    }

    #[test]
    fn a_short_sampling_is_one_window_from_the_beginning_on() {
        let sampling = Span::millis(199);
        let kept = [at(10), at(150), at(198), at(198)];
        assert_eq!(after_failures(sampling, &kept), BreakerState::Open);
        let cleared = [at(10), at(150), at(199), at(199)];
        assert_eq!(after_failures(sampling, &cleared), BreakerState::Closed);
    }

    #[test]
    fn a_late_result_only_counts_while_open_and_decides_when_half_open() {
        let mut circuit = PollyCircuit::new(&spec(Span::secs(10)), Time::ZERO);
        for _ in 0..4 {
            circuit.failure(at(0));
        }
        circuit.success(at(1));
        circuit.failure(at(1));
        assert!(!circuit.acquire(at(4999)), "the break is not prolonged");
        assert!(circuit.acquire(at(5000)));
        circuit.failure(at(5001));
        assert_eq!(circuit.state(), BreakerState::Open);
        assert!(circuit.acquire(at(10_001)));
        circuit.success(at(10_002));
        assert_eq!(circuit.state(), BreakerState::Closed);
        assert_eq!(circuit.health.sum, [0, 0]);
    }

    #[test]
    fn the_end_of_time_and_back_does_no_harm() {
        let mut circuit = PollyCircuit::new(&spec(Span::secs(1)), at(9));
        for now in [Time::MAX, Time::ZERO, at(1), Time::MAX, at(3)] {
            let _ = circuit.acquire(now);
            circuit.success(now);
            circuit.failure(now);
        }
        for i in 0..10_000 {
            circuit.success(Time(i * 99_000_000));
        }
    }
}
