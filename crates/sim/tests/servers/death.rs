//! Replicas that die, start again, and stand still.

use seawall::{FailureKind, Stopped};
use sim::metrics::JobEnd;

use crate::{jobs, run, stays, wrong};

const CALLER: &str = "
version: 1
run: { duration: 100s, window: 10s, drain: 100s }
clients: { a: { arrivals: { trace: a.csv }, calls: [ { to: api, policy: patient } ] } }
policies: { patient: { deadline: 30s } }
";

fn world(service: &str, faults: &str) -> String {
    format!("{CALLER}services: {{ api: {{ {service} }} }}\nfaults: [ {faults} ]\n")
}

#[test]
fn a_crash_breaks_connections_and_takes_time() {
    let text = world(
        "concurrency: 1, work: 2s, restart: 5s",
        "{ at: 3s, crash: api }",
    );
    let outcome = run(&text, &[("a.csv", "0\n2\n2.5\n4\n8\n9")]);
    // Served; at work and waiting when it dies; refused while it is away; served again.
    let ends: Vec<JobEnd> = jobs(&outcome).iter().map(|job| job.end).collect();
    use JobEnd::{Lost, Served, Unreachable};
    assert_eq!(ends, [Served, Lost, Lost, Unreachable, Served, Served]);
    assert_eq!(
        stays(&outcome),
        [
            (0.0, 2.0),
            (2.0, 3.0),
            (2.5, 3.0),
            (4.0, 4.0),
            (8.0, 10.0),
            (9.0, 12.0)
        ]
    );
    let edge = &outcome.drained.edges[0];
    assert_eq!(edge.failed[FailureKind::Reset as usize], 2);
    assert_eq!(edge.failed[FailureKind::ConnectRefused as usize], 1);
    let service = &outcome.totals.services[0];
    assert_eq!(service.restarts, 1);
    assert_eq!(service.workers_ns, 95_000_000_000);
    assert_eq!(service.replicas_ns, 95_000_000_000);
}

#[test]
fn a_silent_death_leaves_callers_waiting() {
    let text = world(
        "concurrency: 1, work: 2s, restart: { after: 5s, answer: nothing }",
        "{ at: 1s, for: 20s, crash: api }",
    );
    let outcome = run(&text, &[("a.csv", "0\n20\n22")]);
    let ends: Vec<JobEnd> = jobs(&outcome).iter().map(|job| job.end).collect();
    use JobEnd::{Lost, Served, Unreachable};
    assert_eq!(
        ends,
        [Lost, Unreachable, Served],
        "not before the fault is over"
    );
    let edge = &outcome.drained.edges[0];
    assert_eq!(edge.stopped.iter().sum::<u64>(), 2);
    assert!(
        outcome.latency[0].calls.max() >= 30_000_000_000,
        "the whole deadline"
    );
    assert_eq!(edge.stopped[Stopped::AttemptsUsed.index()], 1);
}

#[test]
fn too_many_jobs_at_once_kill_a_replica() {
    let service =
        "concurrency: 1, work: 1s, restart: 5s, memory: { limit: 10MB, base: 4MB, per_job: 2MB }";
    // Three are held, the fourth is one too many: all four are lost.
    let outcome = run(&world(service, ""), &[("a.csv", "0\n0.1\n0.2\n0.3\n6")]);
    let count = &outcome.drained.services[0];
    assert_eq!((count.lost, count.restarts, count.served), (4, 1, 1));
    let outcome = run(&world(service, ""), &[("a.csv", "0\n0.1\n0.2\n1.1\n6")]);
    let count = &outcome.drained.services[0];
    assert_eq!((count.lost, count.restarts, count.served), (0, 0, 5));
}

#[test]
fn a_leak_kills_sooner_or_later() {
    let service =
        "concurrency: 1, work: 1ms, restart: 5s, memory: { limit: 10MB, leak: 1MB, per_job: 1MB }";
    let every_second: String = (0..40).map(|n| format!("{n}\n")).collect();
    let outcome = run(&world(service, ""), &[("a.csv", &every_second)]);
    // The eleventh finds ten leaks and dies at 10 s; back at 15 s, again at 25 s and (from 30 s on) not until 40 s.
    let count = &outcome.drained.services[0];
    assert_eq!((count.lost, count.restarts), (2, 2));
    assert_eq!((count.served, count.unreachable), (30, 8));
}

#[test]
fn a_new_replica_is_slow_for_some_time_or_some_work() {
    let crash = "{ at: 1s, crash: api }";
    let arrivals = [("a.csv", "0\n10\n20\n30")];
    let by_time = world(
        "work: 1s, restart: { after: 5s, cold: { factor: 3, for: 10s } }",
        crash,
    );
    let stays_of = |text: &str| stays(&run(text, &arrivals));
    assert_eq!(
        stays_of(&by_time),
        [(0.0, 1.0), (10.0, 13.0), (20.0, 21.0), (30.0, 31.0)]
    );
    let by_work = world(
        "work: 1s, restart: { after: 5s, cold: { factor: 3, jobs: 2 } }",
        crash,
    );
    assert_eq!(
        stays_of(&by_work),
        [(0.0, 1.0), (10.0, 13.0), (20.0, 23.0), (30.0, 31.0)]
    );
}

