//! resilience4j's `CircuitBreaker`.
//!
//! Source: resilience4j/resilience4j@af9e7c97 `resilience4j-circuitbreaker/.../internal/
//! CircuitBreakerStateMachine.java`, `CircuitBreakerMetrics.java`; `resilience4j-core/.../metrics/
//! FixedSizeSlidingWindowMetrics.java`, `SlidingTimeWindowMetrics.java`.

use super::BreakerState;
use super::seconds::{Aligned, Seconds};
use crate::backoff::{self, Progress};
use crate::found::Found;
use crate::time::{Span, Time};
use crate::window::Ring;

/// `CircuitBreakerConfig`.
///
/// The rates are looked at after *every* result, a success too: `100 * failed / results` in 32-bit
/// floats, `>= threshold`; a call is slow when it took longer than `slow_after`. Below the minimum
/// (at most the window, and at most `permitted_in_half_open` when half-open) there is no rate.
///
/// Open ends strictly after the wait, when somebody asks; with `automatic_transition` a timer ends it.
/// Half-open lets `permitted_in_half_open` calls through and decides once the minimum of results is
/// in. A result counts for the state it *arrives* in: late ones fill the frozen window while open and
/// count as trials when half-open.
#[derive(Clone, Debug, PartialEq)]
pub struct Resilience4j {
    /// `slidingWindowType` and `slidingWindowSize`; default the last 100 calls.
    pub window: Resilience4jWindow,
    /// `minimumNumberOfCalls`; default 100.
    pub minimum_calls: u32,
    /// `failureRateThreshold` in percent, above 0, at most 100; default 50.
    pub failure_rate: f32,
    /// `slowCallRateThreshold` in percent, above 0, at most 100; default 100.
    pub slow_rate: f32,
    /// `slowCallDurationThreshold`; default 60 s.
    pub slow_after: Span,
    /// `waitDurationInOpenState`, or an interval function over the openings in a row; default 60 s.
    pub wait_in_open: backoff::Resilience4j,
    /// `automaticTransitionFromOpenToHalfOpenEnabled`; default false.
    pub automatic_transition: bool,
    /// `permittedNumberOfCallsInHalfOpenState`, at least 1; default 10.
    pub permitted_in_half_open: u32,
    /// `maxWaitDurationInHalfOpenState`; below 1 ms (the default, 0) it is unlimited.
    pub max_wait_in_half_open: Span,
    /// `transitionToStateAfterWaitDuration` is `CLOSED`; default false, `OPEN`.
    pub closes_after_half_open_wait: bool,
}

/// What the rates are taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resilience4jWindow {
    /// `COUNT_BASED`: the last so many results, at least 1.
    Count(u32),
    /// `TIME_BASED`: the current second and those before it, so many in all, at least 1, in the lock-free variant 2.
    Seconds {
        /// How many.
        count: u32,
        /// Where a second begins.
        aligned: Aligned,
    },
}

impl Default for Resilience4j {
    fn default() -> Self {
        Resilience4j {
            window: Resilience4jWindow::Count(100),
            minimum_calls: 100,
            failure_rate: 50.0,
            slow_rate: 100.0,
            slow_after: Span::secs(60),
            wait_in_open: backoff::Resilience4j {
                initial: Span::secs(60),
                ..backoff::Resilience4j::default()
            },
            automatic_transition: false,
            permitted_in_half_open: 10,
            max_wait_in_half_open: Span::ZERO,
            closes_after_half_open_wait: false,
        }
    }
}

impl Resilience4j {
    pub(crate) fn check(&self, found: &mut Found) {
        let size = match self.window {
            Resilience4jWindow::Count(size) => size,
            Resilience4jWindow::Seconds { count, .. } => count,
        };
        found.ring("breaker.window", size);
        if let Resilience4jWindow::Seconds {
            aligned: Aligned::Creation,
            count: 1,
        } = self.window
        {
            found.add(
                "breaker.window",
                "must be at least 2 seconds in the lock-free variant; got 1",
            );
        }
        found.at_least_one("breaker.minimum_calls", self.minimum_calls);
        for (field, percent) in [
            ("breaker.failure_rate", self.failure_rate),
            ("breaker.slow_rate", self.slow_rate),
        ] {
            let holds = percent > 0.0 && percent <= 100.0;
            found.require(holds, field, "above 0, at most 100 percent", percent);
        }
        found.ring(
            "breaker.permitted_in_half_open",
            self.permitted_in_half_open,
        );
        found.below("breaker.wait_in_open", |found| {
            self.wait_in_open.check(found)
        });
    }
}

