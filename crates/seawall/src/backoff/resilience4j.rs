//! resilience4j's `IntervalFunction`.
//!
//! Source: resilience4j/resilience4j@af9e7c97 `resilience4j-core/.../IntervalFunction.java`.

use super::Progress;
use crate::found::Found;
use crate::time::Span;

const MILLI: u64 = 1_000_000;

/// Fixed, exponential, randomized, or both, in whole milliseconds.
///
/// Exponential: `initial`, then times `multiplier`, cut to whole milliseconds at every step, so
/// 1 ms x 1.5 stays 1 ms for ever. Randomized with factor `f`: for an interval `v`, with
/// `low = v - f v` and `high = v + f v`, the wait is `trunc(max(1, low + u * (high - low + 1)))` for a
/// `u` below 1, so `high` is reached, the next whole millisecond too when `high` is none itself, and it
/// never falls below 1 ms. The cap comes *after* randomization, so waits
/// pile up at it. Without a cap it saturates at 2^63 - 1 ms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resilience4j {
    /// `waitDuration` (fixed) or the initial interval, at least 1 ms; default 500 ms.
    pub initial: Span,
    /// `exponentialBackoffMultiplier`, at least 1, when exponential; default 1.5.
    pub multiplier: Option<f64>,
    /// `randomizedWaitFactor` in [0, 1), when randomized; default 0.5.
    pub randomization: Option<f64>,
    /// `exponentialMaxWaitDuration`, at least 1 ms.
    pub max: Option<Span>,
}

impl Default for Resilience4j {
    /// The wait of a default `Retry`: 500 ms, fixed.
    fn default() -> Self {
        Resilience4j {
            initial: Span::millis(500),
            multiplier: None,
            randomization: None,
            max: None,
        }
    }
}

impl Resilience4j {
    pub(crate) fn check(&self, found: &mut Found) {
        const MILLI: Span = Span::millis(1);
        found.require(
            self.initial >= MILLI,
            "retry.backoff.initial",
            "at least 1ms",
            self.initial,
        );
        if let Some(max) = self.max {
            let field = "retry.backoff.max";
            found.require(max >= MILLI, field, "at least 1ms", max);
        }
        if let Some(multiplier) = self.multiplier {
            found.require(
                multiplier >= 1.0 && multiplier.is_finite(),
                "retry.backoff.multiplier",
                "a number of at least 1",
                multiplier,
            );
        }
        if let Some(factor) = self.randomization {
            found.require(
                (0.0..1.0).contains(&factor),
                "retry.backoff.randomization",
                "at least 0 and below 1",
                factor,
            );
        }
    }

    /// The wait before retry `progress.retries`, counted from 0, for a unit draw `u`.
    #[must_use]
    pub fn delay(&self, progress: &Progress, u: f64) -> Span {
        let interval = self.interval(progress.retries);
        let spread = match self.randomization {
            None => interval,
            Some(factor) => {
                let (middle, delta) = (interval as f64, factor * interval as f64);
                let (low, high) = (middle - delta, middle + delta);
                // A draw of exactly 1, which the original never makes, gives the last value before it.
                let last = whole(libm::ceil(high + 1.0)).saturating_sub(1);
                whole(low + u * (high - low + 1.0)).clamp(1, last.max(1))
            }
        };
        let max = self.max.map_or(u64::MAX, |max| max.0 / MILLI);
        Span::millis(spread.min(max))
    }

    /// The interval in whole milliseconds, before randomization and the cap.
    fn interval(&self, retries: u32) -> u64 {
        let mut interval = self.initial.0 / MILLI;
        let Some(multiplier) = self.multiplier else {
            return interval;
        };
        for _ in 0..retries {
            let next = whole(interval as f64 * multiplier);
            if next == interval {
                break;
            }
            interval = next;
        }
        interval
    }
}

/// Cut to a Java `long`.
fn whole(x: f64) -> u64 {
    (x as u64).min(i64::MAX as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(retries: u32) -> Progress {
        Progress { retries, memory: 0 }
    }

    #[test]
    fn the_upper_end_of_a_randomized_wait_is_reached_and_not_passed() {
        let random = Resilience4j {
            randomization: Some(0.5),
            ..Resilience4j::default()
        };
        assert_eq!(random.delay(&at(0), 0.0), Span::millis(250));
        assert_eq!(random.delay(&at(0), 0.999_999), Span::millis(750));
        assert_eq!(random.delay(&at(0), 1.0), Span::millis(750));
    }

    #[test]
    fn between_whole_milliseconds_the_one_above_the_upper_end_is_reached() {
        let random = Resilience4j {
            initial: Span::millis(5),
            randomization: Some(0.5),
            ..Resilience4j::default()
        };
        // 2.5 + u * 6, cut: 2 to 8.
        assert_eq!(random.delay(&at(0), 0.0), Span::millis(2));
        assert_eq!(random.delay(&at(0), 0.916), Span::millis(7));
        assert_eq!(random.delay(&at(0), 0.917), Span::millis(8));
        assert_eq!(random.delay(&at(0), 1.0), Span::millis(8));
    }

    #[test]
    fn a_factor_of_zero_is_no_randomization() {
        let random = Resilience4j {
            randomization: Some(0.0),
            ..Resilience4j::default()
        };
        for u in [0.0, 0.5, 0.999_999, 1.0] {
            assert_eq!(random.delay(&at(0), u), Span::millis(500), "{u}");
        }
    }

    #[test]
    fn the_cap_comes_after_the_floor_and_the_draw() {
        let random = Resilience4j {
            initial: Span::millis(10),
            multiplier: Some(3.0),
            randomization: Some(0.9),
            max: Some(Span::millis(4)),
        };
        assert_eq!(random.delay(&at(0), 0.0), Span::millis(1));
        assert_eq!(random.delay(&at(0), 0.1), Span::millis(2), "1 + 0.1 * 19");
        assert_eq!(random.delay(&at(1), 0.0), Span::millis(3), "30 - 27");
        assert_eq!(random.delay(&at(1), 1.0), Span::millis(4));
    }

    #[test]
    fn a_randomized_wait_is_never_below_a_millisecond() {
        let random = Resilience4j {
            initial: Span::millis(1),
            randomization: Some(0.9),
            ..Resilience4j::default()
        };
        assert_eq!(random.delay(&at(0), 0.0), Span::millis(1));
    }

    #[test]
    fn without_a_cap_it_saturates_instead_of_overflowing() {
        let steep = Resilience4j {
            multiplier: Some(1e9),
            ..Resilience4j::default()
        };
        assert_eq!(steep.delay(&at(u32::MAX), 0.0), Span::MAX);
    }
}
