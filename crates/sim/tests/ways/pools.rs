//! Connections that are kept.

use seawall::{FailureKind, Phase};
use sim::metrics::{Leg, Outcome, PoolCount};

use crate::{calls, run, spent, world, wrong};

/// A pool behind handshakes that take three seconds.
fn pooled(pool: &str, delay: &str) -> String {
    format!("delay: {delay}, phases: {{ dns: 500ms, connect: 500ms, tls: 2s }}, pool: {{ {pool} }}")
}

fn count(outcome: &Outcome) -> &PoolCount {
    &outcome.drained.pools[0]
}

#[test]
fn a_handshake_is_paid_once() {
    let outcome = run(&world(&pooled("", "0s"), "work: 1s", "", ""), "0\n10\n20");
    assert_eq!(calls(&outcome), [4.0, 1.0, 1.0]);
    assert_eq!((count(&outcome).opened, count(&outcome).reused), (1, 2));
    assert_eq!(spent(&outcome, Leg::Tls), 2.0);
    // Without a pool it is paid by each attempt.
    let link = "phases: { dns: 500ms, connect: 500ms, tls: 2s }";
    let outcome = run(&world(link, "work: 1s", "", ""), "0\n10\n20");
    assert_eq!(calls(&outcome), [4.0, 4.0, 4.0]);
}

#[test]
fn warm_connections_are_there_from_the_start() {
    let outcome = run(
        &world(&pooled("warm: 2", "0s"), "work: 1s", "", ""),
        "0\n0\n0",
    );
    assert_eq!(calls(&outcome), [1.0, 1.0, 4.0]);
    assert_eq!((count(&outcome).warm, count(&outcome).begun), (2, 1));
}

#[test]
fn one_waits_for_a_connection_in_turn_and_not_for_ever() {
    let outcome = run(
        &world(&pooled("size: 1", "0s"), "work: 10s", "", ""),
        "0\n1\n2",
    );
    assert_eq!(calls(&outcome), [13.0, 22.0, 31.0]);
    assert_eq!(count(&outcome).waited, 2);
    assert_eq!(count(&outcome).wait_ns, 33_000_000_000);
    let limited = pooled("size: 1, acquire_timeout: 15s", "0s");
    let outcome = run(&world(&limited, "work: 10s", "", ""), "0\n1\n2");
    assert_eq!(calls(&outcome), [13.0, 15.0, 22.0]);
    assert_eq!(count(&outcome).timed_out, 1);
    let edge = &outcome.drained.edges[0];
    assert_eq!(edge.failed[FailureKind::ConnectTimeout as usize], 1);
    assert_eq!(edge.attempt_failed_in[Phase::Connect as usize], 1);
    assert_eq!(outcome.drained.passages[0].failed[Leg::Pool as usize], 1);
    let other = pooled("size: 1, acquire_timeout: 15s, exhausted: overloaded", "0s");
    let outcome = run(&world(&other, "work: 10s", "", ""), "0\n1\n2");
    let edge = &outcome.drained.edges[0];
    assert_eq!(edge.failed[FailureKind::Overloaded as usize], 1);
    assert_eq!(edge.attempt_failed_in[Phase::Connect as usize], 1);
}

#[test]
fn who_gives_up_waiting_takes_no_connection() {
    let policy = "attempt_timeout: 5s";
    let outcome = run(
        &world(&pooled("size: 1", "0s"), "work: 1s", policy, ""),
        "0\n0\n0\n0",
    );
    // The third gets a connection at 5 s and has no time left.
    assert_eq!(calls(&outcome), [4.0, 5.0, 5.0, 5.0]);
    let failed = outcome.drained.edges[0].attempt_failed_in;
    // When it is given up, the last begins a handshake in the instant in which its time is over as well.
    let in_phase = |phase: Phase| failed[phase as usize];
    assert_eq!((in_phase(Phase::Receive), in_phase(Phase::Dns)), (1, 1));
    assert_eq!(
        (count(&outcome).closed_given_up, count(&outcome).failed),
        (1, 1)
    );
}

#[test]
fn an_attempt_given_up_costs_the_connection_unless_it_was_one_of_several_streams() {
    let policy = "attempt_timeout: 5s";
    let api = "work: { discrete: [ { weight: 1, value: 20s }, { weight: 1, value: 1s } ] }";
    let arrivals: Vec<String> = (0..30).map(|n| (n * 30).to_string()).collect();
    let arrivals = arrivals.join("\n");
    let one = run(&world(&pooled("size: 5", "0s"), api, policy, ""), &arrivals);
    let slow = one.drained.edges[0].attempt_failed[FailureKind::Timeout as usize];
    assert!(slow > 5);
    assert_eq!(count(&one).closed_given_up, slow);
    let several = pooled("size: 5, streams: 10", "0s");
    let several = run(&world(&several, api, policy, ""), &arrivals);
    assert_eq!((count(&several).opened, count(&several).closed()), (1, 0));
}

