//! Constructors: each checks what it is given and says in one sentence what is wrong.

use seawall::Span;

use super::Law;
use super::discrete::Discrete;
use super::empirical::Empirical;
use super::gamma::Gamma;
use super::mixture::Mixture;
use super::normal::Normal;
use super::special::normal_quantile;

impl Law {
    /// Every length from `low` to `high` alike.
    pub fn uniform(low: Span, high: Span) -> Result<Law, String> {
        if low > high {
            return Err(format!(
                "the lower bound {low} is above the upper bound {high}"
            ));
        }
        Ok(Law::Uniform { low, high })
    }

    /// Memoryless with this mean.
    pub fn exponential(mean: Span) -> Result<Law, String> {
        positive_span("the mean", mean)?;
        Ok(Law::Exponential { mean })
    }

    /// Gamma with this shape, in (0, 10⁶]; a whole `shape` is Erlang with that many stages.
    pub fn gamma(shape: f64, mean: Span) -> Result<Law, String> {
        positive("the shape", shape)?;
        positive_span("the mean", mean)?;
        if shape > 1e6 {
            return Err(format!("the shape must be at most 1000000, not {shape}"));
        }
        Ok(Law::Gamma(Gamma::new(shape, mean)))
    }

    /// Lognormal with this mean and coefficient of variation (standard deviation ÷ mean):
    /// `sigma² = ln(1 + cv²)`, `mu = ln(mean) − sigma²/2`.
    pub fn lognormal_mean_cv(mean: Span, cv: f64) -> Result<Law, String> {
        positive_span("the mean", mean)?;
        positive("the coefficient of variation", cv)?;
        let square = libm::log1p(cv * cv);
        let mu = libm::log(mean.0 as f64) - square / 2.0;
        Ok(Law::Lognormal {
            mu,
            sigma: square.sqrt(),
        })
    }

    /// Lognormal with this median and 99 % quantile: `sigma = ln(p99/p50) / 2.326…`, `mu = ln(p50)`.
    pub fn lognormal_p50_p99(p50: Span, p99: Span) -> Result<Law, String> {
        positive_span("p50", p50)?;
        if p99 <= p50 {
            return Err(format!(
                "p99 must be above p50, not {p99} with p50 at {p50}"
            ));
        }
        let mu = libm::log(p50.0 as f64);
        let sigma = (libm::log(p99.0 as f64) - mu) / normal_quantile(0.99);
        Ok(Law::Lognormal { mu, sigma })
    }

    /// Weibull with this shape, and `scale` as its 63.2 % quantile.
    pub fn weibull(shape: f64, scale: Span) -> Result<Law, String> {
        positive("the shape", shape)?;
        positive_span("the scale", scale)?;
        Ok(Law::Weibull { shape, scale })
    }

    /// Pareto with this shape, from `scale` on.
    pub fn pareto(shape: f64, scale: Span) -> Result<Law, String> {
        positive("the shape", shape)?;
        positive_span("the scale", scale)?;
        Ok(Law::Pareto { shape, scale })
    }

    /// Normal around `location`, negative lengths drawn again; see [`Normal`].
    pub fn normal(location: Span, sd: Span) -> Result<Law, String> {
        positive_span("the standard deviation", sd)?;
        Ok(Law::Normal(Normal::new(location, sd)))
    }

    /// One of several laws by weight; weights need not sum to 1.
    pub fn mixture(weighted: Vec<(f64, Law)>) -> Result<Law, String> {
        Ok(Law::Mixture(Mixture::new(weighted)?))
    }

    /// Two exponential phases with balanced means (each contributes half of the mean), for a
    /// coefficient of variation above 1: `p = (1 + √((cv²−1)/(cv²+1))) / 2`, phase means `mean/2p`
    /// and `mean/2(1−p)`.
    pub fn hyperexponential(mean: Span, cv: f64) -> Result<Law, String> {
        positive_span("the mean", mean)?;
        if !(cv > 1.0 && cv.is_finite()) {
            return Err(format!(
                "the coefficient of variation must be above 1, not {cv}"
            ));
        }
        let root = ((cv * cv - 1.0) / (cv * cv + 1.0)).sqrt();
        let phase = |p: f64| {
            (
                p,
                Law::Exponential {
                    mean: mean.times(0.5 / p),
                },
            )
        };
        Law::mixture(vec![phase(0.5 + root / 2.0), phase(0.5 - root / 2.0)])
    }

    /// A few lengths by weight; weights need not sum to 1.
    pub fn discrete(weighted: Vec<(f64, Span)>) -> Result<Law, String> {
        Ok(Law::Discrete(Discrete::new(weighted)?))
    }

    /// From a percentile table of (quantile in 0 to 1, length), in any order; see [`Empirical`].
    pub fn empirical(table: &[(f64, Span)]) -> Result<Law, String> {
        Ok(Law::Empirical(Empirical::new(table)?))
    }

    /// From observed lengths; see [`Empirical`]. The smallest is the minimum, the largest the maximum.
    pub fn empirical_values(values: &[Span]) -> Result<Law, String> {
        Ok(Law::Empirical(Empirical::of_values(values)?))
    }
}

fn positive(what: &str, x: f64) -> Result<(), String> {
    if x > 0.0 && x.is_finite() {
        Ok(())
    } else {
        Err(format!("{what} must be above 0, not {x}"))
    }
}

fn positive_span(what: &str, x: Span) -> Result<(), String> {
    if x > Span::ZERO {
        Ok(())
    } else {
        Err(format!("{what} must be above 0s"))
    }
}
