//! `retrystorm run`.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use sim::metrics::{Ended, Outcome};
use sim::scenario::{Override, Scenario};

use crate::advice::{self, facts::Facts};
use crate::cli::{Format, Run, Talk};
use crate::error::{Error, exit, tell};
use crate::input::Input;
use crate::interrupt;
use crate::precision::{self, Goal, Reached};
use crate::progress::Progress;
use crate::replicate;
use crate::report::manifest::Making;
use crate::report::style::Style;
use crate::report::summary::Summary;
use crate::report::{Report, csv, file, folder, json, terminal};
use crate::shipped::Folder;
use crate::story::{Story, promises};
use crate::warmup;

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
            tell(format_args!(
                "advice: {count}; `retrystorm check {file}` tells"
            ));
        }
    }
    let goals = goals(&run.precision, &loaded.scenario)?;
    let asked = run.replications.unwrap_or(loaded.scenario.run.replications);
    let (first, most) = match goals[..] {
        [] => (asked, asked),
        _ => (
            asked
                .max(precision::REPLICATIONS_MIN)
                .min(run.max_replications),
            run.max_replications,
        ),
    };
    let seed = run.seed.unwrap_or(loaded.scenario.run.seed);
    let jobs = replicate::threads(run.jobs);

    let out = (run.out.clone()).unwrap_or_else(|| PathBuf::from("output").join(&input.name));
    file::may_write(&out, &folder::FILES.map(|(name, _)| name))?;

    interrupt::listen();
    let progress = Progress::new(talk, &input.name, u64::from(first));
    let begun = Instant::now();
    let pilots = replicate::seeds(seed, first);
    let (scenario, warmup) = warmup::settled(loaded.scenario.clone(), &pilots, jobs, &progress)?;
    let scenario = Arc::new(scenario);
    let mut outcomes: Vec<Outcome> = Vec::new();
    let mut asked = first;
    let reached = loop {
        let seeds = replicate::seeds(seed, asked);
        let more = replicate::on_threads(jobs, &seeds[outcomes.len()..], |&one| {
            let ledger = run.ledger.filter(|_| one == seed);
            replicate::run_as_far_as_possible(&scenario, one, ledger, &progress)
        })?;
        outcomes.extend(more.into_iter().flatten());
        keep_the_whole(&mut outcomes);
        let judge = |goal: &Goal| goal.judge(&scenario, &outcomes);
        let reached: Vec<Reached> = goals.iter().map(judge).collect();
        let interrupted = interrupt::asked();
        match precision::next(&reached, asked, most) {
            Some(next) if !interrupted => {
                progress.more(u64::from(next - asked));
                asked = next;
            }
            _ => break reached,
        }
    };
    let elapsed = begun.elapsed().as_secs_f64();
    progress.done();
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
        warmup: &warmup,
        precision: &reached,
        asked: asked as usize,
        interrupted: outcomes.len() < asked as usize
            || outcomes.iter().any(|o| o.ended == Ended::Interrupted),
    };
    let making = Making {
        command: arguments,
        loaded: &loaded,
        overrides: &overrides,
        jobs,
        elapsed,
    };
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
    } else if report.unsure() {
        exit::UNSURE
    } else {
        exit::OK
    })
}

/// Runs that were interrupted tell less than the whole ones; if there are only such, the first is better than nothing.
fn keep_the_whole(outcomes: &mut Vec<Outcome>) {
    let whole = |outcome: &Outcome| outcome.ended != Ended::Interrupted;
    if outcomes.iter().any(whole) {
        outcomes.retain(whole);
    } else {
        outcomes.truncate(1);
    }
}

/// What `--precision` asks for.
fn goals(texts: &[String], scenario: &Scenario) -> Result<Vec<Goal>, Error> {
    let parse = |text: &String| {
        Goal::parse(text, scenario)
            .map_err(|problem| Error::Usage(format!("--precision {text}: {problem}")))
    };
    texts.iter().map(parse).collect()
}

/// The overrides that were typed.
pub(super) fn parsed(overrides: &[String]) -> Result<Vec<Override>, Error> {
    let parse = |text: &String| {
        Override::parse(text).map_err(|problem| Error::Usage(format!("--set {text}: {problem}")))
    };
    overrides.iter().map(parse).collect()
}
