//! How often intervals from one run hold the truth: the mean wait of an M/M/1 queue, which is known.

use rayon::prelude::*;
use sim::scenario::Scenario;

use crate::figure::Scope;
use crate::interrupt;
use crate::report::summary::Summary;
use crate::stats::CONFIDENCE;
use crate::stats::batch::BATCHES;
use crate::validate::case::Case;
use crate::validate::plan::{Experiment, loaded};
use crate::validate::text::{Text, rate, span};

/// Intervals in each metric.
const INTERVALS: u64 = 1000;

/// Each metric is a number of intervals, out of a thousand, that hold the truth: `covered_of_1000_rho0.5_n200000`. The
/// interval is the one a user gets of one replication, by batch means; what is refused as correlated counts by
/// the interval it would have had.
pub(super) fn experiments(case: &Case) -> Vec<Experiment> {
    let warmups = case.numbers("/estimator/warmup");
    let metrics = case.metrics.keys().zip(warmups);
    metrics
        .map(|(name, warmup)| {
            let sizes = name
                .trim_start_matches("covered_of_1000_rho")
                .split_once("_n");
            let sizes = sizes.and_then(|(rho, n)| Some((rho.parse().ok()?, n.parse().ok()?)));
            let (rho, customers): (f64, f64) = sizes.expect("load and customers are in the name");
            let text = text(rho, customers, warmup);
            let scenario = loaded(&text.to_string());
            let truth = rho / (1.0 - rho);
            let metric = name.clone();
            let run = move |seed: u64| {
                let covered = (0..INTERVALS).into_par_iter().filter(|i| {
                    let seed = seed.wrapping_mul(INTERVALS).wrapping_add(*i);
                    !interrupt::asked() && covers(&scenario, seed, truth)
                });
                vec![(metric.clone(), covered.count() as f64)]
            };
            Experiment::library(1, run).showing(text)
        })
        .collect()
}

/// Work takes a second on average, so the mean wait is `ρ ÷ (1 − ρ)` seconds. A window is as long as the warm-up, so that
/// measuring begins with one. Where the case has no warm-up it is a tenth of a batch: from empty there is no
/// interval at all.
fn text(rho: f64, customers: f64, warmup: f64) -> Text {
    let warmup = if warmup > 0.0 {
        warmup
    } else {
        customers / BATCHES as f64 / 10.0
    };
    Text {
        title: "M/M/1".into(),
        duration: (customers + warmup) / rho,
        warmup: warmup / rho,
        window: warmup / rho,
        drain: 3600.0,
        clients: vec![format!(
            "source: {{ arrivals: {{ poisson: {} }}, calls: [ {{ to: server }} ] }}",
            rate(rho)
        )],
        services: vec![format!(
            "server: {{ concurrency: 1, work: {{ exponential: {{ mean: {} }} }} }}",
            span(1.0)
        )],
        ..Text::default()
    }
}

fn covers(scenario: &std::sync::Arc<Scenario>, seed: u64, truth: f64) -> bool {
    let outcomes = [sim::run(scenario, seed)];
    let summary = Summary::of(scenario, &outcomes);
    let wait = summary
        .of_scope(Scope::Service)
        .next()
        .map(|server| *server.get("wait_mean_ms"));
    let interval = wait.and_then(|wait| Some((wait.mean?, wait.half_width_at(CONFIDENCE)?)));
    interval.is_some_and(|(mean, half)| (mean - truth * 1e3).abs() <= half)
}
