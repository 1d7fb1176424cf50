//! `retrystorm compare`.

use std::path::PathBuf;
use std::time::Instant;

use crate::cli::compare::Compare;
use crate::cli::{Format, Talk};
use crate::compare::manifest::Making;
use crate::compare::world::{World, worlds};
use crate::compare::{csv, difference, finding, folder, json, run, terminal};
use crate::error::{Error, exit};
use crate::interrupt;
use crate::progress::Progress;
use crate::replicate;
use crate::report::file::slug;
use crate::report::style::Style;
use crate::warmup::Warmup;

/// So many replications tell most differences that matter from chance; scenarios mostly ask for one.
const REPLICATIONS_MIN: u32 = 10;

pub(super) fn compare(compare: &Compare, talk: Talk, arguments: &[String]) -> Result<u8, Error> {
    let overrides = super::run::parsed(&compare.overrides)?;
    let worlds = worlds(&compare.files, &compare.with, &overrides)?;
    let runs = worlds.iter().map(|w| &w.loaded.scenario.run);
    let replications = compare.replications.unwrap_or_else(|| {
        let asked = runs.map(|run| run.replications).max();
        asked.unwrap_or(0).max(REPLICATIONS_MIN)
    });
    let first = worlds[0].loaded.scenario.run.seed;
    let seeds = replicate::seeds(compare.seed.unwrap_or(first), replications);
    let jobs = replicate::threads(compare.jobs);

    interrupt::listen();
    let progress = Progress::new(talk, "compare", (seeds.len() * worlds.len()) as u64);
    let begun = Instant::now();
    let comparison = run::run(&worlds, &seeds, jobs, &progress);
    let elapsed = begun.elapsed().as_secs_f64();
    progress.done();
    let comparison = comparison?;

    let differences = difference::all(&comparison);
    let making = Making {
        command: arguments,
        worlds: &worlds,
        jobs,
        elapsed,
    };
    let out = compare.out.clone().unwrap_or_else(|| folder_of(&worlds));
    let files = folder::write(&out, &comparison, &differences, &making, !compare.no_plots)?;
    if !talk.quiet {
        super::print(&match compare.format {
            Format::Text => {
                let style = Style::of_stdout(talk.no_color);
                terminal::summary(&comparison, &differences, style, Some((&out, &files)))
            }
            Format::Json => json::summary(&comparison, &differences),
            Format::Csv => csv::table(&comparison, &differences),
        })?;
    }
    Ok(if comparison.interrupted() {
        exit::INTERRUPTED
    } else if !finding::cut_short(&comparison).is_empty() {
        exit::LIMIT
    } else if matches!(comparison.warmup, Warmup::NotSettled(_)) {
        exit::UNSURE
    } else {
        exit::OK
    })
}

/// Named after all worlds, so that another comparison does not overwrite this one; file names end somewhere.
fn folder_of(worlds: &[World]) -> PathBuf {
    let names: Vec<String> = worlds.iter().map(|w| slug(&w.name)).collect();
    let name: String = format!("compare-{}", names.join("-"))
        .chars()
        .take(100)
        .collect();
    PathBuf::from("output").join(name)
}
