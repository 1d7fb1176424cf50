//! When a simulated value agrees with a known one.
//!
//! Two things are asked of an estimate from replications, and both must hold. *Precision*: the 95 %
//! interval is at most as wide as the case demands, so that a noisy simulator does not pass.
//! *Consistency*: the known value lies within the 99.9 % interval (plus its own error), so that a wrong
//! one does not. One in a thousand right values fails the second: then the case is run again with a new
//! seed and twice as long, and a real difference stays.
//!
//! A share that came out as none or all of its trials in every replication has an interval without width, though the truth may be
//! near instead. There the exact bound of the binomial takes its place: had the probability of what never happened
//! in `n` trials been above `1 - 0.001^(1/n)` (the rule of three, at 99.9 %: about `6.9 / n`), it would have been seen but once in
//! a thousand times.

use serde::Deserialize;

use crate::stats::Estimate;

/// What agreement is.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Tolerance {
    /// Precision and consistency; the half-width allowed is `rel` of the value or `abs`.
    Stat {
        /// As a share of the expected value.
        rel: Option<f64>,
        /// As it is.
        abs: Option<f64>,
    },
    /// As `Stat` with `rel`, or within `abs`.
    StatOrAbs {
        /// As a share of the expected value.
        rel: f64,
        /// As it is.
        abs: f64,
    },
    /// Within a share of the expected value.
    Rel {
        /// The share.
        rel: f64,
    },
    /// Within so much.
    Abs {
        /// So much.
        abs: f64,
    },
    /// Between two values.
    Range {
        /// The least.
        lo: f64,
        /// The most.
        hi: f64,
    },
    /// The very same.
    Exact,
    /// No more than that.
    AtMost,
    /// Within `z` standard errors of the difference of two simulations, plus `abs`.
    RefSe {
        /// Standard errors.
        z: f64,
        /// On top.
        abs: f64,
    },
    /// For information.
    Info,
}

/// What came of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Precise and consistent, or within the fixed bound.
    Passed,
    /// Consistent, but known no better than this half-width, and this much is asked for.
    Imprecise {
        /// Of the 95 % interval.
        half_width: f64,
        /// The most allowed.
        allowed: f64,
    },
    /// Different.
    Failed,
    /// Not compared.
    Informative,
}

impl Tolerance {
    /// Whether another, longer run may say more.
    #[must_use]
    pub fn is_random(&self) -> bool {
        matches!(
            self,
            Tolerance::Stat { .. } | Tolerance::StatOrAbs { .. } | Tolerance::RefSe { .. }
        )
    }

    /// Compares `found` with `expected`, whose own error is `reference_error`. `trials`: of a share, how many independent ones it was
    /// taken over in all replications.
    #[must_use]
    pub fn judge(
        &self,
        found: &Estimate,
        expected: f64,
        reference_error: f64,
        trials: Option<f64>,
    ) -> Verdict {
        if *self == Tolerance::Info {
            return Verdict::Informative;
        }
        let Some(mean) = found.mean else {
            return Verdict::Failed;
        };
        let off = (mean - expected).abs();
        let passed = |yes| {
            if yes {
                Verdict::Passed
            } else {
                Verdict::Failed
            }
        };
        match *self {
            Tolerance::Stat { rel, abs } => {
                let allowed = abs.unwrap_or_else(|| rel.unwrap_or(0.0) * expected.abs());
                statistical(found, off, allowed, reference_error, trials)
            }
            Tolerance::StatOrAbs { rel, abs } => {
                if off <= abs {
                    return Verdict::Passed;
                }
                statistical(found, off, rel * expected.abs(), reference_error, trials)
            }
            Tolerance::Rel { rel } => passed(off <= rel * expected.abs()),
            Tolerance::Abs { abs } => passed(off <= abs),
            Tolerance::Range { lo, hi } => passed((lo..=hi).contains(&mean)),
            // What is computed in floating point agrees to its last digits.
            Tolerance::Exact => passed(off <= reference_error.max(1e-9 * expected.abs())),
            Tolerance::AtMost => passed(mean <= expected),
            Tolerance::RefSe { z, abs } => {
                let own = found.error.unwrap_or(0.0);
                let other = reference_error / 2.0;
                passed(off <= z * (own * own + other * other).sqrt() + abs)
            }
            Tolerance::Info => Verdict::Informative,
        }
    }
}

/// Precision, and consistency at 99.9 %.
fn statistical(
    found: &Estimate,
    off: f64,
    allowed: f64,
    reference_error: f64,
    trials: Option<f64>,
) -> Verdict {
    let (Some(mut half_width), Some(mut wide)) = (found.half_width(), found.half_width_at(0.999))
    else {
        return Verdict::Failed;
    };
    if let (Some(trials), Some(0.0 | 1.0)) = (trials, found.mean)
        && wide == 0.0
        && off > reference_error
    {
        wide = never_seen_in(trials);
        half_width = wide;
    }
    if off > wide + reference_error {
        Verdict::Failed
    } else if half_width > allowed {
        Verdict::Imprecise {
            half_width,
            allowed,
        }
    } else {
        Verdict::Passed
    }
}

