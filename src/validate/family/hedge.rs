//! A second copy of a request that is still open after a while, at a station that never makes anybody wait.

use crate::stats::series;
use crate::validate::case::Case;
use crate::validate::measure::Run;
use crate::validate::plan::Experiment;
use crate::validate::text::{arrivals, span};

/// One experiment: how long calls take, and what the copies add to the load.
pub(super) fn experiments(case: &Case, scale: f64) -> Result<Vec<Experiment>, String> {
    let mut plain = case.clone();
    if let Some(model) = plain.model.as_object_mut() {
        model.remove("client");
    }
    let mut text = super::station::world(&plain, scale)?;
    let (delay, copies) = (
        case.number("/client/hedge/delay"),
        case.number("/client/hedge/copies"),
    );
    text.policies = vec![format!(
        "hedging: {{ hedge: {{ max_attempts: {copies}, delay: {} }} }}",
        span(delay)
    )];
    text.clients = vec![format!(
        "source: {{ arrivals: {}, calls: [ {{ to: s, policy: hedging }} ] }}",
        arrivals(case.get("/sources/0/arrival"))
    )];
    let replications = case.size(scale).replications;
    let names: Vec<String> = case.metrics.keys().cloned().collect();
    let id = case.id.clone();
    Ok(vec![Experiment::logged(text, replications, move |run| {
        let value = |name: &String| {
            let value = of_calls(run, name).unwrap_or_else(|| panic!("{id}: no metric {name}"));
            (name.clone(), value)
        };
        names.iter().map(value).collect()
    })])
}

/// Of calls, where the names of a station are of attempts.
fn of_calls(run: &Run<'_>, name: &str) -> Option<f64> {
    let mut took: Vec<f64> = run
        .calls(0)
        .map(|call| call.ended.since(call.began).as_secs_f64())
        .collect();
    match name {
        "W" => Some(series::mean(&took)),
        "extra_load" => {
            let sent: u64 = run.calls(0).map(|call| u64::from(call.attempts)).sum();
            Some(sent as f64 / took.len() as f64 - 1.0)
        }
        _ => {
            let quantile = name.strip_prefix("W_q")?.parse().ok()?;
            Some(series::quantile(&mut took, quantile))
        }
    }
}
