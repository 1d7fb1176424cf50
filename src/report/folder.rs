//! The output folder of a run: which files there are, and writing them.

use std::path::Path;

use seawall::Span;
use sim::text::hgrm;

use super::file::{Output, slug};
use super::manifest::{self, Making};
use super::{Report, csv, json, ledger};
use crate::error::Error;
use crate::figure::calls::merge;
use crate::plot::material::Material;
use crate::plot::paint::Painted;
use crate::plot::picture::Picture;
use crate::plot::{amplification, breakers, latency, load, queues};
use crate::replicate;
use crate::wording;

/// A plot, its file name without suffix, and what it shows.
pub struct Plot {
    /// File name without suffix.
    pub name: &'static str,
    /// What it shows.
    pub meaning: &'static str,
    /// How it is drawn.
    pub draw: fn(&Material<'_>) -> Picture,
    /// Whether there is something to show.
    pub wanted: fn(&Material<'_>) -> bool,
}

/// The plots of a run.
pub static PLOTS: [Plot; 5] = [
    Plot {
        name: "load",
        meaning: "Offered load, goodput and attempts over time; the trigger is shaded, the end of each fault dashed.",
        draw: load::load,
        wanted: always,
    },
    Plot {
        name: "amplification",
        meaning: "Attempts per logical call at each service, first attempts and retries apart.",
        draw: amplification::amplification,
        wanted: always,
    },
    Plot {
        name: "latency",
        meaning: "Latency of calls and attempts by percentile, on the axis 1/(1−p).",
        draw: latency::latency,
        wanted: always,
    },
    Plot {
        name: "queues",
        meaning: "Jobs waiting and workers in use over time, for the services with the longest queues.",
        draw: queues::queues,
        wanted: always,
    },
    Plot {
        name: "breakers",
        meaning: "Where a policy has a breaker: goodput, and the state of the circuit breakers of each edge, over time.",
        draw: breakers::breakers,
        wanted: breakers::are_there,
    },
];

fn always(_: &Material<'_>) -> bool {
    true
}

/// Files of the folder that are always there, with their meaning.
pub const FILES: [(&str, &str); 4] = [
    (
        "summary.json",
        "Every figure of the run, with its 95 % interval over replications; the verdict; the promises.",
    ),
    (
        "summary.csv",
        "The same figures as a tidy table: one row per subject and figure.",
    ),
    (
        "windows.csv",
        "The run over simulated time: one row per window and subject, for each replication.",
    ),
    (
        "manifest.json",
        "How the results were made: command, inputs, seeds, the day.",
    ),
];

/// The file that is there when it is asked for.
pub const LEDGER: (&str, &str) = (
    "ledger.csv",
    "With `--ledger N`: every attempt of the first N calls of the first replication, with its effects and what the caller knew.",
);

/// Writes everything below `folder` and returns the names of what was written. The manifest comes last,
/// so where it is, everything is.
///
/// # Errors
/// [`Error::Io`].
pub fn write(
    folder: &Path,
    report: &Report<'_>,
    making: &Making<'_>,
    plots: bool,
) -> Result<Vec<String>, Error> {
    let mut out = Output::at(folder)?;
    out.put("summary.json", json::summary(report, &making.loaded.hash))?;
    out.put("summary.csv", csv::summary(report.summary))?;
    out.put(
        "windows.csv",
        csv::windows(report.scenario, report.outcomes),
    )?;
    if let Some(entries) = report.outcomes.first().and_then(|o| o.ledger.as_ref()) {
        out.put(LEDGER.0, ledger::csv(report.scenario, entries))?;
    }
    out.below("latency")?;
    for (name, table) in latencies(report) {
        out.put(format!("latency/{name}.hgrm"), table)?;
    }
    if plots {
        out.below("plots")?;
        for (plot, painted) in pictures(report, making)? {
            out.picture(&format!("plots/{}", plot.name), &painted)?;
        }
    }
    out.finish(|names| manifest::manifest(report, making, names))
}

/// Durations of calls of each client and edge, of attempts of each edge, and of the time inside each
/// service, all replications together, as percentile tables.
fn latencies(report: &Report<'_>) -> Vec<(String, String)> {
    let (scenario, outcomes) = (report.scenario, report.outcomes);
    let calls = |edges: &[usize]| {
        let each = outcomes
            .iter()
            .flat_map(|o| edges.iter().map(|&e| &o.latency[e].calls));
        hgrm::write(&merge(each), Span(1))
    };
    let mut tables = Vec::new();
    for (i, client) in scenario.clients.iter().enumerate() {
        let name = format!("client-{}", slug(&client.name));
        tables.push((name, calls(&crate::figure::client_edges(scenario, i))));
    }
    for (i, edge) in scenario.edges.iter().enumerate() {
        let name = slug(&wording::edge(scenario, edge));
        tables.push((format!("edge-{name}"), calls(&[i])));
        let attempts = merge(outcomes.iter().map(|o| &o.latency[i].attempts));
        tables.push((format!("attempts-{name}"), hgrm::write(&attempts, Span(1))));
    }
    for (i, service) in scenario.services.iter().enumerate() {
        let inside = merge(outcomes.iter().map(|o| &o.sojourn[i]));
        let name = format!("service-{}", slug(&service.name));
        tables.push((name, hgrm::write(&inside, Span(1))));
    }
    tables
}

/// The plots that have something to show.
fn pictures(
    report: &Report<'_>,
    making: &Making<'_>,
) -> Result<Vec<(&'static Plot, Painted)>, Error> {
    let origin = format!(
        "retrystorm {} · {}",
        env!("CARGO_PKG_VERSION"),
        making.loaded.files[0].0
    );
    let setup = format!("{} · {}", report.name, report.setup());
    let material = Material {
        scenario: report.scenario,
        outcomes: report.outcomes,
        finding: &report.story.sentence,
        setup: &setup,
        origin: &origin,
    };
    let plots: Vec<&Plot> = PLOTS.iter().filter(|p| (p.wanted)(&material)).collect();
    let painted = replicate::on_threads(making.jobs, &plots, |plot| {
        Painted::of(&(plot.draw)(&material))
    })?;
    Ok(plots.into_iter().zip(painted).collect())
}
