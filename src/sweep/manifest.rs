//! `manifest.json` of a sweep: everything needed to make the results again. The only file that holds dates.

use serde_json::json;
use sim::scenario::Override;

use super::plan::Plan;
use super::results::Results;
use crate::clock;
use crate::report::json::document;
use crate::report::manifest::{command, inputs, overrides, seconds};

/// Keys of the document, in order, with their meaning.
pub const KEYS: [(&str, &str); 13] = [
    ("retrystorm", "Version of the program."),
    ("created", "When the results were written, UTC."),
    ("command", "The command line."),
    ("experiment", "Path or name of the experiment, as given."),
    (
        "experiment_sha256",
        "SHA-256 over the worlds at all points, the seeds and what is measured.",
    ),
    (
        "inputs",
        "Every file that was read, with the SHA-256 of its bytes: the experiment, the model, its data.",
    ),
    (
        "overrides",
        "Values given with `--set`, in order: `path`, `value`.",
    ),
    ("runs_asked", "Runs that were asked for, over all points."),
    (
        "runs_taken_over",
        "Runs that an earlier, interrupted sweep had already finished.",
    ),
    (
        "interrupted",
        "Whether Ctrl-C ended the sweep before they were all done.",
    ),
    (
        "jobs",
        "Threads that were used; results do not depend on it.",
    ),
    ("elapsed_s", "Seconds the runs took on this machine."),
    ("files", "The other files of the folder."),
];

/// How results were made.
#[derive(Clone, Copy, Debug)]
pub struct Making<'a> {
    /// The command line, without the name of the program.
    pub command: &'a [String],
    /// Values given with `--set`.
    pub overrides: &'a [Override],
    /// Runs that an earlier sweep had finished.
    pub taken_over: usize,
    /// Threads used.
    pub jobs: usize,
    /// Seconds the runs took.
    pub elapsed: f64,
}

/// The document.
#[must_use]
pub fn manifest(plan: &Plan, results: &Results, making: &Making<'_>, files: &[String]) -> String {
    let values = [
        json!(env!("CARGO_PKG_VERSION")),
        json!(clock::utc_now()),
        json!(command(making.command)),
        json!(plan.files[0].0),
        json!(plan.hash),
        inputs(&plan.files),
        overrides(making.overrides),
        json!(plan.runs().count()),
        json!(making.taken_over),
        json!(!results.complete()),
        json!(making.jobs),
        seconds(making.elapsed),
        json!(files),
    ];
    document(KEYS.iter().map(|(key, _)| *key).zip(values))
}
