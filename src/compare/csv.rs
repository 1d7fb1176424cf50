//! `compare.csv`: one row per figure and world that is compared with the first.

use super::difference::Difference;
use super::run::Comparison;
use crate::report::csv::{Table, number};

/// Columns of `compare.csv`.
pub const KEYS: [(&str, &str); 13] = [
    ("base", "The first world, which the other is compared with."),
    ("world", "The other world."),
    (
        "scope",
        "What the figure is about: `run`, `client`, `edge` or `service`.",
    ),
    (
        "name",
        "Its name; `all` for the run, `caller -> service` for an edge, whatever the policy.",
    ),
    (
        "figure",
        "The figure, as in `summary.csv`; also `recovery_time_s`, over the replications in which both worlds recovered.",
    ),
    ("base_mean", "Mean of the first world over the pairs."),
    ("mean", "Mean of the other world over the pairs."),
    ("difference", "Mean over the pairs of other − first."),
    (
        "low",
        "Lower end of the 95 % paired t-interval of the difference.",
    ),
    ("high", "Upper end of the interval."),
    (
        "pairs",
        "Replications in which both worlds have the figure.",
    ),
    (
        "correlation",
        "Of the two worlds over the pairs; empty when one does not vary. The closer to 1, the more the common random numbers helped.",
    ),
    ("verdict", "As listed below."),
];

/// The table.
#[must_use]
pub fn table(comparison: &Comparison, differences: &[Vec<Difference>]) -> String {
    let mut table = Table::new(KEYS.map(|(key, _)| key));
    let base = comparison.base();
    for (world, differences) in comparison.worlds[1..].iter().zip(differences) {
        for d in differences {
            let estimate = &d.paired.difference;
            let (low, high) = estimate.interval.unzip();
            table.row([
                base.name.clone(),
                world.name.clone(),
                d.scope.name().into(),
                d.name.clone(),
                d.figure.name.into(),
                number(d.paired.base),
                number(d.paired.other),
                number(estimate.mean),
                number(low),
                number(high),
                estimate.replications.to_string(),
                number(d.paired.correlation),
                d.verdict.words().into(),
            ]);
        }
    }
    table.finish()
}
