//! The manifest of a comparison: how it was made.

use serde_json::{Value, json};

use super::run::Comparison;
use super::world::World;
use crate::clock;
use crate::report::json;
use crate::report::manifest::{command, inputs, overrides, seconds};

/// Keys of the document, in order, with their meaning.
pub const KEYS: [(&str, &str); 9] = [
    ("retrystorm", "Version of the program."),
    ("created", "When the results were written, UTC."),
    ("command", "The command line."),
    (
        "worlds",
        "The worlds in order: `name`, `scenario` (path or name, as given), `scenario_sha256`, `inputs` (every file that was read, with its SHA-256), `overrides` (`path`, `value`).",
    ),
    (
        "seeds",
        "The seed of each replication that was finished in every world.",
    ),
    ("replications_asked", "Replications that were asked for."),
    (
        "jobs",
        "Threads that were used; results do not depend on it.",
    ),
    ("elapsed_s", "Seconds the simulation took on this machine."),
    ("files", "The other files of the folder."),
];

/// How a comparison was made.
#[derive(Clone, Copy, Debug)]
pub struct Making<'a> {
    /// The command line, without the name of the program.
    pub command: &'a [String],
    /// The worlds as they were asked for.
    pub worlds: &'a [World],
    /// Threads used.
    pub jobs: usize,
    /// Seconds the simulation took.
    pub elapsed: f64,
}

/// The document.
#[must_use]
pub fn manifest(comparison: &Comparison, making: &Making<'_>, files: &[String]) -> String {
    let worlds: Vec<Value> = making.worlds.iter().map(world).collect();
    let values = [
        json!(env!("CARGO_PKG_VERSION")),
        json!(clock::utc_now()),
        json!(command(making.command)),
        json!(worlds),
        json!(comparison.seeds),
        json!(comparison.asked),
        json!(making.jobs),
        seconds(making.elapsed),
        json!(files),
    ];
    json::document(KEYS.iter().map(|(key, _)| *key).zip(values))
}

fn world(world: &World) -> Value {
    json!({
        "name": world.name,
        "scenario": world.loaded.files[0].0,
        "scenario_sha256": world.loaded.hash,
        "inputs": inputs(&world.loaded.files),
        "overrides": overrides(&world.overrides),
    })
}
