//! Instances of a client that loops, and stand still for a while.

use std::sync::Arc;

use crate::yaml;

/// Iterations of ten instances, one a second each, that end in each of thirty seconds.
fn iterations(faults: &str) -> Vec<u64> {
    let scenario = yaml(&format!(
        "
version: 1
run: {{ duration: 30s, window: 1s }}
clients: {{ agents: {{ instances: 10, start: {{ constant: 500ms }}, loop: [ {{ call: api }}, {{ delay: 1s }} ] }} }}
services: {{ api: {{ work: 0s }} }}
faults: {faults}
"
    ));
    let outcome = sim::run(&Arc::new(scenario), 1);
    let windows = outcome.windows.iter();
    windows.map(|window| window.counts.edges[0].calls).collect()
}

#[test]
fn a_share_of_the_instances_goes_on_and_the_others_come_back_together() {
    let found = iterations("[ { at: 10s, for: 10s, load: { client: agents, factor: 0.3 } } ]");
    let expected: Vec<u64> = [[10; 10], [3; 10], [10; 10]].concat();
    // Those that stand still come back in the instant in which they may, and are out of step with the rest from then on.
    assert_eq!(found[..20], expected[..20]);
    assert_eq!(found[20], 7 + 3);
    assert_eq!(found[21..], expected[21..]);
}

#[test]
fn admitted_step_by_step_they_come_back_step_by_step() {
    let found = iterations(
        "[ { at: 10s, for: 5s, load: { client: agents, factor: 0 } }, { at: 15s, for: 5s, load: { client: agents, factor: 0.5 } } ]",
    );
    let expected: Vec<u64> = [vec![10; 10], vec![0; 5], vec![5; 5], vec![10; 10]].concat();
    assert_eq!(found, expected);
    let multiplied = iterations(
        "[ { at: 10s, load: { client: agents, factor: 0.5 } }, { at: 10s, load: { client: agents, factor: 0.4 } } ]",
    );
    assert_eq!(multiplied[12..], vec![2; 18]);
}
