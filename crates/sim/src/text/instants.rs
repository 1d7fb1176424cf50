//! Recorded arrivals: one row per arrival, one column of which says when.

use seawall::{Span, Time};

use super::rows::rows;
use super::timestamp::{self, Timestamp};
use super::{Problem, Problems, quoted};

/// Reads arrivals from comma-separated text; times count from the earliest.
///
/// The column is the one headed `column`, otherwise the first. A first row in which no time stands
/// there is a heading. Times are dates (`2023-11-16 18:15:46.6805900`, with `T`, `Z` or an offset if
/// you like) or numbers of `unit`s, usually seconds. Rows may come in any order, as logs that are
/// written when a request ends do.
pub fn read(text: &str, column: Option<&str>, unit: Span) -> Result<Vec<Time>, Vec<Problem>> {
    let mut problems = Problems::default();
    let rows = rows(text, &mut problems);
    let mut rows = rows.iter().peekable();
    let mut index = 0;
    if let Some(first) = rows.peek() {
        let line = first.line;
        if let Some(name) = column {
            let Some(found) = first.column(name) else {
                let headings: Vec<String> = first.fields().map(quoted).collect();
                let message = format!("no column {} among {}", quoted(name), headings.join(", "));
                problems.add(line, message);
                return problems.unless_any(Vec::new());
            };
            index = found;
            rows.next();
        } else if timestamp::parse(first.field(0), unit.0).is_none() {
            rows.next();
        }
    }
    let mut stamps: Vec<Timestamp> = Vec::new();
    for row in rows {
        let field = row.field(index);
        match timestamp::parse(field, unit.0) {
            None => problems.add(
                row.line,
                format!(
                    "expected a date with time or a number, not {}",
                    quoted(field)
                ),
            ),
            Some(stamp) => match stamps.first() {
                Some(first) if first.kind != stamp.kind => problems.add(
                    row.line,
                    format!(
                        "this is {}, the rows above have {}",
                        stamp.kind.name(),
                        first.kind.name()
                    ),
                ),
                _ => stamps.push(stamp),
            },
        }
    }
    let Some(earliest) = stamps.iter().map(|stamp| stamp.nanos).min() else {
        if problems.none() {
            problems.add(1, "there is no arrival in this file");
        }
        return problems.unless_any(Vec::new());
    };
    let mut instants: Vec<Time> = stamps
        .iter()
        .map(|stamp| Time(u64::try_from(stamp.nanos - earliest).unwrap_or(u64::MAX)))
        .collect();
    instants.sort();
    if instants.last() == Some(&Time::MAX) {
        problems.add(
            1,
            "the arrivals span more than 584 years; is the unit of time right?",
        );
    }
    problems.unless_any(instants)
}
