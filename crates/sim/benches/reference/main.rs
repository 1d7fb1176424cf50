//! What simulating costs: the two reference workloads beside a hand-written yardstick, a storm, and the queue.
//!
//! `cargo bench -p retrystorm-sim --bench reference` prints the table of docs/performance.md. Yardstick and
//! simulator take turns, and the quickest turn of each counts: what else the machine does only ever adds.
//!
//! With `--once WORKLOAD CALLS` one run is made and nothing timed, for counting instructions
//! (benches/instructions.sh).
#![allow(clippy::disallowed_types)]

mod hand;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use sim::Scenario;
use sim::metrics::Outcome;
use sim::scenario::{Format, Override, Source, load};

const MM1: &str = include_str!("mm1.yaml");
const RETRIES: &str = include_str!("retry-storm.yaml");
const STORM: &str = include_str!("storm.yaml");
const HOLD: &str = include_str!("hold.yaml");

const SEED: u64 = 42;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|arg| arg == "--once") {
        let calls = args[at + 2].parse().expect("a number of calls");
        once(&args[at + 1], calls);
        return;
    }
    // `cargo test --all-targets` runs benches too, without this flag: then it is enough that it works.
    let measured = args.iter().any(|arg| arg == "--bench");
    let (calls, turns) = if measured { (1_000_000, 9) } else { (1_000, 1) };
    println!("workload         ns/call  ns/event   yardstick ns/call   ratio");
    beside("A  M/M/1", calls, turns, hand::mm1, mm1);
    beside("B  retries", calls, turns, hand::retry_storm, retries);
    if measured {
        check_answers();
    }
    storm(if measured { 2_000 } else { 2 }, turns.min(3));
    let holds = if measured { 2_000_000 } else { 2_000 };
    // A scenario has a million processes at most, the service among them.
    for pending in [100, 10_000, 999_999] {
        hold(pending, holds, turns.min(3));
    }
}

/// One run by name, for those who count from outside. Says where it went, so that a change that should only be
/// quicker can be seen to be no more than that.
fn once(workload: &str, calls: u64) {
    let outcome = match workload {
        "a-hand" => return println!("{:?}", hand::mm1(calls, SEED.into())),
        "b-hand" => return println!("{:?}", hand::retry_storm(calls, SEED.into())),
        "a" => mm1(calls, SEED),
        "b" => retries(calls, SEED),
        "storm" => run(STORM, &storm_length(calls / 500), SEED),
        other => {
            let pending = other.strip_prefix("hold-").and_then(|n| n.parse().ok());
            let pending = pending.unwrap_or_else(|| panic!("no workload is called {other}"));
            return hold(pending, calls, 3);
        }
    };
    println!(
        "{} events, trajectory {:016x}",
        outcome.events, outcome.trajectory
    );
}

fn mm1(calls: u64, seed: u64) -> Outcome {
    run(MM1, &lasting(calls as f64 / 0.8), seed)
}

fn retries(calls: u64, seed: u64) -> Outcome {
    run(RETRIES, &lasting(calls as f64 / 3.2), seed)
}

fn lasting(seconds: f64) -> [String; 1] {
    [format!("run.duration={}s", seconds as u64)]
}

/// The database is slow in the middle of it.
fn storm_length(seconds: u64) -> [String; 3] {
    [
        format!("run.duration={seconds}s"),
        format!("faults.0.at={}ms", seconds * 250),
        format!("faults.0.for={}ms", seconds * 500),
    ]
}

fn run(text: &str, overrides: &[String], seed: u64) -> Outcome {
    sim::run(&scenario(text, overrides), seed)
}

fn scenario(text: &str, overrides: &[String]) -> Arc<Scenario> {
    let source = Source {
        name: "bench",
        text,
        format: Format::Yaml,
    };
    let overrides: Vec<Override> = overrides
        .iter()
        .map(|text| Override::parse(text).expect("an override"))
        .collect();
    let scenario = load(&source, &overrides, &mut |_| Err(String::new()));
    Arc::new(scenario.unwrap_or_else(|problems| panic!("{problems}")))
}

