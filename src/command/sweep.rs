//! `retrystorm sweep`.

use std::path::PathBuf;
use std::time::Instant;

use super::run::parsed;
use crate::cli::{Format, Sweep, Talk};
use crate::error::{Error, exit, tell};
use crate::input::Input;
use crate::interrupt;
use crate::progress::Progress;
use crate::replicate;
use crate::report::file;
use crate::report::style::Style;
use crate::shipped::Folder;
use crate::sweep::execute::execute;
use crate::sweep::journal::{self, Journal};
use crate::sweep::manifest::Making;
use crate::sweep::plan::{Asked, Plan};
use crate::sweep::{csv, folder, json, terminal};

pub(super) fn sweep(sweep: &Sweep, talk: Talk, arguments: &[String]) -> Result<u8, Error> {
    let input = Input::open(&sweep.file, Folder::Experiments)?;
    let overrides = parsed(&sweep.overrides)?;
    let jobs = replicate::threads(sweep.jobs);
    let asked = Asked {
        seed: sweep.seed,
        replications: sweep.replications,
        overrides: &overrides,
    };
    interrupt::listen();
    let plan = Plan::of(&input, asked, jobs)?;

    let out = sweep
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("output").join(&input.name));
    file::folder(&out)?;
    let (mut journal, earlier) = Journal::open(&out, &plan, sweep.fresh)?;
    let all = plan.runs().count();
    let taken_over = plan
        .runs()
        .filter(|&(spot, r)| {
            let spot = &plan.spots[spot];
            earlier.run(&spot.hash, spot.seed_of(r)).is_some()
        })
        .count();
    if !talk.quiet {
        let name = out.join(journal::NAME);
        match earlier.refused {
            Some(why) => tell(format_args!(
                "starting anew: {} cannot be used, {why}",
                name.display()
            )),
            None if taken_over > 0 => {
                tell(format_args!(
                    "going on: {taken_over} of {all} runs were finished before"
                ));
            }
            None => {}
        }
    }

    let progress = Progress::new(talk, &input.name, all as u64);
    let begun = Instant::now();
    let results = execute(&plan, &earlier, &mut journal, jobs, &progress);
    let elapsed = begun.elapsed().as_secs_f64();
    progress.done();
    let results = results?;
    if results.count() == 0 {
        return Err(Error::Interrupted);
    }

    let making = Making {
        command: arguments,
        overrides: &overrides,
        taken_over,
        jobs,
        elapsed,
    };
    let files = folder::write(&out, &plan, &results, &making, !sweep.no_plots)?;
    if results.complete() {
        journal.remove()?;
    }
    if !talk.quiet {
        super::print(&match sweep.format {
            Format::Text => {
                let style = Style::of_stdout(talk.no_color);
                terminal::summary(&plan, &results, style, Some((&out, &files)))
            }
            Format::Json => json::summary(&plan, &results),
            Format::Csv => csv::summary(&plan, &results),
        })?;
    }
    Ok(if !results.complete() {
        exit::INTERRUPTED
    } else if results.cut_short() > 0 {
        exit::LIMIT
    } else if results.promises(&plan).iter().any(|p| !p.kept) {
        exit::BROKEN
    } else {
        exit::OK
    })
}
