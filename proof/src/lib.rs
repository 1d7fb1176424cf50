//! The trajectory hash of every shipped model, for any target that Rust compiles to.

use std::sync::Arc;

use sim::scenario::{Format, Source, load};

/// Path below `models/`, and text.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/models.rs"));

/// The models, in alphabetical order: name and text.
pub fn models() -> impl Iterator<Item = (&'static str, &'static str)> {
    let named =
        |&(path, text): &(&'static str, &'static str)| Some((path.strip_suffix(".yaml")?, text));
    FILES.iter().filter_map(named)
}

/// The trajectory hash of a model with its own seed.
///
/// # Panics
/// When the model is wrong, which the tests of the product rule out.
#[must_use]
pub fn trajectory(name: &str, text: &str) -> u64 {
    let source = Source {
        name,
        text,
        format: Format::Yaml,
    };
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut fetch = |asked: &str| {
        let path = if folder.is_empty() {
            asked.to_string()
        } else {
            format!("{folder}/{asked}")
        };
        let found = FILES.iter().find(|(known, _)| *known == path);
        found
            .map(|(_, text)| (*text).to_string())
            .ok_or_else(|| format!("no {path}"))
    };
    let scenario = load(&source, &[], &mut fetch).expect("a shipped model is right");
    let seed = scenario.run.seed;
    sim::run(&Arc::new(scenario), seed).trajectory
}

/// How many models there are.
#[unsafe(no_mangle)]
pub extern "C" fn count() -> u32 {
    models().count() as u32
}

/// The trajectory hash of the `n`-th model, from 0; 0 when there is none.
#[unsafe(no_mangle)]
pub extern "C" fn nth(n: u32) -> u64 {
    models()
        .nth(n as usize)
        .map_or(0, |(name, text)| trajectory(name, text))
}
