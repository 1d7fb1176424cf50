//! What a driver sees: the actions of single calls under each policy, in order.

use seawall::{
    Action, Backoff, Breaker, BreakerRule, BreakerState, Budget, BudgetEvent, Bulkhead, Call,
    CallKey, Client, Counts, Deadline, Entropy, Failure, FailureKind, FailureSet, Jitter,
    Operation, Phase, PhaseSet, Rates, Reply, Request, Retry, RetryAfter, Span, Spec, Stopped,
    Time, Verdict, Window,
};

/// The same draw each time.
struct Draw(f64);

impl Entropy for Draw {
    fn next_u64(&mut self) -> u64 {
        (self.0 * (1u64 << 53) as f64) as u64 * (1 << 11)
    }
}

const HALF: Draw = Draw(0.5);

fn ms(n: u64) -> Time {
    Time(n * 1_000_000)
}

fn client(spec: &Spec) -> Client {
    Client::new(spec.check().expect("a sound spec"), Time::ZERO)
}

fn request(key: u64) -> Request {
    Request {
        key: CallKey(key),
        deadline: None,
        operation: Operation::default(),
    }
}

fn drain(client: &mut Client, call: &mut Call, now: Time) -> Vec<Action> {
    std::iter::from_fn(|| client.poll(call, now, &mut { HALF })).collect()
}

fn sends(attempt: u32, timeout_ms: Option<u64>, deadline_ms: Option<u64>) -> Vec<Action> {
    vec![Action::Send {
        attempt,
        timeout: timeout_ms.map(Span::millis),
        deadline: deadline_ms.map(ms),
    }]
}

fn finish(attempts: u32, stopped: Option<Stopped>, last: Option<FailureKind>) -> Action {
    Action::Finish(Verdict {
        attempts,
        stopped,
        last,
        phase: last.map(FailureKind::phase),
    })
}

fn failed(kind: FailureKind) -> Reply {
    Reply::Failed(kind.into())
}

fn asked(kind: FailureKind, seconds: u64) -> Reply {
    Reply::Failed(Failure {
        retry_after: Some(Span::secs(seconds)),
        ..kind.into()
    })
}

fn three_attempts() -> Spec {
    Spec {
        deadline: Deadline {
            limit: Some(Span::secs(1)),
            ..Deadline::default()
        },
        attempt_timeout: Some(Span::millis(100)),
        retry: Retry {
            max_attempts: 3,
            backoff: Backoff::Exponential {
                base: Span::millis(50),
                multiplier: 2.0,
                max: Span::secs(1),
                jitter: Jitter::Full,
            },
            on: FailureSet::of(&[FailureKind::Timeout, FailureKind::Unavailable]),
            ..Retry::default()
        },
        ..Spec::default()
    }
}

#[test]
fn a_call_that_goes_well_is_sent_and_finished() {
    let mut client = client(&Spec::default());
    let mut call = client.begin(ms(0), request(7));
    assert_eq!(drain(&mut client, &mut call, ms(0)), sends(1, None, None));
    assert_eq!(call.timer(), None);
    client.on_reply(&mut call, ms(5), 1, Reply::Ok);
    assert!(!call.is_finished());
    assert_eq!(
        drain(&mut client, &mut call, ms(5)),
        [finish(1, None, None)]
    );
    assert!(call.is_finished());
    let stats = client.stats();
    assert_eq!(
        (stats.calls, stats.ok, stats.attempts, stats.in_flight()),
        (1, 1, 1, 0)
    );
}

