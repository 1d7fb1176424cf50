//! The simulator against results its authors did not write, through the scenario language.
//!
//! Expected values are textbook formulas (M/M/1 and Erlang C); a run passes when the mean of its
//! replications is precise enough to mean something and lies within its own interval.

use std::sync::Arc;

use sim::metrics::Outcome;
use sim::scenario::{Format, Source, load};
use sim::{Scenario, World, run};

/// Student's t for nine degrees of freedom: two-sided 95 % and 99.9 %.
const T95: f64 = 2.262;
const T999: f64 = 4.781;
const REPLICATIONS: u64 = 10;

fn scenario(text: &str) -> Arc<Scenario> {
    let source = Source {
        name: "test.yaml",
        text,
        format: Format::Yaml,
    };
    let none = &mut |path: &str| Err(format!("{path}: no files here"));
    Arc::new(load(&source, &[], none).unwrap_or_else(|problems| panic!("{problems}")))
}

/// Ten replications of `text`; the mean of `figure` must agree with `expected`, and be known to within
/// `precision` (relative half-width of the 95 % interval).
fn agrees(text: &str, expected: f64, precision: f64, figure: fn(&Outcome) -> f64) {
    let scenario = scenario(text);
    let values: Vec<f64> = (0..REPLICATIONS)
        .map(|seed| figure(&run(&scenario, seed)))
        .collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    assert!(
        T95 * error <= precision * expected,
        "too noisy to tell: {mean} ± {} for {expected}",
        T95 * error
    );
    assert!(
        (mean - expected).abs() <= T999 * error,
        "{mean} ± {} does not agree with {expected}",
        T999 * error
    );
}

fn mean_wait_s(outcome: &Outcome) -> f64 {
    let service = &outcome.totals.services[0];
    service.wait_ns as f64 / 1e9 / service.started as f64
}

fn mean_inside(outcome: &Outcome) -> f64 {
    let service = &outcome.totals.services[0];
    service.inside_ns as f64 / outcome.measured_to.since(outcome.measured_from).0 as f64
}

const MM1: &str = "
version: 1
run: { duration: 100000s, window: 10000s, warmup: 5000s, drain: 1h }
clients: { web: { arrivals: { poisson: 0.8/s }, calls: [ { to: api } ] } }
services: { api: { concurrency: 1, work: { exponential: { mean: 1s } } } }
";

/// Wq = ρ / (μ − λ) = 4 s.
#[test]
fn mm1_waits_as_long_as_theory_says() {
    agrees(MM1, 4.0, 0.10, mean_wait_s);
}

/// L = ρ / (1 − ρ) = 4.
#[test]
fn mm1_holds_as_many_as_theory_says() {
    agrees(MM1, 4.0, 0.10, mean_inside);
}

/// Erlang C with a = 8, c = 10: C = 0.40918, Wq = C / (c μ − λ) = 0.20459 s.
#[test]
fn mmc_waits_as_long_as_theory_says() {
    let text = "
version: 1
run: { duration: 20000s, window: 2000s, warmup: 200s, drain: 1h }
clients: { web: { arrivals: { poisson: 8/s }, calls: [ { to: api } ] } }
services: { api: { concurrency: 10, work: { exponential: { mean: 1s } } } }
";
    agrees(text, 0.20459, 0.10, mean_wait_s);
    agrees(text, 0.40918, 0.05, |outcome| {
        let service = &outcome.totals.services[0];
        service.waited as f64 / service.started as f64
    });
}

/// Erlang B with a = 8, c = 10: a fraction 0.121661 finds no place.
#[test]
fn mmcc_turns_away_as_many_as_theory_says() {
    let text = "
version: 1
run: { duration: 20000s, window: 2000s, warmup: 200s, drain: 1h }
clients: { web: { arrivals: { poisson: 8/s }, calls: [ { to: api } ] } }
services: { api: { concurrency: 10, queue: { capacity: 0 }, work: { exponential: { mean: 1s } } } }
";
    agrees(text, 0.121661, 0.03, |outcome| {
        let service = &outcome.totals.services[0];
        service.shed_full as f64 / service.arrived as f64
    });
}

/// Adding a client changes nobody else's draws: its calls begin at the same instants, and where the
/// service is its own they end at the same instants too.
#[test]
fn another_client_changes_nobody_elses_draws() {
    let alone = "
version: 1
run: { duration: 200s, drain: 60s }
clients:
  web: { instances: 5, arrivals: { poisson: 20/s }, calls: [ { to: api, policy: sdk } ] }
services:
  api: { concurrency: 4, queue: { capacity: 5 }, work: { exponential: { mean: 180ms } } }
links: { default: { delay: { uniform: [1ms, 5ms] }, lose_response: 2% } }
policies:
  sdk:
    attempt_timeout: 300ms
    retry: { max_attempts: 3, backoff: { exponential: { base: 50ms, max: 1s, jitter: full } }, on: [timeout, unavailable] }
";
    let with_another = alone.replace(
        "clients:",
        "clients:\n  batch: { arrivals: { poisson: 50/s }, calls: [ { to: store, policy: sdk } ] }",
    );
    let with_another = with_another.replace(
        "services:",
        "services:\n  store: { concurrency: 2, work: { exponential: { mean: 90ms } } }",
    );
    let calls = |text: &str| {
        let scenario = scenario(text);
        let web = scenario.clients.iter().position(|c| c.name == "web");
        let edge = scenario
            .edges
            .iter()
            .position(|e| e.caller == sim::scenario::model::Caller::Client(web.unwrap() as u32));
        let log = World::new(scenario, 7).with_log().run().log.unwrap();
        log.calls
            .iter()
            .filter(|c| c.edge == edge.unwrap() as u32)
            .map(|c| (c.began, c.ended, c.process, c.attempts, c.stopped))
            .collect::<Vec<_>>()
    };
    let (alone, beside) = (calls(alone), calls(&with_another));
    assert!(alone.len() > 3000);
    assert_eq!(alone, beside);
}
