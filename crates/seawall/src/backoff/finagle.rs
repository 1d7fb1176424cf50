//! Finagle's `Backoff` series.
//!
//! Source: twitter/finagle@4feb34cb `finagle-core/.../Backoff.scala`.

use super::Progress;
use crate::found::Found;
use crate::time::Span;

/// A Finagle backoff series. The first wait of every kind is `start`, without jitter.
///
/// Draws are whole nanoseconds: `draw(n) = min(floor(n * u), n - 1)`, and 0 for an empty range
/// (where Finagle throws, which can only happen after a draw of exactly 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finagle {
    /// How the series grows.
    pub kind: FinagleKind,
    /// The first wait. Above 0 and at most `maximum` for the jittered kinds.
    pub start: Span,
    /// The largest wait, above 0 for the jittered kinds; `Span::MAX` for none.
    pub maximum: Span,
}

/// How a [`Finagle`] series grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinagleKind {
    /// Always `start`.
    Constant,
    /// Times `multiplier`; `maximum` for good once `start >= maximum / multiplier`.
    Exponential {
        /// 1 keeps `start` (even above `maximum`), 0 goes to no wait at all.
        multiplier: u32,
    },
    /// Plus `offset`; `maximum` for good once `start >= maximum - offset`.
    Linear {
        /// Zero keeps `start`.
        offset: Span,
    },
    /// Uniform in `[previous, min(3 * previous, maximum))`. The lower bound is the *previous* wait,
    /// so the series never falls: not the AWS rule.
    DecorrelatedJittered,
    /// With `h = start * 2^(k-1)` for the `k`-th wait after the first: `h + draw(h)`; `maximum` for
    /// good once `h` or the sum reaches it. Failure accrual: start 5 s, maximum 300 s.
    EqualJittered,
    /// `draw(previous * 2^k)`: the drawn value is the base of the next one, so growth compounds;
    /// `maximum` for good, without jitter, once the bound reaches it.
    ExponentialJittered,
}

/// `memory` holds the last wait; this bit says the series has become constant.
const CONSTANT: u64 = 1 << 63;

impl Finagle {
    pub(crate) fn check(&self, found: &mut Found) {
        if matches!(
            self.kind,
            FinagleKind::DecorrelatedJittered
                | FinagleKind::EqualJittered
                | FinagleKind::ExponentialJittered
        ) {
            found.span_above_zero("retry.backoff.start", self.start);
            found.require(
                self.start <= self.maximum,
                "retry.backoff.start",
                "at most maximum",
                self.start,
            );
        }
    }

    /// The next wait, for a unit draw `u` (which the first wait and the kinds without jitter ignore).
    pub fn delay(&self, progress: &mut Progress, u: f64) -> Span {
        let (wait, constant) = if progress.retries == 0 {
            self.first()
        } else if progress.memory & CONSTANT != 0 {
            (progress.memory & !CONSTANT, true)
        } else {
            self.after(progress.memory, progress.retries, u)
        };
        let wait = wait & !CONSTANT;
        progress.memory = if constant { wait | CONSTANT } else { wait };
        Span(wait)
    }

    fn first(&self) -> (u64, bool) {
        let (start, maximum) = (self.start.0, self.maximum.0);
        match self.kind {
            FinagleKind::Constant
            | FinagleKind::Exponential { multiplier: 1 }
            | FinagleKind::Linear { offset: Span::ZERO } => (start, true),
            FinagleKind::Exponential { .. } | FinagleKind::Linear { .. } if start >= maximum => {
                (maximum, true)
            }
            _ => (start, start == maximum),
        }
    }

