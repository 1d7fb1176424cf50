//! Tokens that calls need.

use seawall::{FailureKind, Phase};
use sim::metrics::{CredentialCount, Leg, Outcome};

use crate::{run, wrong};

/// A client `web` with so many processes calls `api`, for which it needs a token of `auth`, which takes two seconds.
fn world(instances: u32, credential: &str, policy: &str, more: &str) -> String {
    format!(
        "
version: 1
run: {{ duration: 1000s, window: 100s, drain: 1000s }}
clients:
  web: {{ instances: {instances}, arrivals: {{ trace: a.csv }}, calls: [ {{ to: api, policy: p }} ] }}
services:
  api: {{ idempotent: false, work: 1s }}
  auth: {{ work: 2s }}
credentials: {{ token: {{ from: auth, {credential} }} }}
links: {{ web -> api: {{ credential: token }} }}
policies: {{ p: {{ {policy} }} }}
{more}
"
    )
}

fn count(outcome: &Outcome) -> &CredentialCount {
    &outcome.drained.credentials[0]
}

/// How long each call to `api` took, in seconds, in the order in which they ended.
fn calls(outcome: &Outcome) -> Vec<f64> {
    let log = outcome.log.as_ref().expect("a log");
    let to_api = log.calls.iter().filter(|call| call.edge == 0);
    to_api
        .map(|call| call.ended.since(call.began).as_secs_f64())
        .collect()
}

#[test]
fn the_first_call_waits_for_a_token_and_the_others_use_it_until_it_ends() {
    let outcome = run(&world(1, "lifetime: 20s", "", ""), "0\n10\n21.9\n22");
    // Issued at 2 s, good until 22 s, when the next one is asked for.
    assert_eq!(calls(&outcome), [3.0, 1.0, 1.0, 3.0]);
    let count = count(&outcome);
    assert_eq!((count.asked, count.issued, count.waited), (2, 2, 2));
    let legs = &outcome.drained.passages[0];
    assert_eq!(legs.leg_ns[Leg::Credential as usize], 4_000_000_000);
    // Asking for a token is no call of anybody's.
    assert_eq!(outcome.drained.edges[0].calls, 4);
}

#[test]
fn a_process_asks_once_or_every_attempt_for_itself() {
    let arrivals = "0\n0.5\n1\n1.5";
    let one = run(&world(1, "lifetime: 100s", "", ""), arrivals);
    assert_eq!(calls(&one), [3.0, 2.5, 2.0, 1.5]);
    assert_eq!((count(&one).asked, count(&one).waited), (1, 4));
    let each = world(1, "lifetime: 100s, single_flight: false", "", "");
    let each = run(&each, arrivals);
    assert_eq!(calls(&each), [3.0, 3.0, 3.0, 3.0]);
    assert_eq!((count(&each).asked, count(&each).issued), (4, 4));
    assert_eq!(each.drained.services[1].arrived, 4);
}

