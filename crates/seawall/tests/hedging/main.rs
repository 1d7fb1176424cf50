//! Hedged calls: copies are attempts, with all that attempts have to pass.

mod stopped;

use seawall::{
    Action, Breaker, BreakerRule, Budget, BudgetEvent, Bulkhead, Call, CallKey, Client, Deadline,
    Entropy, FailureKind, FailureSet, Hedge, HedgeVariant, Operation, Rates, Reply, Request, Span,
    Spec, Stopped, Time, Window, backoff, budget,
};

struct Zeros;

impl Entropy for Zeros {
    fn next_u64(&mut self) -> u64 {
        0
    }
}

fn ms(n: u64) -> Time {
    Time(n * 1_000_000)
}

/// Up to three attempts, 100 ms apart.
fn hedged() -> Spec {
    Spec {
        hedge: Some(Hedge {
            max_attempts: 3,
            delay: Span::millis(100),
            on: FailureSet::of(&[FailureKind::Unavailable]),
            variant: HedgeVariant::Proposal,
        }),
        ..Spec::default()
    }
}

fn client(spec: &Spec) -> Client {
    Client::new(spec.check().expect("sound"), Time::ZERO)
}

fn begin(client: &mut Client, operation: Operation) -> Call {
    let request = Request {
        key: CallKey(1),
        deadline: None,
        operation,
    };
    client.begin(Time::ZERO, request)
}

fn polled(client: &mut Client, call: &mut Call, now: Time) -> Vec<String> {
    let mut did = Vec::new();
    while let Some(action) = client.poll(call, now, &mut Zeros) {
        did.push(match action {
            Action::Choose(_) => "choose".into(),
            Action::Send { attempt, .. } => format!("send {attempt}"),
            Action::Abandon(attempt) => format!("abandon {attempt}"),
            Action::Finish(verdict) => {
                format!(
                    "{} of {}",
                    verdict.stopped.map_or("ok", Stopped::name),
                    verdict.attempts
                )
            }
        });
    }
    did
}

fn timer(client: &mut Client, call: &mut Call) -> Time {
    let at = call.timer().expect("it waits");
    client.on_timer(call, at);
    at
}

fn failed(kind: FailureKind) -> Reply {
    Reply::Failed(kind.into())
}

/// Brings a call to where two copies are out, at 100 ms.
fn two_out(client: &mut Client) -> Call {
    let mut call = begin(client, Operation::default());
    assert_eq!(polled(client, &mut call, ms(0)), ["send 1"]);
    assert_eq!(timer(client, &mut call), ms(100));
    assert_eq!(polled(client, &mut call, ms(100)), ["send 2"]);
    call
}

#[test]
fn the_first_good_answer_ends_the_call_and_the_others_are_abandoned() {
    for winner in [1, 2] {
        let mut client = client(&hedged());
        let mut call = two_out(&mut client);
        client.on_reply(&mut call, ms(150), winner, Reply::Ok);
        let loser = format!("abandon {}", 3 - winner);
        assert_eq!(
            polled(&mut client, &mut call, ms(150)),
            [loser, "ok of 2".into()]
        );
        // What the loser still says is of no use to anybody.
        client.on_reply(&mut call, ms(160), 3 - winner, Reply::Ok);
        let stats = client.stats();
        assert_eq!(
            (stats.ok, stats.attempts, stats.retries, stats.hedges),
            (1, 2, 1, 1)
        );
        assert_eq!((stats.ignored_replies, stats.in_flight()), (1, 0));
    }
}

#[test]
fn a_failure_that_is_not_fatal_sends_the_next_at_once_and_a_fatal_one_ends_the_call() {
    let mut client = client(&hedged());
    let mut call = two_out(&mut client);
    client.on_reply(&mut call, ms(110), 1, failed(FailureKind::Unavailable));
    assert_eq!(polled(&mut client, &mut call, ms(110)), ["send 3"]);
    client.on_reply(&mut call, ms(120), 2, failed(FailureKind::Invalid));
    assert_eq!(
        polled(&mut client, &mut call, ms(120)),
        ["abandon 3", "not_retryable of 3"]
    );
}

