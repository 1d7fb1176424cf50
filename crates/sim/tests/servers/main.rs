//! What services do beyond workers behind a waiting room, in worlds small enough to reckon by hand.

mod balance;
mod conflicts;
mod death;
mod deploy;
mod gates;
mod messages;
mod probes;
mod queues;
mod scaling;
mod sessions;
mod sharing;

use std::sync::Arc;

use seawall::Time;
use sim::World;
use sim::metrics::{JobRecord, Outcome};
use sim::scenario::{Format, Source, load};

/// Runs a scenario with a log. Its traces are `files`: name and text.
fn run(text: &str, files: &[(&str, &str)]) -> Outcome {
    let source = Source {
        name: "world.yaml",
        text,
        format: Format::Yaml,
    };
    let scenario = load(&source, &[], &mut |name| {
        let file = files.iter().find(|(known, _)| *known == name);
        file.map_or(Err("no such file".into()), |(_, text)| {
            Ok((*text).to_owned())
        })
    });
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    World::new(Arc::new(scenario), 1).with_log().run()
}

/// What is wrong with a scenario.
fn wrong(text: &str) -> String {
    let source = Source {
        name: "world.yaml",
        text,
        format: Format::Yaml,
    };
    match load(&source, &[], &mut |_| Err(String::new())) {
        Ok(_) => panic!("nothing is wrong with it"),
        Err(problems) => problems.to_string(),
    }
}

/// The jobs of the first service in the order in which they left.
fn jobs(outcome: &Outcome) -> Vec<JobRecord> {
    let log = outcome.log.as_ref().expect("a log");
    log.jobs
        .iter()
        .filter(|job| job.service == 0)
        .copied()
        .collect()
}

fn seconds(at: Time) -> f64 {
    at.since(Time::ZERO).as_secs_f64()
}

/// When each of the jobs of the first service arrived and left, in the order in which they left.
fn stays(outcome: &Outcome) -> Vec<(f64, f64)> {
    let jobs = jobs(outcome);
    jobs.iter()
        .map(|job| (seconds(job.arrived), seconds(job.left)))
        .collect()
}
