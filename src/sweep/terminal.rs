//! What a sweep found, for people: the conclusions first, then a table or map per measure.

use std::path::Path;

use sim::expect::Metric;
use sim::verdict::Verdict;

use super::plan::Plan;
use super::results::{Finding, Kept, Results, Tally, unit};
use super::step::step_name;
use super::wording::{VERDICTS, model_name, rank, setup};
use crate::report::style::Style;
use crate::report::table::cut;
use crate::report::table::{Table, width, wrapped};
use crate::report::written;
use crate::stats::Estimate;

/// Nothing is printed beyond this column.
pub(super) const COLUMNS: usize = 100;

/// The report; `files` are the folder and the files in it.
#[must_use]
pub fn summary(
    plan: &Plan,
    results: &Results,
    style: Style,
    files: Option<(&Path, &[String])>,
) -> String {
    let mut out = Report {
        plan,
        results,
        style,
        text: String::new(),
    };
    out.headline();
    out.conclusions();
    out.tables();
    out.promises();
    if let Some((folder, files)) = files {
        for line in written::lines(folder, files, style) {
            out.line(&line);
        }
    }
    out.text
}

pub(super) struct Report<'a> {
    pub(super) plan: &'a Plan,
    pub(super) results: &'a Results,
    pub(super) style: Style,
    text: String,
}

