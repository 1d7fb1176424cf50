//! What came out: one value per run and measure, and what replications come to.

use sim::expect::{Metric, Unit};
use sim::metrics::Ended;
use sim::verdict::Verdict;

use super::plan::Plan;
use super::step::step_name;
use crate::figure::column;
use crate::stats::Estimate;

/// A run that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Why.
    pub ended: Ended,
    /// A hash over every event.
    pub trajectory: u64,
    /// What was measured: the measures of the experiment, then those of the promises about this point.
    pub values: Vec<Option<f64>>,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Results {
    /// By point and replication; `None`: it was interrupted before.
    pub runs: Vec<Vec<Option<Run>>>,
}

/// What the replications at a point come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Finding {
    /// A mean.
    Number(Estimate),
    /// A verdict.
    Verdict(Tally),
}

/// The verdict most replications got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Its index in [`Verdict::NAMES`]; of equally frequent ones the worse.
    pub verdict: usize,
    /// Replications that got it.
    pub votes: usize,
}

/// A promise and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// As written.
    pub holds: String,
    /// Where, for people: the values of the axes it names; empty for everywhere.
    pub place: String,
    /// Whether every replication at every point it is about kept it.
    pub kept: bool,
    /// Points it is about.
    pub asked: usize,
    /// Those of them that were run.
    pub points: usize,
    /// Those of them at which a replication broke it.
    pub broken: usize,
    /// Where it was first broken, for people.
    pub first: Option<String>,
    /// What was measured, for people: where it was first broken, otherwise smallest to largest.
    pub actual: String,
}

impl Results {
    /// The runs of a point that have ended, with their replication.
    pub fn ended(&self, spot: usize) -> impl Iterator<Item = (u32, &Run)> {
        let runs = (0..).zip(&self.runs[spot]);
        runs.filter_map(|(replication, run)| Some((replication, run.as_ref()?)))
    }

    /// Whether a run of a point has ended.
    #[must_use]
    pub fn was_run(&self, spot: usize) -> bool {
        self.ended(spot).next().is_some()
    }

    /// Points without a run that has ended.
    #[must_use]
    pub fn not_run(&self) -> usize {
        let points = 0..self.runs.len();
        points.filter(|&spot| !self.was_run(spot)).count()
    }

    /// Runs that have ended.
    #[must_use]
    pub fn count(&self) -> usize {
        self.runs.iter().flatten().flatten().count()
    }

    /// Whether all runs have ended.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.runs.iter().flatten().all(Option::is_some)
    }

    /// Runs that a limit of the scenario ended before their time.
    #[must_use]
    pub fn cut_short(&self) -> usize {
        let runs = self.runs.iter().flatten().flatten();
        runs.filter(|run| run.ended != Ended::Completed).count()
    }

    /// What the replications at a point come to; `None`: none has ended.
    #[must_use]
    pub fn finding(&self, plan: &Plan, spot: usize, measure: usize) -> Option<Finding> {
        let mut values = self
            .ended(spot)
            .map(|(_, run)| run.values[measure])
            .peekable();
        values.peek()?;
        Some(match plan.measures[measure].metric {
            Metric::Verdict => Finding::Verdict(tally(values.flatten())?),
            _ => Finding::Number(Estimate::of(values)),
        })
    }

    /// The promises of the experiment.
    #[must_use]
    pub fn promises(&self, plan: &Plan) -> Vec<Kept> {
        let promises = plan.experiment.promises.iter().enumerate();
        promises
            .map(|(i, promise)| self.promise(plan, i, &promise.holds))
            .collect()
    }

    fn promise(&self, plan: &Plan, promise: usize, holds: &str) -> Kept {
        let (mut asked, mut points, mut broken) = (0, 0, 0);
        let mut first = None;
        let mut shown: Vec<(Option<f64>, String)> = Vec::new();
        for (i, spot) in plan.spots.iter().enumerate() {
            let about = spot
                .promises
                .iter()
                .position(|(index, _)| *index == promise);
            let Some(place) = about else { continue };
            let expectation = &spot.promises[place].1;
            let metric = expectation.measure.metric;
            asked += 1;
            points += usize::from(self.was_run(i));
            let mut kept = true;
            for (_, run) in self.ended(i) {
                let actual = run.values[plan.measures.len() + place];
                let holds =
                    actual.is_some_and(|x| expectation.comparison.holds(x, expectation.value));
                let words = words(metric, actual);
                if !holds && first.is_none() {
                    first = Some((words.clone(), spot.place(plan.axes())));
                }
                kept &= holds;
                shown.push((actual, words));
            }
            broken += usize::from(!kept);
        }
        shown.sort_by(|a, b| a.partial_cmp(b).expect("measured values are numbers"));
        shown.dedup_by(|a, b| a.1 == b.1);
        let range = match &shown[..] {
            [] => "no data".into(),
            [(_, only)] => only.clone(),
            [(_, first), .., (_, last)] => format!("{first} … {last}"),
        };
        let (actual, first) = match first {
            Some((actual, place)) => (actual, Some(place)),
            None => (range, None),
        };
        let named = plan.experiment.promises[promise].at.iter();
        let place = named.map(|(axis, steps)| {
            let axis = &plan.axes()[*axis];
            let labels = steps.iter().map(|&step| step_name(axis, step));
            labels.collect::<Vec<_>>().join(" | ")
        });
        Kept {
            holds: holds.into(),
            place: place.collect::<Vec<_>>().join(", "),
            kept: broken == 0,
            asked,
            points,
            broken,
            first,
            actual,
        }
    }
}

/// A value as people write it.
fn words(metric: Metric, value: Option<f64>) -> String {
    match (metric, value) {
        (Metric::RecoveryTime, None) => "never".into(),
        (_, None) => "no data".into(),
        (metric, Some(value)) => metric.unit().show(value),
    }
}

/// The most frequent verdict; of equally frequent ones the worse.
fn tally(verdicts: impl Iterator<Item = f64>) -> Option<Tally> {
    let mut votes = [0; Verdict::NAMES.len()];
    verdicts.for_each(|index| votes[index as usize] += 1);
    let all = 0..votes.len();
    let verdict = all.max_by_key(|verdict| (votes[*verdict], Verdict::badness(*verdict)))?;
    let votes = votes[verdict];
    (votes > 0).then_some(Tally { verdict, votes })
}

/// The unit a measure is written in, `None` for verdicts, which are words.
#[must_use]
pub const fn unit(metric: Metric) -> Option<column::Unit> {
    match metric.unit() {
        Unit::Count => Some(column::Unit::Count),
        Unit::Share => Some(column::Unit::Share),
        Unit::Rate => Some(column::Unit::PerSecond),
        Unit::Time => Some(column::Unit::Seconds),
        Unit::Factor => Some(column::Unit::Factor),
        Unit::Verdict => None,
    }
}

/// The same in words.
#[must_use]
pub fn unit_name(metric: Metric) -> &'static str {
    unit(metric).map_or("verdict", column::Unit::name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_of_a_point_is_that_of_most_and_the_worse_of_equals() {
        let of = |verdicts: &[f64]| tally(verdicts.iter().copied());
        let tally = |verdict, votes| Some(Tally { verdict, votes });
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[0.0, 0.0, 3.0]), tally(0, 2));
        assert_eq!(of(&[3.0, 2.0]), tally(3, 1));
        // Degraded is worse than recovered, though its index is smaller.
        assert_eq!(of(&[1.0, 2.0]), tally(1, 1));
    }
}
