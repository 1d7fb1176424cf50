//! The output folder of a sweep.

use std::path::Path;

use super::manifest::{self, Making};
use super::plan::Plan;
use super::results::Results;
use super::{csv, json, picture};
use crate::error::Error;
use crate::plot::paint::Painted;
use crate::replicate;
use crate::report::file::Output;

/// Files of the folder, with their meaning.
pub const FILES: [(&str, &str); 6] = [
    (
        "results.csv",
        "Every value: one row per point, replication and measure, what was varied first.",
    ),
    (
        "summary.csv",
        "Means and intervals: one row per point and measure.",
    ),
    (
        "summary.json",
        "The question, what was varied and measured, every point, the promises.",
    ),
    (
        "plots/MEASURE.svg, .png",
        "What the experiment says is to be drawn, by what is measured: `amplification(api)` goes to \
         `plots/amplification--api.svg`.",
    ),
    (
        "manifest.json",
        "How the results were made: command, inputs, the day.",
    ),
    (
        super::journal::NAME,
        "Only while a sweep runs or after it was interrupted: the runs that have ended. The same command goes on \
         from there.",
    ),
];

/// Writes everything below `folder` and returns the names of what was written; the manifest comes last.
///
/// # Errors
/// [`Error::Io`]; [`Error::Usage`] when the system does not give as many threads.
pub fn write(
    folder: &Path,
    plan: &Plan,
    results: &Results,
    making: &Making<'_>,
    plots: bool,
) -> Result<Vec<String>, Error> {
    let mut out = Output::at(folder)?;
    out.put("results.csv", csv::results(plan, results))?;
    out.put("summary.csv", csv::summary(plan, results))?;
    out.put("summary.json", json::summary(plan, results))?;
    if plots && !plan.experiment.plots.is_empty() {
        out.below("plots")?;
        let pictures = replicate::on_threads(making.jobs, &plan.experiment.plots, |plot| {
            Painted::of(&picture::draw(plan, results, plot))
        })?;
        for (name, painted) in picture::names(plan).into_iter().zip(pictures) {
            out.picture(&format!("plots/{name}"), &painted)?;
        }
    }
    out.finish(|names| manifest::manifest(plan, results, making, names))
}
