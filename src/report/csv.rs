//! The CSV files: RFC 4180, `.` as the decimal point, an empty field for "no data".

use std::collections::BTreeMap;

use sim::metrics::Outcome;
use sim::scenario::model::Scenario;

use super::summary::Summary;
use crate::figure::{self, Declared, Scope, Subject};

/// Columns of `summary.csv`.
pub const SUMMARY_KEYS: [(&str, &str); 8] = [
    (
        "scope",
        "What the figure is about: `run`, `client`, `edge` or `service`; where there are any, `effect`, `keys`, `answers`, `phases`, `pool`, `credential`, `coalesce`, `cache`, `messages` or `sessions`.",
    ),
    (
        "name",
        "Its name; `all` for the run, `caller -> service (policy)` for an edge.",
    ),
    ("figure", "The figure, as listed below."),
    ("unit", "Its unit."),
    ("mean", "Mean over replications."),
    (
        "low",
        "Lower end of the 95 % confidence interval of the mean; empty where there is none.",
    ),
    ("high", "Upper end of the interval."),
    ("replications", "Replications that have a value."),
];

/// Columns of `windows.csv` before the figures.
pub const WINDOW_KEYS: [(&str, &str); 6] = [
    ("start_s", "Simulated second at which the window begins."),
    ("end_s", "Simulated second at which it ends."),
    ("replication", "Counted from 0."),
    ("seed", "The seed of the replication."),
    (
        "scope",
        "What the row is about: `run`, `client`, `edge` or `service`; where there are any, `effect`, `keys`, `answers`, `phases`, `pool`, `credential`, `coalesce`, `cache`, `messages` or `sessions`.",
    ),
    (
        "name",
        "Its name; `all` for the run, `caller -> service (policy)` for an edge.",
    ),
];

/// `summary.csv`: one row per subject and figure.
#[must_use]
pub fn summary(summary: &Summary) -> String {
    let mut table = Table::new(SUMMARY_KEYS.map(|(key, _)| key));
    for row in &summary.rows {
        for (figure, estimate) in &row.figures {
            let (low, high) = estimate.interval.unzip();
            table.row([
                row.subject.scope.name().into(),
                row.subject.name.clone(),
                figure.name.into(),
                figure.unit.name().into(),
                number(estimate.mean),
                number(low),
                number(high),
                estimate.replications.to_string(),
            ]);
        }
    }
    table.finish()
}

/// The figures of `windows.csv`, in order: those of all scopes that `subjects` have, each once.
fn window_figures(subjects: &[Subject]) -> Vec<Declared> {
    let mut figures: Vec<Declared> = Vec::new();
    // Clients have what runs and edges have, and more.
    for scope in [
        Scope::Client,
        Scope::Run,
        Scope::Edge,
        Scope::Service,
        Scope::Effect,
        Scope::Keys,
        Scope::Answers,
        Scope::Phases,
        Scope::Pool,
        Scope::Credential,
        Scope::Coalesce,
        Scope::Cache,
        Scope::Messages,
        Scope::Sessions,
    ] {
        if !subjects.iter().any(|subject| subject.scope == scope) {
            continue;
        }
        for figure in scope.window() {
            if !figures.contains(&figure) {
                figures.push(figure);
            }
        }
    }
    figures
}

/// `windows.csv`: one row per window and subject.
#[must_use]
pub fn windows(scenario: &Scenario, outcomes: &[Outcome]) -> String {
    let subjects = figure::subjects(scenario);
    let figures = window_figures(&subjects);
    let keys = WINDOW_KEYS.iter().map(|(key, _)| *key);
    let mut table = Table::new(keys.chain(figures.iter().map(|f| f.name)));
    let place: BTreeMap<&str, usize> = figures
        .iter()
        .enumerate()
        .map(|(i, f)| (f.name, i))
        .collect();
    let places: Vec<Vec<usize>> = subjects
        .iter()
        .map(|s| s.scope.window().iter().map(|f| place[f.name]).collect())
        .collect();
    for (replication, outcome) in outcomes.iter().enumerate() {
        for window in &outcome.windows {
            for (subject, places) in subjects.iter().zip(&places) {
                let mut row = vec![
                    number(Some(window.start.0 as f64 / 1e9)),
                    number(Some(window.end.0 as f64 / 1e9)),
                    replication.to_string(),
                    outcome.seed.to_string(),
                    subject.scope.name().into(),
                    subject.name.clone(),
                ];
                row.resize(WINDOW_KEYS.len() + figures.len(), String::new());
                for (value, place) in figure::in_window(scenario, window, subject)
                    .iter()
                    .zip(places)
                {
                    row[WINDOW_KEYS.len() + place] = number(*value);
                }
                table.row(row);
            }
        }
    }
    table.finish()
}

/// A value as a field.
#[must_use]
pub fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |x| x.to_string())
}

/// A CSV file being made.
pub struct Table(csv::Writer<Vec<u8>>);

impl Table {
    /// With a header.
    pub fn new<'k>(header: impl IntoIterator<Item = &'k str>) -> Table {
        let mut table = Table(csv::Writer::from_writer(Vec::new()));
        table.row(header.into_iter().map(String::from));
        table
    }

    /// With one more row, as long as the header.
    pub fn row(&mut self, fields: impl IntoIterator<Item = String>) {
        self.0
            .write_record(fields)
            .expect("rows are as long as the header, and memory takes all");
    }

    /// As text.
    #[must_use]
    pub fn finish(self) -> String {
        let bytes = self.0.into_inner().expect("memory takes all");
        String::from_utf8(bytes).expect("made of strings")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn read(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader
            .headers()
            .expect("a header")
            .iter()
            .map(String::from)
            .collect();
        let rows = reader
            .records()
            .map(|r| r.expect("a row").iter().map(String::from).collect());
        (header, rows.collect())
    }

    #[test]
    fn windows_have_one_row_per_window_and_subject() {
        let scenario = sample::scenario();
        let outcomes = [sample::outcome(1, 4), sample::outcome(2, 4)];
        let (header, rows) = read(&windows(&scenario, &outcomes));
        assert_eq!(header[..2], ["start_s", "end_s"]);
        // The run, one client, two edges, two services.
        assert_eq!(rows.len(), 2 * 300 * 6);
        let column = |name: &str| header.iter().position(|h| h == name).expect(name);
        let arrived = column("arrived");
        for row in &rows {
            assert_eq!(row[arrived].is_empty(), row[4] != "service", "{row:?}");
        }
    }

    #[test]
    fn no_file_says_nan_or_infinity() {
        let scenario = sample::scenario();
        let mut empty = sample::outcome(1, 4);
        empty.drained = empty.drained.since(&empty.drained);
        empty.totals = empty.drained.clone();
        empty.measured_to = empty.measured_from;
        for latency in &mut empty.latency {
            latency.calls.reset();
        }
        for window in &mut empty.windows {
            window.counts = window.counts.since(&window.counts);
        }
        let outcomes = [empty.clone(), empty];
        let text = summary(&Summary::of(&scenario, &outcomes)) + &windows(&scenario, &outcomes);
        assert!(!text.contains("NaN") && !text.contains("inf,"));
        let (header, rows) = read(&summary(&Summary::of(&scenario, &outcomes)));
        let (figure, mean) = (2, header.iter().position(|h| h == "mean").expect("mean"));
        let success = rows
            .iter()
            .find(|r| r[figure] == "success_rate")
            .expect("a row");
        assert_eq!(success[mean], "");
    }
}
