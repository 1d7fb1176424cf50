//! A call as an indented timeline, at most 100 columns.

use std::iter::repeat_n;

use seawall::Time;

use super::find::{Found, attempts};
use super::span::{Outcome, Span, What};
use crate::number;
use crate::report::style::Style;
use crate::report::table::width;

/// Nothing is printed beyond this column.
const COLUMNS: usize = 100;
/// Characters of the time axis.
const AXIS: usize = 36;
/// Characters for what happened and how.
const LEFT: usize = COLUMNS - AXIS - LENGTH - 2;
/// Characters for how long it took.
const LENGTH: usize = 10;

/// The timeline of a call.
#[must_use]
pub fn timeline(name: &str, seed: u64, found: &Found, span: &Span, style: Style) -> String {
    let axis = Axis {
        from: span.from,
        to: span.last(),
    };
    let took = axis.to.since(axis.from);
    let mut out = String::new();
    let title = format!(
        "{name}, call {}: {}, {}",
        found.number, span.name, span.words
    );
    out += &format!("{}\n", style.bold(&title));
    let began = number::duration(span.from.0 as f64 / 1e9);
    let all = attempts(&found.call);
    let counted = if all == 1 {
        "1 attempt".into()
    } else {
        format!("{all} attempts in all")
    };
    out += &format!(
        "{}\n\n",
        style.dim(&format!("began at {began} · {counted} · seed {seed}"))
    );
    let end = number::duration(took.as_secs_f64());
    let gap = AXIS.saturating_sub(1 + width(&end));
    let head = format!("{}0{}{end}", " ".repeat(LEFT + LENGTH + 2), " ".repeat(gap));
    out += &format!("{}\n", style.dim(&head));
    lines(span, 0, &axis, style, &mut out);
    let phases = if has_phases(span) {
        "   ─ phases of an attempt"
    } else {
        ""
    };
    out += &format!("\n{}\n", style.dim(&format!("{LEGEND}{phases}")));
    out
}

const LEGEND: &str =
    "━ calls and attempts   ═ at the service   ░ queue   ▓ work   · wait   ╌ for nobody";

/// Whether an attempt below has any that took time.
fn has_phases(span: &Span) -> bool {
    span.what == What::Leg || span.children.iter().any(has_phases)
}

/// The time that the picture spans.
struct Axis {
    from: Time,
    to: Time,
}

impl Axis {
    /// Cells before and of a span; every span has at least one.
    fn cells(&self, span: &Span) -> (usize, usize) {
        let whole = self.to.since(self.from).0.max(1) as f64;
        let place = |time: Time| (time.since(self.from).0 as f64 / whole * AXIS as f64) as usize;
        let first = place(span.from).min(AXIS - 1);
        let last = place(span.to.unwrap_or(self.to)).clamp(first + 1, AXIS);
        (first, last - first)
    }
}

fn lines(span: &Span, depth: usize, axis: &Axis, style: Style, out: &mut String) {
    let indent = "  ".repeat(depth);
    let name = if span.words.is_empty() {
        format!("{indent}{}", span.name)
    } else {
        format!("{indent}{} · {}", span.name, span.words)
    };
    let name = shortened(&name, LEFT - 1);
    let took = match span.to {
        Some(to) => number::duration(to.since(span.from).as_secs_f64()),
        None => "…".into(),
    };
    let (before, cells) = axis.cells(span);
    let mark = match (span.what, span.outcome) {
        (What::Job, Outcome::Wasted) => '╌',
        (What::Call | What::Attempt, _) => '━',
        (What::Job, _) => '═',
        (What::Queue, _) => '░',
        (What::Work, Outcome::Wasted) => '╌',
        (What::Work, _) => '▓',
        (What::Leg, _) => '─',
        (What::Wait, _) => '·',
    };
    let bar: String = repeat_n(mark, cells).collect();
    let dressed = |text: &str| match (span.what, span.outcome) {
        (_, Outcome::Ok) => style.goodput(text),
        (_, Outcome::Failed) => style.attempts(text),
        (_, Outcome::Wasted) => style.warn(text),
        (What::Wait | What::Queue, _) => style.dim(text),
        _ => text.to_string(),
    };
    let pad = " ".repeat(LEFT.saturating_sub(width(&name)));
    let left = " ".repeat(LENGTH.saturating_sub(width(&took)));
    let line = format!(
        "{}{pad}{left}{took}  {}{}",
        dressed(&name),
        " ".repeat(before),
        dressed(&bar)
    );
    out.push_str(line.trim_end());
    out.push('\n');
    for child in &span.children {
        lines(child, depth + 1, axis, style, out);
    }
}

/// At most `columns` characters, the last one saying that there were more.
fn shortened(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.into();
    }
    let kept: String = text.chars().take(columns - 1).collect();
    format!("{kept}…")
}