    /// The wait after `previous`, the `k`-th after the first, and whether it is the last new one.
    fn after(&self, previous: u64, k: u32, u: f64) -> (u64, bool) {
        let maximum = self.maximum.0;
        match self.kind {
            FinagleKind::Constant => (previous, true),
            FinagleKind::Exponential { multiplier: 0 } => (0, true),
            FinagleKind::Exponential { multiplier } => {
                if previous >= maximum / u64::from(multiplier) {
                    (maximum, true)
                } else {
                    (previous * u64::from(multiplier), false)
                }
            }
            FinagleKind::Linear { offset } => {
                if previous >= maximum.saturating_sub(offset.0) {
                    (maximum, true)
                } else {
                    (previous + offset.0, false)
                }
            }
            FinagleKind::DecorrelatedJittered => {
                let upper = if previous >= maximum / 3 {
                    maximum
                } else {
                    previous * 3
                };
                let next = previous.saturating_add(draw(upper.saturating_sub(previous), u));
                (next, next == maximum)
            }
            FinagleKind::EqualJittered => {
                let half = shifted(self.start.0, k - 1, maximum);
                let random = draw(half, u);
                if half >= maximum.saturating_sub(random) {
                    (maximum, true)
                } else {
                    (half + random, false)
                }
            }
            FinagleKind::ExponentialJittered => {
                let bound = shifted(previous, k, maximum);
                if bound == maximum {
                    (maximum, true)
                } else {
                    (draw(bound, u), false)
                }
            }
        }
    }
}

/// `value * 2^shift`, or `maximum` when it would reach it. Shifts stop at 62.
fn shifted(value: u64, shift: u32, maximum: u64) -> u64 {
    let factor = 1u64 << shift.min(62);
    if value >= maximum / factor {
        maximum
    } else {
        value * factor
    }
}

/// A whole number below `n`; 0 for an empty range.
fn draw(n: u64, u: f64) -> u64 {
    ((n as f64 * u) as u64).min(n.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(kind: FinagleKind, start: u64, maximum: u64, u: f64) -> Vec<u64> {
        let finagle = Finagle {
            kind,
            start: Span(start),
            maximum: Span(maximum),
        };
        let mut progress = Progress::default();
        (0..6)
            .map(|_| {
                let wait = finagle.delay(&mut progress, u).0;
                progress.retries += 1;
                wait
            })
            .collect()
    }

    #[test]
    fn degenerate_multipliers_and_offsets_follow_the_constructor() {
        let exponential = |multiplier| FinagleKind::Exponential { multiplier };
        assert_eq!(series(exponential(1), 20, 10, 0.0), [20; 6]);
        assert_eq!(series(exponential(0), 5, 10, 0.0), [5, 0, 0, 0, 0, 0]);
        assert_eq!(series(exponential(2), 20, 10, 0.0), [10; 6]);
        let linear = |offset| FinagleKind::Linear {
            offset: Span(offset),
        };
        assert_eq!(series(linear(0), 20, 10, 0.0), [20; 6]);
        assert_eq!(series(linear(3), 20, 10, 0.0), [10; 6]);
        assert_eq!(series(linear(100), 2, 10, 0.0), [2, 10, 10, 10, 10, 10]);
    }

    #[test]
    fn a_drawn_zero_makes_the_exponential_kind_stay_at_zero() {
        let kind = FinagleKind::ExponentialJittered;
        assert_eq!(series(kind, 100, 1_000_000, 0.0), [100, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn start_at_the_maximum_is_constant_for_every_jittered_kind() {
        for kind in [
            FinagleKind::DecorrelatedJittered,
            FinagleKind::EqualJittered,
            FinagleKind::ExponentialJittered,
        ] {
            assert_eq!(series(kind, 70, 70, 0.3), [70; 6]);
        }
    }

    #[test]
    fn nothing_overflows_without_a_maximum() {
        for kind in [
            FinagleKind::Exponential {
                multiplier: u32::MAX,
            },
            FinagleKind::Linear { offset: Span::MAX },
            FinagleKind::DecorrelatedJittered,
            FinagleKind::EqualJittered,
            FinagleKind::ExponentialJittered,
        ] {
            let waits = series(kind, u64::MAX / 2, u64::MAX, 0.999);
            assert_eq!(waits[0], u64::MAX / 2, "{kind:?}");
        }
    }
}
