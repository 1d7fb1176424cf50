//! The grid of a sweep in the terminal: maps of verdicts, tables of numbers.

use sim::expect::Metric;
use sim::experiment::Axis;
use sim::verdict::Verdict;

use super::results::{Finding, unit};
use super::step::step_name;
use super::terminal::{COLUMNS, Report};
use super::wording::{VERDICTS, rank};
use crate::report::table::{Align, Table, width};

/// Points beyond these are left to the files.
const ROWS_MAX: usize = 40;
/// Names of columns are broken into lines no longer than this.
const NAMES_MAX: usize = 18;
/// The letter of each verdict on a map, from best to worst.
const LETTERS: [&str; 4] = ["·", "r", "d", "M"];
/// What stands on a map where no run was finished.
const NOT_RUN: &str = "?";

impl Report<'_> {
    /// A map of each verdict, and a table of each number.
    pub(super) fn tables(&mut self) {
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
        let (verdicts, numbers): (Vec<usize>, Vec<usize>) =
            (0..plan.measures.len()).partition(|&m| unit(plan.measures[m].metric).is_none());
        for m in verdicts {
            self.map(m, down, across);
        }
        let tables: Option<Vec<Table>> = numbers
            .iter()
            .map(|&m| self.cross_table(m, down, across))
            .collect();
        match tables {
            Some(tables) => {
                for (m, table) in numbers.into_iter().zip(tables) {
                    let by = format!(", by {}", plan.axes()[across].label);
                    let label = self.style.bold(self.label(m));
                    self.line(&format!("  {label}{}", self.style.dim(&by)));
                    self.table(&table);
                }
            }
            None => self.list(),
        }
    }

    fn label(&self, measure: usize) -> &str {
        let mut labels = self.plan.experiment.measure_labels();
        labels.nth(measure).unwrap_or_default()
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
    fn cross_table(&self, measure: usize, down: usize, across: usize) -> Option<Table> {
        let (rows, columns) = (&self.plan.axes()[down], &self.plan.axes()[across]);
        if rows.steps.len() > ROWS_MAX {
            return None;
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
        let narrower = [NAMES_MAX, 12, 8].map(|names| table.clone().with_narrow_names(names));
        let fits = |table: &Table| table.lines().iter().all(|line| width(line) + 2 <= COLUMNS);
        narrower.into_iter().find(fits)
    }

    fn cell(&self, spot: usize, measure: usize) -> String {
        let metric = self.plan.measures[measure].metric;
        let runs = self.results.ended(spot).count();
        // What only some of the replications have in common is not said of all.
        let of_all = |words: String, n: usize| match n {
            n if n < runs => format!("{words} ({n} of {runs})"),
            _ => words,
        };
        match (unit(metric), self.results.finding(self.plan, spot, measure)) {
            _ if runs == 0 => "not run".into(),
            (Some(unit), Some(Finding::Number(found))) => match found.mean {
                Some(mean) => of_all(unit.human(mean), found.replications),
                None if metric == Metric::RecoveryTime => "never".into(),
                None => "–".into(),
            },
            (_, Some(Finding::Verdict(tally))) => {
                of_all(Verdict::NAMES[tally.verdict].into(), tally.votes)
            }
            _ => "–".into(),
        }
    }

    /// Verdicts as letters, the last step of the axis that goes up on top.
    fn map(&mut self, measure: usize, across: usize, up: usize) {
        let (rows, columns) = (&self.plan.axes()[up], &self.plan.axes()[across]);
        let label = self.style.bold(self.label(measure));
        self.line(&format!("  {label}"));
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
        let mut key: Vec<String> = VERDICTS
            .iter()
            .zip(LETTERS)
            .map(|((index, ..), letter)| format!("{letter} {}", Verdict::NAMES[*index]))
            .collect();
        if self.results.not_run() > 0 {
            key.push(format!("{NOT_RUN} not run"));
        }
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
            None if !self.results.was_run(spot) => style.dim(NOT_RUN),
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
        self.table(&table.with_narrow_names(NAMES_MAX));
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
}