/// The running state of a [`Resilience4j`] breaker.
#[derive(Clone, Debug)]
pub struct Resilience4jCircuit {
    spec: Resilience4j,
    state: State,
    /// Whether the half-open window is the current one; it stays so while open afterwards.
    on_trial: bool,
    closed: Window,
    half_open: Ring,
    refused: u64,
    openings: u64,
    /// The unit draw for the next wait.
    draw: f64,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Closed,
    Open {
        openings: u32,
        until: Time,
    },
    HalfOpen {
        openings: u32,
        permits: u32,
        until: Option<Time>,
    },
}

/// Timers that may fire between two verbs before the breaker gives up on replaying them.
const MAX_TIMERS: u32 = 1000;

impl Resilience4jCircuit {
    /// A closed breaker with an empty window.
    #[must_use]
    pub fn new(spec: &Resilience4j, now: Time) -> Self {
        Resilience4jCircuit {
            state: State::Closed,
            on_trial: false,
            closed: Window::new(spec.window, now),
            half_open: Ring::new(spec.permitted_in_half_open),
            refused: 0,
            openings: 0,
            draw: 0.5,
            spec: spec.clone(),
        }
    }

    /// Asks for permission.
    #[must_use]
    pub fn acquire(&mut self, now: Time) -> bool {
        self.fire_timers(now);
        if let State::Open { openings, until } = self.state
            && now > until
        {
            self.half_open(openings, now);
        }
        let permitted = match &mut self.state {
            State::Closed => true,
            State::HalfOpen { permits, .. } if *permits > 0 => {
                *permits -= 1;
                true
            }
            State::HalfOpen { .. } | State::Open { .. } => false,
        };
        self.refused += u64::from(!permitted);
        permitted
    }

    /// A call ended well after so long.
    pub fn success(&mut self, now: Time, took: Span) {
        self.record(now, false, took);
    }

    /// A call failed after so long.
    pub fn failure(&mut self, now: Time, took: Span) {
        self.record(now, true, took);
    }

    /// A call ended in a way that is ignored: when half-open its permission can be used again.
    pub fn release(&mut self, now: Time) {
        self.fire_timers(now);
        if let State::HalfOpen { permits, .. } = &mut self.state {
            *permits = permits.saturating_add(1);
        }
    }

    /// The unit draw that the next wait uses, when it is randomized.
    pub fn set_draw(&mut self, u: f64) {
        self.draw = u;
    }

    /// Whether waits are randomized.
    #[must_use]
    pub fn draws(&self) -> bool {
        self.spec.wait_in_open.randomization.is_some()
    }

    /// Whether [`Resilience4jCircuit::acquire`] would refuse at `at` if nothing happened until then.
    #[must_use]
    pub fn refuses(&self, at: Time) -> bool {
        match self.state {
            State::Closed => false,
            State::Open { until, .. } if self.spec.automatic_transition => at < until,
            State::Open { until, .. } => at <= until,
            State::HalfOpen { permits, until, .. } => {
                permits == 0 && until.is_none_or(|until| at < until)
            }
        }
    }

    /// What it does with a call at `now`, the timers considered.
    #[must_use]
    pub fn state(&self, now: Time) -> BreakerState {
        let mut copy = Timers {
            spec: &self.spec,
            draw: self.draw,
            state: self.state,
        };
        for _ in 0..MAX_TIMERS {
            match copy.next(now) {
                Some(state) => copy.state = state,
                None => break,
            }
        }
        match copy.state {
            State::Closed => BreakerState::Closed,
            State::Open { .. } => BreakerState::Open,
            State::HalfOpen { .. } => BreakerState::HalfOpen,
        }
    }

    /// Times it went to open.
    #[must_use]
    pub fn openings(&self) -> u64 {
        self.openings
    }

