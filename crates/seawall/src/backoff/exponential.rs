//! `cap = min(max, base * multiplier^n)`, then jitter; or decorrelated, which has a law of its own.
//!
//! Source: M. Brooker, "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015).

use super::Progress;
use super::jitter::{self, Jitter};
use crate::entropy::Entropy;
use crate::time::Span;

pub(super) fn next(
    base: Span,
    multiplier: f64,
    max: Span,
    jitter: Jitter,
    progress: &mut Progress,
    entropy: &mut impl Entropy,
) -> Span {
    if jitter == Jitter::Decorrelated {
        let previous = if progress.retries == 0 {
            base
        } else {
            Span(progress.memory)
        };
        let wait = decorrelated(base, max, previous, entropy);
        progress.memory = wait.0;
        return wait;
    }
    jitter::spread(
        cap(base, multiplier, max, progress.retries),
        jitter,
        entropy,
    )
}

/// `min(max, U(base, 3 * previous))`; `base` when three times the previous wait is below it.
fn decorrelated(base: Span, max: Span, previous: Span, entropy: &mut impl Entropy) -> Span {
    let room = Span(previous.0.saturating_mul(3)).minus(base);
    base.plus(room.times(entropy.unit())).min(max)
}

/// `min(max, base * multiplier^n)` without platform math: the power by repeated squaring.
fn cap(base: Span, multiplier: f64, max: Span, n: u32) -> Span {
    let (mut power, mut square, mut rest) = (1.0, multiplier, n);
    while rest > 0 {
        if rest & 1 == 1 {
            power *= square;
        }
        square *= square;
        rest >>= 1;
    }
    base.times(power).min(max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cap_grows_by_the_multiplier_until_max() {
        let caps: Vec<u64> = (0..6)
            .map(|n| cap(Span(100), 2.0, Span(1000), n).0)
            .collect();
        assert_eq!(caps, [100, 200, 400, 800, 1000, 1000]);
        assert_eq!(cap(Span(100), 1.5, Span(1000), 2).0, 225);
    }

    #[test]
    fn the_cap_stays_at_max_however_many_retries() {
        assert_eq!(cap(Span(1), 2.0, Span(1000), u32::MAX), Span(1000));
        assert_eq!(cap(Span::MAX, 1e308, Span::MAX, u32::MAX), Span::MAX);
        assert_eq!(cap(Span::ZERO, 2.0, Span::MAX, 3), Span::ZERO);
    }
}