#[test]
fn work_stands_still_in_a_pause() {
    let text = world(
        "concurrency: 1, work: 2s",
        "{ at: 1s, for: 3s, pause: api }, { at: 2s, for: 4s, pause: api }",
    );
    let outcome = run(&text, &[("a.csv", "0\n0.5\n20")]);
    // Paused from 1 s to 6 s, by two reasons that overlap.
    assert_eq!(stays(&outcome), [(0.0, 7.0), (0.5, 9.0), (20.0, 22.0)]);
}

#[test]
fn pauses_come_again_and_again() {
    let text = world("work: 3s, pauses: { every: 2s, length: 1s }", "");
    // Working from 0 s to 2 s and from 3 s to 5 s.
    let outcome = run(&text, &[("a.csv", "0\n30")]);
    assert_eq!(stays(&outcome), [(0.0, 4.0), (30.0, 34.0)]);
}

#[test]
fn only_the_replicas_named_are_hit() {
    let text = world(
        "replicas: 3, work: 2s, restart: 50s",
        "{ at: 1s, crash: { service: api, replicas: 2 } }",
    );
    let outcome = run(&text, &[("a.csv", "0\n0\n0\n2\n3\n4")]);
    let ends: Vec<(JobEnd, u32)> = jobs(&outcome)
        .iter()
        .map(|job| (job.end, job.replica))
        .collect();
    use JobEnd::{Lost, Served};
    assert_eq!(
        ends,
        [
            (Lost, 0),
            (Lost, 1),
            (Served, 2),
            (Served, 2),
            (Served, 2),
            (Served, 2)
        ]
    );
}

#[test]
fn a_process_that_starts_again_has_forgotten_what_its_breaker_knew() {
    let text = |faults: &str| {
        format!(
            "
version: 1
run: {{ duration: 100s, window: 10s, drain: 100s }}
clients: {{ a: {{ arrivals: {{ paced: 1/s }}, calls: [ gateway ] }} }}
services:
  gateway: {{ restart: 1s, program: [ {{ call: {{ to: api, policy: broken }} }} ] }}
  api: {{ work: 1ms }}
policies: {{ broken: {{ breaker: {{ minimum_calls: 5, open_for: 1h }} }} }}
faults: [ {{ at: 0s, for: 20s, refuse: api }}{faults} ]
"
        )
    };
    let served = |faults: &str| run(&text(faults), &[]).drained.services[1].served;
    assert_eq!(served(""), 0, "open for good");
    assert!(served(", { at: 50s, crash: gateway }") > 45);
}

#[test]
fn what_cannot_live_is_refused() {
    let problems = wrong(
        "
version: 1
run: { duration: 100s }
clients: { a: { arrivals: { poisson: 1/s }, calls: [ api ] } }
services: { api: { memory: { limit: 1MB, per_job: 2MB }, restart: { cold: { factor: 2 } }, pauses: { every: 0s, length: 0s }, work: 1ms } }
faults: [ { at: 1s, bad_replicas: { service: api } } ]
",
    );
    for expected in [
        "memory.limit: is less than what one job needs",
        "restart.cold: `for` or `jobs` is needed",
        "pauses: `every` and `length` are both 0s",
        "does nothing: `errors` or `slow` is needed",
    ] {
        assert!(problems.contains(expected), "{problems}");
    }
}

/// A service that calls another one which always fails, and dies at 50 s.
fn dying_caller(faults: &str) -> sim::metrics::Outcome {
    let text = format!(
        "
version: 1
run: {{ duration: 100s, window: 10s }}
clients: {{ a: {{ arrivals: {{ paced: 10/s }}, calls: [ front ] }} }}
services:
  front: {{ restart: 1s, program: [ {{ call: {{ to: back, policy: p }} }} ] }}
  back: {{ script: [ 503 ], work: 1ms }}
policies: {{ p: {{ retry: {{ max_attempts: 2, on: 503 }}, breaker: {{ window: 10, open_for: 10s }} }} }}
faults: [ {{ at: 50s, crash: front }}, {faults} ]
"
    );
    run(&text, &[])
}

#[test]
fn what_a_policy_counted_outlives_its_process() {
    let count = dying_caller("").drained.edges[1].clone();
    // It opens at once, and again after each trial: five times before 50 s, as often afterwards.
    assert!((9..=11).contains(&count.openings), "{}", count.openings);
    assert!(count.retries > 5, "{}", count.retries);
}

#[test]
fn a_kill_switch_holds_for_processes_that_start_again() {
    let after = |faults: &str| dying_caller(faults).drained.edges[1].retries;
    let (with, without) = (after("{ at: 40s, kill_switch: p }"), after(""));
    assert!(with < without, "{with} and {without}");
    let off = after("{ at: 0s, kill_switch: p }");
    assert_eq!(off, 0);
}
