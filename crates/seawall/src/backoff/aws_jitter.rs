//! The four kinds of jitter of the AWS Architecture Blog, as its simulator computes them.
//!
//! Source: aws-samples/aws-arch-backoff-simulator@66cb1692, `src/backoff_simulator.py`.

use super::Progress;
use crate::found::Found;
use crate::time::Span;

/// Backoff of the AWS Architecture Blog simulator.
///
/// With `e(n) = min(cap, base * 2^n)`, `n` the number of the retry from 1, and `u` uniform:
///
/// | kind | wait |
/// | --- | --- |
/// | none | `e(n)` |
/// | full | `u * e(n)` |
/// | equal | `e(n)/2 + u * e(n)/2` |
/// | decorrelated | `min(cap, base + u * (3 * previous - base))`, `previous` starts at `base` |
///
/// The simulator raises the attempt number before the first wait, so the first bound is `2 * base`;
/// most libraries start at `base`: [`AwsJitter::first_exponent`] says which. Decorrelated keeps
/// `base` as its lower bound for ever, so a low draw lowers the next upper bound, and its cap comes
/// after the draw, so waits pile up at the cap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AwsJitter {
    /// How the wait is spread.
    pub kind: AwsJitterKind,
    /// The unit of growth, above 0. Simulator: 5 ms.
    pub base: Span,
    /// The largest wait, at least `base`. Simulator: 2 s.
    pub cap: Span,
    /// The exponent of the first retry: 1 in the simulator, 0 in most libraries.
    pub first_exponent: u32,
}

/// How [`AwsJitter`] spreads a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwsJitterKind {
    /// Not at all.
    None,
    /// Over everything below the bound.
    Full,
    /// Over the upper half below the bound.
    Equal,
    /// Between `base` and three times the previous wait.
    Decorrelated,
}

impl AwsJitter {
    pub(crate) fn check(&self, found: &mut Found) {
        found.span_above_zero("retry.backoff.base", self.base);
        found.require(
            self.cap >= self.base,
            "retry.backoff.cap",
            "at least base",
            self.cap,
        );
    }

    /// The wait before retry `progress.retries`, counted from 0, for a unit draw `u`.
    pub fn delay(&self, progress: &mut Progress, u: f64) -> Span {
        if self.kind == AwsJitterKind::Decorrelated {
            let previous = match progress.memory {
                0 => self.base,
                previous => Span(previous),
            };
            let room = Span(previous.0.saturating_mul(3)).minus(self.base);
            let wait = self.base.plus(room.times(u)).min(self.cap);
            progress.memory = wait.0;
            return wait;
        }
        let bound = self.bound(progress.retries.saturating_add(self.first_exponent));
        match self.kind {
            AwsJitterKind::None | AwsJitterKind::Decorrelated => bound,
            AwsJitterKind::Full => bound.times(u),
            AwsJitterKind::Equal => bound.times(0.5 + u / 2.0),
        }
    }

    fn bound(&self, exponent: u32) -> Span {
        let doubled = u128::from(self.base.0) << exponent.min(64);
        Span(doubled.min(u128::from(self.cap.0)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jitter(kind: AwsJitterKind, first_exponent: u32) -> AwsJitter {
        AwsJitter {
            kind,
            base: Span(100),
            cap: Span(1000),
            first_exponent,
        }
    }

    #[test]
    fn the_first_bound_is_twice_the_base_in_the_simulator_and_the_base_elsewhere() {
        let mut progress = Progress::default();
        assert_eq!(
            jitter(AwsJitterKind::None, 1).delay(&mut progress, 0.0).0,
            200
        );
        assert_eq!(
            jitter(AwsJitterKind::None, 0).delay(&mut progress, 0.0).0,
            100
        );
    }

    #[test]
    fn any_number_of_retries_stays_at_the_cap() {
        let mut progress = Progress {
            retries: u32::MAX,
            memory: 0,
        };
        for kind in [
            AwsJitterKind::None,
            AwsJitterKind::Full,
            AwsJitterKind::Equal,
        ] {
            assert_eq!(jitter(kind, 1).delay(&mut progress, 1.0).0, 1000);
        }
        progress.memory = u64::MAX;
        assert_eq!(
            jitter(AwsJitterKind::Decorrelated, 1)
                .delay(&mut progress, 1.0)
                .0,
            1000
        );
    }
}
