//! Phases with a time of their own.

use seawall::{FailureKind, Phase};
use sim::metrics::{Leg, Outcome};

use crate::{calls, run, spent, world, wrong};

const ALL: &str =
    "delay: 10s, phases: { dns: 1s, connect: 2s, tls: 3s, send: 4s, receive: 5s, decode: 6s }";

#[test]
fn a_call_takes_what_its_phases_take() {
    let outcome = run(&world(ALL, "work: 100s", "", ""), "0");
    assert_eq!(calls(&outcome), [141.0]);
    let legs = [
        (Leg::Dns, 1.0),
        (Leg::Connect, 2.0),
        (Leg::Tls, 3.0),
        (Leg::Send, 4.0),
        (Leg::Server, 120.0),
        (Leg::Receive, 5.0),
        (Leg::Decode, 6.0),
        (Leg::Pool, 0.0),
    ];
    for (leg, seconds) in legs {
        assert_eq!(spent(&outcome, leg), seconds, "{leg:?}");
    }
}

#[test]
fn a_link_with_phases_that_take_no_time_is_an_ordinary_link() {
    let api = "concurrency: 2, work: { exponential: { mean: 20s } }";
    let arrivals = "0\n1\n2\n3\n100\n101\n102";
    for delay in ["0s", "2s", "{ uniform: [1s, 3s] }"] {
        let plain = run(&world(&format!("delay: {delay}"), api, "", ""), arrivals);
        let staged = format!("delay: {delay}, phases: {{}}");
        let staged = run(&world(&staged, api, "", ""), arrivals);
        assert_eq!(calls(&plain), calls(&staged), "{delay}");
        assert_eq!(staged.drained.passages[0].ended, 7);
        assert!(plain.drained.passages.is_empty());
    }
}

fn failed(outcome: &Outcome) -> (u64, [u64; 8], u64) {
    let edge = &outcome.drained.edges[0];
    let arrived = outcome.drained.services[0].arrived;
    (edge.attempts, edge.attempt_failed_in, arrived)
}

#[test]
fn what_fails_before_the_request_is_sent_is_safe_to_repeat() {
    // Not idempotent: repeated only where nothing can have happened.
    let api = "idempotent: false, work: 1s";
    let policy = "retry: { max_attempts: 3, on: [ connect_refused, dns, reset, tls, decode ] }";
    for (phase, attempts, arrived) in [
        ("dns", 3, 0),
        ("connect", 3, 0),
        ("tls", 3, 0),
        ("send", 1, 0),
        ("receive", 1, 1),
        ("decode", 1, 1),
    ] {
        let link = format!("phases: {{ {phase}: {{ fails: 100% }} }}");
        let outcome = run(&world(&link, api, policy, ""), "0");
        let of = Phase::ALL.iter().find(|p| p.name() == phase).expect("one");
        let mut expected = [0; 8];
        expected[*of as usize] = attempts;
        assert_eq!(failed(&outcome), (attempts, expected, arrived), "{phase}");
    }
}

#[test]
fn a_phase_that_takes_too_long_fails_by_itself() {
    for (phase, kind) in [
        ("dns", FailureKind::Dns),
        ("connect", FailureKind::ConnectTimeout),
        ("tls", FailureKind::ConnectTimeout),
        ("receive", FailureKind::Timeout),
    ] {
        let link = format!("phases: {{ {phase}: {{ takes: 9s, timeout: 2s }} }}");
        let outcome = run(&world(&link, "work: 1s", "", ""), "0");
        assert_eq!(outcome.drained.edges[0].failed[kind as usize], 1, "{phase}");
        let before = if phase == "receive" { 1.0 } else { 0.0 };
        assert_eq!(calls(&outcome), [2.0 + before]);
    }
}

