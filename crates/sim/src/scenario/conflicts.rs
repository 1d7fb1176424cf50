//! Optimistic transactions, which conflict the more often the more there are at once.

use seawall::Failure;

/// How often jobs fail for each other's sake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conflicts {
    /// How often two that are at work at once conflict; above 0, at most 1.
    pub share: f64,
    /// What the callers of those get that fail.
    pub failure: Failure,
}

impl Conflicts {
    /// How often one fails that ends while `n` are at work, itself counted: when it conflicts with any of the others,
    /// `1 - (1 - share)^(n - 1)`.
    #[must_use]
    pub fn chance(&self, n: u64) -> f64 {
        match n {
            0 | 1 => 0.0,
            n => 1.0 - libm::exp((n - 1) as f64 * libm::log1p(-self.share)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_conflicts_alone_and_hardly_anybody_gets_by_among_many() {
        let failure = seawall::FailureKind::Conflict.into();
        let of = |share| Conflicts { share, failure };
        assert_eq!(of(0.02).chance(0), 0.0);
        assert_eq!(of(0.02).chance(1), 0.0);
        assert!((of(0.02).chance(2) - 0.02).abs() < 1e-12);
        assert!(
            (of(0.02).chance(200) - 0.982_053).abs() < 1e-6,
            "{}",
            of(0.02).chance(200)
        );
        assert_eq!((of(1.0).chance(1), of(1.0).chance(2)), (0.0, 1.0));
    }
}
