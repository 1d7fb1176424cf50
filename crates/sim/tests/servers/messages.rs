//! Message queues, in worlds small enough to reckon by hand.

use sim::metrics::{MessageCount, Outcome};

use crate::{run, wrong};

/// A client `web` sends messages to `q` at these instants.
fn sent(queue: &str, more: &str, at: &str) -> Outcome {
    let text = format!(
        "
version: 1
run: {{ duration: 1000s, window: 100s, drain: 1000s }}
clients: {{ web: {{ arrivals: {{ trace: a.csv }}, calls: [ {{ to: q, policy: p }} ] }} }}
services: {{ q: {{ {queue} }} }}
policies: {{ p: {{ attempt_timeout: 1s }} }}
{more}
"
    );
    run(&text, &[("a.csv", at)])
}

fn count(outcome: &Outcome) -> &MessageCount {
    &outcome.drained.messages[0]
}

/// Messages, by what became of them: kept, completed, dead, expired.
fn fates(outcome: &Outcome) -> (u64, u64, u64, u64) {
    let c = count(outcome);
    (c.sent, c.completed, c.dead, c.expired)
}

/// Deliveries: all, again, twice at once.
fn deliveries(outcome: &Outcome) -> (u64, u64, u64) {
    let c = count(outcome);
    (c.received, c.redelivered, c.duplicated)
}

/// The longest time from sending to deleting, in seconds; a histogram knows it to one part in a thousand.
fn longest(outcome: &Outcome) -> f64 {
    outcome.sojourn[0].max() as f64 / 1e9
}

fn is(measured: f64, seconds: f64) -> bool {
    (measured / seconds - 1.0).abs() < 0.001
}

#[test]
fn who_sends_is_answered_at_once_and_consumers_fetch_in_turn() {
    let outcome = sent("concurrency: 1, work: 10s, messages: 60s", "", "0\n1\n2");
    assert_eq!(outcome.drained.edges[0].ok, 3);
    assert!(outcome.latency[0].calls.max() == 0, "no time passes");
    assert_eq!(fates(&outcome), (3, 3, 0, 0));
    assert_eq!(deliveries(&outcome), (3, 0, 0));
    // Done at 10, 20 and 30 s; the last was sent at 2 s.
    assert!(is(longest(&outcome), 28.0), "{}", longest(&outcome));
    // Seen by nobody for 9 and for 18 s, hidden for 30 s.
    assert_eq!(outcome.drained.services[0].queue_ns, 27_000_000_000);
    assert_eq!(outcome.drained.services[0].wait_ns, 27_000_000_000);
    assert_eq!(count(&outcome).hidden_ns, 30_000_000_000);
}

#[test]
fn work_longer_than_the_visibility_is_done_again_meanwhile() {
    // Fetched at 0, 30 and 60 s; the first ends at 100 s, when the message is dead since 90 s.
    let queue = "work: 100s, messages: { visibility: 30s, max_receives: 3 }";
    let outcome = sent(queue, "", "0\n990");
    assert_eq!(fates(&outcome), (2, 0, 2, 0));
    assert_eq!(deliveries(&outcome), (6, 4, 4));
    // The run goes on until no message is left, so the last three deliveries are cut.
    assert_eq!(count(&outcome).late, 3);
    // Without a bound it is fetched at 0, 30, 60 and 90 s, and so on.
    let endless = sent("work: 100s, messages: 30s", "", "0");
    assert_eq!(count(&endless).completed, 0);
    assert!(count(&endless).late > 60, "{:?}", count(&endless));
    // Six times the work is enough.
    let outcome = sent("work: 100s, messages: 600s", "", "0");
    assert_eq!(
        (fates(&outcome), deliveries(&outcome)),
        ((1, 1, 0, 0), (1, 0, 0))
    );
}

#[test]
fn whose_end_deletes_a_message_is_a_matter_of_the_queue() {
    let of = |receipt: &str| {
        let queue = format!("work: 50s, messages: {{ visibility: 30s, receipt: {receipt} }}");
        sent(&queue, "", "0")
    };
    // Fetched at 0 and at 30 s; the first ends at 50 s.
    let any = of("any");
    assert_eq!((fates(&any), deliveries(&any)), ((1, 1, 0, 0), (2, 1, 1)));
    assert!(is(longest(&any), 50.0));
    // The latest has had it taken away at 60 s, before it ends at 80 s.
    assert_eq!(count(&of("latest")).completed, 0);
    assert_eq!(count(&of("in_time")).completed, 0);
    // With one consumer nobody fetches it in between: its receipt is still the latest.
    let alone = |receipt: &str| {
        let queue = format!(
            "concurrency: 1, work: 50s, messages: {{ visibility: 30s, receipt: {receipt} }}"
        );
        sent(&queue, "", "0")
    };
    let latest = alone("latest");
    assert_eq!(
        (fates(&latest), deliveries(&latest)),
        ((1, 1, 0, 0), (1, 0, 0))
    );
    assert!(count(&alone("in_time")).late > 10);
}

