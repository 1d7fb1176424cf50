//! One deadline for the answer, and three ways for a service to treat work that nobody waits for.

use crate::validate::case::Case;
use crate::validate::measure::named;
use crate::validate::plan::Experiment;

/// One experiment per way.
pub(super) fn experiments(case: &Case, scale: f64) -> Vec<Experiment> {
    let ways = [
        ("none", "fifo", false),
        ("queue", "deadline_drop", false),
        ("full", "fifo", true),
    ];
    ways.map(|(variant, discipline, honours)| one(case, scale, variant, discipline, honours))
        .into()
}

fn one(case: &Case, scale: f64, variant: &str, discipline: &str, honours: bool) -> Experiment {
    let deadline = crate::validate::text::span(case.number("/client/deadline"));
    let mut text = super::station::world(case, scale).expect("a plain queue");
    text.policies = vec![format!("patient: {{ deadline: {deadline} }}")];
    text.clients = vec![
        "source: { arrivals: { poisson: 0.8/s }, calls: [ { to: s, policy: patient } ] }".into(),
    ];
    text.services = vec![format!(
        "s: {{ concurrency: 1, queue: {{ discipline: {discipline} }}, honours_cancellation: {honours}, work: {{ exponential: 1s }} }}"
    )];
    let suffix = format!("_{variant}");
    let names: Vec<String> = case
        .metrics
        .keys()
        .filter_map(|name| name.strip_suffix(&suffix).map(str::to_owned))
        .collect();
    let replications = case.size(scale).replications;
    Experiment::logged(text, replications, move |run| {
        let value = |name: &String| (name.clone(), named(run, name).expect("a known name"));
        names.iter().map(value).collect()
    })
    .named(variant)
}