#[test]
fn a_timed_out_attempt_is_abandoned_and_retried_after_its_backoff() {
    let mut client = client(&three_attempts());
    let mut call = client.begin(ms(0), request(1));
    assert_eq!(
        drain(&mut client, &mut call, ms(0)),
        sends(1, Some(100), Some(1000))
    );
    assert_eq!(call.timer(), Some(ms(100)));
    client.on_timer(&mut call, ms(99));
    assert_eq!(drain(&mut client, &mut call, ms(99)), []);
    client.on_timer(&mut call, ms(100));
    assert_eq!(drain(&mut client, &mut call, ms(100)), [Action::Abandon(1)]);
    assert_eq!(call.timer(), Some(ms(125)), "half of 50 ms");
    client.on_reply(&mut call, ms(110), 1, Reply::Ok);
    assert_eq!(
        drain(&mut client, &mut call, ms(110)),
        [],
        "nobody waits for it any more"
    );
    client.on_timer(&mut call, ms(125));
    assert_eq!(
        drain(&mut client, &mut call, ms(125)),
        sends(2, Some(100), Some(1000))
    );
    client.on_reply(&mut call, ms(130), 2, failed(FailureKind::Unavailable));
    assert_eq!(drain(&mut client, &mut call, ms(130)), []);
    assert_eq!(call.timer(), Some(ms(180)), "half of 100 ms");
    client.on_timer(&mut call, ms(180));
    assert_eq!(
        drain(&mut client, &mut call, ms(180)),
        sends(3, Some(100), Some(1000))
    );
    client.on_reply(&mut call, ms(181), 3, failed(FailureKind::Unavailable));
    let end = finish(
        3,
        Some(Stopped::AttemptsUsed),
        Some(FailureKind::Unavailable),
    );
    assert_eq!(drain(&mut client, &mut call, ms(181)), [end]);
    assert_eq!(client.stats().retries, 2);
    assert_eq!(client.stats().ignored_replies, 1);
}

#[test]
fn the_deadline_bounds_attempts_and_ends_the_call() {
    let mut spec = three_attempts();
    spec.deadline.limit = Some(Span::millis(150));
    spec.retry.backoff = Backoff::None;
    let mut client = client(&spec);
    let mut call = client.begin(ms(0), request(1));
    assert_eq!(
        drain(&mut client, &mut call, ms(0)),
        sends(1, Some(100), Some(150))
    );
    client.on_timer(&mut call, ms(100));
    let actions = drain(&mut client, &mut call, ms(100));
    assert_eq!(actions[0], Action::Abandon(1));
    assert_eq!(actions[1..], sends(2, Some(50), Some(150)));
    client.on_timer(&mut call, ms(150));
    let end = finish(
        2,
        Some(Stopped::DeadlineExceeded),
        Some(FailureKind::Timeout),
    );
    assert_eq!(
        drain(&mut client, &mut call, ms(150)),
        [Action::Abandon(2), end]
    );
}

#[test]
fn with_no_time_left_nothing_is_sent() {
    let mut client = client(&three_attempts());
    let late = Request {
        deadline: Some(ms(10)),
        ..request(1)
    };
    let mut call = client.begin(ms(10), late);
    let end = finish(0, Some(Stopped::DeadlineExceeded), None);
    assert_eq!(drain(&mut client, &mut call, ms(10)), [end]);
}

#[test]
fn a_wait_that_leaves_no_room_for_an_attempt_is_not_begun() {
    let mut spec = three_attempts();
    spec.deadline.limit = Some(Span::millis(40));
    spec.retry.min_attempt = Span::millis(10);
    let mut client = client(&spec);
    let mut run = |at| {
        let mut call = client.begin(ms(0), request(1));
        drain(&mut client, &mut call, ms(0));
        client.on_reply(&mut call, ms(at), 1, failed(FailureKind::Unavailable));
        drain(&mut client, &mut call, ms(at))
    };
    assert_eq!(run(5), [], "25 ms of wait and 10 ms of attempt fit in 35");
    let end = finish(
        1,
        Some(Stopped::DeadlineTooClose),
        Some(FailureKind::Unavailable),
    );
    assert_eq!(run(6), [end]);
}