    /// Results in the current window.
    pub fn buffered_calls(&mut self, now: Time) -> u64 {
        self.tally(now)[0]
    }

    /// Failures in percent of the results; `None` below the minimum.
    pub fn failure_rate(&mut self, now: Time) -> Option<f32> {
        self.rates(now).map(|[failed, _]| failed)
    }

    /// Slow results in percent; `None` below the minimum.
    pub fn slow_rate(&mut self, now: Time) -> Option<f32> {
        self.rates(now).map(|[_, slow]| slow)
    }

    /// Calls refused since the current window began.
    #[must_use]
    pub fn not_permitted_calls(&self) -> u64 {
        self.refused
    }

    fn record(&mut self, now: Time, failed: bool, took: Span) {
        self.fire_timers(now);
        let slow = took > self.spec.slow_after;
        if self.on_trial {
            self.half_open.push(failed, slow);
        } else {
            self.closed.push(now, failed, slow);
        }
        let Some([failure_rate, slow_rate]) = self.rates(now) else {
            return;
        };
        let too_bad = failure_rate >= self.spec.failure_rate || slow_rate >= self.spec.slow_rate;
        match self.state {
            State::Closed if too_bad => self.open(1, now),
            State::HalfOpen { openings, .. } if too_bad => {
                self.open(openings.saturating_add(1), now);
            }
            State::HalfOpen { .. } => self.close(now),
            State::Closed | State::Open { .. } => {}
        }
    }

    fn rates(&mut self, now: Time) -> Option<[f32; 2]> {
        let spec = &self.spec;
        let minimum = if self.on_trial {
            spec.minimum_calls.min(spec.permitted_in_half_open)
        } else {
            match spec.window {
                Resilience4jWindow::Count(size) => spec.minimum_calls.min(size),
                Resilience4jWindow::Seconds { .. } => spec.minimum_calls,
            }
        };
        let [results, failed, slow] = self.tally(now);
        if results == 0 || results < u64::from(minimum) {
            return None;
        }
        // The original's arithmetic: 32-bit floats.
        Some([failed, slow].map(|count| count as f32 * 100.0 / results as f32))
    }

    fn tally(&mut self, now: Time) -> [u64; 3] {
        if self.on_trial {
            self.half_open.tally()
        } else {
            self.closed.tally(now)
        }
    }

    fn fire_timers(&mut self, now: Time) {
        for _ in 0..MAX_TIMERS {
            let timers = Timers {
                spec: &self.spec,
                draw: self.draw,
                state: self.state,
            };
            match timers.next(now) {
                None => return,
                Some(State::Closed) => self.close(now),
                Some(state @ State::Open { .. }) => {
                    self.state = state;
                    self.openings += 1;
                }
                Some(state @ State::HalfOpen { .. }) => self.enter_half_open(state),
            }
        }
    }

    fn open(&mut self, openings: u32, now: Time) {
        self.state = Timers::opened(&self.spec, self.draw, openings, now);
        self.openings += 1;
    }

    fn half_open(&mut self, openings: u32, now: Time) {
        self.enter_half_open(Timers::half_opened(&self.spec, openings, now));
    }

    fn enter_half_open(&mut self, state: State) {
        self.state = state;
        self.on_trial = true;
        self.half_open.clear();
        self.refused = 0;
    }

    fn close(&mut self, now: Time) {
        self.state = State::Closed;
        self.on_trial = false;
        self.closed.clear(now);
        self.refused = 0;
    }
}

/// What the scheduler of the original does.
struct Timers<'a> {
    spec: &'a Resilience4j,
    draw: f64,
    state: State,
}

impl Timers<'_> {
    /// The state after the next timer that has fired by `now`.
    fn next(&self, now: Time) -> Option<State> {
        match self.state {
            State::Open { openings, until } if self.spec.automatic_transition && now >= until => {
                Some(Timers::half_opened(self.spec, openings, until))
            }
            State::HalfOpen {
                openings,
                until: Some(until),
                ..
            } if now >= until => Some(if self.spec.closes_after_half_open_wait {
                State::Closed
            } else {
                Timers::opened(self.spec, self.draw, openings.saturating_add(1), until)
            }),
            _ => None,
        }
    }

    /// Open for the `openings`-th time in a row, since `at`.
    fn opened(spec: &Resilience4j, draw: f64, openings: u32, at: Time) -> State {
        let retries = openings.saturating_sub(1);
        let progress = Progress { retries, memory: 0 };
        State::Open {
            openings,
            until: at.after(spec.wait_in_open.delay(&progress, draw)),
        }
    }

    fn half_opened(spec: &Resilience4j, openings: u32, at: Time) -> State {
        let max_wait = spec.max_wait_in_half_open;
        State::HalfOpen {
            openings,
            permits: spec.permitted_in_half_open,
            until: (max_wait >= Span::millis(1)).then(|| at.after(max_wait)),
        }
    }
}

