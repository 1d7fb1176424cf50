//! Gamma laws.

use seawall::{Entropy, Span};

use super::special::normal_quantile;
use crate::rng::SplitMix64;

/// A gamma law: the sum of `shape` exponential stages (Erlang) when `shape` is whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Gamma {
    shape: f64,
    mean: Span,
    /// Marsaglia and Tsang's `d`, for shapes below 1 that of `shape + 1`.
    d: f64,
    /// Their `c`.
    c: f64,
}

impl Gamma {
    pub(super) fn new(shape: f64, mean: Span) -> Gamma {
        let d = if shape < 1.0 { shape + 1.0 } else { shape } - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        Gamma { shape, mean, d, c }
    }

    /// The shape: 1 / cv².
    #[must_use]
    pub fn shape(&self) -> f64 {
        self.shape
    }

    /// The mean.
    #[must_use]
    pub fn mean(&self) -> Span {
        self.mean
    }

    pub(super) fn with_mean(&self, mean: Span) -> Gamma {
        Gamma {
            mean,
            ..self.clone()
        }
    }

    /// Marsaglia and Tsang (2000): a transformed normal, accepted with probability above 0.95.
    ///
    /// How many numbers that needs varies; they come from a generator seeded by the one draw, so that
    /// a gamma variate takes one draw like any other.
    pub(super) fn variate(&self, bits: u64) -> f64 {
        let mut numbers = SplitMix64(bits);
        let boost = if self.shape < 1.0 {
            libm::pow(1.0 - numbers.unit(), 1.0 / self.shape)
        } else {
            1.0
        };
        let unscaled = loop {
            let z = normal_quantile(numbers.unit());
            let root = 1.0 + self.c * z;
            if root <= 0.0 {
                continue;
            }
            let v = root * root * root;
            let u = 1.0 - numbers.unit();
            let square = z * z;
            if u < 1.0 - 0.0331 * square * square
                || libm::log(u) < 0.5 * square + self.d * (1.0 - v + libm::log(v))
            {
                break self.d * v;
            }
        };
        unscaled * boost * (self.mean.0 as f64 / self.shape)
    }
}
