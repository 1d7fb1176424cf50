//! Percentile tables of HdrHistogram (`.hgrm`), as its libraries, wrk2 and jHiccup write them.
//!
//! Each row is a value, the share of recorded values not above it (0 to 1), how many those are, and
//! 1 / (1 − share). Lines that begin with `#` are remarks; above the rows any heading may stand.

use std::fmt::Write as _;

use hdrhistogram::Histogram;
use seawall::Span;

use super::{Problem, Problems, quoted};

/// Reads a percentile table into rows of (quantile, length) for
/// [`Law::empirical`](crate::law::Law::empirical). `unit` is the length of a value of 1, usually a
/// millisecond.
///
/// Columns are separated by blanks or commas; what stands after the second column is not used.
pub fn read(text: &str, unit: Span) -> Result<Vec<(f64, Span)>, Vec<Problem>> {
    let mut problems = Problems::default();
    let mut rows: Vec<(f64, Span)> = Vec::new();
    let mut seen_row = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if !seen_row && !line.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
            continue;
        }
        seen_row = true;
        match row(line, unit) {
            Err(message) => problems.add(number, message),
            Ok((quantile, length)) => {
                if let Some(&(before, shorter)) = rows.last() {
                    if quantile < before {
                        problems.add(
                            number,
                            format!(
                                "percentile {quantile} stands after {before}; rows must ascend"
                            ),
                        );
                        continue;
                    }
                    if length < shorter {
                        problems.add(
                            number,
                            format!("the value falls from {shorter} to {length}; rows must ascend"),
                        );
                        continue;
                    }
                }
                rows.push((quantile, length));
            }
        }
    }
    if !seen_row {
        problems.add(1, "there is no row of numbers in this percentile table");
    }
    problems.unless_any(rows)
}

fn row(line: &str, unit: Span) -> Result<(f64, Span), String> {
    let mut fields = line
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|f| !f.is_empty());
    let (Some(value), Some(percentile)) = (fields.next(), fields.next()) else {
        return Err(format!(
            "expected a value and a percentile, not {}",
            quoted(line)
        ));
    };
    let number = |field: &str| {
        field
            .parse::<f64>()
            .map_err(|_| format!("expected a number, not {}", quoted(field)))
    };
    let (value, percentile) = (number(value)?, number(percentile)?);
    if !(value >= 0.0 && value.is_finite()) {
        return Err(format!("a value must be 0 or above, not {value}"));
    }
    if !(0.0..=1.0).contains(&percentile) {
        return Err(format!(
            "a percentile must be a share from 0 to 1, not {percentile}"
        ));
    }
    Ok((percentile, unit.times(value)))
}

/// Writes a histogram as a percentile table with values in milliseconds; `unit` is the length of a
/// recorded 1. [`read`] understands it with `unit` a millisecond, to the nanosecond.
///
/// Rows are those of HdrHistogram's own tools with five rows per halving of what is left to 1.
#[must_use]
pub fn write(histogram: &Histogram<u64>, unit: Span) -> String {
    let millis = |value: f64| value * unit.0 as f64 / 1e6;
    let total = histogram.len();
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "{:>15} {:>14} {:>10} {:>14}\n",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    );
    let mut buckets = histogram.iter_recorded();
    let (mut value, mut upto) = (0.0, 0);
    for (part, whole) in levels() {
        // The first value that at least this share of the recorded does not exceed.
        while upto == 0 || u128::from(upto) * whole < u128::from(total) * part {
            let Some(bucket) = buckets.next() else { break };
            value = millis(bucket.value_iterated_to() as f64);
            upto += bucket.count_at_value();
        }
        if total == 0 {
            break;
        }
        let percentile = part as f64 / whole as f64;
        let halvings = whole as f64 / (whole - part) as f64;
        let _ = writeln!(
            out,
            "{value:15.6} {percentile:2.12} {upto:10} {halvings:14.2}"
        );
        if upto == total {
            let _ = writeln!(out, "{value:15.6} {:2.12} {upto:10} {:>14}", 1.0, "inf");
            break;
        }
    }
    let sub_buckets = (2 * 10u64.pow(u32::from(histogram.sigfig()))).next_power_of_two();
    let _ = writeln!(
        out,
        "#[Mean    = {:15.6}, StdDeviation   = {:15.6}]\n\
         #[Max     = {:15.6}, Total count    = {total:15}]\n\
         #[Buckets = {:15}, SubBuckets     = {sub_buckets:15}]",
        millis(histogram.mean()),
        millis(histogram.stdev()),
        millis(histogram.max() as f64),
        histogram.buckets(),
    );
    out
}

/// The percentiles of the rows as exact fractions: five even steps from 0 to 1/2, five to 3/4, five
/// to 7/8 and so on, until no count of 64 bits can tell them from 1.
fn levels() -> impl Iterator<Item = (u128, u128)> {
    (0..=64).flat_map(|halving| {
        let whole = 10u128 << halving;
        (0..5).map(move |step| (whole - 10 + step, whole))
    })
}
