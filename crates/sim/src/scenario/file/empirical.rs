//! Laws as measured.

use seawall::Span;

use crate::law::Law;
use crate::scenario::context::Context;
use crate::scenario::tree::At;
use crate::scenario::written::{Entry, Table, record};
use crate::text::hgrm;

record! {
    /// A law as measured: exactly one of `percentiles`, `file` and `values`.
    pub(crate) struct EmpiricalFile {
        /// Percentiles by name: `min`, `p50`, `p99`, `p99.9`, `max`. Between two of them lengths are spread
        /// evenly.
        percentiles: Option<At<Table<Span>>>,
        /// A percentile table of HdrHistogram (.hgrm), relative to the scenario.
        file: Option<At<String>>,
        /// With `file`: the length that a value of 1 stands for there.
        unit: Span = "1ms",
        /// Measured lengths, each as likely as the others.
        values: Option<At<Vec<Span>>>,
    }
}

impl EmpiricalFile {
    pub(super) fn mean(&self, context: &mut Context<'_>) -> Option<Law> {
        match (&self.percentiles, &self.file, &self.values) {
            (Some(percentiles), None, None) => {
                let rows = percentiles.value.0.iter().map(|entry| row(entry, context));
                let rows: Option<Vec<(f64, Span)>> = rows.collect();
                context.checked(percentiles.at, Law::empirical(&rows?))
            }
            (None, Some(file), None) => {
                let text = context.fetch(file)?;
                let rows = context.read(file, hgrm::read(&text, self.unit))?;
                context.checked(file.at, Law::empirical(&rows))
            }
            (None, None, Some(values)) => {
                context.checked(values.at, Law::empirical_values(&values.value))
            }
            _ => {
                let message =
                    "empirical: one of `percentiles`, `file` or `values` is needed, and no more";
                context.report(self.position, message);
                None
            }
        }
    }
}

/// A percentile with its name as a share: `p99.9` is 0.999.
fn row(entry: &Entry<Span>, context: &mut Context<'_>) -> Option<(f64, Span)> {
    let name = entry.name.value.as_str();
    let percent = match name {
        "min" => Some(0.0),
        "max" => Some(100.0),
        _ => name
            .strip_prefix('p')
            .and_then(|digits| digits.parse().ok()),
    };
    match percent.filter(|percent| (0.0..=100.0).contains(percent)) {
        Some(percent) => Some((percent / 100.0, entry.value?)),
        None => {
            let allowed = "`min`, `max`, or `p` and a number from 0 to 100";
            context.report(
                entry.name.at,
                format!("`{name}` is no percentile: {allowed}"),
            );
            None
        }
    }
}
