//! The retry of google.api_core.
//!
//! Source: google-api-core 2.44.0 `google/api_core/retry/retry_base.py`, `retry_unary.py`.

use super::Progress;
use crate::found::Found;
use crate::time::{Span, Time};

/// `u * m`, where `m` starts at `min(initial, maximum)` and is multiplied, up to `maximum`, each time.
///
/// There is no limit on attempts (the deadline of a whole call is 120 s by default); a retry that would start after the deadline is not made
/// ([`GoogleApiCore::gives_up`]), a running attempt is never cut short.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GoogleApiCore {
    /// The first bound, above 0; default 1 s.
    pub initial: Span,
    /// The largest bound; default 60 s.
    pub maximum: Span,
    /// Growth of the bound, above 0; default 2.
    pub multiplier: f64,
}

impl Default for GoogleApiCore {
    fn default() -> Self {
        GoogleApiCore {
            initial: Span::secs(1),
            maximum: Span::secs(60),
            multiplier: 2.0,
        }
    }
}

impl GoogleApiCore {
    pub(crate) fn check(&self, found: &mut Found) {
        found.span_above_zero("retry.backoff.initial", self.initial);
        found.growth("retry.backoff.multiplier", self.multiplier);
    }

    /// The next wait, for a unit draw `u`.
    pub fn delay(&self, progress: &mut Progress, u: f64) -> Span {
        // The bound is a float of seconds in the original; here one of nanoseconds.
        let maximum = self.maximum.0 as f64;
        let bound = match progress.memory {
            0 => (self.initial.0 as f64).min(maximum),
            bits => f64::from_bits(bits),
        };
        progress.memory = (bound * self.multiplier).min(maximum).to_bits();
        Span((bound * u + 0.5) as u64)
    }

    /// Whether no retry is made after `delay`, because `now + delay > deadline`. A retry that starts
    /// exactly at the deadline is made.
    #[must_use]
    pub fn gives_up(now: Time, delay: Span, deadline: Time) -> bool {
        now.after(delay) > deadline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiplier_below_one_shrinks_the_bound() {
        let google = GoogleApiCore {
            initial: Span(1000),
            maximum: Span(2000),
            multiplier: 0.5,
        };
        let mut progress = Progress::default();
        let waits: Vec<u64> = (0..4).map(|_| google.delay(&mut progress, 1.0).0).collect();
        assert_eq!(waits, [1000, 500, 250, 125]);
    }
}
