//! The client-side rate limiter of the AWS SDKs' adaptive mode.
//!
//! Source: boto/botocore@0e6e2404 `botocore/retries/adaptive.py`, `throttling.py`, `bucket.py`; smithy's
//! costs from smithy-lang/smithy-rs@56ee88c5.

use crate::budget::AwsError;
use crate::failure::FailureKind;
use crate::found::Found;
use crate::time::{Span, Time};

/// The constants of the adaptive mode.
///
/// Off until the first throttling response; from then on every send, the first of a call too, takes a
/// token. The *measured rate* of responses is taken in half-second buckets, smoothed by 0.8. On a
/// throttling response `w = min(measured, rate)` (the measured one alone the first time),
/// `k = cbrt(w (1 - beta) / scale)` and the rate becomes `beta w`; on any other it becomes
/// `scale (t - k)^3 + w`, `t` seconds since the last throttling. A new rate is at most twice the
/// measured one and at least 0.5/s; the bucket holds `max(1, rate)` and is refilled at the old rate
/// before a new one applies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AwsAdaptive {
    /// The share of the rate that is kept after a throttling response; 0.7.
    pub beta: f64,
    /// Growth of the cubic; 0.4.
    pub scale: f64,
    /// Weight of the newest bucket in the measured rate; 0.8.
    pub smoothing: f64,
    /// Tokens for the first attempt of a call; 1.
    pub cost: f64,
    /// Tokens for a retry: 1 in botocore, 5 in smithy.
    pub retry_cost: f64,
    /// Tokens for a retry after a transient error: 1 in botocore, 10 in smithy.
    pub transient_retry_cost: f64,
    /// Whether tokens that are not there are taken all the same and waited for (smithy), or asked for
    /// again after the wait (botocore).
    pub reserves: bool,
}

impl Default for AwsAdaptive {
    fn default() -> Self {
        AwsAdaptive {
            beta: 0.7,
            scale: 0.4,
            smoothing: 0.8,
            cost: 1.0,
            retry_cost: 1.0,
            transient_retry_cost: 1.0,
            reserves: false,
        }
    }
}

impl AwsAdaptive {
    /// What differs in smithy.
    #[must_use]
    pub fn smithy() -> Self {
        AwsAdaptive {
            retry_cost: 5.0,
            transient_retry_cost: 10.0,
            reserves: true,
            ..AwsAdaptive::default()
        }
    }

    pub(crate) fn check(&self, found: &mut Found) {
        found.within("rate_limit.beta", self.beta, 0.0, 1.0);
        found.growth("rate_limit.scale", self.scale);
        found.within("rate_limit.smoothing", self.smoothing, 0.0, 1.0);
        for (field, cost) in [
            ("rate_limit.cost", self.cost),
            ("rate_limit.retry_cost", self.retry_cost),
            ("rate_limit.transient_retry_cost", self.transient_retry_cost),
        ] {
            found.within(field, cost, 0.0, 1e6);
            // More than a bucket of one can hold would be asked for again for ever.
            let reachable = self.reserves || cost <= MIN_CAPACITY;
            found.require(reachable, field, "at most 1 without reserving", cost);
        }
    }

    /// What the next attempt costs, after a failure like this if it is a retry.
    #[must_use]
    pub fn cost_after(&self, failure: Option<FailureKind>) -> f64 {
        match failure.map(AwsError::from) {
            None => self.cost,
            Some(AwsError::Timeout | AwsError::Transient) => self.transient_retry_cost,
            Some(AwsError::Throttling | AwsError::Other) => self.retry_cost,
        }
    }
}

const MIN_RATE: f64 = 0.5;
/// Before the first response.
const INITIAL_RATE: f64 = 1.0;
const MIN_CAPACITY: f64 = 1.0;
/// Buckets per second of the measured rate.
const BUCKETS: f64 = 2.0;
const MAX_OF_MEASURED: f64 = 2.0;

/// The running state of [`AwsAdaptive`].
#[derive(Clone, Copy, Debug)]
pub struct AwsAdaptiveState {
    spec: AwsAdaptive,
    enabled: bool,
    // The cubic.
    w_max: f64,
    k: f64,
    last_throttled: f64,
    // The measured rate.
    measured: f64,
    bucket: f64,
    responses: f64,
    // The token bucket.
    rate: f64,
    capacity_max: f64,
    tokens: f64,
    refilled: f64,
}

impl AwsAdaptiveState {
    /// Off, with nothing measured.
    #[must_use]
    pub fn new(spec: &AwsAdaptive, now: Time) -> Self {
        let now = seconds(now);
        AwsAdaptiveState {
            spec: *spec,
            enabled: false,
            w_max: 0.0,
            k: 0.0,
            last_throttled: now,
            measured: 0.0,
            bucket: libm::floor(now),
            responses: 0.0,
            rate: INITIAL_RATE,
            capacity_max: MIN_CAPACITY,
            tokens: 0.0,
            refilled: now,
        }
    }

