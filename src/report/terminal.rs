//! The summary of a run for people: what happened first, then the figures, at most 100 columns.

use std::path::Path;

use seawall::{Stopped, Time};
use sim::metrics::{Ended, Window};
use sim::verdict::Trigger;

use super::sparkline::{ends, marks, sparkline};
use super::style::Style;
use super::summary::Row;
use super::table::{Align, Table, cut, width, wrapped};
use super::{Report, certainty, effects, written};
use crate::figure::column::Unit;
use crate::figure::{Scope, busiest_service, top_calls, top_edges};
use crate::number;
use crate::plot::load::ONE_SCALE;
use crate::plot::over_time::{largest, over_time};
use crate::plot::panel::Spread;
use crate::story::Tone;
use crate::wording;

/// Nothing is printed beyond this column.
const COLUMNS: usize = 100;
/// Characters of a sparkline.
const LINE: usize = 64;
/// Services and edges beyond these are left to the files.
const ROWS_MAX: usize = 20;
/// Faults beyond these are counted below the time line.
const FAULTS_MAX: usize = 4;

/// The summary; `files` are the folder and the files in it.
#[must_use]
pub fn summary(report: &Report<'_>, style: Style, files: Option<(&Path, &[String])>) -> String {
    let mut out = Lines {
        text: String::new(),
        style,
    };
    out.headline(report);
    out.timeline(report);
    out.calls(report);
    out.services(report);
    for table in effects::tables(report) {
        out.table(&table);
        out.line("");
    }
    out.given_up(report);
    out.still_open(report);
    out.promises(report);
    let precision = certainty::precision(report, style);
    for line in &precision {
        out.line(line);
    }
    if !precision.is_empty() {
        out.line("");
    }
    if let Some((folder, files)) = files {
        for line in written::lines(folder, files, style) {
            out.line(&line);
        }
    }
    out.text
}

/// Puts text into a style's colour.
type Dress = fn(Style, &str) -> String;

struct Lines {
    text: String,
    style: Style,
}

impl Lines {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn table(&mut self, table: &Table) {
        for line in table.dressed(self.style) {
            self.line(&line);
        }
    }

    fn headline(&mut self, report: &Report<'_>) {
        let (style, scenario) = (self.style, report.scenario);
        let title = match report.scenario.title.as_str() {
            "" => report.name.to_string(),
            title => format!("{}: {title}", report.name),
        };
        self.line(&style.bold(&title));
        let setup = format!(
            "{} · trajectory {:016x}",
            report.setup(),
            report.trajectory()
        );
        self.line(&style.dim(&setup));
        self.line("");
        let story = report.story;
        let dress = match story.tone {
            Tone::Good => Style::good,
            Tone::Warn => Style::warn,
            Tone::Bad => Style::bad,
        };
        for (i, line) in wrapped(&story.sentence, COLUMNS - 2).iter().enumerate() {
            let lead = if i == 0 {
                dress(style, "▌ ")
            } else {
                "  ".into()
            };
            self.line(&format!("{lead}{}", style.bold(line)));
        }
        if let Some(words) = report.cut_short() {
            for (i, line) in wrapped(&words, COLUMNS - 2).iter().enumerate() {
                let lead = if i == 0 { "▌ " } else { "  " };
                self.line(&style.warn(&format!("{lead}{line}")));
            }
        }
        if let Some((bad, words)) = effects::headline(report) {
            let dress: Dress = if bad { Style::bad } else { Style::good };
            self.line(&format!("{}{words}", dress(style, "▌ ")));
        }
        for line in certainty::warmup(report.warmup, scenario, style, COLUMNS) {
            self.line(&line);
        }
        if report.interrupted {
            let (done, asked) = (report.outcomes.len(), report.asked);
            let cut = (report.outcomes.iter()).find(|o| o.ended == Ended::Interrupted);
            let words = match cut {
                Some(cut) => format!(
                    "▌ interrupted at {}: figures are of the time before",
                    number::duration(cut.measured_to.0 as f64 / 1e9)
                ),
                None => format!("▌ interrupted: {done} of {asked} replications were finished"),
            };
            self.line(&style.warn(&words));
        }
        self.line("");
    }

