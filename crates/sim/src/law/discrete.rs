//! Laws on a few lengths.

use seawall::Span;

use super::mixture::shares;

/// A few lengths, each with its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Discrete {
    /// Ascending, each with the probability of it and all below it; the last is 1.
    steps: Vec<(f64, Span)>,
}

impl Discrete {
    pub(super) fn new(mut weighted: Vec<(f64, Span)>) -> Result<Discrete, String> {
        weighted.sort_by_key(|(_, value)| *value);
        Ok(Discrete {
            steps: shares(weighted)?,
        })
    }

    /// The lengths, ascending, with their probabilities, which sum to 1.
    pub fn values(&self) -> impl Iterator<Item = (f64, Span)> {
        let before = std::iter::once(0.0).chain(self.steps.iter().map(|(upto, _)| *upto));
        self.steps
            .iter()
            .zip(before)
            .map(|((upto, value), before)| (upto - before, *value))
    }

    /// The least length with a cumulative probability above `q`; the longest for 1.
    pub(super) fn inverse(&self, q: f64) -> f64 {
        let step = self.steps.partition_point(|(upto, _)| *upto <= q);
        self.steps[step.min(self.steps.len() - 1)].1.0 as f64
    }

    pub(super) fn cdf(&self, x: Span) -> f64 {
        let above = self.steps.partition_point(|(_, value)| *value <= x);
        if above == 0 {
            0.0
        } else {
            self.steps[above - 1].0
        }
    }

    pub(super) fn map(&self, change: impl Fn(Span) -> Span) -> Discrete {
        Discrete {
            steps: self
                .steps
                .iter()
                .map(|(upto, value)| (*upto, change(*value)))
                .collect(),
        }
    }
}
