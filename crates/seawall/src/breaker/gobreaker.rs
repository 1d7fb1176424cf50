//! sony/gobreaker v2.
//!
//! Source: sony/gobreaker@fed8e9eb `v2/gobreaker.go`, `v2/counter.go`.

use alloc::vec;
use alloc::vec::Vec;

use super::BreakerState;
use crate::found::Found;
use crate::time::{Span, Time};

/// `Settings`.
///
/// Closed: a failure that makes `trip` true opens it. `requests` counts admissions, so calls in flight
/// dilute a ratio. Open ends strictly after `timeout`, at the next request. Half-open admits
/// `max_requests`; any failure opens it again, `max_requests` successes in a row close it. Each state
/// change, and each `interval` that has passed when closed, begins a new generation with fresh counts;
/// the result of a call of an older generation is dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GoBreaker {
    /// `MaxRequests`; default (and for 0) 1.
    pub max_requests: u32,
    /// `Interval` after which closed counts are cleared; default 0, never.
    pub interval: Span,
    /// `BucketPeriod`: let counts age in buckets of this length instead of clearing them at once; the
    /// interval is rounded up to a multiple. Default 0, not.
    pub bucket_period: Span,
    /// `Timeout`: how long it stays open; default (and for 0) 60 s.
    pub timeout: Span,
    /// `ReadyToTrip`.
    pub trip: GoTrip,
}

/// When a closed [`GoBreaker`] opens; looked at after failures only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GoTrip {
    /// More failures in a row than this; default 5.
    ConsecutiveFailuresAbove(u32),
    /// At least so many requests, and at least this share of them failed.
    FailureRatio {
        /// Requests needed.
        min_requests: u32,
        /// The share, 0 to 1.
        at_least: f64,
    },
}

impl Default for GoBreaker {
    fn default() -> Self {
        GoBreaker {
            max_requests: 1,
            interval: Span::ZERO,
            bucket_period: Span::ZERO,
            timeout: Span::secs(60),
            trip: GoTrip::ConsecutiveFailuresAbove(5),
        }
    }
}

/// Buckets a [`GoBreaker`] may keep.
const MOST_BUCKETS: u64 = 100_000;

impl GoBreaker {
    pub(crate) fn check(&self, found: &mut Found) {
        found.require(
            self.buckets() <= MOST_BUCKETS,
            "breaker.bucket_period",
            "at least interval / 100000",
            self.bucket_period,
        );
        if let GoTrip::FailureRatio { at_least, .. } = self.trip {
            found.within("breaker.at_least", at_least, 0.0, 1.0);
        }
    }

    /// Buckets in the interval, 1 when the counts do not age.
    fn buckets(&self) -> u64 {
        if self.bucket_period == Span::ZERO || self.interval <= self.bucket_period {
            1
        } else {
            self.interval.0.div_ceil(self.bucket_period.0)
        }
    }
}

/// What a [`GoBreaker`] counted in its current generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GoCounts {
    /// Calls admitted.
    pub requests: u32,
    /// Calls that ended well.
    pub total_successes: u32,
    /// Calls that failed.
    pub total_failures: u32,
    /// Calls whose outcome is not to be counted.
    pub total_exclusions: u32,
    /// Successes since the last failure.
    pub consecutive_successes: u32,
    /// Failures since the last success.
    pub consecutive_failures: u32,
}

/// What an admitted call shows when it reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoTicket {
    generation: u16,
    /// The bucket it was admitted in; the low bits are enough to tell how many buckets ago.
    age: u16,
}

impl GoTicket {
    pub(super) const fn bits(self) -> u32 {
        (self.generation as u32) << 16 | self.age as u32
    }

    pub(super) const fn from_bits(bits: u32) -> Self {
        GoTicket {
            generation: (bits >> 16) as u16,
            age: bits as u16,
        }
    }
}

/// Why a call was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoRefusal {
    /// `ErrOpenState`.
    Open,
    /// `ErrTooManyRequests`.
    TooManyRequests,
}

/// The running state of a [`GoBreaker`].
#[derive(Clone, Debug)]
pub struct GoCircuit {
    spec: GoBreaker,
    state: BreakerState,
    generation: u16,
    /// When closed counts are cleared or open ends; `None`: never.
    expiry: Option<Time>,
    began: Time,
    counts: Rolling,
    openings: u64,
}