    fn timeline(&mut self, report: &Report<'_>) {
        let (scenario, outcomes) = (report.scenario, report.outcomes);
        // A run that was cut short has fewer windows than its duration.
        let windows = outcomes.iter().filter_map(|o| o.windows.last());
        let shown_until = windows.map(|w| w.end).max().unwrap_or(Time::ZERO);
        let share = |time: Time| time.0 as f64 / shown_until.0.max(1) as f64;
        let top = top_edges(scenario);
        let rate = |n: u64, w: &Window| n as f64 / w.end.since(w.start).as_secs_f64();
        let offered = over_time(outcomes, |_, w| {
            Some(rate(top_calls(scenario, &w.counts.edges), w))
        });
        let busiest = busiest_service(scenario, outcomes);
        let attempts = busiest.map(|service| {
            over_time(outcomes, |_, w| {
                Some(rate(w.counts.services[service].arrived, w))
            })
        });
        let goodput = over_time(outcomes, |_, w| {
            Some(rate(top.iter().map(|&e| w.counts.edges[e].ok).sum(), w))
        });
        let characters = LINE.min(offered.len());
        let ends = ends(number::duration(shown_until.0 as f64 / 1e9), characters);
        self.line(&format!("  {:9} {}", "", self.style.dim(&ends)));
        // Attempts stand on the scale of the calls unless that would press the calls flat.
        let calls_max = largest([&offered, &goodput]);
        let attempts_max = largest(attempts.as_ref());
        let (calls_max, attempts_max) = if attempts_max > ONE_SCALE * calls_max {
            (calls_max, attempts_max)
        } else {
            let both = calls_max.max(attempts_max);
            (both, both)
        };
        self.sparkline("offered", &offered, calls_max, Style::offered, "at the end");
        if let (Some(service), Some(attempts)) = (busiest, attempts) {
            let at = format!("at {}", cut(&scenario.services[service].name, 10));
            self.sparkline("attempts", &attempts, attempts_max, Style::attempts, &at);
        }
        self.sparkline("goodput", &goodput, calls_max, Style::goodput, "at the end");
        let intervals: Vec<(f64, f64)> = Trigger::parts(scenario)
            .into_iter()
            .filter(|part| part.begin < shown_until)
            .map(|part| (share(part.begin), part.end.map_or(1.0, share)))
            .collect();
        if !intervals.is_empty() {
            let line = marks(&intervals, characters, '▔');
            self.line(&format!("  {:9} {line}", "trigger"));
        }
        for words in wording::faults(scenario, FAULTS_MAX) {
            self.line(&self.style.dim(&format!("  {:9} {words}", "")));
        }
        self.line("");
    }

    /// A line of time and the mean of its last tenth.
    fn sparkline(&mut self, name: &str, points: &[Spread], max: f64, dress: Dress, note: &str) {
        let values: Vec<Option<f64>> = points.iter().map(|p| p.mean).collect();
        let line = dress(self.style, &sparkline(&values, LINE, max));
        let tenth = &values[values.len() - values.len().div_ceil(10)..];
        let known: Vec<f64> = tenth.iter().flatten().copied().collect();
        let last = number::rate(known.iter().sum::<f64>() / known.len() as f64);
        self.line(&format!("  {name:9} {line} {last} {note}"));
    }

