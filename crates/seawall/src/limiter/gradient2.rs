//! The ratio of long-term to latest latency. Source: `Gradient2Limit.java`,
//! `measurement/ExpAvgMeasurement.java`.

use super::Sample;
use crate::found::Found;

/// `Gradient2Limit`. For each sample:
///
/// - `long` is the mean of the first ten `rtt`s, then `long (1 - f) + rtt f` with `f = 2 / (window + 1)`;
///   when `long / rtt > 2` it is cut by 5 % for later;
/// - with fewer than `limit / 2` in flight nothing changes;
/// - `gradient = clamp(tolerance * long / rtt, 0.5, 1)`, and the limit becomes
///   `limit (1 - smoothing) + (limit * gradient + queue) * smoothing`, within `[min, max]`.
///
/// Drops are not looked at. The limit is a float inside and cut when read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gradient2 {
    /// Default 20.
    pub initial: u32,
    /// Default 20.
    pub min: u32,
    /// Default 200.
    pub max: u32,
    /// 0 to 1; default 0.2.
    pub smoothing: f64,
    /// `rttTolerance`, at least 1; default 1.5.
    pub tolerance: f64,
    /// `longWindow` in samples; default 600.
    pub long_window: u32,
    /// `queueSize` to allow for; default 4.
    pub queue: u32,
}

impl Default for Gradient2 {
    fn default() -> Self {
        Gradient2 {
            initial: 20,
            min: 20,
            max: 200,
            smoothing: 0.2,
            tolerance: 1.5,
            long_window: 600,
            queue: 4,
        }
    }
}

impl Gradient2 {
    pub(crate) fn check(&self, found: &mut Found) {
        found.within("limiter.smoothing", self.smoothing, 0.0, 1.0);
        found.within("limiter.tolerance", self.tolerance, 1.0, 1e6);
        found.limits(self.min, self.max);
    }
}

/// Samples whose mean starts the long-term latency.
const WARMUP: u32 = 10;

/// The running state of [`Gradient2`].
#[derive(Clone, Copy, Debug)]
pub struct Gradient2State {
    spec: Gradient2,
    limit: f64,
    long: f64,
    /// Of the warm-up samples.
    sum: f64,
    seen: u32,
}

impl Gradient2State {
    /// With the initial limit.
    #[must_use]
    pub fn new(spec: &Gradient2) -> Self {
        Gradient2State {
            spec: *spec,
            limit: f64::from(spec.initial),
            long: 0.0,
            sum: 0.0,
            seen: 0,
        }
    }

    /// An attempt finished.
    pub fn sample(&mut self, sample: Sample) {
        let rtt = sample.rtt.0.max(1) as f64;
        let long = self.average(rtt);
        if long / rtt > 2.0 {
            self.long *= 0.95;
        }
        if f64::from(sample.in_flight) < self.limit / 2.0 {
            return;
        }
        let spec = &self.spec;
        let gradient = (spec.tolerance * long / rtt).clamp(0.5, 1.0);
        let wanted = self.limit * gradient + f64::from(spec.queue);
        let next = self.limit * (1.0 - spec.smoothing) + wanted * spec.smoothing;
        self.limit = next.min(f64::from(spec.max)).max(f64::from(spec.min));
    }

    /// Attempts that may be in flight.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.limit as u32
    }

    fn average(&mut self, rtt: f64) -> f64 {
        if self.seen < WARMUP {
            self.seen += 1;
            self.sum += rtt;
            self.long = self.sum / f64::from(self.seen);
        } else {
            let factor = 2.0 / (f64::from(self.spec.long_window) + 1.0);
            self.long = self.long * (1.0 - factor) + rtt * factor;
        }
        self.long
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    fn sample(millis: u64, in_flight: u32) -> Sample {
        Sample {
            rtt: Span::millis(millis),
            in_flight,
            dropped: false,
        }
    }

    #[test]
    fn a_long_term_latency_twice_the_latest_is_cut_for_later() {
        let mut state = Gradient2State::new(&Gradient2::default());
        for _ in 0..10 {
            state.sample(sample(100, 0));
        }
        state.sample(sample(10, 0));
        let factor = 2.0 / 601.0;
        let averaged = 100e6 * (1.0 - factor) + 10e6 * factor;
        assert_eq!(state.long, averaged * 0.95);
    }

    #[test]
    fn extremes_stay_within_the_limits() {
        let mut state = Gradient2State::new(&Gradient2::default());
        for rtt in [Span::ZERO, Span::MAX, Span(1), Span::MAX, Span::ZERO] {
            state.sample(Sample {
                rtt,
                in_flight: u32::MAX,
                dropped: true,
            });
            assert!((20..=200).contains(&state.limit()));
        }
    }
}
