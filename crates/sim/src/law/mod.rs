//! Laws of random lengths of time: work, delays, gaps.
//!
//! **One draw, one variate.** Whatever its law, a length takes exactly one draw of its stream (a
//! constant takes none), so streams stay aligned between runs whose laws differ in their parameters.
//! Laws with a quantile function are sampled by inversion, `quantile(unit)`: the same draw gives a
//! longer time under a slower law.
//!
//! Results are the same on every platform: `libm` and + − × ÷ √ only.

use seawall::{Entropy, Span};

use crate::rng::Stream;

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
}

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
        positive_span("mean", mean)?;
        Ok(Law::Exponential { mean })
    }

    /// Weibull with this shape, and `scale` as its 63.2 % quantile.
    pub fn weibull(shape: f64, scale: Span) -> Result<Law, String> {
        positive("shape", shape)?;
        positive_span("scale", scale)?;
        Ok(Law::Weibull { shape, scale })
    }

    /// Pareto with this shape, from `scale` on.
    pub fn pareto(shape: f64, scale: Span) -> Result<Law, String> {
        positive("shape", shape)?;
        positive_span("scale", scale)?;
        Ok(Law::Pareto { shape, scale })
    }

    /// One length, rounded to the nearest nanosecond. Takes one draw, none for a constant.
    #[inline]
    pub fn sample(&self, stream: &mut Stream) -> Span {
        match self {
            Law::Constant(span) => *span,
            _ => nanos(self.variate(stream.next_u64())),
        }
    }

    /// The length in nanoseconds that one draw stands for.
    #[inline]
    fn variate(&self, bits: u64) -> f64 {
        self.inverse((bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64))
    }

    /// The quantile function in nanoseconds on `[0, 1]`.
    #[inline]
    fn inverse(&self, q: f64) -> f64 {
        match self {
            Law::Constant(span) => span.0 as f64,
            Law::Uniform { low, high } => low.0 as f64 + q * (high.minus(*low).0 as f64),
            Law::Exponential { mean } => -libm::log(1.0 - q) * mean.0 as f64,
            Law::Weibull { shape, scale } => {
                libm::pow(-libm::log(1.0 - q), 1.0 / shape) * scale.0 as f64
            }
            Law::Pareto { shape, scale } => libm::pow(1.0 - q, -1.0 / shape) * scale.0 as f64,
        }
    }
}

/// Nearest whole nanosecond; NaN is zero, too long saturates.
#[inline]
fn nanos(x: f64) -> Span {
    Span((x + 0.5) as u64)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    #[test]
    fn a_variate_takes_one_draw_and_a_constant_none() {
        let span = Span::millis(10);
        let laws = [
            Law::uniform(Span::ZERO, span).unwrap(),
            Law::exponential(span).unwrap(),
            Law::weibull(0.7, span).unwrap(),
            Law::pareto(2.5, span).unwrap(),
        ];
        let mut stream = Stream::new(1, Purpose::Work, "api");
        let mut reference = stream.clone();
        assert_eq!(Law::Constant(span).sample(&mut stream), span);
        assert_eq!(stream, reference);
        for law in laws {
            law.sample(&mut stream);
            reference.next_u64();
            assert_eq!(stream, reference, "{law:?}");
        }
    }
}
