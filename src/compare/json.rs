//! `compare.json`: stable keys, `null` for "no data", nothing about the machine or the day.

use serde_json::{Map, Value, json};

use super::difference::Difference;
use super::run::{Comparison, Ran};
use crate::figure::Scope;
use crate::report::json::{document, number};

/// Keys of the document, in order, with their meaning.
pub const KEYS: [(&str, &str); 9] = [
    ("retrystorm", "Version of the program."),
    (
        "seed",
        "Seed of the first replication in every world; the others count on from it.",
    ),
    (
        "replications",
        "Replications that were finished in every world.",
    ),
    (
        "complete",
        "Whether all replications that were asked for were finished.",
    ),
    (
        "warmup_s",
        "Simulated seconds at the start that the figures of every world leave out.",
    ),
    ("warmup", "Where that comes from, as in `summary.json`."),
    (
        "base",
        "Name of the first world, which the others are compared with.",
    ),
    (
        "worlds",
        "The worlds in order: `name`, `scenario_sha256`, `verdict` (as in `summary.json`), `ended`, `trajectories`.",
    ),
    (
        "differences",
        "World → `run`, `clients`, `edges`, `services` → figure → `base_mean`, `mean`, `difference`, `low`, `high`, `pairs`, `correlation`, `verdict`: as in `compare.csv`.",
    ),
];

/// The document.
#[must_use]
pub fn summary(comparison: &Comparison, differences: &[Vec<Difference>]) -> String {
    let worlds: Vec<Value> = comparison.worlds.iter().map(world).collect();
    let others = comparison.worlds[1..].iter().zip(differences);
    let differences: Map<String, Value> = others
        .map(|(world, differences)| (world.name.clone(), by_scope(differences)))
        .collect();
    let values = [
        json!(env!("CARGO_PKG_VERSION")),
        json!(comparison.seeds.first()),
        json!(comparison.seeds.len()),
        json!(!comparison.interrupted()),
        number(Some(comparison.base().scenario.run.warmup.as_secs_f64())),
        json!(comparison.warmup.name()),
        json!(comparison.base().name),
        json!(worlds),
        json!(differences),
    ];
    document(KEYS.iter().map(|(key, _)| *key).zip(values))
}

fn world(world: &Ran) -> Value {
    let outcomes = world.outcomes.iter();
    let trajectories = outcomes.clone().map(|o| format!("{:016x}", o.trajectory));
    json!({
        "name": world.name,
        "scenario_sha256": world.hash,
        "verdict": world.story.json(),
        "ended": outcomes.map(|o| o.ended.name()).collect::<Vec<_>>(),
        "trajectories": trajectories.collect::<Vec<_>>(),
    })
}

fn by_scope(differences: &[Difference]) -> Value {
    let of = |scope: Scope| differences.iter().filter(move |d| d.scope == scope);
    let by_name = |scope: Scope| {
        let mut names: Map<String, Value> = Map::new();
        for d in of(scope) {
            let figures = names.entry(d.name.clone()).or_insert_with(|| json!({}));
            figures[d.figure.name] = figure(d);
        }
        Value::Object(names)
    };
    let run: Map<String, Value> = of(Scope::Run)
        .map(|d| (d.figure.name.to_string(), figure(d)))
        .collect();
    let mut all = json!({
        "run": run,
        "clients": by_name(Scope::Client),
        "edges": by_name(Scope::Edge),
        "services": by_name(Scope::Service),
    });
    for (key, scope) in [
        ("effects", Scope::Effect),
        ("keys", Scope::Keys),
        ("answers", Scope::Answers),
        ("phases", Scope::Phases),
        ("pools", Scope::Pool),
        ("credentials", Scope::Credential),
        ("coalesce", Scope::Coalesce),
        ("caches", Scope::Cache),
        ("messages", Scope::Messages),
        ("sessions", Scope::Sessions),
    ] {
        if of(scope).next().is_some() {
            all[key] = by_name(scope);
        }
    }
    all
}

fn figure(d: &Difference) -> Value {
    let estimate = &d.paired.difference;
    let (low, high) = estimate.interval.unzip();
    json!({
        "base_mean": number(d.paired.base),
        "mean": number(d.paired.other),
        "difference": number(estimate.mean),
        "low": number(low),
        "high": number(high),
        "pairs": estimate.replications,
        "correlation": number(d.paired.correlation),
        "verdict": d.verdict.words(),
    })
}
