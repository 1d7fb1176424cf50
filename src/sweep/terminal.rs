//! What a sweep found, for people: the conclusions first, then a table or map per measure.

use std::path::Path;

use sim::expect::Metric;
use sim::verdict::Verdict;

use super::plan::Plan;
use super::results::{Finding, Results, Tally, unit};
use super::wording::{VERDICTS, model_name, rank, setup, step_name};
use crate::report::style::Style;
use crate::report::table::{Table, width, wrapped};
use crate::report::terminal::cut;
use crate::report::written;

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
            let words = format!(
                "▌ interrupted: {done} of {all} runs were finished; the same command goes on"
            );
            self.line(&self.style.warn(&words));
        }
        self.line("");
    }

    fn verdict_counts(&self, measure: usize) -> String {
        let mut counts = [0; VERDICTS.len()];
        let tallies = (0..self.plan.spots.len()).filter_map(|spot| self.tally(spot, measure));
        tallies.for_each(|tally| counts[rank(tally)] += 1);
        let all: usize = counts.iter().sum();
        let counted = VERDICTS.iter().zip(counts).filter(|(_, n)| *n > 0);
        let words: Vec<String> = counted
            .map(|((index, ..), n)| format!("{} at {n}", Verdict::NAMES[*index]))
            .collect();
        match words[..] {
            [] => "nothing to judge".into(),
            _ => format!("{} of {all} points", words.join(", ")),
        }
    }

    fn extremes(&self, measure: usize, shown: impl Fn(f64) -> String) -> String {
        let axes = self.plan.axes();
        let means: Vec<(f64, usize)> = (0..self.plan.spots.len())
            .filter_map(|spot| Some((self.mean(spot, measure)?, spot)))
            .collect();
        let least = means
            .iter()
            .copied()
            .reduce(|a, b| if b.0 < a.0 { b } else { a });
        let most = means
            .iter()
            .copied()
            .reduce(|a, b| if b.0 > a.0 { b } else { a });
        let without = self.plan.spots.len() - means.len();
        let (Some(least), Some(most)) = (least, most) else {
            return "nothing to measure at any point".into();
        };
        let place = |spot: usize| {
            let steps = axes.iter().zip(&self.plan.spots[spot].steps);
            let names = steps.map(|(axis, &step)| step_name(axis, step));
            names.collect::<Vec<_>>().join(", ")
        };
        let at = |(value, spot): (f64, usize)| format!("{} ({})", shown(value), place(spot));
        let words = if least.0 == most.0 {
            format!("{} everywhere", shown(least.0))
        } else {
            format!("from {} to {}", at(least), at(most))
        };
        match without {
            0 => words,
            n => {
                let metric = self.plan.measures[measure].metric;
                let nothing = if metric == Metric::RecoveryTime {
                    "never"
                } else {
                    "nothing to measure"
                };
                format!(
                    "{words}; {nothing} at {n} of {} points",
                    self.plan.spots.len()
                )
            }
        }
    }

    pub(super) fn tally(&self, spot: usize, measure: usize) -> Option<Tally> {
        match self.results.finding(self.plan, spot, measure)? {
            Finding::Verdict(tally) => Some(tally),
            Finding::Number(_) => None,
        }
    }

    fn mean(&self, spot: usize, measure: usize) -> Option<f64> {
        match self.results.finding(self.plan, spot, measure)? {
            Finding::Number(found) => found.mean,
            Finding::Verdict(_) => None,
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
        for promise in promises {
            let sign = if promise.kept {
                self.style.good("✓")
            } else {
                self.style.bad("✗")
            };
            let place = match (promise.place.as_str(), promise.points) {
                ("", n) => format!("at {n} points"),
                (place, _) => format!("at {place}"),
            };
            let line = format!("{:widest$}  {}  ", promise.holds, promise.actual);
            let room = COLUMNS.saturating_sub(4 + width(&line)).max(12);
            let place = self.style.dim(&cut(&place, room));
            self.line(&format!("  {sign} {line}{place}"));
        }
        self.line("");
    }
}
