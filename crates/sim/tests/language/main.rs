//! The scenario language, through the public door.

mod effect_laws;
mod effects;
mod examples;
mod experiments;
mod mistakes;
mod no_panic;
mod policies;
mod promises;
mod rollout;
mod samples;
mod schema;

mod standing;
mod structure;
mod verdict;

use sim::Scenario;
use sim::scenario::{Format, Override, Problems, Source, load};

/// Loads `text`, with no files beside it.
fn loaded(text: &str, format: Format, overrides: &[&str]) -> Result<Scenario, Problems> {
    let overrides: Vec<_> = overrides
        .iter()
        .map(|o| Override::parse(o).unwrap())
        .collect();
    let name = match format {
        Format::Yaml => "world.yaml",
        Format::Toml => "world.toml",
        Format::Json => "world.json",
    };
    let source = Source { name, text, format };
    load(&source, &overrides, &mut |file| {
        Err(format!("there is no {file}"))
    })
}

/// Loads YAML that has nothing wrong with it.
fn yaml(text: &str) -> Scenario {
    loaded(text, Format::Yaml, &[]).unwrap_or_else(|problems| panic!("{problems}"))
}

/// What is wrong with some YAML.
fn wrong(text: &str) -> String {
    match loaded(text, Format::Yaml, &[]) {
        Ok(_) => panic!("nothing is wrong with it"),
        Err(problems) => problems.to_string(),
    }
}
