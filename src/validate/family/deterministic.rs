//! Numbers that follow from arithmetic alone: each world is run once.

use crate::validate::case::Case;
use crate::validate::measure::Run;
use crate::validate::plan::Experiment;
use crate::validate::text::{Text, law, span};

pub(super) fn experiments(case: &Case) -> Result<Vec<Experiment>, String> {
    let experiment = match case.id.as_str() {
        "budget-trace-total-outage" => outage(case),
        "deadline-propagation-sre" => propagation(case),
        "queue-10x-pool" => full_queue(case),
        other => return Err(format!("no way yet to run `{other}`")),
    };
    Ok(vec![experiment])
}

/// Every call fails: the bucket is what bounds retries.
fn outage(case: &Case) -> Experiment {
    let number = |key: &str| case.number(&format!("/client/budget/{key}"));
    let text = Text {
        title: format!("{}: {}", case.id, case.title),
        duration: case.number("/requests"),
        clients: vec![
            "source: { arrivals: { paced: 1/s }, calls: [ { to: leaf, policy: bucket } ] }".into(),
        ],
        services: vec!["leaf: { program: [ { respond: { fail: unavailable } } ] }".into()],
        policies: vec![format!(
            "bucket: {{ retry: {{ max_attempts: {}, on: [ unavailable ] }}, \
             budget: {{ ratio: {{ of: calls, ratio: {}, burst: {} }} }} }}",
            case.number("/client/max_attempts"),
            number("deposit"),
            number("capacity")
        )],
        ..Text::default()
    };
    Experiment::counted(text, 1, |outcome| {
        let retries = outcome.drained.edges[0].retries as f64;
        vec![("retries".into(), retries), ("upper_bound".into(), retries)]
    })
}

/// Nobody answers, so that the length of each call is what was left of the deadline when it was made.
fn propagation(case: &Case) -> Experiment {
    let hops = case.numbers("/hops");
    let text = Text {
        title: format!("{}: {}", case.id, case.title),
        duration: 1.0,
        drain: 120.0,
        clients: vec![
            "user: { arrivals: { at: [ 0s ] }, calls: [ { to: a, policy: limited } ] }".into(),
        ],
        services: vec![
            format!(
                "a: {{ program: [ {{ delay: {} }}, {{ call: {{ to: b, policy: inherited }} }} ] }}",
                span(hops[0])
            ),
            format!(
                "b: {{ program: [ {{ delay: {} }}, {{ call: {{ to: c, policy: inherited }} }} ] }}",
                span(hops[1])
            ),
            "c: { program: [ { delay: 1min } ] }".into(),
        ],
        policies: vec![
            format!(
                "limited: {{ deadline: {} }}",
                span(case.number("/deadline"))
            ),
            "inherited: { deadline: { inherit: true } }".into(),
        ],
        ..Text::default()
    };
    Experiment::logged(text, 1, |run| {
        let length = |name: &str, to: &str| {
            let made = run.log().calls.iter().find(|call| {
                let edge = &run.scenario.edges[call.edge as usize];
                run.scenario.services[edge.service as usize].name == to
            });
            let seconds = made.map_or(f64::NAN, |call| call.ended.since(call.began).as_secs_f64());
            (name.to_owned(), seconds)
        };
        vec![length("remaining_at_B", "b"), length("remaining_at_C", "c")]
    })
}

/// As many calls at once as there is room for: the last one waits for all others.
fn full_queue(case: &Case) -> Experiment {
    let (threads, queue) = (case.number("/threads"), case.number("/queue"));
    let text = Text {
        title: format!("{}: {}", case.id, case.title),
        duration: 5.0,
        clients: vec![format!(
            "everybody: {{ instances: {}, loop: [ {{ call: s }}, {{ delay: 1h }} ] }}",
            threads + queue
        )],
        services: vec![format!(
            "s: {{ concurrency: {threads}, queue: {queue}, work: {} }}",
            law(case.get("/service"))
        )],
        ..Text::default()
    };
    Experiment::logged(text, 1, |run: &Run<'_>| {
        let took = run.calls(0).map(|call| call.ended.since(call.began));
        let last = took.max().map_or(f64::NAN, seawall::Span::as_secs_f64);
        // Everybody got in.
        let all = run.outcome.drained.edges[0].failed_calls() == 0;
        vec![("last_response".into(), if all { last } else { f64::NAN })]
    })
}
