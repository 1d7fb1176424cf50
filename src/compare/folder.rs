//! The output folder of a comparison.

use std::path::Path;

use super::difference::Difference;
use super::manifest::{self, Making};
use super::run::Comparison;
use super::{csv, json, picture};
use crate::error::Error;
use crate::plot::paint::{png, svg};
use crate::report::file;

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
    file::folder(folder)?;
    let mut names = Vec::new();
    let mut put = |name: &str, bytes: &[u8]| -> Result<(), Error> {
        file::write(&folder.join(name), bytes)?;
        names.push(name.to_string());
        Ok(())
    };
    put(
        "compare.json",
        json::summary(comparison, differences).as_bytes(),
    )?;
    put(
        "compare.csv",
        csv::table(comparison, differences).as_bytes(),
    )?;
    if plots {
        let picture = picture::picture(comparison, differences);
        put("compare.svg", svg(&picture).as_bytes())?;
        put("compare.png", &png(&picture, 1))?;
    }
    let manifest = manifest::manifest(comparison, making, &names);
    file::write(&folder.join("manifest.json"), manifest.as_bytes())?;
    names.push("manifest.json".into());
    Ok(names)
}