#[test]
fn what_a_consumer_fails_with_comes_back() {
    let of = |messages: &str| {
        let queue = format!(
            "messages: {{ visibility: 30s, max_receives: 3, {messages} }}, program: [ {{ work: 1s }}, {{ call: down }} ]"
        );
        let more = "
faults: [ { at: 0s, errors: { service: down, share: 100% } } ]";
        let text = format!("{queue} }}, down: {{ work: 1ms ");
        sent(&text, more, "0")
    };
    let at_once = of("gives_back: at_once");
    assert_eq!(
        (fates(&at_once), deliveries(&at_once)),
        ((1, 0, 1, 0), (3, 2, 0))
    );
    assert_eq!(count(&at_once).failed, 3);
    assert_eq!(count(&at_once).hidden_ns, 3_000_000_000);
    // Hidden for 1 + 10 s twice, and for one more.
    let later = of("gives_back: { after: 10s }");
    assert_eq!(count(&later).hidden_ns, 23_000_000_000);
    // Hidden until 30 s, until 60 s, and for one more second.
    let never = of("gives_back: never");
    assert_eq!(count(&never).hidden_ns, 61_000_000_000);
}

#[test]
fn a_heartbeat_keeps_a_message_hidden_while_its_consumer_can() {
    let queue = "work: 100s, restart: 5s, messages: { visibility: 30s, heartbeat: 10s }";
    let outcome = sent(queue, "", "0");
    assert_eq!(
        (fates(&outcome), deliveries(&outcome)),
        ((1, 1, 0, 0), (1, 0, 0))
    );
    // Dead at 45 s: its last heartbeat was at 40 s, so it is seen again at 70 s.
    let crash = "faults: [ { at: 45s, crash: q } ]";
    let outcome = sent(queue, crash, "0");
    assert_eq!(
        (fates(&outcome), deliveries(&outcome)),
        ((1, 1, 0, 0), (2, 1, 0))
    );
    assert_eq!(count(&outcome).lost, 1);
    assert!(is(longest(&outcome), 170.0), "{}", longest(&outcome));
    // One that stands still from 45 to 105 s sends none either; another one has it from 70 s on.
    let pause = "faults: [ { at: 45s, for: 60s, pause: { service: q, replicas: 1 } } ]";
    let outcome = sent(&format!("replicas: 2, {queue}"), pause, "0");
    assert_eq!(deliveries(&outcome), (2, 1, 1));
    assert!(is(longest(&outcome), 170.0), "{}", longest(&outcome));
}

#[test]
fn a_lost_consumer_is_noticed_when_the_visibility_ends() {
    let queue = "concurrency: 1, work: 10s, restart: 5s, messages: 60s";
    let outcome = sent(queue, "faults: [ { at: 5s, crash: q } ]", "0\n1");
    // The second is fetched at 10 s, the first again at 60 s.
    assert_eq!(
        (fates(&outcome), deliveries(&outcome)),
        ((2, 2, 0, 0), (3, 1, 0))
    );
    assert!(is(longest(&outcome), 70.0), "{}", longest(&outcome));
    // What is sent while nobody is there to fetch it is kept; in an outage it is not.
    let outcome = sent(queue, "faults: [ { at: 0s, for: 20s, crash: q } ]", "0");
    assert_eq!(fates(&outcome), (1, 1, 0, 0));
    assert!(is(longest(&outcome), 30.0), "{}", longest(&outcome));
    let outcome = sent(
        queue,
        "faults: [ { at: 5s, for: 20s, outage: q } ]",
        "0\n10",
    );
    assert_eq!(
        (fates(&outcome), outcome.drained.edges[0].ok),
        ((1, 1, 0, 0), 1)
    );
}