#[test]
fn each_condition_stops_with_its_own_reason() {
    let spec = three_attempts();
    let run = |spec: &Spec, operation: Operation, reply: Reply, kill: bool| {
        let mut client = client(spec);
        client.set_kill_switch(kill);
        let mut call = client.begin(
            ms(0),
            Request {
                operation,
                ..request(1)
            },
        );
        drain(&mut client, &mut call, ms(0));
        client.on_reply(&mut call, ms(1), 1, reply);
        match drain(&mut client, &mut call, ms(1))[..] {
            [Action::Finish(verdict)] => verdict.stopped,
            _ => None,
        }
    };
    let read = Operation::default();
    let write = Operation {
        idempotent: false,
        ..read
    };
    let never = Operation {
        retryable: false,
        ..read
    };
    let only = Operation {
        retry_only: Some(FailureSet::of(&[FailureKind::Timeout])),
        ..read
    };
    let unavailable = failed(FailureKind::Unavailable);
    assert_eq!(run(&spec, read, unavailable, false), None);
    let invalid = failed(FailureKind::Invalid);
    assert_eq!(
        run(&spec, read, invalid, false),
        Some(Stopped::NotRetryable)
    );
    assert_eq!(
        run(&spec, never, unavailable, false),
        Some(Stopped::NotRetryable)
    );
    assert_eq!(
        run(&spec, only, unavailable, false),
        Some(Stopped::NotRetryable)
    );
    assert_eq!(
        run(&spec, write, unavailable, false),
        Some(Stopped::NotIdempotent)
    );
    let before_sending = Reply::Failed(Failure {
        phase: Phase::Connect,
        ..FailureKind::Unavailable.into()
    });
    assert_eq!(run(&spec, write, before_sending, false), None);
    let mut connecting = spec.clone();
    connecting.retry.phases = PhaseSet::of(&[Phase::Connect]);
    assert_eq!(run(&connecting, read, before_sending, false), None);
    assert_eq!(
        run(&connecting, read, unavailable, false),
        Some(Stopped::NotRetryable),
        "the same kind, in another phase"
    );
    assert_eq!(
        run(&spec, read, unavailable, true),
        Some(Stopped::KillSwitch)
    );
    let mut one = spec.clone();
    one.retry.max_attempts = 1;
    assert_eq!(
        run(&one, read, unavailable, false),
        Some(Stopped::AttemptsUsed)
    );
    let mut empty = spec.clone();
    empty.budget = Budget::Windowed {
        of: BudgetEvent::Calls,
        ratio: 0.5,
        window: Span::secs(10),
        floor_per_sec: 0.0,
    };
    assert_eq!(
        run(&empty, read, unavailable, false),
        Some(Stopped::BudgetEmpty)
    );
}

#[test]
fn the_servers_wait_is_honoured_bounded_and_never_shortened() {
    let mut spec = three_attempts();
    spec.deadline.limit = Some(Span::secs(10));
    spec.retry.on = spec.retry.on.with(FailureKind::Overloaded);
    let run = |spec: &Spec, seconds| {
        let mut client = client(spec);
        let mut call = client.begin(ms(0), request(1));
        drain(&mut client, &mut call, ms(0));
        client.on_reply(&mut call, ms(0), 1, asked(FailureKind::Overloaded, seconds));
        let actions = drain(&mut client, &mut call, ms(0));
        (call.timer(), actions.first().copied())
    };
    let too_long = |needed| {
        let stopped = Stopped::RetryAfterTooLong {
            needed: Span::secs(needed),
        };
        (
            None,
            Some(finish(1, Some(stopped), Some(FailureKind::Overloaded))),
        )
    };
    assert_eq!(run(&spec, 0), (Some(ms(25)), None), "own backoff");
    assert_eq!(run(&spec, 2), (Some(ms(2000)), None));
    assert_eq!(run(&spec, 120), too_long(120));
    spec.retry.retry_after = RetryAfter {
        max: Span::secs(5),
        spread: Span::secs(1),
        ..RetryAfter::default()
    };
    assert_eq!(
        run(&spec, 5),
        (Some(ms(5500)), None),
        "5 s and half of the spread"
    );
    assert_eq!(run(&spec, 6), too_long(6));
    spec.retry.retry_after.honour = false;
    assert_eq!(run(&spec, 120), (Some(ms(25)), None));
}