/// The greatest probability, at 99.9 %, of what did not happen in `n` independent trials: `1 - 0.001^(1/n)`.
fn never_seen_in(n: f64) -> f64 {
    -libm::expm1(libm::log(0.001) / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten replications around `mean`, with a 95 % half-width of about 0.72 `spread`.
    fn found(mean: f64, spread: f64) -> Estimate {
        Estimate::of((0..10).map(|i| Some(mean + if i % 2 == 0 { spread } else { -spread })))
    }

    const STAT: Tolerance = Tolerance::Stat {
        rel: Some(0.01),
        abs: None,
    };

    #[test]
    fn a_precise_and_consistent_value_passes() {
        assert_eq!(
            STAT.judge(&found(10.05, 0.1), 10.0, 0.0, None),
            Verdict::Passed
        );
    }

    #[test]
    fn a_noisy_value_does_not_pass_however_near() {
        let verdict = STAT.judge(&found(10.0, 1.0), 10.0, 0.0, None);
        assert!(matches!(verdict, Verdict::Imprecise { .. }), "{verdict:?}");
    }

    #[test]
    fn a_value_that_is_off_fails_however_noisy_its_reference() {
        assert_eq!(
            STAT.judge(&found(11.0, 0.1), 10.0, 0.0, None),
            Verdict::Failed
        );
        assert_eq!(
            STAT.judge(&found(11.0, 0.1), 10.0, 0.9, None),
            Verdict::Passed
        );
    }

    #[test]
    fn a_value_without_spread_must_be_right() {
        assert_eq!(
            STAT.judge(&found(10.0, 0.0), 10.0, 0.0, None),
            Verdict::Passed
        );
        assert_eq!(
            STAT.judge(&found(10.001, 0.0), 10.0, 0.0, None),
            Verdict::Failed
        );
    }

    #[test]
    fn fixed_bounds_are_plain_comparisons() {
        let judge = |tolerance: Tolerance, mean| {
            tolerance.judge(&Estimate::of([Some(mean)]), 10.0, 0.0, None)
        };
        assert_eq!(judge(Tolerance::Rel { rel: 0.1 }, 10.9), Verdict::Passed);
        assert_eq!(judge(Tolerance::Rel { rel: 0.1 }, 11.1), Verdict::Failed);
        assert_eq!(judge(Tolerance::Abs { abs: 2.0 }, 8.0), Verdict::Passed);
        assert_eq!(
            judge(Tolerance::Range { lo: 9.0, hi: 12.0 }, 12.0),
            Verdict::Passed
        );
        assert_eq!(judge(Tolerance::Exact, 10.0), Verdict::Passed);
        assert_eq!(judge(Tolerance::Exact, 10.001), Verdict::Failed);
        assert_eq!(judge(Tolerance::AtMost, 3.0), Verdict::Passed);
        assert_eq!(judge(Tolerance::AtMost, 10.5), Verdict::Failed);
        assert_eq!(judge(Tolerance::Info, 99.0), Verdict::Informative);
    }

    #[test]
    fn two_simulations_are_compared_by_the_error_of_their_difference() {
        let tolerance = Tolerance::RefSe { z: 4.0, abs: 0.5 };
        let simulated = found(12.0, 0.0);
        assert_eq!(
            tolerance.judge(&simulated, 10.0, 1.0, None),
            Verdict::Passed
        );
        assert_eq!(
            tolerance.judge(&simulated, 10.0, 0.7, None),
            Verdict::Failed
        );
    }

    #[test]
    fn a_share_of_all_trials_may_be_off_by_what_they_would_not_have_shown() {
        let all = Estimate::of([Some(1.0); 20]);
        let share = |expected, trials| STAT.judge(&all, expected, 0.0, trials);
        // One failure in 3 · 10^8 is not seen in a million trials; one in a thousand would be.
        assert_eq!(share(0.999_999_996_6, Some(1e6)), Verdict::Passed);
        assert_eq!(share(0.999, Some(1e6)), Verdict::Failed);
        assert_eq!(
            share(0.999_99, Some(1e6)),
            Verdict::Failed,
            "ten failures expected"
        );
        // Few trials say little, which is no pass; and without their number a share is a number like any other.
        let few = share(0.999, Some(100.0));
        assert!(matches!(few, Verdict::Imprecise { .. }), "{few:?}");
        assert_eq!(share(0.999_999_996_6, None), Verdict::Failed);
        // A share of some has an interval of its own.
        let most = Estimate::of([Some(0.99); 20]);
        assert_eq!(STAT.judge(&most, 0.999, 0.0, Some(1e6)), Verdict::Failed);
        assert!((never_seen_in(1e6) - 6.907_73e-6).abs() < 1e-10);
    }
}