#[test]
fn a_group_is_worked_on_one_after_the_other() {
    let of = |groups: &str| {
        let queue = format!("concurrency: 10, work: 10s, messages: {{ visibility: 60s{groups} }}");
        longest(&sent(&queue, "", "0\n0\n0\n0"))
    };
    assert!(is(of(""), 10.0));
    assert!(is(of(", groups: 1"), 40.0));
    // One that fails holds up all behind it, until it is dead.
    let queue = "concurrency: 10, messages: { visibility: 30s, max_receives: 3, gives_back: never, groups: 1 }, \
                 program: [ { work: 1s }, { call: down } ] }, down: { work: 1ms ";
    let more = "faults: [ { at: 0s, for: 5s, errors: { service: down, share: 100% } } ]";
    let outcome = sent(queue, more, "0\n0");
    assert_eq!(fates(&outcome), (2, 2, 0, 0));
    assert!(is(longest(&outcome), 32.0), "{}", longest(&outcome));
}

#[test]
fn there_is_room_for_so_many_and_for_so_long() {
    let full = "concurrency: 1, work: 10s, messages: 60s, queue: { capacity: 2 }";
    let outcome = sent(full, "", "0\n1\n2\n3\n4");
    assert_eq!(fates(&outcome), (3, 3, 0, 0));
    assert_eq!(outcome.drained.services[0].shed_full, 2);
    let old = "concurrency: 1, work: 10s, messages: { visibility: 60s, retention: 15s }";
    // The third is too old at 17 s, before it is fetched; the second while it is worked on.
    let outcome = sent(old, "", "0\n1\n2\n100");
    assert_eq!(
        (fates(&outcome), deliveries(&outcome)),
        ((4, 2, 0, 2), (3, 0, 0))
    );
    assert_eq!(count(&outcome).late, 1);
}

#[test]
fn work_that_is_worth_nothing_is_wasted_and_can_be_stopped() {
    let queue = "work: 50s, messages: { visibility: 30s, receipt: any }";
    let outcome = sent(queue, "", "0\n500");
    let service = &outcome.drained.services[0];
    // Of 100 s each 30 s are for a message that is deleted already.
    assert_eq!(service.useful_ns, 100_000_000_000);
    assert_eq!(service.wasted_ns, 60_000_000_000);
    let stops = format!("honours_cancellation: true, {queue}");
    let outcome = sent(&stops, "", "0\n500");
    assert_eq!(count(&outcome).stopped, 2);
}

#[test]
fn who_answers_early_deletes_early() {
    let queue = "messages: 30s, restart: 1s, program: [ { respond: ok }, { work: 100s } ]";
    let outcome = sent(queue, "", "0");
    assert_eq!(
        (fates(&outcome), deliveries(&outcome)),
        ((1, 1, 0, 0), (1, 0, 0))
    );
    assert_eq!(outcome.sojourn[0].max(), 0);
}

#[test]
fn a_bad_replica_fetches_and_fails() {
    let queue =
        "replicas: 2, concurrency: 1, work: 10s, messages: { visibility: 60s, max_receives: 2 }";
    let bad = "faults: [ { at: 0s, bad_replicas: { service: q, replicas: 1, errors: 100% } } ]";
    let outcome = sent(queue, bad, "0\n1\n2\n3");
    // One consumer works on the first message it gets; the other one takes whatever is there, twice, and it is dead.
    let c = count(&outcome);
    assert_eq!(
        (c.sent, c.failed, c.completed + c.dead),
        (4, c.received - c.completed, 4)
    );
    assert!(c.dead >= 2, "{c:?}");
}

#[test]
fn an_effect_that_is_done_twice_is_a_duplicate() {
    let of = |visibility: &str, more: &str| {
        let queue = format!(
            "messages: {{ visibility: {visibility}, receipt: any }}, {more} program: [ {{ effect: order }}, {{ work: 50s }} ]"
        );
        let outcome = sent(&queue, "", "0\n300\n600");
        let effect = outcome.drained.effects[0].clone();
        (effect.committed, effect.duplicates, effect.lost)
    };
    assert_eq!(of("60s", ""), (3, 0, 0));
    assert_eq!(of("30s", ""), (6, 3, 0));
    // Dead letters whose senders were told that all is well are lost effects.
    let queue = "messages: { visibility: 5s, max_receives: 1 }, program: [ { work: 50s }, { effect: order } ]";
    let outcome = sent(
        &format!("honours_cancellation: true, {queue}"),
        "",
        "0\n300",
    );
    let effect = &outcome.drained.effects[0];
    assert_eq!((effect.committed, effect.lost), (0, 2));
}