/// The result of `work`, and how many nanoseconds it took.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = black_box(work());
    (result, start.elapsed().as_secs_f64() * 1e9)
}

fn calls_of(outcome: &Outcome) -> f64 {
    outcome.drained.edges.iter().map(|e| e.calls).sum::<u64>() as f64
}

fn beside<T>(
    name: &str,
    calls: u64,
    turns: u32,
    hand: impl Fn(u64, u128) -> T,
    simulator: impl Fn(u64, u64) -> Outcome,
) {
    let (mut by_hand, mut per_call, mut per_event) = (f64::INFINITY, f64::INFINITY, 0.0);
    for _ in 0..turns {
        let (_, ns) = timed(|| hand(calls, SEED.into()));
        by_hand = by_hand.min(ns / calls as f64);
        let (outcome, ns) = timed(|| simulator(calls, SEED));
        if ns / calls_of(&outcome) < per_call {
            per_call = ns / calls_of(&outcome);
            per_event = ns / outcome.events as f64;
        }
    }
    println!(
        "{name:<15} {per_call:>8.0} {per_event:>9.0} {by_hand:>19.0} {:>7.2}",
        per_call / by_hand
    );
}

/// B has known answers: amplification 1.72, success 0.865. One run of a million calls scatters by more than the
/// band of 0.01 now and then, so eight are pooled.
fn check_answers() {
    let (mut calls, mut attempts, mut ok) = (0, 0, 0);
    for seed in 1..=8 {
        let edge = &retries(1_000_000, seed).drained.edges[0];
        calls += edge.calls;
        attempts += edge.attempts;
        ok += edge.ok;
    }
    let (amplification, success) = (attempts as f64 / calls as f64, ok as f64 / calls as f64);
    println!(
        "   answers of B over 8 seeds: amplification {amplification:.4}, success {success:.4}"
    );
    assert!((amplification - 1.72).abs() <= 0.01, "{amplification}");
    assert!((success - 0.865).abs() <= 0.003, "{success}");
}

fn storm(seconds: u64, turns: u32) {
    let scenario = scenario(STORM, &storm_length(seconds));
    let (mut best, mut line) = (f64::INFINITY, String::new());
    for _ in 0..turns {
        let (outcome, ns) = timed(|| sim::run(&scenario, SEED));
        if ns < best {
            best = ns;
            let attempts: u64 = outcome.drained.edges.iter().map(|e| e.attempts).sum();
            line = format!(
                "storm           {:>8.0} {:>9.0}   ({} events, {} calls and {attempts} attempts on three layers)",
                ns / calls_of(&outcome),
                ns / outcome.events as f64,
                outcome.events,
                calls_of(&outcome),
            );
        }
    }
    println!("{line}");
}

/// As many instances as are to be pending, each of which only waits and begins anew.
fn hold(pending: u64, events: u64, turns: u32) {
    let text = HOLD.replace("instances: 100", &format!("instances: {pending}"));
    // Each instance begins anew once a second; the first second fills the queue and is taken off.
    let seconds = (events / pending).max(1);
    let fill = scenario(&text, &["run.duration=1s".to_owned()]);
    let lasting = format!("{}s", 1 + seconds);
    let full = [
        format!("run.duration={lasting}"),
        format!("run.window={lasting}"),
    ];
    let full = scenario(&text, &full);
    let mut best = f64::INFINITY;
    for _ in 0..turns {
        let (short, ns_short) = timed(|| sim::run(&fill, SEED));
        let (long, ns_long) = timed(|| sim::run(&full, SEED));
        let iterations = |o: &Outcome| o.drained.clients[0].iterations as f64;
        best = best.min((ns_long - ns_short) / (iterations(&long) - iterations(&short)));
    }
    println!(
        "hold, {pending:>7} pending: {best:.0} ns per event taken out, handled and scheduled again"
    );
}