#[test]
fn a_token_is_renewed_ahead_of_its_end_while_it_is_used() {
    let outcome = run(
        &world(1, "lifetime: 20s, refresh_margin: 5s", "", ""),
        "0\n16\n17\n18\n22\n30",
    );
    // The one from 2 s to 22 s is renewed from 17 s on, by one request; the new one is good until 39 s.
    assert_eq!(calls(&outcome), [3.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    let count = count(&outcome);
    assert_eq!((count.asked, count.ahead, count.waited), (2, 1, 1));
}

#[test]
fn waiting_for_a_token_is_within_the_deadline_and_nothing_was_sent() {
    let policy = "attempt_timeout: 1s, retry: { max_attempts: 2, on: [ timeout ] }";
    let outcome = run(&world(1, "lifetime: 100s", policy, ""), "0\n10");
    assert_eq!(calls(&outcome), [1.0, 1.0]);
    let edge = &outcome.drained.edges[0];
    assert_eq!(edge.attempt_failed_in[Phase::Credential as usize], 1);
    // The token came all the same, for the second call.
    assert_eq!(count(&outcome).issued, 1);
}

#[test]
fn without_a_token_an_attempt_fails_as_said_before_it_is_sent() {
    let outage = "faults: [ { at: 10s, for: 20s, errors: { service: auth } } ]";
    let policy = "retry: { max_attempts: 3, backoff: { fixed: 1s }, on: [ unavailable ] }";
    let outcome = run(&world(1, "lifetime: 5s", policy, outage), "0\n15\n60");
    // Not idempotent, and tried three times: nothing was sent.
    assert_eq!(calls(&outcome), [3.0, 2.0, 3.0]);
    let edge = &outcome.drained.edges[0];
    assert_eq!(edge.attempt_failed_in[Phase::Credential as usize], 3);
    assert_eq!(
        (count(&outcome).refused, count(&outcome).turned_away),
        (3, 3)
    );
    assert_eq!(outcome.drained.services[0].arrived, 2);
    // One that is refused for good is not asked for again.
    let forbidden =
        "faults: [ { at: 10s, for: 20s, errors: { service: auth, fail: permission_denied } } ]";
    let outcome = run(&world(1, "lifetime: 5s", policy, forbidden), "0\n15\n60");
    assert_eq!(calls(&outcome), [3.0, 0.0, 3.0]);
    let edge = &outcome.drained.edges[0];
    assert_eq!(edge.failed[FailureKind::PermissionDenied as usize], 1);
}

#[test]
fn a_rejected_token_is_replaced_and_the_attempt_sent_once_more() {
    let revoked = "faults: [ { at: 10s, revoke: token } ]";
    let outcome = run(&world(1, "lifetime: 1h", "", revoked), "0\n20\n30");
    // Rejected at once, two seconds for a new token, one of work.
    assert_eq!(calls(&outcome), [3.0, 3.0, 1.0]);
    let count_of = count(&outcome);
    assert_eq!((count_of.rejected, count_of.replayed), (1, 1));
    let api = &outcome.drained.services[0];
    assert_eq!((api.arrived, api.arrived_first, api.faulted), (4, 3, 1));
    assert_eq!(outcome.drained.edges[0].attempts, 3);
    // Whoever does not try again has a good token the next time.
    let once = world(1, "lifetime: 1h, replay: false", "", revoked);
    let outcome = run(&once, "0\n20\n30");
    assert_eq!(calls(&outcome), [3.0, 0.0, 3.0]);
    let edge = &outcome.drained.edges[0];
    assert_eq!(edge.failed[FailureKind::Unauthenticated as usize], 1);
}

#[test]
fn once_more_is_once() {
    let faults =
        "faults: [ { at: 10s, for: 15s, errors: { service: api, fail: unauthenticated } } ]";
    let outcome = run(&world(1, "lifetime: 1h", "", faults), "0\n20\n30");
    assert_eq!(calls(&outcome), [3.0, 2.0, 3.0]);
    assert_eq!(outcome.drained.services[0].arrived, 4);
    assert_eq!((count(&outcome).replayed, count(&outcome).asked), (1, 3));
    // What the token does not allow, another one does not allow either.
    let faults =
        "faults: [ { at: 10s, for: 15s, errors: { service: api, fail: permission_denied } } ]";
    let policy = "retry: { max_attempts: 3, on: [ 5xx, 429 ] }";
    let outcome = run(&world(1, "lifetime: 1h", policy, faults), "0\n20\n30");
    assert_eq!(calls(&outcome), [3.0, 0.0, 1.0]);
    assert_eq!((count(&outcome).replayed, count(&outcome).asked), (0, 1));
}

#[test]
fn clients_may_have_tokens_of_their_own_and_processes_always_have() {
    let text = |per: &str| {
        format!(
            "
version: 1
run: {{ duration: 1000s, window: 100s, drain: 1000s }}
clients:
  web: {{ arrivals: {{ trace: a.csv }}, calls: [ front ] }}
  app: {{ arrivals: {{ trace: a.csv }}, calls: [ front ] }}
services:
  front: {{ replicas: 2, program: [ {{ call: api }} ] }}
  api: {{ work: 1s }}
  auth: {{ work: 2s }}
credentials: {{ token: {{ from: auth, lifetime: 1h, {per} }} }}
links: {{ front -> api: {{ credential: token }} }}
"
        )
    };
    let arrivals = "0\n10\n20\n30";
    let shared = run(&text("per: process"), arrivals);
    assert_eq!(count(&shared).asked, 2);
    let own = run(&text("per: client"), arrivals);
    // Arrivals of both clients are given to the two processes in turn, so each client meets one of them.
    assert_eq!(count(&own).asked, 2);
    assert_eq!(count(&own).waited, 2);
    let one = text("per: client").replace("replicas: 2, ", "");
    assert_eq!(count(&run(&one, arrivals)).asked, 2);
    let one = text("per: process").replace("replicas: 2, ", "");
    assert_eq!(count(&run(&one, arrivals)).asked, 1);
}

#[test]
fn tokens_go_with_their_process() {
    let text = "
version: 1
run: { duration: 1000s, window: 100s, drain: 1000s }
clients: { web: { arrivals: { trace: a.csv }, calls: [ front ] } }
services:
  front: { restart: 5s, program: [ { call: api } ] }
  api: { work: 1s }
  auth: { work: 2s }
credentials: { token: { from: auth, lifetime: 1h } }
links: { front -> api: { credential: token } }
faults: [ { at: 50s, crash: { service: front } }, { at: 61s, crash: { service: front } } ]
";
    let outcome = run(text, "0\n10\n60\n100\n110");
    // The third call begins when there is no token, and dies while one is asked for.
    let count = count(&outcome);
    assert_eq!((count.asked, count.issued, count.lost), (3, 2, 1));
}

#[test]
fn a_certificate_stops_new_connections_only() {
    let text = "
version: 1
run: { duration: 1000s, window: 100s, drain: 1000s }
clients: { web: { arrivals: { trace: a.csv }, calls: [ api ] } }
services: { api: { work: 5s } }
links: { default: { phases: { tls: 1s }, pool: {} } }
faults: [ { at: 10s, for: 50s, certificate: api } ]
";
    let outcome = run(text, "0\n20\n21\n100");
    assert_eq!(calls(&outcome), [6.0, 1.0, 5.0, 5.0]);
    let edge = &outcome.drained.edges[0];
    assert_eq!(edge.failed[FailureKind::Tls as usize], 1);
}

#[test]
fn hedged_attempts_are_sent_once_more_each() {
    let policy = "hedge: { delay: 1s, max_attempts: 2 }";
    let revoked = "faults: [ { at: 10s, revoke: token } ]";
    let outcome = run(&world(1, "lifetime: 1h", policy, revoked), "0\n20\n30\n40");
    assert_eq!(count(&outcome).rejected, 1);
    assert_eq!(outcome.drained.edges[0].ok, 4);
}

#[test]
fn what_cannot_be_is_refused() {
    let problems = wrong(&world(
        1,
        "lifetime: 20s",
        "",
        "faults: [ { at: 1s, for: 5s, revoke: tokn } ]",
    ));
    for part in [
        "takes no time",
        "no credential is called `tokn`: did you mean `token`?",
    ] {
        assert!(problems.contains(part), "{part}: {problems}");
    }
    let problems = wrong(&world(
        1,
        "lifetime: 20s, refresh_margin: 20s, per: client",
        "",
        "",
    ));
    for part in ["below the lifetime (20s)", "on its own behalf only"] {
        assert!(problems.contains(part), "{part}: {problems}");
    }
    let circle = wrong(
        "
version: 1
run: { duration: 100s }
clients: { web: { arrivals: { poisson: 1/s }, calls: [ api ] } }
services:
  api: { work: 1s }
  auth: { program: [ { call: { to: db, link: secure } } ] }
  db: { work: 1s }
credentials: { token: { from: auth, lifetime: 20s }, other: { from: auth, lifetime: 1s } }
links: { secure: { credential: token }, default: { credential: token } }
",
    );
    for part in ["no call needs it", "a link that needs a credential itself"] {
        assert!(circle.contains(part), "{part}: {circle}");
    }
    let circle = wrong(
        "
version: 1
run: { duration: 100s }
clients: { web: { arrivals: { poisson: 1/s }, calls: [ { to: api, link: secure } ] } }
services:
  api: { work: 1s }
  auth: { program: [ { call: { to: db, link: secure } } ] }
  db: { work: 1s }
credentials: { token: { from: auth, lifetime: 20s } }
links: { secure: { credential: token } }
",
    );
    assert!(circle.contains("calls go in a circle"), "{circle}");
    let text = "
version: 1
run: { duration: 100s }
clients: { web: { arrivals: { poisson: 1/s }, calls: [ api ] } }
services: { api: { work: 1s } }
faults: [ { at: 1s, certificate: api } ]
";
    assert!(wrong(text).contains("no link has a handshake"));
}