#[test]
fn a_key_that_is_looked_up_stops_the_second_execution() {
    let text = |guard: &str| {
        format!(
            "
version: 1
run: {{ duration: 1000s, window: 100s, drain: 1000s }}
clients: {{ web: {{ arrivals: {{ trace: a.csv }}, calls: [ {{ to: q, key: per_call }} ] }} }}
services:
  q:
    messages: {{ visibility: 30s, receipt: any, gives_back: never }}
    idempotency: {guard}
    program: [ {{ work: 1s }}, {{ effect: order }}, {{ work: 49s }} ]
"
        )
    };
    let outcome = run(
        &text("{ in_progress: { fail: { kind: conflict } } }"),
        &[("a.csv", "0\n300")],
    );
    let effect = &outcome.drained.effects[0];
    assert_eq!((effect.committed, effect.duplicates), (2, 0));
    assert_eq!(count(&outcome).completed, 2);
}

#[test]
fn what_does_not_go_with_messages_is_refused() {
    let with = |service: &str| {
        wrong(&format!(
            "
version: 1
run: {{ duration: 10s }}
clients: {{ web: {{ arrivals: {{ poisson: 1/s }}, calls: [ q ] }} }}
services: {{ q: {{ work: 1s, {service} }} }}
"
        ))
    };
    for (service, problem) in [
        ("messages: 0s", "messages: visibility: must be above 0s"),
        (
            "messages: { visibility: 5s, heartbeat: 5s }",
            "messages: heartbeat: must be above 0s and below the visibility (5s)",
        ),
        (
            "messages: { visibility: 5s, retention: 0s }",
            "messages: retention: must be above 0s",
        ),
        (
            "messages: { visibility: 5s, groups: 2000000 }",
            "messages: groups: must be at most 1000000",
        ),
        (
            "messages: 5s, queue: { discipline: lifo }",
            "queue.discipline: does not go with `messages`",
        ),
        (
            "messages: 5s, queue: { max_wait: 1s }, concurrency: 1",
            "queue.max_wait: does not go with `messages`",
        ),
        (
            "messages: 5s, queue: { codel: {} }",
            "queue.codel: does not go with `messages`",
        ),
        (
            "messages: 5s, balance: random",
            "balance: does not go with `messages`",
        ),
        (
            "messages: 5s, probes: { readiness: {} }",
            "probes.readiness: does not go with `messages`",
        ),
    ] {
        let wrong = with(service);
        assert!(wrong.contains(problem), "{service}: {wrong}");
    }
    let pool = wrong(
        "
version: 1
run: { duration: 10s }
clients: { web: { arrivals: { poisson: 1/s }, calls: [ q ] } }
services: { q: { work: 1s, messages: 5s } }
links: { default: { pool: {} } }
",
    );
    assert!(pool.contains("keeps connections to replicas"), "{pool}");
    let expect = wrong(
        "
version: 1
run: { duration: 10s }
clients: { web: { arrivals: { poisson: 1/s }, calls: [ q ] } }
services: { q: { work: 1s } }
expect: [ dead_letters(q) == 0 ]
",
    );
    assert!(expect.contains("`q` has no `messages`"), "{expect}");
}

#[test]
fn a_consumer_that_is_about_to_go_fetches_no_more() {
    let at: Vec<String> = (0..40).map(|second| second.to_string()).collect();
    let outcome = sent(
        "replicas: 2, concurrency: 1, work: 2s, restart: 3s, messages: 60s",
        "faults: [ { at: 10s, deploy: { service: q, every: 10s, drain: 5s } } ]",
        &at.join("\n"),
    );
    assert_eq!(outcome.drained.services[0].restarts, 2);
    assert_eq!(
        deliveries(&outcome),
        (40, 0, 0),
        "nothing was lost with a replica"
    );
}

/// Ten workers are back at once; a probe that waited for one of them does not keep the others from the messages.
#[test]
fn who_starts_a_probe_leaves_the_messages_to_the_others() {
    let outcome = sent(
        "concurrency: 10, messages: 600s, probes: { liveness: { operation: ping, period: 5s, timeout: 4s, failure_threshold: 1000 } }, \
         operations: { do: { work: 10s }, ping: { work: 3s } }",
        "faults: [ { at: 0s, for: 22s, lose_capacity: { service: q, share: 100% } } ]",
        "1\n1\n1\n1\n1",
    );
    assert_eq!(fates(&outcome), (5, 5, 0, 0));
    // Sent at 0 s, and worked on from 22 s to 32 s.
    assert!(is(longest(&outcome), 32.0), "{}", longest(&outcome));
}
