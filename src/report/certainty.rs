//! How sure the figures of a run are, for its summary: the warm-up that was found, the interval of a single
//! replication, the precision that was asked for.

use sim::scenario::Scenario;

use super::Report;
use super::style::Style;
use super::table::{width, wrapped};
use crate::number;
use crate::stats::Basis;
use crate::stats::batch::BATCHES;
use crate::warmup::Warmup;

/// What to know about a warm-up that was not given, as lines of at most `columns` characters.
#[must_use]
pub fn warmup(how: &Warmup, scenario: &Scenario, style: Style, columns: usize) -> Vec<String> {
    let warmup = number::duration(scenario.run.warmup.as_secs_f64());
    match how {
        Warmup::Given => Vec::new(),
        Warmup::Detected => vec![style.dim(&format!("  warm-up: {warmup}, detected"))],
        Warmup::NotSettled(why) => {
            let words = format!(
                "no end of the start-up was found: {why}. {warmup} were left out; do not trust the figures"
            );
            let lines = wrapped(&words, columns - 2);
            let lead = |i| if i == 0 { "▌ " } else { "  " };
            let lines = lines.iter().enumerate();
            lines
                .map(|(i, line)| style.warn(&format!("{}{line}", lead(i))))
                .collect()
        }
    }
}

/// Of the one replication of a steady world: what its intervals rest on, or why it has none.
#[must_use]
pub fn of_one(report: &Report<'_>) -> Option<String> {
    if report.outcomes.len() != 1 {
        return None;
    }
    match report.summary.run().get("goodput_per_s").basis {
        Basis::BatchMeans => Some(format!("± from {BATCHES} batches of one replication")),
        Basis::Correlated => {
            Some("no ±: the batches of this one replication are correlated; run longer".into())
        }
        Basis::TooShort => Some(format!(
            "no ±: fewer than {BATCHES} windows were measured; more replications, or a longer run"
        )),
        _ => None,
    }
}

/// The precision that was asked for, a line each.
#[must_use]
pub fn precision(report: &Report<'_>, style: Style) -> Vec<String> {
    if report.precision.is_empty() {
        return Vec::new();
    }
    let widest = report.precision.iter().map(|p| width(&p.text)).max();
    let widest = widest.unwrap_or(0).min(60);
    let mut lines = vec![style.dim("  precision")];
    lines.extend(report.precision.iter().map(|goal| {
        let sign = if goal.reached {
            style.good("✓")
        } else {
            style.bad("✗")
        };
        let not = if goal.reached { "" } else { ", not reached" };
        format!("  {sign} {:widest$}  {}{not}", goal.text, goal.shown)
    }));
    lines
}