#[test]
fn when_all_have_failed_there_is_no_further_retry() {
    let mut client = client(&hedged());
    let mut call = begin(&mut client, Operation::default());
    for attempt in 1..=3 {
        assert_eq!(
            polled(&mut client, &mut call, ms(1)),
            [format!("send {attempt}")]
        );
        client.on_reply(&mut call, ms(1), attempt, failed(FailureKind::Unavailable));
    }
    assert_eq!(
        polled(&mut client, &mut call, ms(1)),
        ["attempts_used of 3"]
    );
}

#[test]
fn each_copy_has_its_own_timeout_and_the_deadline_ends_them_all() {
    let spec = Spec {
        attempt_timeout: Some(Span::millis(150)),
        deadline: Deadline {
            limit: Some(Span::millis(220)),
            ..Deadline::default()
        },
        ..hedged()
    };
    let mut client = client(&spec);
    let mut call = two_out(&mut client);
    // The first has timed out, which is fatal: `timeout` is not in `on`.
    assert_eq!(timer(&mut client, &mut call), ms(150));
    let ends = ["abandon 1", "abandon 2", "not_retryable of 2"];
    let mut did = polled(&mut client, &mut call, ms(150));
    did.sort();
    assert_eq!(did, ends);

    let mut spec = spec;
    if let Some(hedge) = &mut spec.hedge {
        hedge.on = FailureSet::of(&[FailureKind::Timeout]);
    }
    let mut client = self::client(&spec);
    let mut call = two_out(&mut client);
    assert_eq!(timer(&mut client, &mut call), ms(150));
    assert_eq!(
        polled(&mut client, &mut call, ms(150)),
        ["abandon 1", "send 3"]
    );
    assert_eq!(timer(&mut client, &mut call), ms(220));
    let mut did = polled(&mut client, &mut call, ms(220));
    did.sort();
    assert_eq!(did, ["abandon 2", "abandon 3", "deadline_exceeded of 3"]);
    assert_eq!(
        client.stats().attempt_failed[FailureKind::Timeout as usize],
        3
    );
}

#[test]
fn copies_after_the_first_are_throttled_and_charged() {
    let mut spec = hedged();
    spec.budget = Budget::Grpc(budget::GrpcThrottling {
        max_tokens: 4.0,
        token_ratio: 0.1,
        variant: backoff::GrpcVariant::Go,
    });
    let mut client = client(&spec);
    // Two failures that count take the tokens down to half: nothing is sent any more but first attempts.
    let mut call = begin(&mut client, Operation::default());
    assert_eq!(polled(&mut client, &mut call, ms(0)), ["send 1"]);
    client.on_reply(&mut call, ms(0), 1, failed(FailureKind::Unavailable));
    assert_eq!(polled(&mut client, &mut call, ms(0)), ["send 2"]);
    client.on_reply(&mut call, ms(0), 2, failed(FailureKind::Unavailable));
    assert_eq!(polled(&mut client, &mut call, ms(0)), ["budget_empty of 2"]);
    let mut next = begin(&mut client, Operation::default());
    assert_eq!(polled(&mut client, &mut next, ms(0)), ["send 1"]);
    let at = timer(&mut client, &mut next);
    assert_eq!(
        polled(&mut client, &mut next, at),
        [""; 0],
        "the copy is not sent"
    );
    assert_eq!(next.timer(), None, "and no further one");
    client.on_reply(&mut next, ms(300), 1, Reply::Ok);
    assert_eq!(polled(&mut client, &mut next, ms(300)), ["ok of 1"]);
}

#[test]
fn copies_have_permits_of_their_own_and_give_all_back() {
    let spec = guarded();
    for cancel in [true, false] {
        let mut client = client(&spec);
        let mut call = two_out(&mut client);
        assert_eq!(client.bulkhead_load(), Some((2, 0)));
        // No permit for a third copy, and none is waited for.
        let at = timer(&mut client, &mut call);
        assert_eq!(polled(&mut client, &mut call, at), [""; 0]);
        match cancel {
            true => client.cancel(&mut call, ms(210)),
            false => client.on_reply(&mut call, ms(210), 2, Reply::Ok),
        }
        let did = polled(&mut client, &mut call, ms(210));
        assert_eq!(
            did.last().map(String::as_str),
            Some(["ok of 2", "cancelled of 2"][usize::from(cancel)])
        );
        assert_eq!(client.bulkhead_load(), Some((0, 0)));
    }
}

