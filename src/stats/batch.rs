//! An interval from one long run: batch means.

use super::series::{mean, variance};
use super::student::t_quantile;

/// A run is cut into so many batches: with more, batches are shorter and more alike their neighbours; with
/// fewer, the t-quantile is larger for nothing (Schmeiser, *Operations Research* 30(3), 1982: 10 to 30).
pub const BATCHES: usize = 20;

/// How much the batches of one run differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batches {
    /// Standard error of the mean of the batches, `s / √n`.
    pub error: f64,
    /// Whether neighbours are alike beyond chance: batches are too short, and the error is too small.
    pub correlated: bool,
}

impl Batches {
    /// Of one value per batch; `None` with fewer than three.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Batches> {
        (values.len() > 2).then(|| Batches {
            error: (variance(values) / values.len() as f64).sqrt(),
            correlated: correlated(values),
        })
    }
}

/// Half the width of the interval that `n` batches with this standard error of their mean give.
#[must_use]
pub fn half_width(error: f64, n: usize, confidence: f64) -> f64 {
    t_quantile(n - 1, confidence) * error
}

/// Von Neumann's test for independence, one-sided at 5 %: whether
/// `C = 1 − Σ(xᵢ − xᵢ₊₁)² ÷ 2Σ(xᵢ − mean)²` is above `1.645 √((n−2)/(n²−1))`. `C` is the lag-1 correlation with a
/// correction for the ends; for independent normal values its mean is 0 and its variance `(n−2)/(n²−1)` (von
/// Neumann, *Ann. Math. Stat.* 12, 1941; Fishman, *Management Science* 24, 1978). Values that do not vary are not
/// correlated.
#[must_use]
pub fn correlated(values: &[f64]) -> bool {
    let n = values.len() as f64;
    neighbours(values) > 1.645 * ((n - 2.0) / (n * n - 1.0)).sqrt()
}

/// The statistic `C`; 0 when nothing varies.
fn neighbours(values: &[f64]) -> f64 {
    let centre = mean(values);
    let squares: f64 = values.iter().map(|x| (x - centre) * (x - centre)).sum();
    let steps: f64 = values
        .windows(2)
        .map(|pair| (pair[0] - pair[1]) * (pair[0] - pair[1]))
        .sum();
    if squares > 0.0 {
        1.0 - steps / (2.0 * squares)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::CONFIDENCE;

    /// By hand: deviations −2, 0, −1, 1, 2; squares 10; steps 2, −1, 2, 1, their squares 10; C = 1 − 10/20.
    #[test]
    fn the_statistic_of_five_values_is_as_by_hand() {
        let values = [1.0, 3.0, 2.0, 4.0, 5.0];
        assert_eq!(neighbours(&values), 0.5);
        // The limit for five is 1.645 √(3/24) = 0.5816.
        assert!(!correlated(&values));
        assert!(correlated(&[1.0, 2.0, 3.0, 4.0, 5.0]), "C = 1 − 4/20 = 0.8");
        assert!(!correlated(&[7.0; 20]));
        let batches = Batches::of(&values).expect("five");
        // s² = 2.5, so the error is √0.5, and t(0.975, 4) = 2.776445.
        let half = half_width(batches.error, 5, CONFIDENCE);
        assert!((half - 2.776_445 * 0.5f64.sqrt()).abs() < 1e-9);
        assert_eq!(Batches::of(&values[..2]), None);
    }

    /// SplitMix64 (Steele, Lea and Flood, 2014), as uniform values.
    fn uniforms(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
        }
    }

    #[test]
    fn independent_values_are_called_correlated_once_in_twenty() {
        let mut uniform = uniforms(1);
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>();
        let called = (0..2000)
            .filter(|_| {
                let values: Vec<f64> = (0..BATCHES).map(|_| normal()).collect();
                correlated(&values)
            })
            .count();
        // 99.9 % of a binomial(2000, 0.05) lie in 69..=133.
        assert!((69..=133).contains(&called), "{called}");
    }

    /// Mean waits of an M/M/1 queue from empty, by Lindley's recursion: intervals from batches of `n / 20`
    /// customers, how many of `runs` hold the truth, and in how many the batches are seen to be correlated.
    fn coverage(rho: f64, n: usize, warmup: usize, runs: u64) -> (usize, usize) {
        let truth = rho * rho / (1.0 - rho) / rho;
        let (mut covered, mut noticed) = (0, 0);
        for seed in 0..runs {
            let mut uniform = uniforms(seed.wrapping_mul(0xD134_2543_DE82_EF95) + 1);
            let mut wait = 0.0f64;
            let mut step = || {
                let (service, gap) = (-libm::log(uniform()), -libm::log(uniform()) / rho);
                wait = (wait + service - gap).max(0.0);
                wait
            };
            (0..warmup).for_each(|_| {
                step();
            });
            let size = n / BATCHES;
            let means: Vec<f64> = (0..BATCHES)
                .map(|_| (0..size).map(|_| step()).sum::<f64>() / size as f64)
                .collect();
            let batches = Batches::of(&means).expect("twenty");
            let half = half_width(batches.error, BATCHES, CONFIDENCE);
            covered += usize::from((mean(&means) - truth).abs() <= half);
            noticed += usize::from(batches.correlated);
        }
        (covered, noticed)
    }

    /// 99.9 % of a binomial(300, 0.95) lie in 271..=296.
    #[test]
    fn intervals_of_long_enough_runs_cover_the_truth_as_often_as_they_say() {
        let (covered, noticed) = coverage(0.5, 20_000, 500, 300);
        assert!((271..=296).contains(&covered), "{covered}");
        assert!(noticed < 35, "{noticed} of 300 called correlated");
    }

    /// So short that batches of 200 customers are alike: such intervals hold the truth in about 874 of 1000.
    #[test]
    fn intervals_of_runs_that_are_too_short_cover_less_and_it_is_noticed() {
        let (covered, noticed) = coverage(0.8, 4000, 0, 300);
        assert!(covered < 271, "{covered}");
        // Independent batches would be called so in 15 of 300; 99.9 % of that binomial lie below 29.
        assert!(noticed > 29, "{noticed} of 300 called correlated");
    }
}
