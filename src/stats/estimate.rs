//! A figure estimated from independent replications, or from the batches of one.

use super::Basis;
use super::batch::{BATCHES, Batches, half_width};
use super::student::t_quantile;
use crate::figure::column::rounded;

/// A figure and how sure it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Mean over the replications that have a value; `None` when none has.
    pub mean: Option<f64>,
    /// Ends of the 95 % confidence interval of the mean, if there is one.
    pub interval: Option<(f64, f64)>,
    /// Standard error of the mean, `s / √n`; `None` with fewer than two values.
    pub error: Option<f64>,
    /// Replications that have a value.
    pub replications: usize,
    /// What the interval rests on, or why there is none.
    pub basis: Basis,
}

/// Two-sided confidence of every interval.
pub const CONFIDENCE: f64 = 0.95;

impl Estimate {
    /// From one value per replication.
    ///
    /// The interval is `mean ± t(0.975, n−1) · s / √n`, s the sample standard deviation: exact for
    /// normal values, good for means over long runs (Law, *Simulation Modeling and Analysis*, ch. 9).
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = Option<f64>>) -> Estimate {
        let values: Vec<f64> = values.into_iter().flatten().collect();
        let n = values.len();
        if n == 0 {
            return Estimate::default();
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let error = (n > 1).then(|| {
            let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
            (squares / (n - 1) as f64 / n as f64).sqrt()
        });
        Estimate {
            mean: Some(rounded(mean)),
            interval: error.map(|error| {
                let half = t_quantile(n - 1, CONFIDENCE) * error;
                (rounded(mean - half), rounded(mean + half))
            }),
            error: error.map(rounded),
            replications: n,
            basis: match n {
                1 => Basis::OneValue,
                _ => Basis::Replications,
            },
        }
    }

    /// Of a single replication, without an interval.
    #[must_use]
    pub fn single(mean: f64, why_none: Basis) -> Estimate {
        Estimate {
            mean: Some(rounded(mean)),
            replications: 1,
            basis: why_none,
            ..Estimate::default()
        }
    }

    /// Of a single replication cut into batches: its figure is `mean`, that of a batch times `scale`. Correlated
    /// batches give an error that is too small, so no interval.
    #[must_use]
    pub fn of_batches(mean: f64, batches: Batches, scale: f64) -> Estimate {
        let error = batches.error * scale;
        if batches.correlated {
            return Estimate {
                error: Some(rounded(error)),
                ..Estimate::single(mean, Basis::Correlated)
            };
        }
        let half = half_width(error, BATCHES, CONFIDENCE);
        Estimate {
            interval: Some((rounded(mean - half), rounded(mean + half))),
            error: Some(rounded(error)),
            ..Estimate::single(mean, Basis::BatchMeans)
        }
    }

    /// Half the width of the interval, if there is one.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        self.interval?;
        self.half_width_at(CONFIDENCE)
    }

    /// Half the width of an interval with another `confidence`, in (0, 1); of correlated batches, the one that was
    /// refused.
    #[must_use]
    pub fn half_width_at(&self, confidence: f64) -> Option<f64> {
        let error = self.error?;
        Some(match self.basis {
            Basis::BatchMeans | Basis::Correlated => half_width(error, BATCHES, confidence),
            _ => t_quantile(self.replications - 1, confidence) * error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, t) in [
            (1, 12.7062),
            (4, 2.7764),
            (9, 2.2622),
            (29, 2.0452),
            (999, 1.9623),
        ] {
            assert!(
                (t_quantile(freedom, 0.95) - t).abs() < 5e-5,
                "{freedom}: {}",
                t_quantile(freedom, 0.95)
            );
        }
    }

    #[test]
    fn an_interval_needs_two_values() {
        assert_eq!(Estimate::of([None, None]), Estimate::default());
        let one = Estimate::of([Some(3.0), None]);
        assert_eq!(
            (one.mean, one.interval, one.replications),
            (Some(3.0), None, 1)
        );
        let two = Estimate::of([Some(1.0), Some(3.0)]);
        // s = √2, so the half-width is 12.7062 · √2 / √2.
        let (low, high) = two.interval.expect("two values have an interval");
        assert_eq!(two.mean, Some(2.0));
        assert!((high - 2.0 - 12.7062).abs() < 1e-4 && (low - 2.0 + 12.7062).abs() < 1e-4);
    }

    #[test]
    fn equal_values_have_an_interval_of_no_width() {
        let same = Estimate::of([Some(0.1); 5]);
        let (low, high) = same.interval.expect("five values");
        assert_eq!((low, high), (0.1, 0.1));
    }

    /// 95 % of intervals hold the true mean: of 1000, between 926 and 971 (99.9 % of a binomial).
    #[test]
    fn intervals_cover_the_truth_as_often_as_they_say() {
        let mut state: u64 = 1;
        let mut uniform = move || {
            // SplitMix64 (Steele, Lea and Flood, 2014).
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut replication = || Some((0..12).map(|_| uniform()).sum::<f64>());
        let covered = (0..1000)
            .filter(|_| {
                let estimate = Estimate::of((0..5).map(|_| replication()));
                let (low, high) = estimate.interval.expect("five values");
                low <= 6.0 && 6.0 <= high
            })
            .count();
        assert!((926..=971).contains(&covered), "{covered}");
    }
}
