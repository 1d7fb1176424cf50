//! How a cap becomes a wait.

use crate::entropy::Entropy;
use crate::time::Span;

/// How a backoff is spread, given its cap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Jitter {
    /// Exactly the cap.
    #[default]
    None,
    /// `U(0, cap)`.
    Full,
    /// `cap/2 + U(0, cap/2)`.
    Equal,
    /// `min(max, U(base, 3 * previous))`, the previous wait starting at `base`.
    Decorrelated,
    /// `cap * U(1 - ratio, 1 + ratio)`.
    Proportional {
        /// 0 to 1.
        ratio: f64,
    },
    /// Drawn from an exponential with the cap as its mean: memoryless, and without a bound.
    Exponential,
}

/// Spreads `cap` as [`Jitter`] says, one draw `u` of `U[0, 1)`: none `cap`; full `u * cap`; equal
/// `cap/2 + u * cap/2`; proportional `cap * (1 - ratio + 2 * ratio * u)`; exponential `-cap * ln(1 - u)`.
pub(crate) fn spread(cap: Span, jitter: Jitter, entropy: &mut impl Entropy) -> Span {
    match jitter {
        // A check refuses decorrelated jitter where there is no base and max to work with.
        Jitter::None | Jitter::Decorrelated => cap,
        Jitter::Full => cap.times(entropy.unit()),
        Jitter::Equal => {
            let half = Span(cap.0 / 2);
            half.plus(cap.minus(half).times(entropy.unit()))
        }
        Jitter::Proportional { ratio } => cap.times(1.0 - ratio + 2.0 * ratio * entropy.unit()),
        Jitter::Exponential => cap.times(-libm::log1p(-entropy.unit())),
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// So many equally spaced words.
    struct Grid(u64);
    const WORDS: u64 = 100_000;

    impl Entropy for Grid {
        fn next_u64(&mut self) -> u64 {
            self.0 += 1;
            (u64::MAX / WORDS) * self.0 - u64::MAX / WORDS / 2
        }
    }

    #[test]
    fn an_exponential_spread_has_the_cap_as_its_mean_and_as_its_deviation() {
        let mut grid = Grid(0);
        let waits: Vec<f64> = (0..WORDS)
            .map(|_| spread(Span::secs(3), Jitter::Exponential, &mut grid).as_secs_f64())
            .collect();
        let mean = waits.iter().sum::<f64>() / WORDS as f64;
        let second = waits.iter().map(|wait| wait * wait).sum::<f64>() / WORDS as f64;
        assert!((mean - 3.0).abs() < 0.01, "{mean}");
        assert!((second - 18.0).abs() < 0.1, "{second}");
        // The median is ln 2 means.
        let below = waits.iter().filter(|wait| **wait < 2.079_441_5).count();
        assert!(below.abs_diff(WORDS as usize / 2) <= 1, "{below}");
    }
}