#[derive(Clone, Debug)]
enum Window {
    Count(Ring),
    Seconds(Seconds),
}

impl Window {
    fn new(window: Resilience4jWindow, now: Time) -> Self {
        match window {
            Resilience4jWindow::Count(size) => Window::Count(Ring::new(size)),
            Resilience4jWindow::Seconds { count, aligned } => {
                Window::Seconds(Seconds::new(count, aligned, now))
            }
        }
    }

    fn push(&mut self, now: Time, failed: bool, slow: bool) {
        match self {
            Window::Count(ring) => ring.push(failed, slow),
            Window::Seconds(seconds) => seconds.push(now, failed, slow),
        }
    }

    fn clear(&mut self, now: Time) {
        match self {
            Window::Count(ring) => ring.clear(),
            Window::Seconds(seconds) => seconds.clear(now),
        }
    }

    fn tally(&mut self, now: Time) -> [u64; 3] {
        match self {
            Window::Count(ring) => ring.tally(),
            Window::Seconds(seconds) => seconds.tally(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Time {
        Time(millis * 1_000_000)
    }

    /// Two failures open it for a second; one trial.
    fn spec() -> Resilience4j {
        Resilience4j {
            window: Resilience4jWindow::Count(2),
            minimum_calls: 2,
            wait_in_open: backoff::Resilience4j {
                initial: Span::secs(1),
                ..backoff::Resilience4j::default()
            },
            permitted_in_half_open: 1,
            ..Resilience4j::default()
        }
    }

    fn opened(spec: &Resilience4j) -> Resilience4jCircuit {
        let mut circuit = Resilience4jCircuit::new(spec, Time::ZERO);
        circuit.failure(Time::ZERO, Span::ZERO);
        circuit.failure(Time::ZERO, Span::ZERO);
        assert_eq!(circuit.state(Time::ZERO), BreakerState::Open);
        circuit
    }

    #[test]
    fn only_the_synchronized_variant_has_windows_of_one_second() {
        let refused = |aligned, count| {
            let window = Resilience4jWindow::Seconds { count, aligned };
            let mut found = Found::default();
            Resilience4j { window, ..spec() }.check(&mut found);
            !found.0.is_empty()
        };
        assert!(!refused(Aligned::Epoch, 1));
        assert!(refused(Aligned::Creation, 1));
        assert!(!refused(Aligned::Creation, 2));
    }

    #[test]
    fn an_ignored_outcome_returns_the_trial() {
        let mut circuit = opened(&spec());
        assert!(circuit.acquire(at(1001)));
        assert!(!circuit.acquire(at(1001)));
        circuit.release(at(1002));
        assert!(circuit.acquire(at(1003)));
        assert_eq!(circuit.buffered_calls(at(1003)), 0, "and is not counted");
    }

    #[test]
    fn with_automatic_transition_a_timer_half_opens_at_the_end_of_the_wait() {
        let circuit = opened(&Resilience4j {
            automatic_transition: true,
            ..spec()
        });
        assert_eq!(circuit.state(at(999)), BreakerState::Open);
        assert_eq!(circuit.state(at(1000)), BreakerState::HalfOpen);
        assert!(circuit.refuses(at(999)));
        assert!(!circuit.refuses(at(1000)));
        let circuit = opened(&spec());
        assert_eq!(
            circuit.state(at(5000)),
            BreakerState::Open,
            "without, only who asks does"
        );
        assert!(circuit.refuses(at(1000)));
    }

    #[test]
    fn half_open_that_lasts_too_long_goes_back_to_open_or_on_to_closed() {
        let impatient = Resilience4j {
            max_wait_in_half_open: Span::millis(300),
            ..spec()
        };
        let mut circuit = opened(&impatient);
        assert!(circuit.acquire(at(1001)));
        assert_eq!(circuit.state(at(1300)), BreakerState::HalfOpen);
        assert_eq!(circuit.state(at(1301)), BreakerState::Open);
        assert!(!circuit.acquire(at(2301)), "open since 1301 ms");
        assert!(circuit.acquire(at(2302)));
        assert_eq!(circuit.openings(), 2);
        let mut circuit = opened(&Resilience4j {
            closes_after_half_open_wait: true,
            ..impatient
        });
        assert!(circuit.acquire(at(1001)));
        assert_eq!(circuit.state(at(1301)), BreakerState::Closed);
        assert!(circuit.acquire(at(1301)));
        assert_eq!(circuit.state(at(1301)), BreakerState::Closed);
    }

    #[test]
    fn the_wait_grows_with_openings_in_a_row_and_starts_anew_after_closed() {
        let mut circuit = opened(&Resilience4j {
            wait_in_open: backoff::Resilience4j {
                initial: Span::secs(1),
                multiplier: Some(3.0),
                ..backoff::Resilience4j::default()
            },
            ..spec()
        });
        assert!(circuit.acquire(at(1001)));
        circuit.failure(at(1001), Span::ZERO);
        assert!(!circuit.acquire(at(4001)));
        assert!(circuit.acquire(at(4002)));
        circuit.success(at(4002), Span::ZERO);
        assert_eq!(circuit.state(at(4002)), BreakerState::Closed);
        circuit.failure(at(4003), Span::ZERO);
        circuit.failure(at(4003), Span::ZERO);
        assert!(!circuit.acquire(at(5003)));
        assert!(circuit.acquire(at(5004)));
    }

    #[test]
    fn the_minimum_is_at_most_the_window_when_counting_and_not_when_timing() {
        let demanding = |window| Resilience4j {
            window,
            minimum_calls: 5,
            ..spec()
        };
        let mut counting =
            Resilience4jCircuit::new(&demanding(Resilience4jWindow::Count(2)), Time::ZERO);
        let seconds = Resilience4jWindow::Seconds {
            count: 2,
            aligned: Aligned::Epoch,
        };
        let mut timing = Resilience4jCircuit::new(&demanding(seconds), Time::ZERO);
        for circuit in [&mut counting, &mut timing] {
            circuit.failure(Time::ZERO, Span::ZERO);
            circuit.failure(Time::ZERO, Span::ZERO);
        }
        assert_eq!(counting.state(Time::ZERO), BreakerState::Open);
        assert_eq!(timing.state(Time::ZERO), BreakerState::Closed);
        assert_eq!(timing.failure_rate(Time::ZERO), None);
    }

    #[test]
    fn seconds_begin_at_the_epoch_or_at_creation() {
        let results_left = |aligned| {
            let window = Resilience4jWindow::Seconds { count: 2, aligned };
            let mut seconds = match Window::new(window, at(700)) {
                Window::Seconds(seconds) => seconds,
                Window::Count(_) => unreachable!(),
            };
            seconds.push(at(900), true, false);
            [1999, 2000, 2699, 2700].map(|t| seconds.tally(at(t))[0])
        };
        assert_eq!(results_left(Aligned::Epoch), [1, 0, 0, 0]);
        assert_eq!(results_left(Aligned::Creation), [1, 1, 1, 0]);
    }

    #[test]
    fn the_end_of_time_and_back_does_no_harm() {
        let mut circuit = Resilience4jCircuit::new(
            &Resilience4j {
                automatic_transition: true,
                max_wait_in_half_open: Span::millis(1),
                window: Resilience4jWindow::Seconds {
                    count: 3,
                    aligned: Aligned::Epoch,
                },
                minimum_calls: 1,
                ..spec()
            },
            at(5),
        );
        for now in [Time::MAX, Time::ZERO, at(7), Time::MAX, Time::ZERO] {
            circuit.failure(now, Span::MAX);
            let _ = circuit.acquire(now);
            circuit.release(now);
            circuit.success(now, Span::ZERO);
        }
    }
}
