//! The queue that latency betrays. Source: `VegasLimit.java`, `functions/Log10RootIntFunction.java`.

use super::Sample;
use crate::entropy::Entropy;
use crate::found::Found;
use crate::time::Span;

/// `VegasLimit`. With `L = max(1, trunc(log10(limit)))` and
/// `queue = ceil(limit * (1 - smallest rtt / rtt))`:
///
/// | | limit |
/// | --- | --- |
/// | dropped | `- L` |
/// | fewer than half the limit in flight | unchanged |
/// | `queue <= L` | `+ 6L` |
/// | `queue < 3L` | `+ L` |
/// | `queue > 6L` | `- L` |
/// | otherwise | unchanged |
///
/// within `[1, max]`, then smoothed. An `rtt` below the smallest replaces it and changes nothing else;
/// after `U(0.5, 1) * probe_multiplier * limit` samples the latest replaces it as well. The limit is a
/// float inside and cut when read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vegas {
    /// Default 20.
    pub initial: u32,
    /// `maxConcurrency`; default 1000.
    pub max: u32,
    /// 0 to 1; default 1.
    pub smoothing: f64,
    /// Default 30.
    pub probe_multiplier: u32,
}

impl Default for Vegas {
    fn default() -> Self {
        Vegas {
            initial: 20,
            max: 1000,
            smoothing: 1.0,
            probe_multiplier: 30,
        }
    }
}

impl Vegas {
    pub(crate) fn check(&self, found: &mut Found) {
        found.within("limiter.smoothing", self.smoothing, 0.0, 1.0);
        found.limits(1, self.max);
    }
}

/// The running state of [`Vegas`].
#[derive(Clone, Copy, Debug)]
pub struct VegasState {
    spec: Vegas,
    limit: f64,
    smallest: Option<Span>,
    samples: u64,
    /// In [0.5, 1); `None` until the first sample draws it.
    probe_jitter: Option<f64>,
}

impl VegasState {
    /// With the initial limit.
    #[must_use]
    pub fn new(spec: &Vegas) -> Self {
        VegasState {
            spec: *spec,
            limit: f64::from(spec.initial),
            smallest: None,
            samples: 0,
            probe_jitter: None,
        }
    }

    /// An attempt finished. Draws when the next probe is to be set.
    pub fn sample(&mut self, sample: Sample, entropy: &mut impl Entropy) {
        let rtt = Span(sample.rtt.0.max(1));
        let mut draw = || 0.5 + entropy.unit() / 2.0;
        let jitter = *self.probe_jitter.get_or_insert_with(&mut draw);
        self.samples += 1;
        let probe_at = jitter * f64::from(self.spec.probe_multiplier) * self.limit;
        if probe_at <= self.samples as f64 {
            self.probe_jitter = Some(draw());
            self.samples = 0;
            self.smallest = Some(rtt);
            return;
        }
        match self.smallest {
            Some(smallest) if rtt >= smallest => self.update(rtt, smallest, sample),
            _ => self.smallest = Some(rtt),
        }
    }

    /// Attempts that may be in flight.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.limit as u32
    }

    fn update(&mut self, rtt: Span, smallest: Span, sample: Sample) {
        let log = f64::from((self.limit as u32).max(1).ilog10().max(1));
        let queue = libm::ceil(self.limit * (1.0 - smallest.0 as f64 / rtt.0 as f64));
        let change = if sample.dropped {
            -log
        } else if f64::from(sample.in_flight) * 2.0 < self.limit {
            return;
        } else if queue <= log {
            6.0 * log
        } else if queue < 3.0 * log {
            log
        } else if queue > 6.0 * log {
            -log
        } else {
            return;
        };
        let wanted = (self.limit + change).min(f64::from(self.spec.max)).max(1.0);
        let smoothing = self.spec.smoothing;
        self.limit = (1.0 - smoothing) * self.limit + smoothing * wanted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Draw(u64);

    impl Entropy for Draw {
        fn next_u64(&mut self) -> u64 {
            self.0
        }
    }

    fn sample(millis: u64) -> Sample {
        Sample {
            rtt: Span::millis(millis),
            in_flight: 0,
            dropped: false,
        }
    }

    #[test]
    fn a_probe_takes_the_latest_latency_for_the_smallest() {
        let spec = Vegas {
            initial: 10,
            probe_multiplier: 2,
            ..Vegas::default()
        };
        let mut state = VegasState::new(&spec);
        state.sample(sample(10), &mut Draw(0));
        for i in 2..10 {
            state.sample(sample(50), &mut Draw(0));
            assert_eq!(state.smallest, Some(Span::millis(10)), "sample {i}");
        }
        state.sample(sample(50), &mut Draw(0));
        assert_eq!(
            state.smallest,
            Some(Span::millis(50)),
            "0.5 * 2 * 10 samples"
        );
    }

    #[test]
    fn extremes_stay_within_the_limits() {
        let spec = Vegas {
            initial: u32::MAX,
            ..Vegas::default()
        };
        let mut state = VegasState::new(&spec);
        for rtt in [Span::ZERO, Span::MAX, Span(1), Span::MAX] {
            for dropped in [false, true] {
                let sample = Sample {
                    rtt,
                    in_flight: u32::MAX,
                    dropped,
                };
                state.sample(sample, &mut Draw(u64::MAX));
            }
        }
        assert!(state.limit() <= 1000);
    }
}
