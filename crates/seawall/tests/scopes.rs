//! Breakers, bulkheads and budgets for everybody, or for those with a key in common.

use seawall::{
    Action, Breaker, BreakerRule, BreakerState, Budget, BudgetEvent, Bulkhead, Call, CallKey,
    Client, Entropy, FailureKind, FailureSet, Operation, Rates, Reply, Request, Retry, Scope,
    Scopes, Span, Spec, Stopped, Time, Window,
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

/// One attempt, a breaker that opens after two failures, one permit and one retry token.
fn client(scope: Scopes) -> Client {
    let spec = Spec {
        retry: Retry {
            max_attempts: 2,
            on: FailureSet::of(&[FailureKind::Unavailable]),
            ..Retry::default()
        },
        breaker: Some(Breaker {
            rule: BreakerRule::Rates(Rates {
                window: Window::Count(2),
                failure_rate: 1.0,
                slow_rate: None,
                slow_after: Span::MAX,
                minimum_calls: 2,
                open_for: Span::secs(9),
                half_open_calls: 1,
                ramp: None,
            }),
            counts: None,
            count_refusals: false,
            on: FailureSet::of(&[FailureKind::Internal]),
            ignored: FailureSet::NONE,
        }),
        bulkhead: Some(Bulkhead {
            max_in_flight: 1,
            queue_from: None,
            max_waiting: 1,
            max_wait: Span::secs(1),
            hold_during_backoff: None,
        }),
        budget: Budget::Ratio {
            of: BudgetEvent::Successes,
            ratio: 0.1,
            burst: 1.0,
        },
        scope,
        ..Spec::default()
    };
    Client::new(spec.check().expect("sound"), Time::ZERO)
}

fn begin(client: &mut Client, key: u64, group: u64, tenant: u64) -> Call {
    let request = Request {
        key: CallKey(key),
        deadline: None,
        operation: Operation {
            group,
            tenant,
            ..Operation::default()
        },
    };
    client.begin(ms(0), request)
}

/// What the last action was, hosts being told as asked.
fn polled(client: &mut Client, call: &mut Call, host: u64) -> Option<Action> {
    let mut last = None;
    while let Some(action) = client.poll(call, ms(0), &mut Zeros) {
        if let Action::Choose(_) = action {
            client.on_host(call, host);
        }
        last = Some(action);
    }
    last
}

fn fail_once(client: &mut Client, call: &mut Call, host: u64) {
    assert!(matches!(
        polled(client, call, host),
        Some(Action::Send { .. })
    ));
    let attempt = call.attempts();
    client.on_reply(
        call,
        ms(0),
        attempt,
        Reply::Failed(FailureKind::Internal.into()),
    );
    polled(client, call, host);
}

fn stopped(action: Option<Action>) -> Option<Stopped> {
    match action {
        Some(Action::Finish(verdict)) => verdict.stopped,
        _ => None,
    }
}

#[test]
fn a_breaker_per_host_opens_for_the_bad_one_alone() {
    let breaker = Scope::Host { cap: 10 };
    let mut client = client(Scopes {
        breaker,
        ..Scopes::default()
    });
    for key in 0..2 {
        let mut call = begin(&mut client, key, 0, 0);
        fail_once(&mut client, &mut call, 7);
    }
    assert!(!client.admits_host(ms(0), 7));
    assert!(client.admits_host(ms(0), 8), "a host that nobody has seen");
    let mut to_bad = begin(&mut client, 2, 0, 0);
    assert_eq!(
        stopped(polled(&mut client, &mut to_bad, 7)),
        Some(Stopped::BreakerOpen)
    );
    let mut to_good = begin(&mut client, 3, 0, 0);
    assert!(matches!(
        polled(&mut client, &mut to_good, 8),
        Some(Action::Send { .. })
    ));
    let states: Vec<_> = client
        .breakers()
        .map(|(host, breaker)| (host, breaker.state(ms(0))))
        .collect();
    assert_eq!(
        states,
        [
            (Some(7), BreakerState::Open),
            (Some(8), BreakerState::Closed)
        ]
    );
    assert_eq!(client.breaker_openings(), 1);
}

#[test]
fn a_breaker_per_operation_and_one_per_process() {
    for (breaker, other) in [
        (Scope::Operation { cap: 9 }, None),
        (Scope::Process, Some(Stopped::BreakerOpen)),
    ] {
        let mut client = client(Scopes {
            breaker,
            ..Scopes::default()
        });
        for key in 0..2 {
            let mut call = begin(&mut client, key, 1, 0);
            fail_once(&mut client, &mut call, 0);
        }
        let mut call = begin(&mut client, 2, 2, 0);
        assert_eq!(stopped(polled(&mut client, &mut call, 0)), other);
    }
}

#[test]
fn tenants_have_permits_and_tokens_of_their_own_and_those_beyond_the_cap_share() {
    let tenant = Scope::Tenant { cap: 2 };
    let mut client = client(Scopes {
        budget: tenant,
        bulkhead: tenant,
        ..Scopes::default()
    });
    let mut calls: Vec<Call> = (0..4)
        .map(|tenant| begin(&mut client, tenant, 0, tenant))
        .collect();
    // 0 and 1 have an entry each; 2 and 3 share the third.
    let sent: Vec<bool> = (calls.iter_mut())
        .map(|call| matches!(polled(&mut client, call, 0), Some(Action::Send { .. })))
        .collect();
    assert_eq!(sent, [true, true, true, false]);
    assert_eq!(client.bulkhead_load(), Some((3, 1)));
    assert_eq!(client.stats().beyond_cap, 4, "two calls, two parts each");
    // The permit of 2 goes to 3, and to nobody else.
    client.on_reply(&mut calls[2], ms(0), 1, Reply::Ok);
    polled(&mut client, &mut calls[2], 0);
    assert_eq!(client.next_admitted(), Some(CallKey(3)));
    assert_eq!(client.next_admitted(), None);
    assert!(matches!(
        polled(&mut client, &mut calls[3], 0),
        Some(Action::Send { .. })
    ));
    // One token each.
    for (call, retried) in [(0, true), (1, true)] {
        let failed = Reply::Failed(FailureKind::Unavailable.into());
        client.on_reply(&mut calls[call], ms(0), 1, failed);
        let action = polled(&mut client, &mut calls[call], 0);
        assert_eq!(
            matches!(action, Some(Action::Send { attempt: 2, .. })),
            retried
        );
    }
}

#[test]
fn scopes_that_make_no_sense_are_refused() {
    let fields = |change: fn(&mut Spec)| {
        let mut spec = client(Scopes::default()).policy().spec().clone();
        change(&mut spec);
        let errors = spec.check().err().unwrap_or_default();
        errors.iter().map(|error| error.field).collect::<Vec<_>>()
    };
    assert_eq!(
        fields(|spec| spec.scope.budget = Scope::Host { cap: 1 }),
        ["scope.budget"]
    );
    assert_eq!(
        fields(|spec| spec.scope.bulkhead = Scope::Tenant { cap: 0 }),
        ["scope.bulkhead"]
    );
    assert_eq!(
        fields(|spec| spec.scope.rate_limit = Scope::Tenant { cap: 1 }),
        ["scope.rate_limit"]
    );
    let outside = |spec: &mut Spec| {
        spec.scope.bulkhead = Scope::Host { cap: 1 };
        if let Some(bulkhead) = &mut spec.bulkhead {
            bulkhead.hold_during_backoff = Some(true);
        }
    };
    assert_eq!(fields(outside), ["scope.bulkhead"]);
}
