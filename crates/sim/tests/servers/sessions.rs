//! Sessions that clients hold with replicas, in worlds small enough to reckon by hand.

use sim::metrics::{Outcome, SessionCount};

use crate::{run, wrong};

/// `clients` of one kind hold sessions with `gw`, whose handshake is a second of work; the world lasts 100 s.
fn held(clients: u32, session: &str, gw: &str, more: &str) -> Outcome {
    let text = format!(
        "
version: 1
run: {{ duration: 100s, window: 10s, drain: 0s }}
clients: {{ user: {{ instances: {clients}, loop: [ {{ session: {{ call: {{ to: gw, policy: p }} {session} }} }} ] }} }}
services: {{ gw: {{ work: 1s, {gw} }} }}
policies: {{ p: {{ attempt_timeout: 5s, retry: {{ max_attempts: unlimited, on: [ all ], backoff: {{ fixed: 1s }} }} }} }}
{more}
"
    );
    let text = text.replace(
        "on: [ all ]",
        "on: [ timeout, unavailable, connect_refused, reset ]",
    );
    run(&text, &[])
}

/// Sessions begun, ended and broken, and the sum of the times they were open, in seconds.
fn counted(outcome: &Outcome) -> (u64, u64, u64, f64) {
    let SessionCount {
        begun,
        ended,
        broken,
        open_ns,
        ..
    } = outcome.totals.sessions[0];
    (begun, ended, broken, open_ns as f64 / 1e9)
}

#[test]
fn a_session_begins_with_a_call_and_breaks_with_its_replica() {
    let outcome = held(4, "", "replicas: 2", "");
    assert_eq!(counted(&outcome), (4, 0, 0, 4.0 * 99.0));
    // Two of the four are with the replica that dies at 50 s; their clients are with the other one a second later.
    let crash = "faults: [ { at: 50s, crash: { service: gw, replicas: 1 } } ]";
    let outcome = held(4, "", "replicas: 2, restart: 5s", crash);
    assert_eq!(counted(&outcome), (6, 0, 2, 4.0 * 49.0 + 2.0 + 4.0 * 49.0));
    assert_eq!(outcome.totals.clients[0].iterations_failed, 2);
}

#[test]
fn a_session_lasts_as_long_as_it_is_to() {
    let text = "
version: 1
run: { duration: 100s, drain: 0s }
clients: { user: { loop: [ { session: { call: gw, lasts: 10s } }, { delay: 4s } ] } }
services: { gw: { work: 1s } }
";
    // From 1 to 11 s, from 16 to 26 s, and so on; the last from 91 s on.
    assert_eq!(counted(&run(text, &[])), (7, 6, 0, 69.0));
}

/// Both copies have been answered before an answer is home; the first that comes home is taken up.
#[test]
fn of_two_copies_the_one_whose_answer_comes_home_first_holds_the_session() {
    let text = |dies: &str| {
        format!(
            "
version: 1
run: {{ duration: 100s, drain: 0s }}
clients: {{ user: {{ loop: [ {{ session: {{ call: {{ to: gw, policy: p }} }} }} ] }} }}
services: {{ gw: {{ replicas: 2, balance: round_robin, work: 1s, restart: 1h }} }}
links: {{ default: {{ delay: 5s }} }}
policies: {{ p: {{ attempt_timeout: 60s, hedge: {{ max_attempts: 2, delay: 500ms }} }} }}
faults: [ {{ at: 50s, {dies} }} ]
"
        )
    };
    let open_at = |dies: &str| counted(&run(&text(dies), &[]));
    // Home at 11 s, and with replica 0, which is the one that dies; the client is with the other one at 61 s.
    let crash = "crash: { service: gw, replicas: 1 }";
    assert_eq!(open_at(crash), (2, 0, 1, 39.0 + 39.0));
}

#[test]
fn silence_breaks_a_session_that_listens() {
    let pause = |length: &str| {
        format!("faults: [ {{ at: 50s, for: {length}, pause: {{ service: gw, replicas: 1 }} }} ]")
    };
    let beats = ", heartbeat: 10s";
    let short = held(4, beats, "replicas: 2", &pause("9s"));
    assert_eq!(counted(&short).2, 0);
    // At 60 s; one of the two comes to the replica that stands still, and its handshake takes until 71 s or a second attempt.
    let long = held(4, beats, "replicas: 2", &pause("20s"));
    assert_eq!(counted(&long).2, 2);
    assert_eq!(counted(&held(4, "", "replicas: 2", &pause("20s"))).2, 0);
    let outage = "faults: [ { at: 50s, for: 20s, outage: gw } ]";
    assert_eq!(counted(&held(4, beats, "replicas: 2", outage)).2, 4);
    assert_eq!(counted(&held(4, "", "replicas: 2", outage)).2, 0);
}

