//! The output folder of a comparison.

use std::path::Path;

use super::difference::Difference;
use super::manifest::{self, Making};
use super::run::Comparison;
use super::{csv, json, picture};
use crate::error::Error;
use crate::plot::paint::Painted;
use crate::report::file::Output;

/// Files of the folder, with their meaning.
pub const FILES: [(&str, &str); 4] = [
    (
        "compare.json",
        "The worlds, their verdicts, and every difference with its interval.",
    ),
    (
        "compare.csv",
        "The same differences as a tidy table: one row per figure and world.",
    ),
    (
        "compare.svg, .png",
        "Goodput and attempts of every world over time; the trigger is shaded.",
    ),
    (
        "manifest.json",
        "How the results were made: command, inputs, seeds, the day.",
    ),
];

/// Writes everything below `folder` and returns the names of what was written, the manifest last.
///
/// # Errors
/// [`Error::Io`].
pub fn write(
    folder: &Path,
    comparison: &Comparison,
    differences: &[Vec<Difference>],
    making: &Making<'_>,
    plots: bool,
) -> Result<Vec<String>, Error> {
    let mut out = Output::at(folder)?;
    out.put("compare.json", json::summary(comparison, differences))?;
    out.put("compare.csv", csv::table(comparison, differences))?;
    if plots {
        let picture = picture::picture(comparison, differences);
        out.picture("compare", &Painted::of(&picture))?;
    }
    out.finish(|names| manifest::manifest(comparison, making, names))
}
