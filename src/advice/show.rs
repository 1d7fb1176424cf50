//! Advice as people and as programs read it.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{Advice, Severity};
use crate::report::style::Style;
use crate::report::table::wrapped;

/// Keys of each piece of advice in JSON, in order, with their meaning.
pub const KEYS: [(&str, &str); 8] = [
    ("name", "The name of the trap; `--allow` takes it."),
    ("severity", "`mistake` or `risk`."),
    (
        "place",
        "Where it is written: `file`, `line`, `col`; an override stands as `file`, with null for the others.",
    ),
    ("subject", "What it is about: an edge or a service."),
    (
        "also",
        "The other edges and services of which the same is said.",
    ),
    ("reason", "What is the matter, for people."),
    (
        "figures",
        "What was computed; units are in the names, null is infinite.",
    ),
    ("mend", "What to change, for people."),
];

/// Keys of what `check --format json` prints, in order, with their meaning.
pub const SUMMARY: [(&str, &str); 6] = [
    ("retrystorm", "Version of the program."),
    ("scenario", "The scenario, as given."),
    ("title", "Its title."),
    (
        "worst_amplification",
        "Service → the most attempts that one call of a client can cause there; null is without limit.",
    ),
    (
        "advice",
        "Every piece of advice that is not allowed: mistakes before risks, each in the order of the text.",
    ),
    ("allowed", "Names that were allowed."),
];

/// `2 mistakes, 1 risk`.
#[must_use]
pub fn count(advice: &[Advice]) -> String {
    let of = |severity: Severity| {
        let n = advice.iter().filter(|a| a.severity == severity).count();
        let plural = if n == 1 { "" } else { "s" };
        (n > 0).then(|| format!("{n} {}{plural}", severity.name()))
    };
    let parts: Vec<String> = [Severity::Mistake, Severity::Risk]
        .into_iter()
        .filter_map(of)
        .collect();
    parts.join(", ")
}

/// One piece on one line, as editors read it: `file:line:col: mistake: reason [name]`.
#[must_use]
pub fn line(advice: &Advice) -> String {
    let Advice {
        place,
        name,
        subject,
        reason,
        ..
    } = advice;
    let severity = advice.severity.name();
    format!("{place}: {severity}: {subject}: {reason} [{name}]")
}

/// All of it for people.
#[must_use]
pub fn text(advice: &[Advice], style: Style) -> String {
    let mut out = String::new();
    if advice.is_empty() {
        let _ = writeln!(out, "\n  {} no advice", style.good("✓"));
        return out;
    }
    let _ = writeln!(
        out,
        "\n  {}",
        style.dim(&format!("advice: {}", count(advice)))
    );
    for piece in advice {
        let severity = match piece.severity {
            Severity::Mistake => style.bad(piece.severity.name()),
            Severity::Risk => style.warn(piece.severity.name()),
        };
        let name = style.bold(piece.name);
        let _ = writeln!(out, "\n  {}: {severity} {name}", piece.place);
        let also = match piece.also.len() {
            0 => String::new(),
            _ => format!(" (so does {})", piece.also.join(", ")),
        };
        let reason = format!("{}: {}{also}", piece.subject, piece.reason);
        for line in wrapped(&reason, 94) {
            let _ = writeln!(out, "      {line}");
        }
        for (i, line) in wrapped(&piece.mend, 92).iter().enumerate() {
            let mark = if i == 0 { "→" } else { " " };
            let _ = writeln!(out, "      {} {line}", style.good(mark));
        }
    }
    out
}

/// One piece for programs; keys as in [`KEYS`].
#[must_use]
pub fn json(advice: &Advice) -> Value {
    let (line, col) = match advice.place.line_and_column {
        Some((line, col)) => (json!(line), json!(col)),
        None => (Value::Null, Value::Null),
    };
    let figures: Map<String, Value> = advice
        .figures
        .iter()
        .map(|(name, value)| ((*name).into(), json!(value)))
        .collect();
    let values = [
        json!(advice.name),
        json!(advice.severity.name()),
        json!({ "file": advice.place.source, "line": line, "col": col }),
        json!(advice.subject),
        json!(advice.also),
        json!(advice.reason),
        Value::Object(figures),
        json!(advice.mend),
    ];
    let keys = KEYS.iter().map(|(key, _)| (*key).to_string());
    Value::Object(keys.zip(values).collect())
}