#[test]
fn an_attempt_given_up_is_counted_where_it_was() {
    let policy = "attempt_timeout: 5s";
    for (link, phase, arrived) in [
        ("phases: { dns: 9s }", Phase::Dns, 0),
        ("phases: { tls: 9s }", Phase::Tls, 0),
        ("phases: { send: 9s }", Phase::Send, 0),
        ("delay: 9s, phases: {}", Phase::Receive, 1),
        ("phases: { receive: 9s }", Phase::Receive, 1),
        ("phases: { decode: 9s }", Phase::Decode, 1),
        ("lose_request: 100%, phases: {}", Phase::Receive, 0),
        ("lose_response: 100%, phases: {}", Phase::Receive, 1),
    ] {
        let outcome = run(&world(link, "work: 1s", policy, ""), "0");
        let mut expected = [0; 8];
        expected[phase as usize] = 1;
        assert_eq!(failed(&outcome), (1, expected, arrived), "{link}");
        assert_eq!(calls(&outcome), [5.0]);
    }
}

#[test]
fn nobody_connects_to_a_service_that_is_out_and_who_waits_for_it_knows_that_nothing_was_sent() {
    let outage = "faults: [ { at: 10s, for: 50s, outage: api } ]";
    let link = "phases: { connect: { takes: 1s, timeout: 3s } }";
    let outcome = run(&world(link, "work: 1s", "", outage), "0\n20\n100");
    assert_eq!(calls(&outcome), [2.0, 3.0, 2.0]);
    assert_eq!(
        outcome.drained.edges[0].failed[FailureKind::ConnectTimeout as usize],
        1
    );
    assert_eq!(outcome.drained.services[0].lost, 0, "nothing got there");
    // Without a timeout of its own, it waits as long as the attempt may.
    let link = "phases: { connect: 1s }";
    let outcome = run(
        &world(link, "work: 1s", "attempt_timeout: 7s", outage),
        "0\n20\n100",
    );
    assert_eq!(calls(&outcome), [2.0, 7.0, 2.0]);
    assert_eq!(failed(&outcome).1[Phase::Connect as usize], 1);
}

#[test]
fn connections_are_refused_where_they_are_opened() {
    let refuse = "faults: [ { at: 10s, for: 50s, refuse: api } ]";
    let outcome = run(
        &world("phases: { connect: 2s }", "work: 1s", "", refuse),
        "0\n20\n100",
    );
    assert_eq!(calls(&outcome), [3.0, 2.0, 3.0]);
    assert_eq!(outcome.drained.services[0].arrived, 2);
}

#[test]
fn hedged_attempts_each_have_a_way_of_their_own() {
    let policy = "attempt_timeout: 20s, hedge: { delay: 3s, max_attempts: 2 }";
    let link = "phases: { connect: { takes: { discrete: [ { weight: 1, value: 1s }, { weight: 1, value: 9s } ] } } }";
    let arrivals: Vec<String> = (0..40).map(|n| (n * 20).to_string()).collect();
    let outcome = run(&world(link, "work: 1s", policy, ""), &arrivals.join("\n"));
    let count = &outcome.drained.passages[0];
    let hedges = outcome.drained.edges[0].hedges;
    assert!(hedges > 5, "{hedges}");
    assert_eq!((count.begun, count.ended), (40 + hedges, 40 + hedges));
}

#[test]
fn keys_that_do_nothing_are_refused() {
    let problems = wrong(&world(
        "phases: { dns: { kind: dns, timeout: 0s }, sent: 1s }",
        "work: 1s",
        "",
        "",
    ));
    for part in [
        "none does without `fails`",
        "timeout: must be above 0s",
        "`sent`",
    ] {
        assert!(problems.contains(part), "{part}: {problems}");
    }
}

/// Copies that time out while they connect have failed there.
#[test]
fn hedged_attempts_fail_in_the_phase_they_are_in() {
    let policy = "attempt_timeout: 2s, hedge: { max_attempts: 3, delay: 500ms, on: [ timeout ] }";
    let outcome = run(
        &world("phases: { connect: 60s }", "work: 1s", policy, ""),
        "0",
    );
    let (attempts, phases, arrived) = failed(&outcome);
    assert_eq!((attempts, arrived), (3, 0));
    assert_eq!(phases[Phase::Connect as usize], 3, "{phases:?}");
}
