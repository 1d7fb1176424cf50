//! What is known of a law without drawing from it.

use seawall::Span;

use super::special::{gamma_cdf, normal_cdf};
use super::{Law, nanos};

impl Law {
    /// The mean in seconds; `None` if it is infinite.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        self.moments().0.map(|nanoseconds| nanoseconds / 1e9)
    }

    /// The variance in seconds²; `None` if it is infinite.
    #[must_use]
    pub fn variance(&self) -> Option<f64> {
        self.moments().1.map(|square| (square / 1e18).max(0.0))
    }

    /// Mean and variance in nanoseconds, where finite.
    fn moments(&self) -> (Option<f64>, Option<f64>) {
        let both = |mean: f64, variance: f64| (Some(mean), Some(variance));
        match self {
            Law::Constant(span) => both(span.0 as f64, 0.0),
            Law::Uniform { low, high } => {
                let (low, high) = (low.0 as f64, high.0 as f64);
                both((low + high) / 2.0, (high - low) * (high - low) / 12.0)
            }
            Law::Exponential { mean } => both(mean.0 as f64, mean.0 as f64 * mean.0 as f64),
            Law::Gamma(gamma) => {
                let mean = gamma.mean().0 as f64;
                both(mean, mean * mean / gamma.shape())
            }
            Law::Lognormal { mu, sigma } => {
                let square = sigma * sigma;
                let mean = libm::exp(mu + square / 2.0);
                both(mean, mean * mean * libm::expm1(square))
            }
            Law::Weibull { shape, scale } => {
                let scale = scale.0 as f64;
                let first = libm::tgamma(1.0 + 1.0 / shape);
                let second = libm::tgamma(1.0 + 2.0 / shape);
                both(scale * first, scale * scale * (second - first * first))
            }
            Law::Pareto { shape, scale } => {
                let (a, scale) = (*shape, scale.0 as f64);
                let mean = (a > 1.0).then(|| a * scale / (a - 1.0));
                let variance =
                    (a > 2.0).then(|| a * scale * scale / ((a - 1.0) * (a - 1.0) * (a - 2.0)));
                (mean, variance)
            }
            Law::Normal(normal) => {
                let (mean, variance) = normal.moments();
                both(mean, variance)
            }
            Law::Mixture(mixture) => {
                let (mut mean, mut second) = (Some(0.0), Some(0.0));
                for (share, law) in mixture.parts().filter(|(share, _)| *share > 0.0) {
                    let (m, v) = law.moments();
                    mean = mean.zip(m).map(|(sum, m)| sum + share * m);
                    second = second
                        .zip(m.zip(v))
                        .map(|(sum, (m, v))| sum + share * (v + m * m));
                }
                (
                    mean,
                    second.zip(mean).map(|(second, mean)| second - mean * mean),
                )
            }
            Law::Discrete(discrete) => {
                let moment = |power: fn(f64) -> f64| -> f64 {
                    discrete
                        .values()
                        .map(|(p, value)| p * power(value.0 as f64))
                        .sum()
                };
                let mean = moment(|v| v);
                both(mean, moment(|v| v * v) - mean * mean)
            }
            Law::Empirical(empirical) => {
                let mean = empirical.moment(1);
                both(mean, empirical.moment(2) - mean * mean)
            }
        }
    }

    /// The probability of a length of at most `x`.
    #[must_use]
    pub fn cdf(&self, x: Span) -> f64 {
        let ns = x.0 as f64;
        match self {
            Law::Constant(span) => f64::from(u8::from(*span <= x)),
            Law::Uniform { low, high } => {
                if x >= *high {
                    1.0
                } else if x <= *low {
                    0.0
                } else {
                    x.minus(*low).0 as f64 / high.minus(*low).0 as f64
                }
            }
            Law::Exponential { mean } => -libm::expm1(-ns / mean.0 as f64),
            Law::Gamma(gamma) => {
                gamma_cdf(gamma.shape(), ns * gamma.shape() / gamma.mean().0 as f64)
            }
            Law::Lognormal { mu, sigma } => normal_cdf((libm::log(ns) - mu) / sigma),
            Law::Weibull { shape, scale } => -libm::expm1(-libm::pow(ns / scale.0 as f64, *shape)),
            Law::Pareto { shape, scale } => 1.0 - libm::pow(scale.0 as f64 / ns, *shape).min(1.0),
            Law::Normal(normal) => normal.cdf(x),
            Law::Mixture(mixture) => mixture.parts().map(|(share, law)| share * law.cdf(x)).sum(),
            Law::Discrete(discrete) => discrete.cdf(x),
            Law::Empirical(empirical) => empirical.cdf(x),
        }
    }

    /// The length that a share `q` of all lengths does not exceed; `q` is held to 0…1.
    ///
    /// By formula, for gamma laws and mixtures by halving intervals. At 1, a law without a longest
    /// length gives the longest that its distribution function can tell from certainty, up to
    /// `Span::MAX`.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Span {
        let q = if q > 0.0 { q.min(1.0) } else { 0.0 };
        match self {
            Law::Lognormal { .. } | Law::Normal(_) if q == 1.0 => Span::MAX,
            Law::Lognormal { .. } if q == 0.0 => Span::ZERO,
            _ => nanos(self.inverse(q)),
        }
    }

    /// The quantile function where there is no formula: the shortest length with `cdf(length) >= q`.
    pub(super) fn halving(&self, q: f64) -> f64 {
        let (mut low, mut high) = (0, u64::MAX);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.cdf(Span(middle)) >= q {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low as f64
    }

    /// The law of `factor` times this length. A factor that is not above 0 gives always zero.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Law {
        if factor.is_nan() || factor <= 0.0 {
            return Law::Constant(Span::ZERO);
        }
        let times = |span: &Span| span.times(factor);
        match self {
            Law::Constant(span) => Law::Constant(times(span)),
            Law::Uniform { low, high } => Law::Uniform {
                low: times(low),
                high: times(high),
            },
            Law::Exponential { mean } => Law::Exponential { mean: times(mean) },
            Law::Gamma(gamma) => Law::Gamma(gamma.with_mean(times(&gamma.mean()))),
            Law::Lognormal { mu, sigma } => Law::Lognormal {
                mu: mu + libm::log(factor),
                sigma: *sigma,
            },
            Law::Weibull { shape, scale } => Law::Weibull {
                shape: *shape,
                scale: times(scale),
            },
            Law::Pareto { shape, scale } => Law::Pareto {
                shape: *shape,
                scale: times(scale),
            },
            Law::Normal(normal) => Law::Normal(normal.scaled(factor)),
            Law::Mixture(mixture) => Law::Mixture(mixture.map(|law| law.scaled(factor))),
            Law::Discrete(discrete) => Law::Discrete(discrete.map(|value| times(&value))),
            Law::Empirical(empirical) => Law::Empirical(empirical.map(|value| times(&value))),
        }
    }
}
