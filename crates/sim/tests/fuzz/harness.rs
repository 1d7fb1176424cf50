//! What is true of scenarios, and of the files they name, whatever is written. Used by the fuzz targets and by the replay of their
//! corpora.

use std::sync::Arc;

use sim::scenario::{Format, Source, load};

/// Reads the bytes as a scenario in the format that the first of them names, and what is accepted once more.
///
/// # Panics
/// When reading does, when a problem has no place, or when what was accepted is not accepted again.
pub(crate) fn scenario(bytes: &[u8]) {
    let Some((&first, text)) = bytes.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let format = match first {
        b'y' => Format::Yaml,
        b't' => Format::Toml,
        b'j' => Format::Json,
        _ => return,
    };
    let source = Source {
        name: "fuzz",
        text,
        format,
    };
    let nothing = &mut |path: &str| Err(format!("{path}: no files here"));
    match load(&source, &[], nothing) {
        Ok(scenario) => {
            let again = load(&source, &[], nothing).expect("what was accepted is accepted again");
            assert_eq!(scenario.policies, again.policies);
        }
        Err(problems) => {
            let told = problems.to_string();
            assert!(told.lines().all(|line| line.starts_with("fuzz:")), "{told}");
        }
    }
}

/// Reads the bytes as a file that a scenario names, of the kind and in the unit that the first two of them stand for, and runs a
/// moment of what is accepted, laws and all.
///
/// # Panics
/// When reading or running does, or when a problem has no place.
pub(crate) fn file(bytes: &[u8]) {
    let [kind, unit, text @ ..] = bytes else {
        return;
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let unit = ["1ns", "1us", "1ms", "1s", "1h", "10000h"][usize::from(*unit) % 6];
    let (arrivals, work) = match kind {
        b't' => (
            format!("trace: {{ file: f, unit: {unit} }}"),
            "1ms".to_owned(),
        ),
        b'c' => (
            format!("trace: {{ file: f, unit: {unit}, column: at, speed: 3x, repeat: true }}"),
            "1ms".to_owned(),
        ),
        b'r' => (
            format!("rates: {{ file: f, unit: {unit}, repeat: true }}"),
            "1ms".to_owned(),
        ),
        b'h' => (
            "paced: 10/s".to_owned(),
            format!("{{ empirical: {{ file: f, unit: {unit} }} }}"),
        ),
        _ => return,
    };
    let scenario = format!(
        "
version: 1
run: {{ duration: 10s, window: 10s, limits: {{ events: 400 }} }}
clients: {{ a: {{ arrivals: {{ {arrivals} }}, calls: [ b ] }} }}
services: {{ b: {{ work: {work} }} }}
"
    );
    let source = Source {
        name: "fuzz",
        text: &scenario,
        format: Format::Yaml,
    };
    match load(&source, &[], &mut |_| Ok(text.to_owned())) {
        Ok(scenario) => drop(sim::run(&Arc::new(scenario), 1)),
        Err(problems) => {
            let told = problems.to_string();
            let placed = |line: &str| line.starts_with("fuzz:") || line.starts_with("f:");
            assert!(told.lines().all(placed), "{told}");
        }
    }
}
