//! Weighted mixtures of laws.

use seawall::Entropy;

use super::Law;
use crate::rng::SplitMix64;

/// One of several laws, drawn anew for each length. A mixture of exponentials is hyperexponential.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    /// Each with the share of it and all before it; the last is 1.
    parts: Vec<(f64, Law)>,
}

impl Mixture {
    pub(super) fn new(weighted: Vec<(f64, Law)>) -> Result<Mixture, String> {
        Ok(Mixture {
            parts: shares(weighted)?,
        })
    }

    /// The laws with their shares, which sum to 1.
    pub fn parts(&self) -> impl Iterator<Item = (f64, &Law)> {
        let before = std::iter::once(0.0).chain(self.parts.iter().map(|(upto, _)| *upto));
        self.parts
            .iter()
            .zip(before)
            .map(|((upto, law), before)| (upto - before, law))
    }

    /// The draw chooses the law; a second number made from it is the length.
    pub(super) fn variate(&self, bits: u64) -> f64 {
        let mut numbers = SplitMix64(bits);
        let choice = numbers.unit();
        let part = self.parts.partition_point(|(upto, _)| *upto <= choice);
        // `choice` is below 1, the last share: there is always such a part.
        self.parts[part].1.variate(numbers.next_u64())
    }

    pub(super) fn map(&self, change: impl Fn(&Law) -> Law) -> Mixture {
        Mixture {
            parts: self
                .parts
                .iter()
                .map(|(upto, law)| (*upto, change(law)))
                .collect(),
        }
    }
}

/// Turns weights into cumulative shares, the last exactly 1. What has weight 0 is dropped.
pub(super) fn shares<T>(mut weighted: Vec<(f64, T)>) -> Result<Vec<(f64, T)>, String> {
    if let Some((wrong, _)) = weighted.iter().find(|(w, _)| !(*w >= 0.0 && w.is_finite())) {
        return Err(format!("a weight must be 0 or above, not {wrong}"));
    }
    weighted.retain(|(weight, _)| *weight > 0.0);
    let total: f64 = weighted.iter().map(|(weight, _)| weight).sum();
    if !total.is_finite() {
        return Err("the weights are too large to add up".to_owned());
    }
    let mut sum = 0.0;
    for (weight, _) in &mut weighted {
        sum += *weight;
        *weight = sum / total;
    }
    match weighted.last_mut() {
        Some((last, _)) => *last = 1.0,
        None => return Err("at least one weight must be above 0".to_owned()),
    }
    Ok(weighted)
}
