//! Probes.

use sim::metrics::Outcome;

use crate::{run, wrong};

fn world(service: &str, faults: &str) -> Outcome {
    let text = format!(
        "
version: 1
run: {{ duration: 100s, window: 10s, drain: 100s }}
clients: {{ a: {{ arrivals: {{ paced: 10/s }}, calls: [ api ] }} }}
services:
  api:
    concurrency: 2
    queue: 1000
    {service}
    operations: {{ get: {{ work: 100ms }}, health: {{ work: 1ms }}, deep: {{ program: [ {{ call: db }} ] }} }}
  db: {{ concurrency: 10, work: 1ms }}
faults: [ {faults} ]
"
    );
    run(&text, &[])
}

#[test]
fn probes_are_work_but_no_attempts() {
    let outcome = world(
        "probes: { liveness: { operation: health, period: 10s, spread: false } }",
        "",
    );
    let count = &outcome.totals.services[0];
    assert_eq!(
        (count.arrived, count.probes, count.probes_failed),
        (1000, 9, 0)
    );
    // 1000 jobs of 100 ms, 9 probes of 1 ms; the last job and probe are cut short by the end.
    let without = world("", "").totals.services[0].busy_ns;
    assert_eq!(count.busy_ns - without, 9_000_000);
}

#[test]
fn a_replica_that_does_not_answer_in_time_is_started_again() {
    let probes = "probes: { liveness: { operation: health, period: 5s, timeout: 1s, failure_threshold: 3, spread: false } }
    restart: 2s";
    let outcome = world(
        probes,
        "{ at: 1s, for: 60s, slow: { service: api, factor: 100 } }",
    );
    let count = &outcome.drained.services[0];
    // Work takes 10 s: every probe waits too long. Three in a row each time: at 16 s, 31 s (back at 18 s, asked at 20 s), 46 s and 61 s.
    assert_eq!(count.restarts, 4);
    assert!(count.lost > 0);
    let tolerant = probes.replace("failure_threshold: 3", "failure_threshold: 100");
    let outcome = world(
        &tolerant,
        "{ at: 1s, for: 60s, slow: { service: api, factor: 100 } }",
    );
    assert_eq!(outcome.drained.services[0].restarts, 0);
}

#[test]
fn a_probe_with_a_thread_of_its_own_does_not_wait() {
    let probes = "probes: { liveness: { operation: health, period: 5s, timeout: 1s, failure_threshold: 1, aside: true } }";
    let outcome = world(
        probes,
        "{ at: 1s, for: 60s, slow: { service: api, factor: 100 } }",
    );
    assert_eq!(outcome.drained.services[0].restarts, 0);
}

#[test]
fn liveness_that_asks_a_dependency_kills_what_is_well() {
    let probes = |operation: &str| {
        format!(
            "probes: {{ liveness: {{ operation: {operation}, period: 5s, spread: false }} }}\n    restart: 2s"
        )
    };
    let down = "{ at: 10s, for: 30s, outage: db }";
    assert_eq!(
        world(&probes("health"), down).drained.services[0].restarts,
        0
    );
    let deep = world(&probes("deep"), down);
    assert!(deep.drained.services[0].restarts >= 2);
    assert!(
        deep.drained.services[0].unreachable > 0,
        "though nobody else asks the dependency"
    );
}

#[test]
fn a_service_that_is_out_does_not_answer_its_probes() {
    let probes = "probes: { liveness: { operation: health, period: 5s, spread: false } }
    restart: 1s";
    let outcome = world(probes, "{ at: 12s, for: 15s, outage: api }");
    // Asked at 15 s, 20 s and 25 s.
    let count = &outcome.drained.services[0];
    assert_eq!((count.probes_failed, count.restarts), (3, 1));
}

#[test]
fn who_is_not_ready_gets_no_requests() {
    let service = "replicas: 3
    probes: { readiness: { operation: deep, period: 1s, failure_threshold: 2, success_threshold: 3, spread: false } }";
    let outcome = world(service, "{ at: 10.5s, for: 10s, refuse: db }");
    let count = &outcome.totals.services[0];
    // Asked at 11 s and 12 s: out from 12 s; well at 21 s, 22 s and 23 s, a millisecond of the dependency later: all
    // three are away for 11.001 s.
    assert_eq!(count.replicas_ns, 3 * 88_999_000_000);
    assert_eq!(count.restarts, 0);
    assert_eq!(count.unreachable, 110);
}

#[test]
fn a_new_replica_takes_requests_when_its_startup_probe_is_answered() {
    let service = "probes: { startup: { operation: health, period: 1s, spread: false }, readiness: { operation: health, period: 10s, spread: false } }
    restart: { after: 2s, cold: { factor: 5, for: 5s } }";
    let outcome = world(service, "{ at: 20.5s, crash: api }");
    // Back at 22.5 s, begun at 23 s, ready at 30 s.
    let away = 100_000_000_000 - outcome.totals.services[0].replicas_ns;
    assert!((9_500_000_000..9_520_000_000).contains(&away), "{away}");
}

#[test]
fn probes_that_cannot_be_are_refused() {
    let problems = wrong(
        "
version: 1
run: { duration: 100s }
clients: { a: { arrivals: { poisson: 1/s }, calls: [ api ] } }
services: { api: { probes: { liveness: { period: 1s, timeout: 2s, operation: helth } }, operations: { health: { work: 1ms } } } }
",
    );
    assert!(
        problems.contains("timeout: must be above 0s and at most the period (1s)"),
        "{problems}"
    );
    assert!(problems.contains("did you mean `health`"), "{problems}");
}

#[test]
fn what_probes_do_to_the_world_is_theirs_and_done_once_each() {
    let outcome = run(
        "
version: 1
run: { duration: 100s, window: 10s, drain: 100s }
clients: { a: { arrivals: { at: [ 5s ] }, calls: [ api ] } }
services:
  api:
    concurrency: 1
    queue: 0
    probes: { liveness: { period: 10s, timeout: 1s, failure_threshold: 100, spread: false } }
    program: [ { effect: touch }, { call: db }, { work: 6s } ]
  db: { program: [ { effect: read } ] }
",
        &[],
    );
    // Asked at 10s, 20s, …, 90s: the first finds the one worker with the call's job, the others do what the call did.
    assert_eq!(outcome.drained.services[0].probes, 9);
    for effect in &outcome.drained.effects {
        assert_eq!((effect.committed, effect.duplicates), (1 + 8, 0));
    }
}
