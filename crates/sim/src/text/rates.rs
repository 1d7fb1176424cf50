//! Recorded rates: rows of time and arrivals per second.

use seawall::{Span, Time};

use super::rows::rows;
use super::timestamp::{self, Timestamp};
use super::{Problem, Problems, quoted};
use crate::arrivals::Profile;

/// Rates that each hold for a while.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// When each begins, the first at zero, and arrivals per second from then on.
    pub bins: Vec<(Time, f64)>,
    /// When the last ends.
    pub end: Time,
}

impl Rates {
    /// The profile of steps; nothing arrives after the end, or it starts over.
    pub fn profile(&self, repeat: bool) -> Result<Profile, String> {
        Profile::steps(&self.bins, self.end, repeat)
    }
}

/// Reads rates from comma-separated text: the first column is a date or a number of `unit`s (usually
/// seconds), the second arrivals per second. A first row in which no time stands is a heading.
///
/// A rate holds until the next row, the last one as long as the one before it. Time counts from the
/// first row, so in evenly spaced rows it does not matter whether a time is the beginning of its bin
/// or, as in LIMBO files (0.5, 1.5, 2.5 …), its centre: the bins are the same.
pub fn read(text: &str, unit: Span) -> Result<Rates, Vec<Problem>> {
    let mut problems = Problems::default();
    let mut read: Vec<(u64, Timestamp, f64)> = Vec::new();
    for (number, row) in rows(text, &mut problems).iter().enumerate() {
        let (time, rate) = (row.field(0), row.field(1));
        let Some(stamp) = timestamp::parse(time, unit.0) else {
            if number > 0 {
                problems.add(
                    row.line,
                    format!(
                        "expected a date with time or a number, not {}",
                        quoted(time)
                    ),
                );
            }
            continue;
        };
        match rate.parse::<f64>() {
            Ok(rate) if rate >= 0.0 && rate.is_finite() => match read.last() {
                Some((_, before, _)) if before.kind != stamp.kind => problems.add(
                    row.line,
                    format!(
                        "this is {}, the row above has {}",
                        stamp.kind.name(),
                        before.kind.name()
                    ),
                ),
                Some((line, before, _)) if before.nanos >= stamp.nanos => {
                    problems.add(
                        row.line,
                        format!("the time must be later than in line {line}"),
                    );
                }
                _ => read.push((row.line, stamp, rate)),
            },
            _ => problems.add(
                row.line,
                format!(
                    "expected a rate of 0 or above in the second column, not {}",
                    quoted(rate)
                ),
            ),
        }
    }
    let (Some((_, first, _)), Some([(_, before, _), (_, last, _)])) =
        (read.first(), read.last_chunk::<2>())
    else {
        if problems.none() {
            problems.add(
                1,
                "rates need at least two rows, to know how long each holds",
            );
        }
        return problems.unless_any(Rates {
            bins: Vec::new(),
            end: Time::ZERO,
        });
    };
    let at = |nanos: i128| Time(u64::try_from(nanos - first.nanos).unwrap_or(u64::MAX));
    let bins = read
        .iter()
        .map(|(_, stamp, rate)| (at(stamp.nanos), *rate))
        .collect();
    let end = at(last.nanos + (last.nanos - before.nanos));
    if end == Time::MAX {
        problems.add(
            1,
            "the rates span more than 584 years; is the unit of time right?",
        );
    }
    problems.unless_any(Rates { bins, end })
}
