//! What a sweep found, for people: the conclusions first, then a table or map per measure.

use std::path::Path;

use sim::experiment::Axis;
use sim::verdict::Verdict;

use super::picture::{VERDICTS, model_name, rank, setup, step_name};
use super::plan::Plan;
use super::results::{Finding, Results, Tally, unit};
use crate::number;
use crate::report::style::Style;
use crate::report::table::{Align, Table, width};
use crate::report::terminal::wrapped;

/// Nothing is printed beyond this column.
const COLUMNS: usize = 100;
/// Points beyond these are left to the files.
const ROWS_MAX: usize = 40;
/// The letter of each verdict on a map, from best to worst.
const LETTERS: [&str; 4] = ["·", "r", "d", "M"];

/// The report; `written` are the folder and the files in it.
#[must_use]
pub fn summary(
    plan: &Plan,
    results: &Results,
    style: Style,
    written: Option<(&Path, &[String])>,
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
    if let Some((folder, files)) = written {
        out.files(folder, files);
    }
    out.text
}

struct Report<'a> {
    plan: &'a Plan,
    results: &'a Results,
    style: Style,
    text: String,
}

impl Report<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn table(&mut self, table: &Table) {
        for (i, line) in table.lines().iter().enumerate() {
            let line = if i == 0 {
                self.style.dim(line)
            } else {
                line.clone()
            };
            self.line(&format!("  {line}"));
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
        let at = |(value, spot): (f64, usize)| {
            format!("{} ({})", shown(value), self.plan.spots[spot].place(axes))
        };
        let words = if least.0 == most.0 {
            format!("{} everywhere", shown(least.0))
        } else {
            format!("from {} to {}", at(least), at(most))
        };
        match without {
            0 => words,
            n => format!(
                "{words}; nothing to measure at {n} of {} points",
                self.plan.spots.len()
            ),
        }
    }