#[test]
fn the_budget_bounds_retries_over_all_calls_of_a_client() {
    let mut spec = three_attempts();
    spec.retry.backoff = Backoff::None;
    spec.budget = Budget::Ratio {
        of: BudgetEvent::Calls,
        ratio: 0.1,
        burst: 1.0,
    };
    let mut client = client(&spec);
    for key in 0..100 {
        let mut call = client.begin(ms(0), request(key));
        drain(&mut client, &mut call, ms(0));
        while !call.is_finished() {
            let attempt = call.attempts();
            client.on_reply(&mut call, ms(0), attempt, failed(FailureKind::Unavailable));
            drain(&mut client, &mut call, ms(0));
        }
    }
    // One from the burst; then each ten calls pay exactly one.
    assert_eq!(client.stats().retries, 1 + 9);
}

#[test]
fn a_token_for_a_retry_that_is_not_sent_goes_back() {
    let mut spec = three_attempts();
    spec.budget = Budget::Ratio {
        of: BudgetEvent::Calls,
        ratio: 0.1,
        burst: 1.0,
    };
    let mut client = client(&spec);
    let mut call = client.begin(ms(0), request(1));
    drain(&mut client, &mut call, ms(0));
    client.on_reply(&mut call, ms(1), 1, failed(FailureKind::Unavailable));
    drain(&mut client, &mut call, ms(1));
    assert_eq!(client.budget_balance(ms(1)), 0.0);
    client.cancel(&mut call, ms(2));
    let end = finish(1, Some(Stopped::Cancelled), Some(FailureKind::Unavailable));
    assert_eq!(drain(&mut client, &mut call, ms(2)), [end]);
    assert_eq!(client.budget_balance(ms(2)), 1.0);
}

#[test]
fn the_kill_switch_also_stops_retries_that_are_waiting() {
    let mut client = client(&three_attempts());
    let mut call = client.begin(ms(0), request(1));
    drain(&mut client, &mut call, ms(0));
    client.on_reply(&mut call, ms(1), 1, failed(FailureKind::Unavailable));
    drain(&mut client, &mut call, ms(1));
    client.set_kill_switch(true);
    client.on_timer(&mut call, ms(26));
    let end = finish(1, Some(Stopped::KillSwitch), Some(FailureKind::Unavailable));
    assert_eq!(drain(&mut client, &mut call, ms(26)), [end]);
}

fn breaker(counts: Counts) -> Breaker {
    Breaker {
        rule: BreakerRule::Rates(Rates {
            window: Window::Count(4),
            failure_rate: 0.5,
            slow_rate: None,
            slow_after: Span::MAX,
            minimum_calls: 2,
            open_for: Span::millis(500),
            half_open_calls: 1,
            ramp: None,
        }),
        counts: Some(counts),
        count_refusals: false,
        on: FailureSet::of(&[FailureKind::Unavailable, FailureKind::Timeout]),
        ignored: FailureSet::NONE,
    }
}

#[test]
fn an_open_breaker_refuses_until_a_trial_goes_well() {
    let mut spec = three_attempts();
    spec.retry.max_attempts = 1;
    spec.breaker = Some(breaker(Counts::Attempts));
    let mut client = client(&spec);
    let one = |client: &mut Client, at, reply| {
        let mut call = client.begin(ms(at), request(at));
        let first = drain(client, &mut call, ms(at));
        client.on_reply(&mut call, ms(at), 1, reply);
        drain(client, &mut call, ms(at));
        first[0]
    };
    let unavailable = failed(FailureKind::Unavailable);
    one(&mut client, 0, unavailable);
    assert_eq!(client.breaker_state(ms(0)), Some(BreakerState::Closed));
    one(&mut client, 1, unavailable);
    assert_eq!(client.breaker_state(ms(1)), Some(BreakerState::Open));
    let refused = finish(0, Some(Stopped::BreakerOpen), None);
    assert_eq!(one(&mut client, 500, Reply::Ok), refused);
    assert_eq!(client.breaker_state(ms(501)), Some(BreakerState::HalfOpen));
    one(&mut client, 501, unavailable);
    assert_eq!(client.breaker_state(ms(502)), Some(BreakerState::Open));
    one(&mut client, 1001, Reply::Ok);
    assert_eq!(client.breaker_state(ms(1001)), Some(BreakerState::Closed));
    assert_eq!(client.breaker_openings(), 2);
}

