//! The two reference workloads and their yardsticks under a bench harness: median, spread and calls per second of each.
//!
//! `cargo bench -p retrystorm-sim --bench workloads`. The ratios of docs/performance.md come from the bench beside it,
//! `reference`, whose yardstick and simulator take turns; a harness runs one after the other.

#[path = "reference/hand.rs"]
mod hand;

use std::sync::Arc;

use divan::Bencher;
use divan::counter::ItemsCount;
use sim::Scenario;
use sim::scenario::{Format, Override, Source, load};

const CALLS: u64 = 100_000;
const SEED: u64 = 42;

fn main() {
    divan::main();
}

fn scenario(text: &str, seconds: f64) -> Arc<Scenario> {
    let source = Source {
        name: "bench",
        text,
        format: Format::Yaml,
    };
    let duration = format!("run.duration={}s", seconds as u64);
    let duration = Override::parse(&duration).expect("an override");
    let scenario = load(&source, &[duration], &mut |_| Err(String::new()));
    Arc::new(scenario.unwrap_or_else(|problems| panic!("{problems}")))
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn a_yardstick(bencher: Bencher<'_, '_>) {
    bencher
        .counter(ItemsCount::new(CALLS))
        .bench(|| hand::mm1(CALLS, SEED.into()));
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn a_simulator(bencher: Bencher<'_, '_>) {
    let scenario = scenario(include_str!("reference/mm1.yaml"), CALLS as f64 / 0.8);
    bencher
        .counter(ItemsCount::new(CALLS))
        .bench(|| sim::run(&scenario, SEED));
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn b_yardstick(bencher: Bencher<'_, '_>) {
    bencher
        .counter(ItemsCount::new(CALLS))
        .bench(|| hand::retry_storm(CALLS, SEED.into()));
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn b_simulator(bencher: Bencher<'_, '_>) {
    let text = include_str!("reference/retry-storm.yaml");
    let scenario = scenario(text, CALLS as f64 / 3.2);
    bencher
        .counter(ItemsCount::new(CALLS))
        .bench(|| sim::run(&scenario, SEED));
}