#[test]
fn what_is_not_idempotent_is_sent_once() {
    let mut client = client(&hedged());
    let write = Operation {
        idempotent: false,
        ..Operation::default()
    };
    let mut call = begin(&mut client, write);
    assert_eq!(polled(&mut client, &mut call, ms(0)), ["send 1"]);
    assert_eq!(call.timer(), None);
    client.on_reply(&mut call, ms(1), 1, failed(FailureKind::Unavailable));
    assert_eq!(
        polled(&mut client, &mut call, ms(1)),
        ["not_idempotent of 1"]
    );
}

/// A breaker that counts attempts and never opens here, two permits, and a bucket of three retries.
fn guarded() -> Spec {
    let mut spec = hedged();
    spec.bulkhead = Some(Bulkhead {
        max_in_flight: 2,
        queue_from: None,
        max_waiting: 0,
        max_wait: Span::ZERO,
        hold_during_backoff: None,
    });
    spec.budget = Budget::Ratio {
        of: BudgetEvent::Successes,
        ratio: 0.1,
        burst: 3.0,
    };
    spec.breaker = Some(Breaker {
        rule: BreakerRule::Rates(Rates {
            window: Window::Count(9),
            failure_rate: 1.0,
            slow_rate: None,
            slow_after: Span::MAX,
            minimum_calls: 9,
            open_for: Span::secs(1),
            half_open_calls: 1,
            ramp: None,
        }),
        counts: None,
        count_refusals: false,
        on: FailureSet::of(FailureKind::ALL),
        ignored: FailureSet::NONE,
    });
    spec
}

#[test]
fn the_kill_switch_sends_no_copies() {
    let mut client = client(&hedged());
    let mut call = begin(&mut client, Operation::default());
    assert_eq!(polled(&mut client, &mut call, ms(0)), ["send 1"]);
    client.set_kill_switch(true);
    let at = timer(&mut client, &mut call);
    assert_eq!(polled(&mut client, &mut call, at), [""; 0]);
}

#[test]
fn hedging_takes_the_place_of_retries() {
    let mut spec = hedged();
    spec.retry.max_attempts = 2;
    if let Some(hedge) = &mut spec.hedge {
        hedge.max_attempts = 6;
    }
    let errors = spec.check().unwrap_err();
    let fields: Vec<&str> = errors.iter().map(|error| error.field).collect();
    assert_eq!(fields, ["hedge.max_attempts", "hedge"]);
}

#[test]
fn a_wait_asked_for_that_is_longer_than_the_deadline_ends_the_call_at_once_unless_a_copy_is_out() {
    let spec = Spec {
        deadline: Deadline {
            limit: Some(Span::millis(500)),
            ..Deadline::default()
        },
        ..hedged()
    };
    let asked = |wait| {
        Reply::Failed(seawall::Failure {
            retry_after: Some(wait),
            ..FailureKind::Unavailable.into()
        })
    };
    let mut client = client(&spec);

    let mut alone = begin(&mut client, Operation::default());
    assert_eq!(polled(&mut client, &mut alone, ms(0)), ["send 1"]);
    client.on_reply(&mut alone, ms(20), 1, asked(Span::secs(2)));
    assert_eq!(
        polled(&mut client, &mut alone, ms(20)),
        ["retry_after_too_long of 1"]
    );

    let mut short = begin(&mut client, Operation::default());
    assert_eq!(polled(&mut client, &mut short, ms(0)), ["send 1"]);
    client.on_reply(&mut short, ms(20), 1, asked(Span::millis(400)));
    assert_eq!(polled(&mut client, &mut short, ms(20)), [""; 0]);
    assert_eq!(timer(&mut client, &mut short), ms(420));
    assert_eq!(polled(&mut client, &mut short, ms(420)), ["send 2"]);

    let mut two = two_out(&mut client);
    client.on_reply(&mut two, ms(120), 2, asked(Span::secs(2)));
    assert_eq!(polled(&mut client, &mut two, ms(120)), [""; 0]);
    assert_eq!(timer(&mut client, &mut two), ms(500), "the other one's end");
    assert_eq!(
        polled(&mut client, &mut two, ms(500)),
        ["abandon 1", "deadline_exceeded of 2"]
    );
}
