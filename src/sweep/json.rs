//! `summary.json` of a sweep: stable keys, `null` for "no data", nothing about the machine or the day.

use serde_json::{Map, Value, json};
use sim::verdict::Verdict;

use super::plan::Plan;
use super::results::{Finding, Results, unit_name};
use crate::figure::column;
use crate::report::json::{document, estimate, number};

/// Keys of the document, in order, with their meaning.
pub const KEYS: [(&str, &str); 12] = [
    ("retrystorm", "Version of the program."),
    (
        "experiment",
        "Name of the experiment: its file name without suffix.",
    ),
    (
        "experiment_sha256",
        "SHA-256 over the worlds at all points, the seeds and what is measured.",
    ),
    ("question", "What was asked."),
    ("model", "The scenario that was varied."),
    ("replications", "Runs that were asked for at each point."),
    (
        "complete",
        "Whether all runs that were asked for were finished.",
    ),
    ("runs", "Runs that were finished, over all points."),
    (
        "axes",
        "What was varied: `name`, `label` for people, `unit` (`null`: names), `values` as written.",
    ),
    (
        "measures",
        "What was measured: `measure` as written, `label` for people, `unit`.",
    ),
    (
        "expect",
        "The promises of the experiment: `text`, `at` (where, for people), `kept`, `points` it is about and that were run, \
         `broken` of them, `actual` (for people).",
    ),
    (
        "points",
        "Every point of the grid, the last axis fastest, see below.",
    ),
];

/// Keys of a point, in order, with their meaning.
pub const POINT_KEYS: [(&str, &str); 5] = [
    ("at", "By axis: its value here, a number or a name."),
    ("seeds", "The seed of each run that was finished."),
    (
        "ended",
        "Why each run ended: `completed`, or the limit that was reached.",
    ),
    (
        "trajectories",
        "A hash over every event of each run, in hex; equal hashes mean equal runs.",
    ),
    (
        "figures",
        "By measure: `mean`, `low`, `high`, `replications`; of a verdict `verdict`, the most frequent one, and \
         `replications` that got it; `null` when no run was finished.",
    ),
];

/// The document.
#[must_use]
pub fn summary(plan: &Plan, results: &Results) -> String {
    let experiment = &plan.experiment;
    let axes = plan.axes().iter().map(|axis| {
        let labels: Vec<&str> = axis.steps.iter().map(|s| s.label.as_str()).collect();
        json!({
            "name": axis.name,
            "label": axis.label,
            "unit": axis.unit.map(axis_unit),
            "values": labels,
        })
    });
    let named = experiment.measured().zip(experiment.measure_labels());
    let measures = named.zip(&plan.measures).map(|((name, label), measure)| {
        json!({ "measure": name, "label": label, "unit": unit_name(measure.metric) })
    });
    let promises = results.promises(plan).into_iter().map(|p| {
        let actual = match p.first {
            Some(place) => format!("{} at {place}", p.actual),
            None => p.actual,
        };
        json!({
            "text": p.holds, "at": p.place, "kept": p.kept, "points": p.points, "broken": p.broken,
            "actual": actual,
        })
    });
    let points = (0..plan.spots.len()).map(|spot| point(plan, results, spot));
    let values = [
        json!(env!("CARGO_PKG_VERSION")),
        json!(plan.name),
        json!(plan.hash),
        json!(experiment.question),
        json!(plan.model()),
        json!(plan.replications),
        json!(results.complete()),
        json!(results.count()),
        axes.collect(),
        measures.collect(),
        promises.collect(),
        points.collect(),
    ];
    document(KEYS.iter().map(|(key, _)| *key).zip(values))
}

fn point(plan: &Plan, results: &Results, i: usize) -> Value {
    let spot = &plan.spots[i];
    let at: Map<String, Value> = plan
        .axes()
        .iter()
        .zip(&spot.steps)
        .map(|(axis, &step)| {
            let step = &axis.steps[step];
            let value = step.number.map_or(json!(step.label), |x| number(Some(x)));
            (axis.name.clone(), value)
        })
        .collect();
    let seeds: Vec<u64> = results.ended(i).map(|(r, _)| spot.seed_of(r)).collect();
    let why: Vec<&str> = results.ended(i).map(|(_, run)| run.ended.name()).collect();
    let trajectories: Vec<String> = results
        .ended(i)
        .map(|(_, run)| format!("{:016x}", run.trajectory))
        .collect();
    let figures: Map<String, Value> = plan
        .experiment
        .measured()
        .enumerate()
        .map(|(m, measured)| (measured.into(), finding(results.finding(plan, i, m))))
        .collect();
    let values = [
        json!(at),
        json!(seeds),
        json!(why),
        json!(trajectories),
        json!(figures),
    ];
    let keys = POINT_KEYS.iter().map(|(key, _)| (*key).to_string());
    Value::Object(keys.zip(values).collect())
}

fn finding(found: Option<Finding>) -> Value {
    match found {
        None => Value::Null,
        Some(Finding::Number(found)) => estimate(&found),
        Some(Finding::Verdict(tally)) => {
            json!({ "verdict": Verdict::NAMES[tally.verdict], "replications": tally.votes })
        }
    }
}

/// The unit of the numbers of an axis.
#[must_use]
pub fn axis_unit(unit: sim::expect::Unit) -> &'static str {
    use sim::expect::Unit;
    match unit {
        Unit::Count | Unit::Factor | Unit::Verdict => "number",
        Unit::Share => column::Unit::Share.name(),
        Unit::Rate => column::Unit::PerSecond.name(),
        Unit::Time => column::Unit::Seconds.name(),
    }
}
