//! Normal laws cut off at zero.

use seawall::Span;

use super::special::{normal_cdf, normal_density, normal_quantile};

/// A normal law given that it is not negative: `N(location, sd²)` with negative values drawn again.
///
/// With location 0 that is `|N(0, sd²)|`. The cut raises the mean above `location`, noticeably when
/// `location` is less than about three standard deviations.
#[derive(Clone, Debug, PartialEq)]
pub struct Normal {
    location: Span,
    sd: Span,
    /// Probability that the uncut law is not negative, at least 1/2.
    kept: f64,
}

impl Normal {
    pub(super) fn new(location: Span, sd: Span) -> Normal {
        let kept = normal_cdf(location.0 as f64 / sd.0 as f64);
        Normal { location, sd, kept }
    }

    /// The peak of the density; the mean of the uncut law.
    #[must_use]
    pub fn location(&self) -> Span {
        self.location
    }

    /// The standard deviation of the uncut law.
    #[must_use]
    pub fn sd(&self) -> Span {
        self.sd
    }

    /// By the upper tail, whose probability is exact however small the share cut off is.
    pub(super) fn inverse(&self, q: f64) -> f64 {
        let z = -normal_quantile((1.0 - q) * self.kept);
        (self.location.0 as f64 + z * self.sd.0 as f64).max(0.0)
    }

    pub(super) fn cdf(&self, x: Span) -> f64 {
        let above = normal_cdf((self.location.0 as f64 - x.0 as f64) / self.sd.0 as f64);
        (1.0 - above / self.kept).max(0.0)
    }

    pub(super) fn scaled(&self, factor: f64) -> Normal {
        Normal {
            location: self.location.times(factor),
            sd: self.sd.times(factor),
            kept: self.kept,
        }
    }

    /// Mean and variance in nanoseconds (the inverse Mills ratio of the cut).
    pub(super) fn moments(&self) -> (f64, f64) {
        let (location, sd) = (self.location.0 as f64, self.sd.0 as f64);
        let cut = -location / sd;
        let mills = normal_density(cut) / self.kept;
        (
            location + sd * mills,
            sd * sd * (1.0 + cut * mills - mills * mills),
        )
    }
}