    fn tally(&self, spot: usize, measure: usize) -> Option<Tally> {
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

    fn tables(&mut self) {
        let plan = self.plan;
        let [first, second] = plan.axes() else {
            return self.list();
        };
        // The longer axis goes down, where there is room.
        let (down, across) = if first.steps.len() >= second.steps.len() {
            (0, 1)
        } else {
            (1, 0)
        };
        for m in 0..plan.measures.len() {
            if unit(plan.measures[m].metric).is_none() {
                self.map(m, down, across);
            } else if !self.cross_table(m, down, across) {
                return self.list();
            }
        }
    }

    /// The point at a step of the one axis and a step of the other.
    fn spot(&self, (down, row): (usize, usize), column: usize) -> usize {
        let columns = self.plan.axes()[1].steps.len();
        match down {
            0 => row * columns + column,
            _ => column * columns + row,
        }
    }

    /// Means of one measure over two axes, if they fit.
    fn cross_table(&mut self, measure: usize, down: usize, across: usize) -> bool {
        let (rows, columns) = (&self.plan.axes()[down], &self.plan.axes()[across]);
        if rows.steps.len() > ROWS_MAX {
            return false;
        }
        let names: Vec<String> = (0..columns.steps.len())
            .map(|i| step_name(columns, i))
            .collect();
        let header = names.iter().map(|name| (name.as_str(), Align::Point));
        let mut table =
            Table::new(std::iter::once((rows.label.as_str(), Align::Left)).chain(header));
        for row in 0..rows.steps.len() {
            let cells = (0..columns.steps.len())
                .map(|column| self.cell(self.spot((down, row), column), measure));
            let cells: Vec<String> = cells.collect();
            table.row(std::iter::once(step_name(rows, row)).chain(cells));
        }
        if table.lines().iter().any(|line| width(line) > COLUMNS - 2) {
            return false;
        }
        let label = self
            .plan
            .experiment
            .measure_labels()
            .nth(measure)
            .unwrap_or_default();
        let over = self.style.dim(&format!(", by {}", columns.label));
        self.line(&format!("  {}{over}", self.style.bold(label)));
        self.table(&table);
        true
    }

    fn cell(&self, spot: usize, measure: usize) -> String {
        let nothing = "–".to_string();
        match (
            unit(self.plan.measures[measure].metric),
            self.results.finding(self.plan, spot, measure),
        ) {
            (Some(unit), Some(Finding::Number(found))) => {
                found.mean.map_or(nothing, |x| unit.human(x))
            }
            (_, Some(Finding::Verdict(tally))) => {
                let runs = self.results.ended(spot).count();
                let name = Verdict::NAMES[tally.verdict];
                match tally.votes {
                    votes if votes < runs => format!("{name} ({votes} of {runs})"),
                    _ => name.into(),
                }
            }
            _ => nothing,
        }
    }

    /// Verdicts as letters, the last step of the axis that goes up on top.
    fn map(&mut self, measure: usize, across: usize, up: usize) {
        let (rows, columns) = (&self.plan.axes()[up], &self.plan.axes()[across]);
        let label = self
            .plan
            .experiment
            .measure_labels()
            .nth(measure)
            .unwrap_or_default();
        self.line(&format!("  {}", self.style.bold(label)));
        let names: Vec<String> = (0..rows.steps.len()).map(|i| step_name(rows, i)).collect();
        let margin = names.iter().map(|name| width(name)).max().unwrap_or(0);
        let gap = if columns.steps.len() * 2 + margin + 6 <= COLUMNS {
            " "
        } else {
            ""
        };
        self.line(&format!("  {}", self.style.dim(&rows.label)));
        for row in (0..rows.steps.len()).rev() {
            let letters: Vec<String> = (0..columns.steps.len())
                .map(|column| self.letter(self.spot((up, row), column), measure))
                .collect();
            let name = &names[row];
            let blanks = " ".repeat(margin - width(name));
            self.line(&format!(
                "  {blanks}{}  {}",
                self.style.dim(name),
                letters.join(gap)
            ));
        }
        let room = columns.steps.len() * (1 + gap.len()) - gap.len();
        let first = step_name(columns, 0);
        let last = step_name(columns, columns.steps.len() - 1);
        let between = room.saturating_sub(width(&first) + width(&last)).max(1);
        let scale = format!("{first}{}{last}  {}", " ".repeat(between), columns.label);
        self.line(&format!(
            "  {}  {}",
            " ".repeat(margin),
            self.style.dim(&scale)
        ));
        let key: Vec<String> = VERDICTS
            .iter()
            .zip(LETTERS)
            .map(|((index, ..), letter)| format!("{letter} {}", Verdict::NAMES[*index]))
            .collect();
        self.line(&format!("  {}", self.style.dim(&key.join("   "))));
        self.line("");
    }

    fn letter(&self, spot: usize, measure: usize) -> String {
        let style = self.style;
        match self.tally(spot, measure).map(rank) {
            Some(0) => style.goodput(LETTERS[0]),
            Some(1) => style.offered(LETTERS[1]),
            Some(2) => style.warn(LETTERS[2]),
            Some(_) => style.bad(LETTERS[3]),
            None => " ".into(),
        }
    }

    /// One row per point.
    fn list(&mut self) {
        let plan = self.plan;
        let axes: &[Axis] = plan.axes();
        let left = axes.iter().map(|axis| (axis.label.as_str(), Align::Left));
        let measures = plan.experiment.measure_labels().zip(&plan.measures);
        let right = measures.map(|(label, measure)| match unit(measure.metric) {
            Some(_) => (label, Align::Point),
            None => (label, Align::Left),
        });
        let mut table = Table::new(left.chain(right));
        for (i, spot) in plan.spots.iter().enumerate().take(ROWS_MAX) {
            let place = axes
                .iter()
                .zip(&spot.steps)
                .map(|(axis, &step)| step_name(axis, step));
            let place: Vec<String> = place.collect();
            let found = (0..plan.measures.len()).map(|m| self.cell(i, m));
            let found: Vec<String> = found.collect();
            table.row(place.into_iter().chain(found));
        }
        self.table(&table);
        if plan.spots.len() > ROWS_MAX {
            let more = plan.spots.len() - ROWS_MAX;
            self.line(
                &self
                    .style
                    .dim(&format!("  and {more} more points, see summary.csv")),
            );
            self.line("");
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
            let at = match promise.points {
                1 => "at 1 point".to_string(),
                n => format!("at {} points", number::count(n as u64)),
            };
            let holds = &promise.holds;
            self.line(&format!(
                "  {sign} {holds:widest$}  {at}: {}",
                promise.actual
            ));
        }
        self.line("");
    }

    fn files(&mut self, folder: &Path, files: &[String]) {
        let mut named: Vec<String> = files.iter().filter(|f| !f.contains('/')).cloned().collect();
        let plots = files.iter().filter(|f| f.starts_with("plots/")).count();
        if plots > 0 {
            named.push(format!("plots/ ({plots})"));
        }
        self.line(&format!(
            "  {} {}/",
            self.style.dim("written to"),
            folder.display()
        ));
        self.line(&self.style.dim(&format!("  {}", named.join(" · "))));
    }
}