    fn calls(&mut self, report: &Report<'_>) {
        use Align::{Left, Point};
        let mut table = Table::new([
            ("calls", Left),
            ("offered/s", Point),
            ("goodput/s", Point),
            ("± 95 %", Point),
            ("success", Point),
            ("p50", Point),
            ("p99", Point),
            ("p99.9", Point),
            ("attempts/call", Point),
        ]);
        let top = top_edges(report.scenario);
        let edges: Vec<&Row> = report.summary.of_scope(Scope::Edge).collect();
        let mut rows = Vec::new();
        if top.len() != 1 {
            rows.push(("all clients".to_string(), report.summary.run()));
        }
        // Who calls from outside comes first.
        let below = (0..edges.len()).filter(|e| !top.contains(e));
        for edge in top.iter().copied().chain(below) {
            rows.push((
                wording::arrow(report.scenario, &report.scenario.edges[edge]),
                edges[edge],
            ));
        }
        let left_out = rows.len().saturating_sub(ROWS_MAX);
        for (name, row) in rows.into_iter().take(ROWS_MAX) {
            let ms = |figure| shown(row, figure, Unit::Milliseconds);
            table.row([
                cut(&name, 28),
                plain(row.mean("calls_per_s")),
                plain(row.mean("goodput_per_s")),
                row.get("goodput_per_s")
                    .half_width()
                    .map_or_else(String::new, number::prefixed),
                shown(row, "success_rate", Unit::Share),
                ms("call_p50_ms"),
                ms("call_p99_ms"),
                ms("call_p999_ms"),
                shown(row, "attempts_per_call", Unit::Factor),
            ]);
        }
        self.table(&table.without_columns_of(&[""]));
        if let Some(words) = certainty::of_one(report) {
            self.line(&self.style.dim(&format!("  {words}")));
        }
        self.left_out(left_out, "edges");
    }

    fn services(&mut self, report: &Report<'_>) {
        use Align::{Left, Point};
        let mut table = Table::new([
            ("services", Left),
            ("attempts/s", Point),
            ("amplification", Point),
            ("± 95 %", Point),
            ("busy", Point),
            ("wasted", Point),
            ("queue max", Point),
            ("shed", Point),
            ("p99", Point),
        ]);
        let services: Vec<&Row> = report.summary.of_scope(Scope::Service).collect();
        for row in services.iter().take(ROWS_MAX) {
            let shed: f64 = ["shed_full", "shed_expired", "shed_waited"]
                .into_iter()
                .filter_map(|figure| row.mean(figure))
                .sum();
            let shed = row
                .mean("arrived")
                .filter(|a| *a > 0.0)
                .map(|arrived| shed / arrived);
            table.row([
                cut(&row.subject.name, 24),
                plain(row.mean("arrived_per_s")),
                shown(row, "amplification", Unit::Factor),
                row.get("amplification")
                    .half_width()
                    .map_or_else(String::new, number::prefixed),
                shown(row, "utilisation", Unit::Share),
                shown(row, "wasted_share", Unit::Share),
                plain(row.mean("queue_max")),
                shed.map_or_else(none, number::share),
                shown(row, "sojourn_p99_ms", Unit::Milliseconds),
            ]);
        }
        self.table(&table.without_columns_of(&[""]));
        self.left_out(services.len().saturating_sub(ROWS_MAX), "services");
    }

    fn left_out(&mut self, rows: usize, what: &str) {
        if rows > 0 {
            self.line(
                &self
                    .style
                    .dim(&format!("  and {rows} more {what}, see summary.csv")),
            );
        }
        self.line("");
    }

    /// Why calls of clients were given up, the most frequent reason first.
    fn given_up(&mut self, report: &Report<'_>) {
        let row = report.summary.run();
        let failed = row.mean("calls_failed").unwrap_or(0.0);
        let mut reasons: Vec<(&str, f64)> = Stopped::NAMES
            .into_iter()
            .map(|name| (name, row.mean(&format!("stopped_{name}")).unwrap_or(0.0)))
            .filter(|(_, n)| *n > 0.0)
            .collect();
        reasons.sort_by(|a, b| b.1.total_cmp(&a.1));
        if failed > 0.0 {
            let said = |(name, n): &(&str, f64)| {
                format!("{} {}", name.replace('_', " "), number::share(n / failed))
            };
            let words = reasons
                .iter()
                .take(5)
                .map(said)
                .collect::<Vec<_>>()
                .join(" · ");
            let rest = if reasons.len() > 5 { " · …" } else { "" };
            for line in wrapped(&format!("given up because: {words}{rest}"), COLUMNS - 2) {
                self.line(&format!("  {line}"));
            }
            self.line("");
        }
    }

