//! The tidy tables of a sweep: the axes first, then what was found there.

use sim::experiment::Axis;

use super::plan::{Plan, Spot};
use super::results::{Finding, Results, unit_name};
use crate::report::csv::{Table, number};
use sim::verdict::Verdict;

/// Columns of `results.csv` after the axes.
pub const RESULT_KEYS: [(&str, &str); 7] = [
    ("replication", "Counted from 0."),
    (
        "seed",
        "The seed of the replication, the same at every point.",
    ),
    (
        "ended",
        "Why the run ended: `completed`, or the limit that was reached.",
    ),
    ("measure", "What was measured, as in the experiment."),
    ("unit", "Its unit; `verdict` for verdicts."),
    (
        "value",
        "The value; empty when there was nothing to measure, and for verdicts.",
    ),
    ("word", "The verdict; empty for numbers."),
];

/// Columns of `summary.csv` after the axes.
pub const SUMMARY_KEYS: [(&str, &str); 8] = [
    ("measure", "What was measured, as in the experiment."),
    ("unit", "Its unit; `verdict` for verdicts."),
    ("mean", "Mean over replications; empty for verdicts."),
    (
        "low",
        "Lower end of the 95 % confidence interval of the mean; empty with one replication.",
    ),
    ("high", "Upper end of the interval."),
    (
        "word",
        "The most frequent verdict, the worse of equally frequent ones; empty for numbers.",
    ),
    (
        "replications",
        "Replications that have a value; of a verdict, those that got it.",
    ),
    ("runs", "Replications that were finished."),
];

/// `results.csv`: one row per point, replication and measure.
#[must_use]
pub fn results(plan: &Plan, results: &Results) -> String {
    let mut table = table(plan.axes(), &RESULT_KEYS);
    for (i, spot) in plan.spots.iter().enumerate() {
        for (replication, run) in results.ended(i) {
            for (m, measured) in plan.experiment.measured().enumerate() {
                let metric = plan.measures[m].metric;
                let verdict = unit_name(metric) == "verdict";
                let (value, word) = match run.values[m] {
                    Some(index) if verdict => (None, Verdict::NAMES[index as usize]),
                    value => (value, ""),
                };
                let fields = [
                    replication.to_string(),
                    spot.seed_of(replication).to_string(),
                    run.ended.name().into(),
                    measured.into(),
                    unit_name(metric).into(),
                    number(value),
                    word.into(),
                ];
                table.row(place(plan.axes(), spot).chain(fields));
            }
        }
    }
    table.finish()
}

/// `summary.csv`: one row per point and measure.
#[must_use]
pub fn summary(plan: &Plan, results: &Results) -> String {
    let mut table = table(plan.axes(), &SUMMARY_KEYS);
    for (i, spot) in plan.spots.iter().enumerate() {
        let runs = results.ended(i).count();
        for (m, measured) in plan.experiment.measured().enumerate() {
            let found = match results.finding(plan, i, m) {
                None => [const { String::new() }; 5],
                Some(Finding::Number(estimate)) => {
                    let (low, high) = estimate.interval.unzip();
                    let replications = estimate.replications.to_string();
                    let [mean, low, high] = [estimate.mean, low, high].map(number);
                    [mean, low, high, String::new(), replications]
                }
                Some(Finding::Verdict(tally)) => {
                    let none = String::new;
                    let word = Verdict::NAMES[tally.verdict].into();
                    [none(), none(), none(), word, tally.votes.to_string()]
                }
            };
            let what = [measured.into(), unit_name(plan.measures[m].metric).into()];
            let fields = what.into_iter().chain(found).chain([runs.to_string()]);
            table.row(place(plan.axes(), spot).chain(fields));
        }
    }
    table.finish()
}

fn table(axes: &[Axis], keys: &[(&str, &str)]) -> Table {
    let axes = axes.iter().map(|axis| axis.name.as_str());
    Table::new(axes.chain(keys.iter().map(|(key, _)| *key)))
}

/// Numbers in the unit of their axis, names as they are.
fn place<'a>(axes: &'a [Axis], spot: &'a Spot) -> impl Iterator<Item = String> + 'a {
    axes.iter().zip(&spot.steps).map(|(axis, &step)| {
        let step = &axis.steps[step];
        step.number
            .map_or_else(|| step.label.clone(), |x| number(Some(x)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::experiment::COLUMNS;

    #[test]
    fn no_axis_can_have_the_name_of_another_column() {
        let keys = RESULT_KEYS.iter().chain(&SUMMARY_KEYS);
        let mut names: Vec<&str> = keys.map(|(key, _)| *key).collect();
        names.sort_unstable();
        names.dedup();
        let mut refused = COLUMNS;
        refused.sort_unstable();
        assert_eq!(names, refused);
    }
}
