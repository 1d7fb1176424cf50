//! Layers that all retry, and requests that fan out and wait for all parts.

use crate::validate::case::Case;
use crate::validate::measure::named;
use crate::validate::plan::Experiment;
use crate::validate::text::{Text, arrivals, law, work_then_fail};

/// One experiment per failure probability of the leaf.
pub(super) fn experiments(case: &Case, scale: f64) -> Vec<Experiment> {
    let attempts: Vec<u64> = case
        .get("/layers")
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|layer| layer["max_attempts"].as_u64())
        .collect();
    let probabilities = case.numbers("/leaf/failure_prob").into_iter();
    probabilities
        .map(|p| one(case, scale, &attempts, p))
        .collect()
}

fn one(case: &Case, scale: f64, attempts: &[u64], failure: f64) -> Experiment {
    let size = case.size(scale);
    // Certain failure has no spread: a few calls say all.
    let (customers, replications) = match failure {
        1.0 => (100.0, 1),
        _ => (size.customers, size.replications),
    };
    let mut text = Text {
        title: format!("{}: {}, leaf fails with {failure}", case.id, case.title),
        duration: customers,
        ..Text::default()
    };
    // The client is the first layer; the leaf is below the last.
    let layers = attempts.len();
    let below = |i: usize| {
        if i == layers {
            "leaf".into()
        } else {
            format!("layer{}", i + 1)
        }
    };
    text.clients.push(format!(
        "source: {{ arrivals: {}, calls: [ {{ to: {}, policy: retry1 }} ] }}",
        arrivals(case.get("/sources/0/arrival")),
        below(1)
    ));
    for (i, attempts) in (1..).zip(attempts) {
        text.policies.push(format!(
            "retry{i}: {{ retry: {{ max_attempts: {attempts}, on: [ unavailable ] }} }}"
        ));
        if i < layers {
            text.services.push(format!(
                "layer{}: {{ program: [ {{ call: {{ to: {}, policy: retry{} }} }} ] }}",
                i + 1,
                below(i + 1),
                i + 1
            ));
        }
    }
    text.services.push(format!(
        "leaf: {{ program: {} }}",
        work_then_fail(None, failure)
    ));
    Experiment::counted(text, replications, |outcome| {
        let leaf = outcome.drained.services.last().expect("the leaf");
        let top = &outcome.drained.edges[0];
        vec![
            (
                "leaf_attempts".into(),
                leaf.arrived as f64 / top.calls as f64,
            ),
            (
                "p_fail".into(),
                top.failed_calls() as f64 / top.calls as f64,
            ),
        ]
    })
    .named(format!("p{failure}"))
}

/// Fan-out to several stations side by side; the front stands for the whole request.
pub(super) fn fork_join(case: &Case, scale: f64) -> Vec<Experiment> {
    let rate = case.number("/sources/0/arrival/rate");
    let size = case.size(scale);
    let branches = case.number("/fork/n") as usize;
    let concurrency = match case.get("/fork/servers").as_u64() {
        Some(servers) => format!("concurrency: {servers}, "),
        None => String::new(),
    };
    let calls: Vec<String> = (0..branches).map(|i| format!("{{ call: s{i} }}")).collect();
    let mut text = Text {
        title: format!("{}: {}", case.id, case.title),
        duration: (size.customers + size.warmup) / rate,
        warmup: size.warmup / rate,
        drain: size.customers / rate,
        ..Text::default()
    };
    text.clients.push(format!(
        "source: {{ arrivals: {{ poisson: {rate}/s }}, calls: [ front ] }}"
    ));
    text.services.push(format!(
        "front: {{ program: [ {{ parallel: [ {} ] }} ] }}",
        calls.join(", ")
    ));
    for i in 0..branches {
        let work = law(case.get("/fork/service"));
        text.services
            .push(format!("s{i}: {{ {concurrency}work: {work} }}"));
    }
    let names: Vec<String> = case.metrics.keys().cloned().collect();
    vec![Experiment::logged(text, size.replications, move |run| {
        let value = |name: &String| (name.clone(), named(run, name).expect("a known name"));
        names.iter().map(value).collect()
    })]
}
