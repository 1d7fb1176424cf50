//! Two worlds compared replication by replication.

use super::Estimate;
use crate::figure::column::rounded;

/// Pairs below this many say nothing about how differences spread.
pub const PAIRS_MIN: usize = 3;

/// One figure of two worlds that met the same random numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Paired {
    /// Mean of the first world, over the pairs.
    pub base: Option<f64>,
    /// Mean of the second.
    pub other: Option<f64>,
    /// Second minus first, over the pairs; its interval is the paired t-interval.
    pub difference: Estimate,
    /// Correlation of the two; `None` when either does not vary or there are fewer than three pairs.
    pub correlation: Option<f64>,
    /// Whether the two are equal in every pair.
    pub equal: bool,
}

/// What a comparison comes to, without saying what is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// No pair has a value.
    NoData,
    /// Fewer than [`PAIRS_MIN`] pairs.
    TooFew,
    /// Equal in every replication.
    Same,
    /// The interval holds zero.
    NotSeen,
    /// The second world's figure is larger.
    Larger,
    /// The second world's figure is smaller.
    Smaller,
}

impl Paired {
    /// From one value per replication of each world, in the same order of seeds. Replications in which
    /// either has none are left out.
    ///
    /// The differences `d = other − base` are independent from seed to seed, so `mean(d) ± t(0.975, n−1) ·
    /// s(d) / √n` is an interval for their mean whatever the two have in common; what they have in common
    /// makes it narrow, as `var(d) = var(base) + var(other) − 2 cov(base, other)` (Law, *Simulation
    /// Modeling and Analysis*, 10.2.1 and 11.2).
    #[must_use]
    pub fn of(base: &[Option<f64>], other: &[Option<f64>]) -> Paired {
        let pairs = base.iter().zip(other);
        let pairs: Vec<(f64, f64)> = pairs.filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
        if pairs.is_empty() {
            return Paired::default();
        }
        let mean = |of: fn(&(f64, f64)) -> f64| {
            Some(rounded(
                pairs.iter().map(of).sum::<f64>() / pairs.len() as f64,
            ))
        };
        Paired {
            base: mean(|p| p.0),
            other: mean(|p| p.1),
            difference: Estimate::of(pairs.iter().map(|(a, b)| Some(b - a))),
            correlation: correlation(&pairs),
            equal: pairs.iter().all(|(a, b)| a == b),
        }
    }

    /// What it comes to.
    #[must_use]
    pub fn change(&self) -> Change {
        match (self.difference.replications, self.difference.interval) {
            (0, _) => Change::NoData,
            (n, _) if n < PAIRS_MIN => Change::TooFew,
            _ if self.equal => Change::Same,
            (_, Some((low, _))) if low > 0.0 => Change::Larger,
            (_, Some((_, high))) if high < 0.0 => Change::Smaller,
            _ => Change::NotSeen,
        }
    }
}

/// Pearson's.
fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < PAIRS_MIN {
        return None;
    }
    let n = pairs.len() as f64;
    let a = pairs.iter().map(|p| p.0).sum::<f64>() / n;
    let b = pairs.iter().map(|p| p.1).sum::<f64>() / n;
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>();
    let both = sum(&|p| (p.0 - a) * (p.1 - b));
    let each = sum(&|p| (p.0 - a) * (p.0 - a)).sqrt() * sum(&|p| (p.1 - b) * (p.1 - b)).sqrt();
    (each > 0.0).then(|| rounded((both / each).clamp(-1.0, 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, StudentsT};

    fn some(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().map(|x| Some(*x)).collect()
    }

    /// Ten patients' hours of extra sleep under two drugs (Student, 1908): mean difference 1.58, s = 1.2300,
    /// t = 4.0621 with 9 degrees of freedom, 95 % from 0.7001 to 2.4599.
    #[test]
    fn the_paired_interval_is_that_of_students_own_example() {
        let one = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let two = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let paired = Paired::of(&some(&one), &some(&two));
        let (low, high) = paired.difference.interval.expect("ten pairs");
        assert!((paired.difference.mean.expect("ten pairs") - 1.58).abs() < 1e-9);
        assert!((low - 0.7001).abs() < 1e-4 && (high - 2.4599).abs() < 1e-4);
        assert_eq!(paired.change(), Change::Larger);
        // The unpaired interval of the same figures holds zero (p = 0.079): pairing is what shows it.
        let spread = |x: &[f64]| crate::stats::series::variance(x) / 10.0;
        let t18 = StudentsT::new(0.0, 1.0, 18.0)
            .expect("freedom")
            .inverse_cdf(0.975);
        assert!(1.58 < t18 * (spread(&one) + spread(&two)).sqrt());
        assert!((paired.correlation.expect("they vary") - 0.7952).abs() < 1e-4);
    }

    #[test]
    fn a_replication_without_a_value_in_either_world_is_no_pair() {
        let base = [Some(1.0), None, Some(3.0), Some(4.0), Some(6.0)];
        let other = [Some(2.0), Some(9.0), Some(4.0), None, Some(8.0)];
        let paired = Paired::of(&base, &other);
        assert_eq!(paired.difference.replications, 3);
        assert_eq!(paired.base, Some(3.333_333_33));
        assert_eq!(Paired::of(&[None], &[Some(1.0)]).change(), Change::NoData);
    }

    #[test]
    fn each_change_has_its_name() {
        let of = |a: &[f64], b: &[f64]| Paired::of(&some(a), &some(b)).change();
        assert_eq!(of(&[1.0, 2.0], &[5.0, 6.0]), Change::TooFew);
        assert_eq!(of(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]), Change::Same);
        assert_eq!(of(&[1.0, 2.0, 3.0], &[2.0, 1.0, 3.5]), Change::NotSeen);
        assert_eq!(of(&[1.0, 2.0, 3.0], &[2.0, 3.0, 4.0]), Change::Larger);
        assert_eq!(of(&[1.0, 2.0, 3.0], &[0.0, 1.0, 2.1]), Change::Smaller);
    }
}
