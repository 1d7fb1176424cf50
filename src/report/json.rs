//! `summary.json`: stable keys, `null` for "no data", nothing about the machine or the day.

use serde_json::{Map, Value, json};

use super::Report;
use super::summary::Row;
use crate::figure::Scope;
use crate::precision::{self, Reached};
use crate::stats::Estimate;

/// Keys of the document, in order, with their meaning.
pub const KEYS: [(&str, &str); 14] = [
    ("retrystorm", "Version of the program."),
    (
        "scenario",
        "Name of the scenario: its file name without suffix.",
    ),
    (
        "scenario_sha256",
        "SHA-256 over the scenario, the files it names and the overrides.",
    ),
    (
        "seed",
        "Seed of the first replication; the others count on from it.",
    ),
    ("replications", "Replications that were finished."),
    (
        "complete",
        "Whether all replications that were asked for were finished.",
    ),
    (
        "ended",
        "Why each replication ended: `completed`, the limit that was reached (`event_limit`, `call_limit`, `queue_limit`, `memory_limit`, `standstill_limit`), or `interrupted`.",
    ),
    (
        "trajectories",
        "A hash over every event of each replication, in hex; equal hashes mean equal runs.",
    ),
    (
        "warmup_s",
        "Simulated seconds at the start that the figures leave out.",
    ),
    ("warmup", "Where that comes from, see below."),
    ("verdict", "What happened, see below."),
    (
        "expect",
        "The promises of the scenario, in order: `text`, `kept`, `actual` (for people).",
    ),
    (
        "precision",
        "What `--precision` asked for, in order, see below; empty without.",
    ),
    (
        "figures",
        "`run`, `clients`, `edges`, `services`, and where there are any `effects`, `keys`, `answers`, `phases`, `pools`, `credentials`, `coalesce`, `caches`, `messages`, `sessions`: figure → `mean`, `low`, `high`, `replications`, `interval_from` (see below).",
    ),
];

/// The document.
#[must_use]
pub fn summary(report: &Report<'_>, hash: &str) -> String {
    let outcomes = report.outcomes;
    let ended: Vec<&str> = outcomes.iter().map(|o| o.ended.name()).collect();
    let trajectories: Vec<String> = outcomes
        .iter()
        .map(|o| format!("{:016x}", o.trajectory))
        .collect();
    let promises: Vec<Value> = report
        .promises
        .iter()
        .map(|p| json!({ "text": p.text, "kept": p.kept, "actual": p.actual }))
        .collect();
    let values = [
        json!(env!("CARGO_PKG_VERSION")),
        json!(report.name),
        json!(hash),
        json!(outcomes.first().map(|o| o.seed)),
        json!(outcomes.len()),
        json!(!report.interrupted),
        json!(ended),
        json!(trajectories),
        number(Some(report.scenario.run.warmup.as_secs_f64())),
        json!(report.warmup.name()),
        report.story.json(),
        json!(promises),
        json!(report.precision.iter().map(reached).collect::<Vec<_>>()),
        figures(report),
    ];
    document(KEYS.iter().map(|(key, _)| *key).zip(values))
}

/// A JSON document with these keys, in this order.
pub(crate) fn document<'a>(entries: impl Iterator<Item = (&'a str, Value)>) -> String {
    let map: Map<String, Value> = entries
        .map(|(key, value)| (key.to_string(), value))
        .collect();
    let mut text = serde_json::to_string_pretty(&map).expect("keys are strings");
    text.push('\n');
    text
}

fn figures(report: &Report<'_>) -> Value {
    let by_name = |scope| -> Map<String, Value> {
        report
            .summary
            .of_scope(scope)
            .map(|row| (row.subject.name.clone(), row_json(row)))
            .collect()
    };
    let mut all = json!({
        "run": row_json(report.summary.run()),
        "clients": by_name(Scope::Client),
        "edges": by_name(Scope::Edge),
        "services": by_name(Scope::Service),
    });
    // Only where there are any.
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
        let rows = by_name(scope);
        if !rows.is_empty() {
            all[key] = rows.into();
        }
    }
    all
}

fn row_json(row: &Row) -> Value {
    let figures = row.figures.iter().map(|(figure, e)| {
        let mut value = estimate(e);
        value["interval_from"] = json!(e.basis.name());
        (figure.name.to_string(), value)
    });
    Value::Object(figures.collect())
}

fn reached(goal: &Reached) -> Value {
    let values = [
        json!(goal.text),
        json!(goal.reached),
        number(goal.estimate.mean),
        number(goal.estimate.half_width()),
        number(goal.allowed),
        json!(goal.estimate.replications),
    ];
    let keys = precision::KEYS.iter().map(|(key, _)| (*key).to_string());
    Value::Object(keys.zip(values).collect())
}

/// An estimate as an object.
#[must_use]
pub fn estimate(estimate: &Estimate) -> Value {
    let (low, high) = estimate.interval.unzip();
    json!({
        "mean": number(estimate.mean),
        "low": number(low),
        "high": number(high),
        "replications": estimate.replications,
    })
}

/// A number, whole if it is whole, or `null`.
#[must_use]
pub fn number(value: Option<f64>) -> Value {
    match value {
        // Whole numbers up to 2^53 are exact in an f64.
        Some(x) if x.fract() == 0.0 && x.abs() <= 9_007_199_254_740_992.0 => json!(x as i64),
        Some(x) if x.is_finite() => json!(x),
        _ => Value::Null,
    }
}