impl Report<'_> {
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    pub(super) fn table(&mut self, table: &Table) {
        for line in table.dressed(self.style) {
            self.line(&line);
        }
        self.line("");
    }

    fn headline(&mut self) {
        let plan = self.plan;
        let title = format!("{}: {}", plan.name, plan.experiment.question);
        for line in wrapped(&title, COLUMNS) {
            self.line(&self.style.bold(&line));
        }
        let setup = format!("{} · {}", model_name(plan), setup(plan, self.results));
        for line in wrapped(&setup, COLUMNS) {
            self.line(&self.style.dim(&line));
        }
        self.line("");
    }

    /// One line per measure: where it is least and most, or which verdicts there were.
    fn conclusions(&mut self) {
        let labels: Vec<String> = self
            .plan
            .experiment
            .measure_labels()
            .map(String::from)
            .collect();
        for (m, label) in labels.iter().enumerate() {
            let words = match unit(self.plan.measures[m].metric) {
                None => self.verdict_counts(m),
                Some(unit) => self.extremes(m, |x| unit.human(x)),
            };
            for (i, line) in wrapped(&format!("{label}: {words}"), COLUMNS - 2)
                .iter()
                .enumerate()
            {
                let lead = if i == 0 {
                    self.style.offered("▌ ")
                } else {
                    "  ".into()
                };
                self.line(&format!("{lead}{}", self.style.bold(line)));
            }
        }
        let cut_short = self.results.cut_short();
        if cut_short > 0 {
            let words =
                format!("▌ a limit in `run.limits` cut {cut_short} runs short, see results.csv");
            self.line(&self.style.warn(&words));
        }
        if !self.results.complete() {
            let (done, all) = (self.results.count(), self.plan.runs().count());
            let points = match (self.results.not_run(), self.plan.spots.len()) {
                (0, _) => String::new(),
                (n, points) => format!("{n} of {points} points were not run; "),
            };
            let words = format!(
                "▌ interrupted: {done} of {all} runs were finished; {points}the same command goes on"
            );
            self.line(&self.style.warn(&words));
        }
        self.line("");
    }

    /// `10 points`, or how many of them there are results for.
    fn points(&self) -> String {
        let (all, not_run) = (self.plan.spots.len(), self.results.not_run());
        match not_run {
            0 => format!("{all} points"),
            n => format!("{} points that were run", all - n),
        }
    }

    /// Counts stand before the word, so that nobody takes them for values of an axis.
    fn verdict_counts(&self, measure: usize) -> String {
        let mut counts = [0; VERDICTS.len()];
        let tallies = (0..self.plan.spots.len()).filter_map(|spot| self.tally(spot, measure));
        tallies.for_each(|tally| counts[rank(tally)] += 1);
        let counted = VERDICTS.iter().zip(counts).filter(|(_, n)| *n > 0);
        let words = counted.enumerate().map(|(i, ((index, ..), n))| match i {
            0 => format!("{n} of {} {}", self.points(), Verdict::NAMES[*index]),
            _ => format!("{n} {}", Verdict::NAMES[*index]),
        });
        let words: Vec<String> = words.collect();
        match words[..] {
            [] => "nothing to judge".into(),
            _ => words.join(", "),
        }
    }

    fn extremes(&self, measure: usize, shown: impl Fn(f64) -> String) -> String {
        let axes = self.plan.axes();
        let of = |spot: usize| match self.results.finding(self.plan, spot, measure)? {
            Finding::Number(found) => Some((spot, found)),
            Finding::Verdict(_) => None,
        };
        let found: Vec<(usize, Estimate)> = (0..self.plan.spots.len()).filter_map(of).collect();
        let means = || found.iter().filter_map(|(spot, e)| Some((e.mean?, *spot)));
        let least = means().reduce(|a, b| if b.0 < a.0 { b } else { a });
        let most = means().reduce(|a, b| if b.0 > a.0 { b } else { a });
        let nothing = match self.plan.measures[measure].metric {
            Metric::RecoveryTime => "never",
            _ => "nothing to measure",
        };
        let points = self.points();
        let (Some(least), Some(most)) = (least, most) else {
            return format!("{nothing} at any of {points}");
        };
        let place = |spot: usize| {
            let steps = axes.iter().zip(&self.plan.spots[spot].steps);
            let names = steps.map(|(axis, &step)| step_name(axis, step));
            names.collect::<Vec<_>>().join(", ")
        };
        let at = |(value, spot): (f64, usize)| format!("{} ({})", shown(value), place(spot));
        let with = means().count();
        let words = match (least.0 == most.0, with == found.len()) {
            (false, _) => format!("from {} to {}", at(least), at(most)),
            (true, true) if with == self.plan.spots.len() => {
                format!("{} everywhere", shown(least.0))
            }
            (true, true) => format!("{} at all {points}", shown(least.0)),
            (true, false) => format!("{} at {with} of {points}", shown(least.0)),
        };
        let none = match found.len() - with {
            0 => None,
            n if least.0 == most.0 => Some(format!("{nothing} at {n}")),
            n => Some(format!("{nothing} at {n} of {points}")),
        };
        // A mean of the replications that have a value says nothing of the others.
        let partly = |(spot, e): &&(usize, Estimate)| {
            e.mean.is_some() && e.replications < self.results.ended(*spot).count()
        };
        let partly = match found.iter().filter(partly).count() {
            0 => None,
            1 => Some(format!("in some replications {nothing} at 1 more point")),
            n => Some(format!("in some replications {nothing} at {n} more points")),
        };
        let partly = partly.map(|words| match none {
            None => words.replace(" more", ""),
            Some(_) => words,
        });
        let all = std::iter::once(words).chain(none).chain(partly);
        all.collect::<Vec<_>>().join("; ")
    }

    pub(super) fn tally(&self, spot: usize, measure: usize) -> Option<Tally> {
        match self.results.finding(self.plan, spot, measure)? {
            Finding::Verdict(tally) => Some(tally),
            Finding::Number(_) => None,
        }
    }

    fn promises(&mut self) {
        let promises = self.results.promises(self.plan);
        if promises.is_empty() {
            return;
        }
        self.line(&self.style.dim("  promises"));
        let widest = promises
            .iter()
            .map(|p| width(&p.holds))
            .max()
            .unwrap_or(0)
            .min(60);
        for promise in &promises {
            let sign = match (promise.kept, promise.points) {
                (true, 0) => self.style.dim("–"),
                (true, _) => self.style.good("✓"),
                (false, _) => self.style.bad("✗"),
            };
            let (actual, place) = outcome(promise);
            let line = format!("{:widest$}  {actual}", promise.holds);
            let room = COLUMNS.saturating_sub(6 + width(&line));
            let place = |room| self.style.dim(&cut(&place, room));
            // Where something failed is not cut for want of room.
            if promise.first.is_some() && width(&line) + width(&outcome(promise).1) > COLUMNS - 6 {
                let below = format!("    {}", place(COLUMNS - 4));
                self.line(&format!("  {sign} {line}"));
                self.line(&below);
            } else {
                let beside = place(room.max(12));
                self.line(&format!("  {sign} {line}  {beside}"));
            }
        }
        self.line("");
    }
}

