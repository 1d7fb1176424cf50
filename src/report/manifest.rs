//! `manifest.json`: everything needed to make the results again, and what there is to know about how
//! they were made. The only file that holds dates.

use serde_json::{Value, json};

use super::json;
use sim::scenario::Override;

use super::Report;
use crate::clock;
use crate::input::Loaded;

/// Keys of the document, in order, with their meaning.
pub const KEYS: [(&str, &str); 13] = [
    ("retrystorm", "Version of the program."),
    ("created", "When the results were written, UTC."),
    ("command", "The command line."),
    ("scenario", "Path or name of the scenario, as given."),
    (
        "scenario_sha256",
        "SHA-256 over the scenario, the files it names and the overrides.",
    ),
    (
        "inputs",
        "Every file that was read, with the SHA-256 of its bytes; the scenario is first.",
    ),
    (
        "overrides",
        "Values given with `--set`, in order: `path`, `value`.",
    ),
    ("seeds", "The seed of each replication that was finished."),
    ("replications_asked", "Replications that were asked for."),
    (
        "interrupted",
        "Whether Ctrl-C ended the run before they were all done.",
    ),
    (
        "jobs",
        "Threads that were used; results do not depend on it.",
    ),
    ("elapsed_s", "Seconds the simulation took on this machine."),
    ("files", "The other files of the folder."),
];

/// How results were made.
#[derive(Clone, Copy, Debug)]
pub struct Making<'a> {
    /// The command line, without the name of the program.
    pub command: &'a [String],
    /// The scenario and what it was made from.
    pub loaded: &'a Loaded,
    /// Values given with `--set`.
    pub overrides: &'a [Override],
    /// Threads used.
    pub jobs: usize,
    /// Seconds the simulation took.
    pub elapsed: f64,
}

/// The document.
#[must_use]
pub fn manifest(report: &Report<'_>, making: &Making<'_>, files: &[String]) -> String {
    let values = [
        json!(env!("CARGO_PKG_VERSION")),
        json!(clock::utc_now()),
        json!(command(making.command)),
        json!(making.loaded.files[0].0),
        json!(making.loaded.hash),
        inputs(&making.loaded.files),
        overrides(making.overrides),
        json!(report.outcomes.iter().map(|o| o.seed).collect::<Vec<_>>()),
        json!(report.asked),
        json!(report.interrupted),
        json!(making.jobs),
        seconds(making.elapsed),
        json!(files),
    ];
    json::document(KEYS.iter().map(|(key, _)| *key).zip(values))
}

/// Every file that was read, with its hash.
#[must_use]
pub fn inputs(files: &[(String, String)]) -> Value {
    let each = files.iter();
    each.map(|(name, hash)| json!({ "name": name, "sha256": hash }))
        .collect()
}

/// Values given on the command line.
#[must_use]
pub fn overrides(overrides: &[Override]) -> Value {
    let each = overrides.iter();
    each.map(|o| json!({ "path": o.path, "value": o.value }))
        .collect()
}

/// A length of time on the clock of this machine, to the millisecond.
#[must_use]
pub fn seconds(elapsed: f64) -> Value {
    json!((elapsed * 1e3).round() / 1e3)
}

/// The command line as it can be typed into a shell again.
#[must_use]
pub fn command(arguments: &[String]) -> String {
    format!("retrystorm {}", shell_words(arguments))
}

fn shell_words(arguments: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,%+@".contains(c);
    let quoted = |argument: &String| {
        if !argument.is_empty() && argument.chars().all(plain) {
            argument.clone()
        } else {
            format!("'{}'", argument.replace('\'', r"'\''"))
        }
    };
    arguments.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_again() {
        let arguments = [
            "run",
            "my file.yaml",
            "--set",
            "a.b={ poisson: 900/s }",
            "it's",
        ]
        .map(String::from);
        assert_eq!(
            shell_words(&arguments),
            r"run 'my file.yaml' --set 'a.b={ poisson: 900/s }' 'it'\''s'"
        );
    }
}