impl GoCircuit {
    /// A closed breaker.
    #[must_use]
    pub fn new(spec: &GoBreaker, now: Time) -> Self {
        let mut spec = *spec;
        spec.max_requests = spec.max_requests.max(1);
        if spec.timeout == Span::ZERO {
            spec.timeout = GoBreaker::default().timeout;
        }
        let mut circuit = GoCircuit {
            spec,
            state: BreakerState::Closed,
            generation: 0,
            expiry: None,
            began: now,
            counts: Rolling::new(spec.buckets().min(MOST_BUCKETS) as usize),
            openings: 0,
        };
        circuit.begin_generation(now);
        circuit
    }

    /// Asks to send.
    pub fn acquire(&mut self, now: Time) -> Result<GoTicket, GoRefusal> {
        self.advance(now);
        match self.state {
            BreakerState::Open => return Err(GoRefusal::Open),
            BreakerState::HalfOpen if self.trials_taken() >= self.spec.max_requests => {
                return Err(GoRefusal::TooManyRequests);
            }
            BreakerState::HalfOpen | BreakerState::Closed => {}
        }
        self.counts
            .add(|counts| counts.requests = counts.requests.saturating_add(1));
        Ok(GoTicket {
            generation: self.generation,
            age: self.counts.age as u16,
        })
    }

    /// A call ended well.
    pub fn success(&mut self, now: Time, ticket: GoTicket) {
        if !self.is_current(now, ticket) {
            return;
        }
        self.counts.add_at(ticket.age, |counts| {
            counts.total_successes = counts.total_successes.saturating_add(1);
            counts.consecutive_successes = counts.consecutive_successes.saturating_add(1);
            counts.consecutive_failures = 0;
        });
        if self.state == BreakerState::HalfOpen
            && self.counts.sum.consecutive_successes >= self.spec.max_requests
        {
            self.enter(BreakerState::Closed, now);
        }
    }

    /// A call failed.
    pub fn failure(&mut self, now: Time, ticket: GoTicket) {
        if !self.is_current(now, ticket) {
            return;
        }
        match self.state {
            BreakerState::Closed => {
                self.counts.add_at(ticket.age, |counts| {
                    counts.total_failures = counts.total_failures.saturating_add(1);
                    counts.consecutive_failures = counts.consecutive_failures.saturating_add(1);
                    counts.consecutive_successes = 0;
                });
                if self.ready_to_trip() {
                    self.enter(BreakerState::Open, now);
                }
            }
            BreakerState::HalfOpen => self.enter(BreakerState::Open, now),
            BreakerState::Open => {}
        }
    }

    /// A call whose outcome is not to be counted; a trial can be used again.
    pub fn release(&mut self, now: Time, ticket: GoTicket) {
        if self.is_current(now, ticket) {
            self.counts.add_at(ticket.age, |counts| {
                counts.total_exclusions = counts.total_exclusions.saturating_add(1)
            });
        }
    }

    /// Whether [`GoCircuit::acquire`] would refuse at `at` if nothing happened until then.
    #[must_use]
    pub fn refuses(&self, at: Time) -> bool {
        match self.state {
            BreakerState::Closed => false,
            BreakerState::Open => !self.expired(at),
            BreakerState::HalfOpen => self.trials_taken() >= self.spec.max_requests,
        }
    }

    /// What it does with a call at `now`.
    #[must_use]
    pub fn state(&self, now: Time) -> BreakerState {
        match self.state {
            BreakerState::Open if self.expired(now) => BreakerState::HalfOpen,
            state => state,
        }
    }

    /// What was counted in this generation, as of the last verb.
    #[must_use]
    pub fn counts(&self) -> GoCounts {
        self.counts.sum
    }

    /// Times it went to open.
    #[must_use]
    pub fn openings(&self) -> u64 {
        self.openings
    }

    fn trials_taken(&self) -> u32 {
        let counts = self.counts.sum;
        counts.requests.saturating_sub(counts.total_exclusions)
    }

    fn ready_to_trip(&self) -> bool {
        let counts = self.counts.sum;
        match self.spec.trip {
            GoTrip::ConsecutiveFailuresAbove(limit) => counts.consecutive_failures > limit,
            GoTrip::FailureRatio {
                min_requests,
                at_least,
            } => {
                let ratio = f64::from(counts.total_failures) / f64::from(counts.requests);
                counts.requests >= min_requests && ratio >= at_least
            }
        }
    }

    fn is_current(&mut self, now: Time, ticket: GoTicket) -> bool {
        self.advance(now);
        ticket.generation == self.generation
    }