    /// Calls that had not ended when the run was over: they are neither well nor failed, and easily overlooked.
    fn still_open(&mut self, report: &Report<'_>) {
        let open = report.summary.run().mean("calls_open").unwrap_or(0.0);
        if open > 0.0 {
            let calls = number::prefixed(open);
            self.line(&format!(
                "  still open at the end, and no part of the success: {calls} calls"
            ));
            self.line("");
        }
    }

    fn promises(&mut self, report: &Report<'_>) {
        if report.promises.is_empty() {
            return;
        }
        self.line(&self.style.dim("  promises"));
        let widest = report
            .promises
            .iter()
            .map(|p| width(&p.text))
            .max()
            .unwrap_or(0)
            .min(60);
        for promise in report.promises {
            let sign = if promise.kept {
                self.style.good("✓")
            } else {
                self.style.bad("✗")
            };
            self.line(&format!(
                "  {sign} {:widest$}  {}",
                promise.text, promise.actual
            ));
        }
        self.line("");
    }
}

fn none() -> String {
    "–".into()
}

fn plain(value: Option<f64>) -> String {
    value.map_or_else(none, number::prefixed)
}

fn shown(row: &Row, figure: &str, unit: Unit) -> String {
    row.mean(figure)
        .map_or_else(none, |value| unit.human(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::precision::Goal;
    use crate::report::summary::Summary;
    use crate::sample;
    use crate::story::{Promise, Story};
    use crate::warmup::Warmup;

    fn printed(replications: u64) -> String {
        let scenario = sample::scenario();
        let outcomes: Vec<_> = (0..replications)
            .map(|seed| sample::outcome(seed, 4))
            .collect();
        let promise = |text: &str, kept| Promise {
            text: text.into(),
            kept,
            actual: "3.59×".into(),
        };
        let report = Report {
            name: "sample",
            scenario: &scenario,
            outcomes: &outcomes,
            summary: &Summary::of(&scenario, &outcomes),
            story: &Story {
                tone: Tone::Bad,
                sentence: "It went down and stayed down. ".repeat(5),
                judgements: Vec::new(),
            },
            promises: &[
                promise("amplification(db) <= 1.2", false),
                promise("x > 1", true),
            ],
            warmup: &Warmup::NotSettled("it is not; ".repeat(12)),
            precision: &[Goal::parse("goodput=1%", &scenario)
                .expect("a goal")
                .judge(&scenario, &outcomes)],
            asked: 5,
            interrupted: true,
        };
        let files = ["summary.json", "plots/load.svg"].map(String::from);
        summary(
            &report,
            Style::default(),
            Some((Path::new("output/sample"), &files)),
        )
    }

    #[test]
    fn everything_fits_into_a_hundred_columns_and_is_plain() {
        for replications in [1, 3] {
            let text = printed(replications);
            for line in text.lines() {
                assert!(width(line) <= COLUMNS, "{} columns: {line}", width(line));
                assert_eq!(line, line.trim_end());
            }
            assert!(!text.contains('\x1b') && !text.contains("NaN"));
        }
    }

    #[test]
    fn what_happened_comes_first_and_broken_promises_are_seen() {
        let text = printed(3);
        let line = |part: &str| {
            text.lines()
                .position(|l| l.contains(part))
                .unwrap_or_else(|| panic!("{part}: {text}"))
        };
        assert!(line("It went down") < line("offered"));
        assert!(line("3 of 5 replications") < line("offered"));
        assert!(text.contains("✗ amplification(db) <= 1.2  3.59×"));
        assert!(text.contains("✓ x > 1"));
        assert!(text.contains("plots/ (1)"));
    }
}