#[test]
fn the_trial_of_a_cancelled_call_goes_to_the_next() {
    let mut spec = three_attempts();
    spec.retry.max_attempts = 1;
    for counts in [Counts::Attempts, Counts::Calls] {
        spec.breaker = Some(breaker(counts));
        let mut client = client(&spec);
        for key in 0..2 {
            let mut call = client.begin(ms(0), request(key));
            drain(&mut client, &mut call, ms(0));
            client.on_reply(&mut call, ms(0), 1, failed(FailureKind::Unavailable));
            drain(&mut client, &mut call, ms(0));
        }
        let mut trial = client.begin(ms(500), request(3));
        assert_eq!(drain(&mut client, &mut trial, ms(500)).len(), 1);
        let mut other = client.begin(ms(500), request(4));
        let refused = finish(0, Some(Stopped::BreakerOpen), None);
        assert_eq!(drain(&mut client, &mut other, ms(500)), [refused]);
        client.cancel(&mut trial, ms(501));
        let end = finish(1, Some(Stopped::Cancelled), None);
        assert_eq!(
            drain(&mut client, &mut trial, ms(501)),
            [Action::Abandon(1), end]
        );
        let mut next = client.begin(ms(501), request(5));
        assert_eq!(
            drain(&mut client, &mut next, ms(501)),
            sends(1, Some(100), Some(1501))
        );
    }
}

#[test]
fn counting_calls_one_call_is_one_result_however_many_attempts_it_made() {
    let mut spec = three_attempts();
    spec.retry.backoff = Backoff::None;
    let openings = |spec: &Spec, calls| {
        let mut client = client(spec);
        for key in 0..calls {
            let mut call = client.begin(ms(0), request(key));
            drain(&mut client, &mut call, ms(0));
            while !call.is_finished() {
                let attempt = call.attempts();
                client.on_reply(&mut call, ms(0), attempt, failed(FailureKind::Unavailable));
                drain(&mut client, &mut call, ms(0));
            }
        }
        client.breaker_openings()
    };
    spec.breaker = Some(breaker(Counts::Attempts));
    assert_eq!(openings(&spec, 1), 1);
    spec.breaker = Some(breaker(Counts::Calls));
    assert_eq!(openings(&spec, 1), 0);
    assert_eq!(openings(&spec, 2), 1);
}

fn with_bulkhead(max_waiting: u32, hold_during_backoff: bool) -> Spec {
    Spec {
        bulkhead: Some(Bulkhead {
            max_in_flight: 1,
            queue_from: None,
            max_waiting,
            max_wait: Span::millis(50),
            hold_during_backoff: Some(hold_during_backoff),
        }),
        ..three_attempts()
    }
}

#[test]
fn a_permit_goes_to_the_first_in_line() {
    let mut client = client(&with_bulkhead(2, true));
    let mut calls: Vec<Call> = (0..4)
        .map(|key| client.begin(ms(0), request(key)))
        .collect();
    let first: Vec<_> = calls
        .iter_mut()
        .map(|c| drain(&mut client, c, ms(0)))
        .collect();
    assert_eq!(first[0], sends(1, Some(100), Some(1000)));
    assert_eq!([first[1].len(), first[2].len()], [0, 0]);
    assert_eq!(first[3], [finish(0, Some(Stopped::BulkheadFull), None)]);
    assert_eq!(calls[1].timer(), Some(ms(50)));
    assert_eq!(client.next_admitted(), None);
    client.on_reply(&mut calls[0], ms(10), 1, Reply::Ok);
    assert_eq!(client.next_admitted(), Some(CallKey(1)));
    assert_eq!(client.next_admitted(), None);
    assert_eq!(
        drain(&mut client, &mut calls[1], ms(10)),
        sends(1, Some(100), Some(1000))
    );
    client.on_timer(&mut calls[2], ms(50));
    let end = finish(0, Some(Stopped::BulkheadTimeout), None);
    assert_eq!(drain(&mut client, &mut calls[2], ms(50)), [end]);
    client.on_reply(&mut calls[1], ms(60), 1, Reply::Ok);
    assert_eq!(client.bulkhead_load(), Some((0, 0)));
}

