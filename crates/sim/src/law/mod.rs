//! Laws of random lengths of time: work, delays, gaps.
//!
//! **One draw, one variate.** Whatever its law, a length takes exactly one draw of its stream (a
//! constant takes none), so streams stay aligned between runs whose laws differ in their parameters.
//! Laws with a quantile function are sampled by inversion, `quantile(unit)`: the same draw gives a
//! longer time under a slower law.
//!
//! Results are the same on every platform: `libm` and + − × ÷ √ only.

mod build;
mod discrete;
mod empirical;
mod facts;
mod gamma;
mod mixture;
mod normal;
mod special;

use seawall::{Entropy, Span};

pub use discrete::Discrete;
pub use empirical::Empirical;
pub use gamma::Gamma;
pub use mixture::Mixture;
pub use normal::Normal;

use crate::rng::Stream;
use special::normal_quantile;

/// A distribution of lengths of time. Build with the constructors, which check their parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// Always the same.
    Constant(Span),
    /// Every length between two bounds alike.
    Uniform {
        /// The shortest.
        low: Span,
        /// The longest.
        high: Span,
    },
    /// Memoryless: density `e^(-x/mean) / mean`.
    Exponential {
        /// The mean.
        mean: Span,
    },
    /// Sums of exponential stages.
    Gamma(Gamma),
    /// The logarithm is normal.
    Lognormal {
        /// Mean of the natural logarithm of the nanoseconds; `e^mu` ns is the median.
        mu: f64,
        /// Its standard deviation, above 0.
        sigma: f64,
    },
    /// Survival `e^-(x/scale)^shape`; a heavy tail below shape 1, exponential at 1.
    Weibull {
        /// Above 0.
        shape: f64,
        /// The 63.2 % quantile.
        scale: Span,
    },
    /// Survival `(scale/x)^shape` from `scale` on (Pareto I).
    Pareto {
        /// Above 0; the mean is finite above 1, the variance above 2.
        shape: f64,
        /// The shortest length.
        scale: Span,
    },
    /// Normal, cut off at zero.
    Normal(Normal),
    /// One of several laws.
    Mixture(Mixture),
    /// A few lengths.
    Discrete(Discrete),
    /// A percentile table.
    Empirical(Empirical),
}

impl Law {
    /// One length, rounded to the nearest nanosecond. Takes one draw, none for a constant.
    #[inline]
    pub fn sample(&self, stream: &mut Stream) -> Span {
        match self {
            Law::Constant(span) => *span,
            // The most common law takes the short way to the same result.
            Law::Exponential { mean } => nanos(stream.exponential() * mean.0 as f64),
            _ => self.sample_by_variate(stream),
        }
    }

    #[inline(never)]
    fn sample_by_variate(&self, stream: &mut Stream) -> Span {
        nanos(self.variate(stream.next_u64()))
    }

    /// The length in nanoseconds that one draw stands for.
    #[inline]
    fn variate(&self, bits: u64) -> f64 {
        match self {
            Law::Gamma(gamma) => gamma.variate(bits),
            Law::Mixture(mixture) => mixture.variate(bits),
            _ => self.inverse((bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)),
        }
    }

    /// The quantile function in nanoseconds on `[0, 1]`.
    #[inline]
    fn inverse(&self, q: f64) -> f64 {
        match self {
            Law::Constant(span) => span.0 as f64,
            Law::Uniform { low, high } => low.0 as f64 + q * high.minus(*low).0 as f64,
            Law::Exponential { mean } => exponential(q, *mean),
            Law::Lognormal { mu, sigma } => libm::exp(mu + sigma * normal_quantile(q)),
            // `exp(ln(x) · power)`: half the time of `pow`, whose last digits no length needs.
            Law::Weibull { shape, scale } => {
                libm::exp(libm::log(-libm::log(1.0 - q)) / shape) * scale.0 as f64
            }
            Law::Pareto { shape, scale } => libm::exp(-libm::log(1.0 - q) / shape) * scale.0 as f64,
            Law::Normal(normal) => normal.inverse(q),
            Law::Discrete(discrete) => discrete.inverse(q),
            Law::Empirical(empirical) => empirical.inverse(q),
            Law::Gamma(_) | Law::Mixture(_) => self.halving(q),
        }
    }
}

/// The quantile function of an exponential law, in nanoseconds.
#[inline]
fn exponential(q: f64, mean: Span) -> f64 {
    -libm::log(1.0 - q) * mean.0 as f64
}

/// Nearest whole nanosecond; NaN is zero, too long saturates.
#[inline]
fn nanos(x: f64) -> Span {
    let x = x + 0.5;
    // To a signed number the processor has a way of its own.
    Span(if x < SIGNED {
        (x as i64).max(0) as u64
    } else {
        x as u64
    })
}

/// 2^63.
const SIGNED: f64 = (1u64 << 63) as f64;

#[cfg(test)]
mod against;
#[cfg(test)]
mod tests;
