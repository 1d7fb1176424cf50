//! `retrystorm run`.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use sim::scenario::Override;

use crate::advice::{self, facts::Facts};
use crate::cli::{Format, Run, Talk};
use crate::error::{Error, exit};
use crate::input::Input;
use crate::interrupt;
use crate::progress::Progress;
use crate::replicate;
use crate::report::manifest::Making;
use crate::report::style::Style;
use crate::report::summary::Summary;
use crate::report::{Report, csv, folder, json, terminal};
use crate::shipped::Folder;
use crate::story::{Story, promises};

pub(super) fn run(run: &Run, talk: Talk, arguments: &[String]) -> Result<u8, Error> {
    let input = Input::open(&run.file, Folder::Models)?;
    let overrides = parsed(&run.overrides)?;
    let loaded = input.load(&overrides)?;
    if !talk.quiet && io::stderr().is_terminal() {
        let advice = advice::advise(
            &Facts::of(&loaded.scenario, &input.places(&overrides)?),
            &[],
        );
        if !advice.is_empty() {
            let (count, file) = (advice::count(&advice), run.file.display());
            eprintln!("advice: {count}; `retrystorm check {file}` tells");
        }
    }
    let scenario = Arc::new(loaded.scenario.clone());
    let seeds = replicate::seeds(
        run.seed.unwrap_or(scenario.run.seed),
        run.replications.unwrap_or(scenario.run.replications),
    );
    let jobs = replicate::threads(run.jobs);

    interrupt::listen();
    let progress = Progress::new(talk, &input.name, seeds.len() as u64);
    let begun = Instant::now();
    let outcomes = replicate::on_threads(jobs, &seeds, |&seed| {
        replicate::run(&scenario, seed, &progress)
    })?;
    let elapsed = begun.elapsed().as_secs_f64();
    progress.done();
    let outcomes: Vec<_> = outcomes.into_iter().flatten().collect();
    if outcomes.is_empty() {
        return Err(Error::Interrupted);
    }

    let summary = Summary::of(&scenario, &outcomes);
    let promises = promises(&scenario, &outcomes);
    let report = Report {
        name: &input.name,
        scenario: &scenario,
        outcomes: &outcomes,
        summary: &summary,
        story: &Story::of(&scenario, &outcomes, &summary),
        promises: &promises,
        asked: seeds.len(),
        interrupted: outcomes.len() < seeds.len(),
    };
    let making = Making {
        command: arguments,
        loaded: &loaded,
        overrides: &overrides,
        jobs,
        elapsed,
    };
    let out = run
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("output").join(&input.name));
    let files = folder::write(&out, &report, &making, !run.no_plots)?;
    if !talk.quiet {
        super::print(&match run.format {
            Format::Text => {
                let style = Style::of_stdout(talk.no_color);
                terminal::summary(&report, style, Some((&out, &files)))
            }
            Format::Json => json::summary(&report, &loaded.hash),
            Format::Csv => csv::summary(&summary),
        })?;
    }
    Ok(if report.interrupted {
        exit::INTERRUPTED
    } else if report.cut_short().is_some() {
        exit::LIMIT
    } else if promises.iter().any(|p| !p.kept) {
        exit::BROKEN
    } else {
        exit::OK
    })
}

/// The overrides that were typed.
pub(super) fn parsed(overrides: &[String]) -> Result<Vec<Override>, Error> {
    let parse = |text: &String| {
        Override::parse(text).map_err(|problem| Error::Usage(format!("--set {text}: {problem}")))
    };
    overrides.iter().map(parse).collect()
}
