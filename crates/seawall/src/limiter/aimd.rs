//! Additive increase, multiplicative decrease. Source: `AIMDLimit.java`.

use super::Sample;
use crate::found::Found;
use crate::time::Span;

/// `AIMDLimit`: a drop, or an `rtt` above the timeout, makes the limit `trunc(limit * ratio)`; otherwise
/// it grows by 1 when `2 * in flight >= limit`. Then it is brought into `[min, max]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aimd {
    /// Default 20.
    pub initial: u32,
    /// Default 20.
    pub min: u32,
    /// Default 200.
    pub max: u32,
    /// `backoffRatio`, 0.5 to 1, 1 excluded; default 0.9.
    pub backoff_ratio: f64,
    /// Above 0; default 5 s.
    pub timeout: Span,
}

impl Default for Aimd {
    fn default() -> Self {
        Aimd {
            initial: 20,
            min: 20,
            max: 200,
            backoff_ratio: 0.9,
            timeout: Span::secs(5),
        }
    }
}

impl Aimd {
    pub(crate) fn check(&self, found: &mut Found) {
        found.require(
            (0.5..1.0).contains(&self.backoff_ratio),
            "limiter.backoff_ratio",
            "at least 0.5 and below 1",
            self.backoff_ratio,
        );
        found.span_above_zero("limiter.timeout", self.timeout);
        found.limits(self.min, self.max);
    }
}

/// The running state of [`Aimd`].
#[derive(Clone, Copy, Debug)]
pub struct AimdState {
    spec: Aimd,
    limit: u32,
}

impl AimdState {
    /// With the initial limit, which may be outside `[min, max]` until the first sample.
    #[must_use]
    pub fn new(spec: &Aimd) -> Self {
        AimdState {
            spec: *spec,
            limit: spec.initial,
        }
    }

    /// An attempt finished.
    pub fn sample(&mut self, sample: Sample) {
        if sample.dropped || sample.rtt > self.spec.timeout {
            self.limit = (f64::from(self.limit) * self.spec.backoff_ratio) as u32;
        } else if u64::from(sample.in_flight) * 2 >= u64::from(self.limit) {
            self.limit = self.limit.saturating_add(1);
        }
        self.limit = self.limit.max(self.spec.min).min(self.spec.max);
    }

    /// Attempts that may be in flight.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.limit
    }
}