/// What became of a promise, and where.
fn outcome(promise: &Kept) -> (String, String) {
    let (points, broken) = (promise.points, promise.broken);
    if points == 0 {
        return ("not run".into(), String::new());
    }
    match (&promise.first, promise.asked) {
        (Some(first), 1) => (format!("failed: {}", promise.actual), format!("at {first}")),
        (Some(first), _) => (
            format!(
                "failed at {broken} of {points} points, first {}",
                promise.actual
            ),
            format!("at {first}"),
        ),
        (None, asked) => {
            let place = match promise.place.as_str() {
                "" if asked == points => format!("at {points} points"),
                "" => format!("at {points} of {asked} points, the others were not run"),
                place if asked == points => format!("at {place}"),
                place => format!("at {place}; {} points were not run", asked - points),
            };
            (promise.actual.clone(), place)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::Became::{Healthy, Metastable, Recovered};
    use super::super::sample::{plan, results};
    use super::*;

    fn printed(plan: &Plan, results: &Results) -> String {
        let text = summary(plan, results, Style::default(), None);
        assert!(text.lines().all(|line| width(line) <= COLUMNS), "{text}");
        text
    }

    #[test]
    fn points_that_were_not_run_have_neither_verdict_nor_recovery() {
        let plan = plan();
        let found = results(
            &plan,
            &[
                [Healthy, Healthy],
                [Healthy, Healthy],
                [Metastable, Metastable],
            ],
        );
        let text = printed(&plan, &found);
        for part in [
            "verdict: 2 of 3 points that were run healthy, 1 metastable",
            "recovery_time: 0 s at 2 of 3 points that were run; never at 1\n",
            "interrupted: 6 of 20 runs were finished; 7 of 10 points were not run; the same",
            "? not run",
            "✗ verdict != metastable  failed at 1 of 3 points, first metastable",
            "– verdict == healthy     not run",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let cells = text.matches("not run").count();
        assert_eq!(cells, 1 + 1 + 7 + 1, "{text}");

        let well = results(&plan, &[[Healthy, Healthy], [Healthy, Healthy]]);
        let text = printed(&plan, &well);
        assert!(
            text.contains("recovery_time: 0 s at all 2 points that were run\n"),
            "{text}"
        );
        assert!(!text.contains("never"), "{text}");
        assert!(
            text.contains("at 2 of 10 points, the others were not run"),
            "{text}"
        );
    }

    #[test]
    fn a_mean_of_some_replications_says_so() {
        let plan = plan();
        let points = std::iter::repeat_with(|| [Healthy, Healthy]).take(7);
        let mut points: Vec<_> = points.collect();
        points.push([Recovered(36.3), Metastable]);
        points.push([Metastable, Metastable]);
        points.push([Recovered(4.0), Recovered(6.0)]);
        let text = printed(&plan, &results(&plan, &points));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "36.3 s (1 of 2)",
            "never at 1 of 10 points; in some replications never at 1 more point",
            "verdict: 7 of 10 points healthy, 1 recovered, 2 metastable",
            "✗ verdict != metastable failed at 2 of 10 points, first metastable at load = 400/s",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(
            text.matches("5 s").count(),
            1,
            "a mean of all is not marked"
        );
        assert!(!text.contains("not run"), "{text}");
    }
}