    /// Strictly after: an expiry that is now has not come.
    fn expired(&self, now: Time) -> bool {
        self.expiry.is_some_and(|expiry| expiry < now)
    }

    fn advance(&mut self, now: Time) {
        match self.state {
            BreakerState::Closed if self.counts.buckets.len() > 1 => {
                self.counts
                    .grow(now.since(self.began).0 / self.spec.bucket_period.0.max(1));
            }
            BreakerState::Closed if self.expired(now) => self.begin_generation(now),
            BreakerState::Open if self.expired(now) => self.enter(BreakerState::HalfOpen, now),
            BreakerState::Closed | BreakerState::Open | BreakerState::HalfOpen => {}
        }
    }

    fn enter(&mut self, state: BreakerState, now: Time) {
        self.openings += u64::from(state == BreakerState::Open);
        self.state = state;
        self.begin_generation(now);
    }

    fn begin_generation(&mut self, now: Time) {
        self.generation = self.generation.wrapping_add(1);
        self.counts.clear();
        self.began = now;
        self.expiry = match self.state {
            BreakerState::Closed if self.spec.interval == Span::ZERO => None,
            BreakerState::Closed => Some(now.after(self.spec.interval)),
            BreakerState::Open => Some(now.after(self.spec.timeout)),
            BreakerState::HalfOpen => None,
        };
    }
}

/// Counts that age in buckets.
#[derive(Clone, Debug)]
struct Rolling {
    sum: GoCounts,
    age: u64,
    buckets: Vec<GoCounts>,
}

impl Rolling {
    fn new(buckets: usize) -> Self {
        Rolling {
            sum: GoCounts::default(),
            age: 0,
            buckets: vec![GoCounts::default(); buckets.max(1)],
        }
    }

    fn add(&mut self, change: impl Fn(&mut GoCounts)) {
        self.add_at(self.age as u16, change);
    }

    /// Changes the sum and the bucket of that age, unless it has left the window.
    fn add_at(&mut self, age: u16, change: impl Fn(&mut GoCounts)) {
        let ago = u64::from((self.age as u16).wrapping_sub(age));
        if ago < self.buckets.len() as u64 && ago <= self.age {
            change(&mut self.sum);
            let index = self.index(self.age - ago);
            change(&mut self.buckets[index]);
        }
    }

    fn index(&self, age: u64) -> usize {
        (age % self.buckets.len() as u64) as usize
    }

    fn clear(&mut self) {
        self.sum = GoCounts::default();
        self.buckets.fill(GoCounts::default());
        self.age = 0;
    }

    fn grow(&mut self, age: u64) {
        if age.saturating_sub(self.age) >= self.buckets.len() as u64 {
            self.clear();
            self.age = age;
        }
        while self.age < age {
            self.age += 1;
            let oldest = self.index(self.age);
            self.subtract(oldest);
            self.buckets[oldest] = GoCounts::default();
        }
    }

    /// Takes a bucket out of the sum. A run of equal outcomes that reaches back into it gets shorter.
    fn subtract(&mut self, oldest: usize) {
        let bucket = self.buckets[oldest];
        let others = |total: fn(&GoCounts) -> u32| -> u32 {
            let others = self
                .buckets
                .iter()
                .enumerate()
                .filter(|(i, _)| *i != oldest);
            others.fold(0, |sum, (_, counts)| sum.saturating_add(total(counts)))
        };
        let successes = others(|c| c.total_successes).saturating_add(bucket.consecutive_successes);
        let failures = others(|c| c.total_failures).saturating_add(bucket.consecutive_failures);
        let sum = &mut self.sum;
        if sum.consecutive_successes == successes {
            take(&mut sum.consecutive_successes, bucket.consecutive_successes);
        }
        if sum.consecutive_failures == failures {
            take(&mut sum.consecutive_failures, bucket.consecutive_failures);
        }
        take(&mut sum.requests, bucket.requests);
        take(&mut sum.total_successes, bucket.total_successes);
        take(&mut sum.total_failures, bucket.total_failures);
        take(&mut sum.total_exclusions, bucket.total_exclusions);
    }
}

