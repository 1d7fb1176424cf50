//! Budgets and breakers against independent failures, with calls that take no time.

use seawall::Stopped;
use sim::metrics::CallRecord;

use crate::validate::case::Case;
use crate::validate::measure::Run;
use crate::validate::plan::Experiment;
use crate::validate::text::{Text, arrivals, span, work_then_fail};

/// A token bucket: one experiment per failure probability, one process, one call after the other.
pub(super) fn budget(case: &Case, scale: f64) -> Vec<Experiment> {
    let size = case.size(scale);
    let attempts = case.get("/client/max_attempts").as_u64();
    let attempts = attempts.map_or("unlimited".into(), |n| n.to_string());
    let of = match case.get("/client/budget/deposit_on").as_str() {
        Some("success") => "successes",
        _ => "calls",
    };
    let (ratio, burst) = (
        case.number("/client/budget/deposit"),
        case.number("/client/budget/capacity"),
    );
    let (replications, customers) = (size.replications, size.customers);
    let one = |failure: f64| {
        let text = Text {
            title: format!("{}: {}, failing with {failure}", case.id, case.title),
            duration: size.customers + size.warmup,
            warmup: size.warmup,
            clients: vec![
                "source: { arrivals: { paced: 1/s }, calls: [ { to: leaf, policy: bucket } ] }"
                    .into(),
            ],
            services: vec![format!(
                "leaf: {{ program: {} }}",
                work_then_fail(None, failure)
            )],
            policies: vec![format!(
                "bucket: {{ retry: {{ max_attempts: {attempts}, on: [ unavailable ] }}, \
                 budget: {{ ratio: {{ of: {of}, ratio: {ratio}, burst: {burst} }} }} }}"
            )],
            ..Text::default()
        };
        Experiment::counted(text, replications, |outcome| {
            let count = &outcome.drained.edges[0];
            let calls = count.calls as f64;
            let denied = count.stopped[Stopped::BudgetEmpty.index()];
            vec![
                ("amplification".into(), count.attempts as f64 / calls),
                ("p_success".into(), count.ok as f64 / calls),
                ("p_denied".into(), denied as f64 / calls),
            ]
        })
        .named(format!("p{failure}"))
        .shares_of(&["p_success", "p_denied"], customers)
    };
    case.numbers("/leaf/failure_prob")
        .into_iter()
        .map(one)
        .collect()
}

/// A breaker that opens after so many failures in a row and lets one trial through.
pub(super) fn breaker(case: &Case, scale: f64) -> Vec<Experiment> {
    let rate = case.number("/sources/0/arrival/rate");
    let size = case.size(scale);
    let threshold = case.number("/client/breaker/threshold");
    let open_for = case.number("/client/breaker/open_for");
    let trials = case.number("/client/breaker/half_open_probes");
    let failure = case.number("/leaf/failure_prob");
    let text = Text {
        title: format!("{}: {}", case.id, case.title),
        duration: (size.customers + size.warmup) / rate,
        warmup: size.warmup / rate,
        clients: vec![format!(
            "source: {{ arrivals: {}, calls: [ {{ to: leaf, policy: careful }} ] }}",
            arrivals(case.get("/sources/0/arrival"))
        )],
        services: vec![format!(
            "leaf: {{ program: {} }}",
            work_then_fail(None, failure)
        )],
        // So many of the last so many: failures in a row.
        policies: vec![format!(
            "careful: {{ breaker: {{ window: {threshold}, failure_rate: 100%, minimum_calls: {threshold}, \
             open_for: {}, half_open_calls: {trials} }} }}",
            span(open_for)
        )],
        ..Text::default()
    };
    vec![Experiment::logged(text, size.replications, move |run| {
        let calls: Vec<&CallRecord> = run.calls(0).collect();
        let seconds = run.seconds();
        let refused = |call: &CallRecord| call.stopped == Some(Stopped::BreakerOpen);
        let seen = Openings::of(&calls, refused);
        let sent = calls.iter().filter(|call| call.attempts > 0).count() as f64;
        vec![
            (
                "frac_rejected".into(),
                Run::share(calls.iter(), |call| refused(call)),
            ),
            ("sent_rate".into(), sent / seconds),
            (
                "success_frac".into(),
                Run::share(calls.iter(), |call| call.stopped.is_none()),
            ),
            (
                "frac_time_open".into(),
                seen.openings as f64 * open_for / seconds,
            ),
            (
                "open_events_per_time".into(),
                seen.openings as f64 / seconds,
            ),
            (
                "mean_requests_to_trip".into(),
                seen.closed_calls as f64 / seen.trips as f64,
            ),
        ]
    })]
}

/// What the calls of one process say about its breaker, without looking at it.
struct Openings {
    /// Times it opened: a call failed, and the next was refused.
    openings: u64,
    /// Of those, not by a failed trial.
    trips: u64,
    /// Calls let through that were no trials.
    closed_calls: u64,
}

impl Openings {
    fn of(calls: &[&CallRecord], refused: impl Fn(&CallRecord) -> bool) -> Openings {
        let mut seen = Openings {
            openings: 0,
            trips: 0,
            closed_calls: 0,
        };
        let mut after_refusal = false;
        for (i, call) in calls.iter().enumerate() {
            if refused(call) {
                after_refusal = true;
                continue;
            }
            let trial = std::mem::take(&mut after_refusal);
            seen.closed_calls += u64::from(!trial);
            let opened = calls.get(i + 1).is_some_and(|next| refused(next));
            seen.openings += u64::from(opened);
            seen.trips += u64::from(opened && !trial);
        }
        seen
    }
}