    /// Asks for so many tokens: zero, they are taken. Otherwise the wait for them, after which they have
    /// to be asked for again, unless they are reserved.
    pub fn acquire(&mut self, now: Time, tokens: f64) -> Span {
        if !self.enabled {
            return Span::ZERO;
        }
        self.refill(now);
        if tokens <= self.tokens {
            self.tokens -= tokens;
            return Span::ZERO;
        }
        let wait = (tokens - self.tokens) / self.rate;
        if self.spec.reserves {
            self.tokens -= tokens;
        }
        // Rounded up, so that the tokens are there afterwards, and never nothing.
        Span((libm::ceil(wait * 1e9) as u64).max(1))
    }

    /// Gives back tokens that were reserved and are not waited for.
    pub fn put_back(&mut self, tokens: f64) {
        if self.spec.reserves {
            self.tokens = (self.tokens + tokens).min(self.capacity_max);
        }
    }

    /// A response came.
    pub fn response(&mut self, now: Time, throttled: bool) {
        self.measure(now);
        let rate = if throttled {
            let w = if self.enabled {
                self.measured.min(self.rate)
            } else {
                self.measured
            };
            self.w_max = w;
            self.k = libm::cbrt(w * (1.0 - self.spec.beta) / self.spec.scale);
            self.last_throttled = seconds(now);
            self.enabled = true;
            w * self.spec.beta
        } else {
            let t = seconds(now) - self.last_throttled - self.k;
            self.spec.scale * t * t * t + self.w_max
        };
        self.refill(now);
        let rate = rate.min(MAX_OF_MEASURED * self.measured);
        self.rate = rate.max(MIN_RATE);
        self.capacity_max = rate.max(MIN_CAPACITY);
        self.tokens = self.tokens.min(self.capacity_max);
    }

    /// Whether a throttling response has come.
    #[must_use]
    pub fn enabled(&self) -> bool {
        self.enabled
    }

    /// Responses per second, smoothed.
    #[must_use]
    pub fn measured_rate(&self) -> f64 {
        self.measured
    }

    /// Tokens per second.
    #[must_use]
    pub fn fill_rate(&self) -> f64 {
        self.rate
    }

    /// Tokens held, as of the last refill.
    #[must_use]
    pub fn tokens(&self) -> f64 {
        self.tokens
    }

    /// Tokens that can be held.
    #[must_use]
    pub fn capacity_max(&self) -> f64 {
        self.capacity_max
    }

    fn measure(&mut self, now: Time) {
        let bucket = libm::floor(seconds(now) * BUCKETS) / BUCKETS;
        self.responses += 1.0;
        if bucket > self.bucket {
            let current = self.responses / (bucket - self.bucket);
            let smoothing = self.spec.smoothing;
            self.measured = current * smoothing + self.measured * (1.0 - smoothing);
            self.responses = 0.0;
            self.bucket = bucket;
        }
    }

    fn refill(&mut self, now: Time) {
        let now = seconds(now);
        let gained = ((now - self.refilled) * self.rate).max(0.0);
        self.tokens = (self.tokens + gained).min(self.capacity_max);
        self.refilled = self.refilled.max(now);
    }
}

fn seconds(now: Time) -> f64 {
    now.0 as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Time {
        Time(millis * 1_000_000)
    }

    #[test]
    fn after_the_wait_the_tokens_are_there() {
        let mut state = AwsAdaptiveState::new(&AwsAdaptive::default(), Time::ZERO);
        state.response(at(10), true);
        for cost in [1.0, 0.3, 0.7] {
            let wait = state.acquire(at(17), cost);
            let mut later = state;
            assert!(wait > Span::ZERO);
            assert_eq!(later.acquire(at(17).after(wait), cost), Span::ZERO);
        }
    }

    #[test]
    fn more_than_the_bucket_holds_is_waited_for_in_vain_but_not_for_ever_at_once() {
        let mut state = AwsAdaptiveState::new(&AwsAdaptive::default(), Time::ZERO);
        state.response(at(0), true);
        assert_eq!(state.acquire(at(0), 5.0), Span::secs(10));
    }

    #[test]
    fn until_the_first_response_a_token_a_second_comes_in() {
        let mut state = AwsAdaptiveState::new(&AwsAdaptive::default(), Time::ZERO);
        state.response(at(400), true);
        assert_eq!(state.tokens(), 0.4);
        let wait = state.acquire(at(400), 1.0);
        assert_eq!(wait, Span::millis(1200), "0.6 at 0.5 a second");
    }

    #[test]
    fn a_clock_that_stands_still_or_runs_back_earns_nothing() {
        let mut state = AwsAdaptiveState::new(&AwsAdaptive::default(), at(5000));
        state.response(at(5000), true);
        for now in [at(5000), at(0), at(4000)] {
            assert!(state.acquire(now, 1.0) > Span::ZERO);
            state.response(now, false);
            assert!(state.fill_rate() >= MIN_RATE && state.tokens() == 0.0);
        }
        state.response(Time::MAX, false);
        state.response(Time::MAX, true);
        assert!(state.fill_rate().is_finite());
    }
}