#[test]
fn nobody_tells_of_a_death_unless_the_connection_breaks() {
    let crash = "faults: [ { at: 50s, crash: gw } ]";
    let quiet = "restart: { after: 20s, answer: nothing }";
    // Noticed when the replica is back, at 70 s, and again in session from 71 s on.
    let outcome = held(1, "", quiet, crash);
    assert_eq!(counted(&outcome), (2, 0, 1, 69.0 + 29.0));
    // Noticed at 55 s; refused until 70 s, every second.
    let outcome = held(1, ", heartbeat: 5s", quiet, crash);
    let (begun, _, broken, open) = counted(&outcome);
    assert_eq!((begun, broken), (2, 1));
    assert!((82.0..84.1).contains(&open), "{open}");
}

/// The answer was under way when the replica died, and nobody tells: the session begins, and breaks when the replica is back.
#[test]
fn a_silent_death_is_silent_to_a_session_that_is_just_beginning() {
    let text = |session: &str| {
        format!(
            "
version: 1
run: {{ duration: 100s, drain: 0s }}
clients: {{ user: {{ loop: [ {{ session: {{ call: {{ to: gw, policy: p }} {session} }} }} ] }} }}
services: {{ gw: {{ work: 1s, restart: {{ after: 20s, answer: nothing }} }} }}
links: {{ default: {{ delay: 5s }} }}
policies: {{ p: {{ attempt_timeout: 60s }} }}
faults: [ {{ at: 10s, crash: gw }} ]
"
        )
    };
    // Answered at 6 s, home at 11 s; back at 30 s, and in session again from 41 s on.
    assert_eq!(counted(&run(&text(""), &[])), (2, 0, 1, 19.0 + 59.0));
    // Four seconds of silence are enough: it breaks at 15 s.
    let outcome = run(&text(", heartbeat: 4s"), &[]);
    assert_eq!(outcome.totals.sessions[0].broken, 1);
    assert_eq!(counted(&outcome).3 % 1.0, 0.0);
}

/// A session that would have broken in the very instant in which it ends has ended.
#[test]
fn an_end_comes_before_a_break() {
    let session = ", lasts: 60s, heartbeat: 10s";
    let pause = "faults: [ { at: 51s, for: 20s, pause: gw } ]";
    // From 1 s to 61 s; the next handshake begins at 71 s.
    let outcome = held(1, session, "", pause);
    assert_eq!(&counted(&outcome).1, &1);
    assert_eq!(&counted(&outcome).2, &0);
}

#[test]
fn sessions_take_memory() {
    let of = |clients: u32| {
        let memory = "restart: 1s, memory: { limit: 10MB, per_session: 3MB }";
        let outcome = held(clients, "", memory, "");
        (outcome.totals.services[0].restarts, counted(&outcome).2)
    };
    assert_eq!(of(3), (0, 0));
    let (restarts, broken) = of(4);
    assert!(
        restarts > 10 && broken == 4 * restarts,
        "{restarts} {broken}"
    );
}

#[test]
fn replicas_that_are_taken_away_hold_no_sessions() {
    let scaling = "replicas: 2, concurrency: 10, scaling: { min: 1, max: 2, workers: 50%, every: 20s, cooldown: 10s }";
    let outcome = held(4, "", scaling, "");
    assert_eq!(counted(&outcome).2, 2);
}

#[test]
fn sessions_where_they_make_no_sense_are_refused() {
    let with = |program: &str, service: &str| {
        wrong(&format!(
            "
version: 1
run: {{ duration: 10s }}
clients: {{ web: {{ loop: [ {program} ] }} }}
services: {{ q: {{ {service} }} }}
"
        ))
    };
    for (program, service, problem) in [
        (
            "{ session: { call: q, heartbeat: 0s } }",
            "work: 1s",
            "heartbeat: must be above 0s",
        ),
        (
            "{ session: { call: { to: q, optional: true } } }",
            "work: 1s",
            "its call can be neither `optional`",
        ),
        (
            "{ parallel: [ { session: { call: q } }, { delay: 1s } ] }",
            "work: 1s",
            "session: not inside `parallel`",
        ),
        (
            "{ session: { call: q } }",
            "work: 1s, messages: 5s",
            "talks to none of its replicas",
        ),
        (
            "{ call: q }",
            "program: [ { session: { call: q } } ]",
            "session: only in clients",
        ),
        (
            "{ call: q }",
            "work: 1s, memory: { limit: 1MB, per_session: 1kB }",
            "per_session: nobody holds a `session`",
        ),
    ] {
        let wrong = with(program, service);
        assert!(wrong.contains(problem), "{program}: {wrong}");
    }
}