#[test]
fn streams_share_a_connection_and_wait_for_it_to_open() {
    let pool = pooled("size: 1, streams: 2", "0s");
    let outcome = run(&world(&pool, "work: 10s", "", ""), "0\n1\n2");
    assert_eq!(calls(&outcome), [13.0, 12.0, 21.0]);
    assert_eq!(count(&outcome).opened, 1);
}

#[test]
fn idle_connections_are_closed_in_time() {
    let pool = pooled("idle_timeout: 20s", "0s");
    // Idle from 4 s on: used again at 23.9 s, gone at 44.9 s.
    let outcome = run(&world(&pool, "work: 1s", "", ""), "0\n23.9\n44.95");
    assert_eq!(calls(&outcome), [4.0, 1.0, 4.0]);
    assert_eq!(
        (count(&outcome).closed_idle, count(&outcome).opened),
        (2, 2)
    );
    // Open from 3 s to 44.9 s and from 47.95 s to 68.95 s.
    assert_eq!(count(&outcome).open_ns, 62_900_000_000);
}

#[test]
fn nobody_looks_at_a_connection_in_use_whether_it_is_idle() {
    let events = |idle: &str| {
        let pool = pooled(&format!("streams: 3, idle_timeout: {idle}"), "0s");
        let outcome = run(&world(&pool, "work: 10s", "", ""), "0\n100\n104");
        assert_eq!(count(&outcome).closed_idle, 2, "{idle}");
        outcome.events
    };
    // In use for 10 s and 14 s, with room for more.
    assert_eq!(events("1us"), events("20s"));
}

#[test]
fn a_connection_that_the_service_has_closed_resets_the_request_that_meets_it() {
    let policy = "retry: { max_attempts: 1 }";
    let keep = |more: &str| pooled(&format!("idle_timeout: 60s, {more}"), "1s");
    // The answer leaves at 5 s and is there at 6 s; the service closes at 25 s, known at 26 s.
    let noticed = keep("server_idle_timeout: 20s");
    for (second, resets, took) in [
        ("23.9", 0, 3.0),
        ("24", 1, 2.0),
        ("25.9", 1, 2.0),
        ("26.1", 0, 6.0),
    ] {
        let arrivals = format!("0\n{second}");
        let outcome = run(&world(&noticed, "work: 1s", policy, ""), &arrivals);
        assert_eq!(calls(&outcome), [6.0, took], "{second}");
        assert_eq!(count(&outcome).resets, resets, "{second}");
        let edge = &outcome.drained.edges[0];
        assert_eq!(edge.failed[FailureKind::Reset as usize], resets);
    }
    // Who does not notice runs into it for as long as the connection is kept.
    let unnoticed = keep("server_idle_timeout: 20s, notices_close: false");
    let outcome = run(&world(&unnoticed, "work: 1s", policy, ""), "0\n60");
    assert_eq!(calls(&outcome), [6.0, 2.0]);
    assert_eq!(
        (count(&outcome).resets, count(&outcome).closed_broken),
        (1, 1)
    );
    assert_eq!(outcome.drained.services[0].arrived, 1);
}

#[test]
fn a_reset_says_nothing_about_whether_the_request_was_served() {
    let policy = "retry: { max_attempts: 2, on: [ reset ] }";
    let keep = pooled(
        "idle_timeout: 60s, server_idle_timeout: 20s, notices_close: false",
        "1s",
    );
    for (idempotent, attempts) in [(true, 3), (false, 2)] {
        let api = format!("idempotent: {idempotent}, work: 1s");
        let outcome = run(&world(&keep, &api, policy, ""), "0\n50");
        assert_eq!(outcome.drained.edges[0].attempts, attempts);
    }
}

#[test]
fn connections_go_with_the_replica_they_end_at() {
    let api = "replicas: 2, work: 1s, restart: { after: 10s }";
    let crash = "faults: [ { at: 10s, crash: { service: api, replicas: 1 } } ]";
    let arrivals = "0\n5\n50\n60";
    let own = run(&world(&pooled("", "0s"), api, "", crash), arrivals);
    assert_eq!(calls(&own), [4.0, 4.0, 4.0, 1.0]);
    assert_eq!(count(&own).closed_lost, 1);
    // A balancer in front of them keeps them, and needs one only.
    let shared = run(
        &world(&pooled("ends_at: balancer", "0s"), api, "", crash),
        arrivals,
    );
    assert_eq!(calls(&shared), [4.0, 1.0, 1.0, 1.0]);
    assert_eq!(count(&shared).closed_lost, 0);
}

#[test]
fn no_more_connections_to_one_replica_than_allowed() {
    let api = "replicas: 2, work: 10s";
    let pool = pooled("per_replica: 1", "0s");
    let outcome = run(&world(&pool, api, "", ""), "0\n0\n0\n0");
    assert_eq!(calls(&outcome), [13.0, 13.0, 23.0, 23.0]);
    // With one connection for both replicas, an idle one makes room.
    let outcome = run(&world(&pooled("size: 1", "0s"), api, "", ""), "0\n20");
    assert_eq!(calls(&outcome), [13.0, 13.0]);
    assert_eq!(count(&outcome).closed_for_room, 1);
}

