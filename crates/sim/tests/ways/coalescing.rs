//! Calls that share one that is under way already.

use sim::metrics::{CoalesceCount, Outcome};

use crate::{run, wrong};

/// A client calls `front`, which calls `api`, which takes five seconds, with the rest as given.
fn world(front: &str, call: &str, more: &str) -> String {
    format!(
        "
version: 1
run: {{ duration: 1000s, window: 100s, drain: 1000s }}
clients: {{ web: {{ arrivals: {{ trace: a.csv }}, calls: [ {{ to: front, policy: p }} ] }} }}
services:
  front: {{ {front} program: [ {{ work: 1s }}, {{ call: {{ to: api, {call} }} }} ] }}
  api: {{ work: 5s }}
policies: {{ p: {{}}, hasty: {{ attempt_timeout: 2s }} }}
{more}
"
    )
}

fn count(outcome: &Outcome) -> &CoalesceCount {
    &outcome.drained.shared[0]
}

/// How long each call of the client took, in seconds, in the order in which they ended.
fn calls(outcome: &Outcome) -> Vec<f64> {
    let log = outcome.log.as_ref().expect("a log");
    let tops = log.calls.iter().filter(|call| call.edge == 0);
    tops.map(|call| call.ended.since(call.began).as_secs_f64())
        .collect()
}

#[test]
fn who_asks_for_what_is_asked_for_waits_for_the_same_answer() {
    let outcome = run(&world("", "coalesce: 1", ""), "0\n2\n4\n10");
    // One call from 1 s to 6 s for the first three, another one from 11 s on.
    assert_eq!(calls(&outcome), [6.0, 4.0, 2.0, 6.0]);
    let count = count(&outcome);
    assert_eq!((count.wanted, count.made, count.shared), (4, 2, 2));
    assert_eq!(outcome.drained.services[1].arrived, 2);
    assert_eq!(outcome.drained.edges[1].calls, 2);
}

#[test]
fn different_things_are_not_shared_nor_those_of_other_processes() {
    let outcome = run(&world("replicas: 2,", "coalesce: 1", ""), "0\n1\n2\n3");
    assert_eq!((count(&outcome).made, count(&outcome).shared), (2, 2));
    let arrivals: Vec<String> = (0..200)
        .map(|n| format!("{}", f64::from(n) / 100.0))
        .collect();
    let arrivals = arrivals.join("\n");
    let shared = |coalesce: &str| {
        let outcome = run(&world("", &format!("coalesce: {coalesce}"), ""), &arrivals);
        count(&outcome).shared
    };
    // All 200 are under way at once: of 50 things nearly each is asked for, once by everybody.
    assert_eq!(shared("1"), 199);
    let of_fifty = shared("{ keys: 50 }");
    assert!((150..=155).contains(&of_fifty), "{of_fifty}");
    let skewed = shared("{ keys: 50, skew: 2 }");
    assert!(skewed > of_fifty + 10, "{skewed}");
}

#[test]
fn a_failure_is_shared_as_well() {
    let outcome = run(&world("", "policy: hasty, coalesce: 1", ""), "0\n1\n10");
    assert_eq!(calls(&outcome), [3.0, 2.0, 3.0]);
    assert_eq!(outcome.drained.edges[0].ok, 0);
    let optional = "policy: hasty, optional: true, coalesce: 1";
    let outcome = run(&world("", optional, ""), "0\n1\n10");
    assert_eq!(calls(&outcome), [3.0, 2.0, 3.0]);
    assert_eq!(outcome.drained.edges[0].ok, 3);
}

#[test]
fn the_others_go_on_when_the_one_that_asked_is_cancelled() {
    let text = world("honours_cancellation: true,", "coalesce: 1", "")
        .replace("p: {}", "p: { attempt_timeout: 5s }");
    // The first leaves at 5 s; the second asks anew then, in vain, the third at 7.5 s.
    let outcome = run(&text, "0\n2.5\n4");
    assert_eq!(outcome.drained.edges[0].ok, 0);
    assert_eq!(count(&outcome).made, 3);
    let patient = text.replace("attempt_timeout: 5s", "attempt_timeout: 5.5s");
    let outcome = run(&patient, "0\n5");
    assert_eq!((count(&outcome).made, count(&outcome).shared), (2, 0));
}

#[test]
fn a_waiting_job_lends_its_worker_where_the_service_does() {
    let front = "concurrency: 1, holds_worker: false,";
    let outcome = run(&world(front, "coalesce: 1", ""), "0\n0\n0");
    assert_eq!(calls(&outcome), [6.0, 5.0 + 1.0, 6.0]);
    let outcome = run(&world("concurrency: 1,", "coalesce: 1", ""), "0\n0\n0");
    assert_eq!(calls(&outcome), [6.0, 12.0, 18.0]);
}

#[test]
fn branches_that_share_a_failure_end_once() {
    let text = world("", "policy: hasty", "").replace(
        "program: [ { work: 1s }, { call: { to: api, policy: hasty } } ]",
        "program: [ { parallel: [ { call: { to: api, policy: hasty, coalesce: 1 } }, \
         { delay: 1s } ] } ]",
    );
    let outcome = run(&text, "0\n0.5\n1");
    assert_eq!(calls(&outcome), [2.0, 1.5, 1.0]);
}

#[test]
fn calls_that_cannot_be_the_same_are_refused() {
    let client = "
version: 1
run: { duration: 10s }
clients: { web: { arrivals: { poisson: 1/s }, calls: [ { to: api, coalesce: 3 } ] } }
services: { api: { work: 1s } }
";
    assert!(wrong(client).contains("only calls of services"));
    for (call, problem) in [
        ("key: per_call, coalesce: 3", "are not the same"),
        (
            "fallback: { instead: generic }, coalesce: 3",
            "goes with no `fallback`",
        ),
        ("coalesce: { keys: 2000000 }", "at most 1000000"),
    ] {
        let problems = wrong(&world("", call, ""));
        assert!(problems.contains(problem), "{problems}");
    }
}

#[test]
fn a_call_that_stands_in_for_another_is_shared_with_nobody() {
    for kind in ["direct", "look_up"] {
        let text = format!(
            "
version: 1
run: {{ duration: 10s }}
clients: {{ web: {{ arrivals: {{ poisson: 1/s }}, calls: [ api ] }} }}
services:
  api: {{ program: [ {{ call: {{ to: db, fallback: {{ {kind}: {{ to: db, coalesce: 5 }} }} }} }} ] }}
  db: {{ program: [ {{ effect: row }} ] }}
"
        );
        let told = crate::wrong(&text);
        assert!(
            told.contains("a call that stands in for another one is shared with nobody"),
            "{told}"
        );
    }
}
