//! Nothing is allocated per event once a world has been at its fullest.

use std::sync::Arc;

use seawall::{Span, Time};
use sim::World;
use sim::scenario::{Format, Override, Source, load};

fn allocations_after_warm_up(text: &str, warm_up: Span, measured: Span) -> u64 {
    let source = Source {
        name: "test",
        text,
        format: Format::Yaml,
    };
    let whole = warm_up.0 + 2 * measured.0;
    // No window closes while it is counted: a window is a row of the result and kept.
    let overrides = [
        format!("run.duration={whole}ns"),
        format!("run.window={whole}ns"),
    ]
    .map(|text| Override::parse(&text).expect("an override"));
    let scenario = load(&source, &overrides, &mut |_| Err(String::new()));
    let mut world = World::new(Arc::new(scenario.unwrap_or_else(|p| panic!("{p}"))), 1);
    assert_eq!(world.run_until(Time(warm_up.0)), None, "still running");
    let counted = allocation_counter::measure(|| {
        assert_eq!(world.run_until(Time(warm_up.0 + measured.0)), None);
    });
    counted.count_total
}

#[test]
fn a_queue_allocates_nothing_per_event() {
    let text = include_str!("../benches/reference/mm1.yaml");
    let count = allocations_after_warm_up(text, Span::secs(200_000), Span::secs(50_000));
    assert_eq!(count, 0);
}

#[test]
fn retries_allocate_nothing_per_event() {
    let text = include_str!("../benches/reference/retry-storm.yaml");
    let count = allocations_after_warm_up(text, Span::secs(100_000), Span::secs(25_000));
    assert_eq!(count, 0);
}

#[test]
fn three_layers_with_every_policy_allocate_nothing_per_event() {
    let text = include_str!("../benches/reference/storm.yaml");
    let text = text.split("faults:").next().expect("a text");
    let count = allocations_after_warm_up(text, Span::secs(250), Span::secs(25));
    assert_eq!(count, 0);
}