#[test]
fn a_permit_granted_to_a_call_that_leaves_goes_on_to_the_next() {
    let mut client = client(&with_bulkhead(2, true));
    let mut calls: Vec<Call> = (0..3)
        .map(|key| client.begin(ms(0), request(key)))
        .collect();
    for call in &mut calls {
        drain(&mut client, call, ms(0));
    }
    client.on_reply(&mut calls[0], ms(10), 1, Reply::Ok);
    client.cancel(&mut calls[1], ms(10));
    assert_eq!(
        client.next_admitted(),
        Some(CallKey(2)),
        "never the one that left"
    );
    assert_eq!(client.next_admitted(), None);
    assert_eq!(drain(&mut client, &mut calls[2], ms(10)).len(), 1);
}

#[test]
fn a_permit_is_held_during_backoff_or_not_as_configured() {
    for (hold, in_use) in [(true, 1), (false, 0)] {
        let mut client = client(&with_bulkhead(1, hold));
        let mut call = client.begin(ms(0), request(1));
        drain(&mut client, &mut call, ms(0));
        client.on_reply(&mut call, ms(1), 1, failed(FailureKind::Unavailable));
        drain(&mut client, &mut call, ms(1));
        assert_eq!(client.bulkhead_load(), Some((in_use, 0)));
        client.on_timer(&mut call, ms(26));
        assert_eq!(drain(&mut client, &mut call, ms(26)).len(), 1);
        assert_eq!(client.bulkhead_load(), Some((1, 0)));
    }
}

#[test]
fn a_call_is_small() {
    assert!(size_of::<Call>() <= 128, "{}", size_of::<Call>());
}

/// What a call of two attempts does whose first fails, with all draws `draw`.
fn after_a_failure(spec: &Spec, draw: f64) -> Vec<Action> {
    let mut client = client(spec);
    let mut call = client.begin(ms(0), request(1));
    let mut drawn = Draw(draw);
    while client.poll(&mut call, ms(0), &mut drawn).is_some() {}
    client.on_reply(&mut call, ms(1), 1, failed(FailureKind::Unavailable));
    std::iter::from_fn(|| client.poll(&mut call, ms(1), &mut drawn)).collect()
}

#[test]
fn who_does_not_persist_gives_up_as_if_all_attempts_were_used() {
    let mut spec = Spec::default();
    spec.retry.max_attempts = 2;
    spec.retry.persistence = 0.8;
    assert_eq!(after_a_failure(&spec, 0.75), sends(2, None, None));
    let given_up = vec![finish(
        1,
        Some(Stopped::AttemptsUsed),
        Some(FailureKind::Unavailable),
    )];
    assert_eq!(after_a_failure(&spec, 0.85), given_up);
    spec.retry.persistence = 0.0;
    assert!(spec.check().is_err(), "retries that never come");
}

#[test]
fn each_attempt_has_a_timeout_of_its_own_when_it_is_spread() {
    let mut spec = Spec {
        attempt_timeout: Some(Span::millis(100)),
        attempt_timeout_jitter: Jitter::Full,
        ..Spec::default()
    };
    let first = |spec: &Spec, draw: f64| {
        let mut client = client(spec);
        let mut call = client.begin(ms(0), request(1));
        let action = client.poll(&mut call, ms(0), &mut Draw(draw));
        (action, call.timer())
    };
    let sent = |timeout_ms| sends(1, Some(timeout_ms), None).pop();
    assert_eq!(first(&spec, 0.25), (sent(25), Some(ms(25))));
    assert_eq!(first(&spec, 0.5), (sent(50), Some(ms(50))));
    assert_eq!(first(&spec, 0.0).1, Some(Time(1)), "never at once");
    // The deadline still bounds it.
    spec.deadline.limit = Some(Span::millis(30));
    assert_eq!(first(&spec, 0.5).1, Some(ms(30)));
    spec.deadline.limit = None;
    spec.attempt_timeout_jitter = Jitter::Decorrelated;
    assert!(spec.check().is_err());
    spec.attempt_timeout_jitter = Jitter::Full;
    spec.attempt_timeout = None;
    assert!(spec.check().is_err(), "nothing to spread");
}
