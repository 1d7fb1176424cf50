//! Replicas that are started anew, some at a time.

use sim::metrics::{JobEnd, Outcome};

use crate::{jobs, run, seconds, wrong};

/// Four replicas that need three seconds to start, started anew from 10 s on; requests of two seconds come every half second.
fn deployed(deploy: &str) -> Outcome {
    let text = format!(
        "
version: 1
run: {{ duration: 60s, window: 10s, drain: 100s }}
clients: {{ a: {{ arrivals: {{ paced: 2/s }}, calls: [ {{ to: api, policy: sdk }} ] }} }}
services: {{ api: {{ replicas: 4, concurrency: 10, balance: round_robin, restart: {{ after: 3s }}, work: 2s }} }}
policies: {{ sdk: {{ retry: {{ max_attempts: 1 }} }} }}
faults: [ {{ at: 10s, deploy: {{ service: api, {deploy} }} }} ]
"
    );
    run(&text, &[])
}

/// How many jobs were lost, and when.
fn lost(outcome: &Outcome) -> Vec<f64> {
    let all = jobs(outcome);
    let lost = all.iter().filter(|job| job.end == JobEnd::Lost);
    lost.map(|job| seconds(job.left)).collect()
}

#[test]
fn each_batch_is_started_anew_when_its_turn_comes() {
    for (deploy, turns) in [
        ("every: 10s", &[10.0, 20.0, 30.0, 40.0][..]),
        ("every: 10s, at_once: 3", &[10.0, 20.0]),
        ("every: 10s, at_once: 9", &[10.0]),
        // Two of them have finished by then what they had.
        ("every: 10s, drain: 1s", &[21.0, 41.0]),
    ] {
        let outcome = deployed(deploy);
        assert_eq!(outcome.drained.services[0].restarts, 4, "{deploy}");
        let mut when = lost(&outcome);
        when.dedup();
        assert_eq!(when, turns, "{deploy}");
    }
}

#[test]
fn whoever_has_time_to_finish_loses_nothing() {
    let outcome = deployed("every: 10s, drain: 2100ms");
    assert!(lost(&outcome).is_empty());
    let count = &outcome.drained;
    assert_eq!((count.services[0].restarts, count.edges[0].ok), (4, 120));
    // Batches that overlap leave nobody in the end.
    let all_out = deployed("every: 1s, drain: 5s");
    assert!(all_out.drained.services[0].unreachable > 0);
    assert_eq!(all_out.drained.services[0].restarts, 4);
}

#[test]
fn a_deployment_takes_as_long_as_it_takes() {
    let text = "
version: 1
run: { duration: 60s }
clients: { a: { arrivals: { paced: 2/s }, calls: [ api ] } }
services: { api: { work: 2s } }
faults: [ { at: 10s, for: 5s, deploy: { service: api, every: 0s } } ]
";
    let told = wrong(text);
    assert!(
        told.contains("faults.0.for: a deployment takes as long as its batches do; leave this out"),
        "{told}"
    );
    assert!(
        told.contains("faults.0.deploy.every: must be above 0s"),
        "{told}"
    );
}