#[test]
fn old_connections_are_not_used_again() {
    let outcome = run(
        &world(&pooled("max_lifetime: 20s", "0s"), "work: 1s", "", ""),
        "0\n10\n22.9\n50",
    );
    assert_eq!(calls(&outcome), [4.0, 1.0, 1.0, 4.0]);
    assert_eq!(count(&outcome).closed_old, 1);
}

#[test]
fn accepting_a_connection_is_work() {
    let outcome = run(
        &world(
            &pooled("accept: 5s", "0s"),
            "concurrency: 1, work: 1s",
            "",
            "",
        ),
        "0\n20",
    );
    assert_eq!(calls(&outcome), [9.0, 1.0]);
    assert_eq!(outcome.drained.services[0].busy_ns, 7_000_000_000);
}

#[test]
fn processes_have_connections_of_their_own_and_lose_them_when_they_die() {
    let text = "
version: 1
run: { duration: 1000s, window: 100s, drain: 1000s }
clients: { web: { arrivals: { trace: a.csv }, calls: [ front ] } }
services:
  front: { replicas: 2, restart: { after: 5s }, program: [ { call: api } ] }
  api: { work: 1s }
links: { front -> api: { phases: { connect: 3s }, pool: 1 } }
faults: [ { at: 50s, crash: { service: front } } ]
";
    let outcome = run(text, "0\n10\n20\n100\n110\n120");
    let took: Vec<f64> = calls(&outcome);
    // Each is written down with the call it made.
    let tops: Vec<f64> = took.iter().copied().step_by(2).collect();
    assert_eq!(tops, [4.0, 4.0, 1.0, 4.0, 4.0, 1.0]);
    assert_eq!(count(&outcome).closed_lost, 2);
}

#[test]
fn keys_that_make_no_sense_together_are_refused() {
    let pool = "acquire_timeout: 1s, ends_at: balancer, notices_close: false, idle_timeout: 0s";
    let problems = wrong(&world(&pooled(pool, "0s"), "work: 1s", "", ""));
    for part in [
        "nobody waits for a connection",
        "closes nothing without `server_idle_timeout`",
        "idle_timeout: must be above 0s",
    ] {
        assert!(problems.contains(part), "{part}: {problems}");
    }
    let pool = "size: 2, warm: 3, per_replica: 1, ends_at: balancer, exhausted: overloaded";
    let problems = wrong(&world(&pooled(pool, "0s"), "work: 1s", "", ""));
    for part in [
        "3 are more than the pool may have (2)",
        "no connection is one to a replica",
        "write both",
    ] {
        assert!(problems.contains(part), "{part}: {problems}");
    }
}

/// One replica that dies at 10 s and comes back at 15 s elsewhere; connecting takes a second, at most four.
fn moved(pool: &str, policy: &str, arrivals: &str) -> Outcome {
    let api = "work: 1s, restart: { after: 5s, new_address: true }";
    let crash = "faults: [ { at: 10s, crash: api } ]";
    let link = format!(
        "phases: {{ dns: 500ms, connect: {{ takes: 1s, timeout: 4s }} }}, pool: {{ {pool} }}"
    );
    run(&world(&link, api, policy, crash), arrivals)
}

#[test]
fn addresses_are_kept_for_a_while_and_nobody_is_at_the_old_one() {
    // Each connection asks for the address: at 12 s nobody is there yet.
    let outcome = moved("", "", "0\n12\n20\n40");
    assert_eq!(calls(&outcome), [2.5, 4.5, 2.5, 1.0]);
    // The address of 0 s is good until 30 s, whoever is there.
    let outcome = moved("dns_ttl: 30s", "", "0\n20\n31\n40");
    assert_eq!(calls(&outcome), [2.5, 4.0, 2.5, 1.0]);
    let edge = &outcome.drained.edges[0];
    assert_eq!(edge.failed[FailureKind::ConnectTimeout as usize], 1);
    assert_eq!(outcome.drained.services[0].arrived, 3);
}

#[test]
fn addresses_that_are_kept_are_not_asked_for() {
    let pool = "dns_ttl: 30s, idle_timeout: 1s";
    let link = format!("phases: {{ dns: 500ms, connect: 1s }}, pool: {{ {pool} }}");
    let outcome = run(&world(&link, "work: 1s", "", ""), "0\n10\n20\n31");
    assert_eq!(calls(&outcome), [2.5, 2.0, 2.0, 2.5]);
    let legs = &outcome.drained.passages[0];
    assert_eq!(legs.entered[Leg::Dns as usize], 2);
}

#[test]
fn addresses_that_nobody_changes_or_looks_at_are_refused() {
    let problems = wrong(&world("pool: { dns_ttl: 5s }", "work: 1s", "", ""));
    assert!(
        problems.contains("pool.dns_ttl: does nothing"),
        "{problems}"
    );
    let api = "work: 1s, restart: { new_address: true }";
    let problems = wrong(&world("delay: 1s, phases: { dns: 1s }", api, "", ""));
    assert!(problems.contains("nobody looks at addresses"), "{problems}");
}