fn take(from: &mut u32, amount: u32) {
    *from = from.saturating_sub(amount);
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Time {
        Time(seconds * 1_000_000_000)
    }

    fn ratio() -> GoBreaker {
        GoBreaker {
            trip: GoTrip::FailureRatio {
                min_requests: 4,
                at_least: 0.5,
            },
            ..GoBreaker::default()
        }
    }

    #[test]
    fn calls_in_flight_dilute_a_ratio() {
        let mut circuit = GoCircuit::new(&ratio(), at(0));
        let tickets: Vec<_> = (0..5).map(|_| circuit.acquire(at(0)).unwrap()).collect();
        circuit.failure(at(0), tickets[0]);
        circuit.failure(at(0), tickets[1]);
        assert_eq!(
            circuit.state(at(0)),
            BreakerState::Closed,
            "2 of 5 admitted"
        );
        circuit.failure(at(0), tickets[2]);
        assert_eq!(circuit.state(at(0)), BreakerState::Open);
    }

    #[test]
    fn a_success_never_trips() {
        let mut circuit = GoCircuit::new(&ratio(), at(0));
        for i in 0..4 {
            let ticket = circuit.acquire(at(0)).unwrap();
            if i < 3 {
                circuit.failure(at(0), ticket);
            } else {
                circuit.success(at(0), ticket);
            }
        }
        assert_eq!(circuit.state(at(0)), BreakerState::Closed, "75 % failed");
    }

    #[test]
    fn zero_settings_mean_the_defaults() {
        let zero = GoBreaker {
            max_requests: 0,
            timeout: Span::ZERO,
            trip: GoTrip::ConsecutiveFailuresAbove(0),
            ..GoBreaker::default()
        };
        let mut circuit = GoCircuit::new(&zero, at(0));
        let ticket = circuit.acquire(at(0)).unwrap();
        circuit.failure(at(0), ticket);
        assert!(circuit.refuses(at(60)));
        assert!(!circuit.refuses(Time(at(60).0 + 1)));
        assert!(circuit.acquire(at(61)).is_ok());
        assert_eq!(circuit.acquire(at(61)), Err(GoRefusal::TooManyRequests));
    }

    #[test]
    fn an_excluded_trial_can_be_used_again() {
        let spec = GoBreaker {
            trip: GoTrip::ConsecutiveFailuresAbove(0),
            ..GoBreaker::default()
        };
        let mut circuit = GoCircuit::new(&spec, at(0));
        let ticket = circuit.acquire(at(0)).unwrap();
        circuit.failure(at(0), ticket);
        let trial = circuit.acquire(at(61)).unwrap();
        circuit.release(at(61), trial);
        assert!(circuit.acquire(at(61)).is_ok());
    }

    #[test]
    fn buckets_age_and_shorten_a_run_of_failures() {
        let spec = GoBreaker {
            interval: Span::secs(25),
            bucket_period: Span::secs(10),
            trip: GoTrip::ConsecutiveFailuresAbove(3),
            ..GoBreaker::default()
        };
        let mut circuit = GoCircuit::new(&spec, at(0));
        let mut fails = |now| {
            let ticket = circuit.acquire(now).unwrap();
            circuit.failure(now, ticket);
            circuit.counts().consecutive_failures
        };
        assert_eq!([fails(at(1)), fails(at(2)), fails(at(15))], [1, 2, 3]);
        // Three buckets (25 s rounded up): the first leaves at 30 s and takes its two failures along.
        assert_eq!(fails(at(30)), 2);
        assert_eq!(circuit.state(at(30)), BreakerState::Closed);
    }

    #[test]
    fn a_result_whose_bucket_has_left_is_dropped() {
        let spec = GoBreaker {
            interval: Span::secs(20),
            bucket_period: Span::secs(10),
            ..GoBreaker::default()
        };
        let mut circuit = GoCircuit::new(&spec, at(0));
        let early = circuit.acquire(at(0)).unwrap();
        let late = circuit.acquire(at(12)).unwrap();
        circuit.failure(at(25), early);
        circuit.failure(at(25), late);
        assert_eq!(circuit.counts().total_failures, 1);
    }

    #[test]
    fn the_end_of_time_and_back_does_no_harm() {
        let spec = GoBreaker {
            interval: Span(7),
            bucket_period: Span(2),
            ..ratio()
        };
        let mut circuit = GoCircuit::new(&spec, at(1));
        for now in [Time::MAX, Time::ZERO, at(2), Time::MAX] {
            if let Ok(ticket) = circuit.acquire(now) {
                circuit.success(now, ticket);
                circuit.failure(now, ticket);
                circuit.release(now, ticket);
            }
        }
    }
}
