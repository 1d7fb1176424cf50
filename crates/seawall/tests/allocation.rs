//! Nothing is allocated per call once the line for permits has been at its longest.

use seawall::{
    Action, Backoff, Breaker, BreakerRule, Budget, BudgetEvent, Bulkhead, Call, CallKey, Client,
    Counts, Deadline, Entropy, FailureKind, FailureSet, Hedge, HedgeVariant, Jitter, Operation,
    Order, Rates, Reply, Request, Retry, Scope, Scopes, Span, Spec, Stopped, Time, Window,
};

struct Steps(u64);

impl Entropy for Steps {
    fn next_u64(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.0
    }
}

const TOGETHER: usize = 8;

fn everything(window: Window, counts: Counts) -> Spec {
    let transient = FailureSet::of(&[FailureKind::Timeout, FailureKind::Unavailable]);
    Spec {
        deadline: Deadline {
            limit: Some(Span::millis(500)),
            ..Deadline::default()
        },
        attempt_timeout: Some(Span::millis(50)),
        retry: Retry {
            max_attempts: 4,
            backoff: Backoff::Exponential {
                base: Span::millis(5),
                multiplier: 2.0,
                max: Span::millis(50),
                jitter: Jitter::Decorrelated,
            },
            on: transient,
            ..Retry::default()
        },
        budget: Budget::Windowed {
            of: BudgetEvent::Successes,
            ratio: 0.02,
            window: Span::secs(1),
            floor_per_sec: 5.0,
        },
        breaker: Some(Breaker {
            rule: BreakerRule::Rates(Rates {
                window,
                failure_rate: 0.7,
                slow_rate: None,
                slow_after: Span::MAX,
                minimum_calls: 10,
                open_for: Span::millis(20),
                half_open_calls: 2,
                ramp: None,
            }),
            ignored: FailureSet::NONE,
            counts: Some(counts),
            count_refusals: false,
            on: transient,
        }),
        bulkhead: Some(Bulkhead {
            max_in_flight: 3,
            queue_from: None,
            max_waiting: 4,
            max_wait: Span::millis(40),
            hold_during_backoff: None,
        }),
        ..Spec::default()
    }
}

/// Does what an action asks for: half of all attempts are answered well, a quarter with a failure
/// and a quarter never.
fn bring_on(client: &mut Client, call: &mut Call, now: Time, draws: &mut Steps) {
    while let Some(action) = client.poll(call, now, draws) {
        if let Action::Choose(attempt) = action {
            client.on_host(call, call.key().0 % 5 + u64::from(attempt) % 2);
        }
        if let Action::Send { attempt, .. } = action {
            let reply = match draws.next_u64() >> 62 {
                0 => continue,
                1 => Reply::Failed(FailureKind::Unavailable.into()),
                _ => Reply::Ok,
            };
            client.on_reply(call, now, attempt, reply);
        }
    }
}

fn run(client: &mut Client, calls: &mut Vec<Call>, now: &mut Time, rounds: u64, draws: &mut Steps) {
    for _ in 0..rounds {
        calls.clear();
        *now = now.after(Span::millis(10));
        for key in 0..TOGETHER as u64 {
            let mut call = client.begin(
                *now,
                Request {
                    key: CallKey(key),
                    deadline: None,
                    operation: Operation {
                        group: key % 3,
                        tenant: key % 5,
                        ..Operation::default()
                    },
                },
            );
            bring_on(client, &mut call, *now, draws);
            calls.push(call);
        }
        while let Some(timer) = calls.iter().filter_map(Call::timer).min() {
            *now = (*now).max(timer);
            for call in calls.iter_mut() {
                client.on_timer(call, *now);
                bring_on(client, call, *now, draws);
            }
            while let Some(CallKey(key)) = client.next_admitted() {
                bring_on(client, &mut calls[key as usize], *now, draws);
            }
        }
    }
}

/// Every order, hosts, tenants beyond the cap, and copies.
fn composed() -> Vec<Spec> {
    let mut plain = everything(Window::Count(20), Counts::Attempts);
    if let Some(breaker) = &mut plain.breaker {
        breaker.counts = None;
    }
    if let Some(bulkhead) = &mut plain.bulkhead {
        bulkhead.hold_during_backoff = None;
    }
    let orders = [
        Order::resilience4j(),
        Order::dotnet_standard(),
        Order::envoy(),
        Order::finagle(),
    ];
    let in_order = orders.map(|order| Spec {
        order: Some(order),
        ..plain.clone()
    });
    let per = |scope| Spec {
        scope,
        ..plain.clone()
    };
    let mut specs = in_order.to_vec();
    specs.push(per(Scopes {
        breaker: Scope::Host { cap: 3 },
        bulkhead: Scope::Host { cap: 1 },
        ..Scopes::default()
    }));
    specs.push(per(Scopes {
        breaker: Scope::Operation { cap: 2 },
        budget: Scope::Tenant { cap: 2 },
        bulkhead: Scope::Tenant { cap: 2 },
        ..Scopes::default()
    }));
    let mut hedged = plain.clone();
    hedged.retry.max_attempts = 1;
    hedged.hedge = Some(Hedge {
        max_attempts: 3,
        delay: Span::millis(4),
        on: FailureSet::of(&[FailureKind::Timeout, FailureKind::Unavailable]),
        variant: HedgeVariant::Proposal,
    });
    specs.push(hedged);
    specs
}

#[test]
fn orders_scopes_and_copies_allocate_nothing_after_warm_up() {
    for spec in composed() {
        let mut client = Client::new(spec.check().expect("sound"), Time::ZERO);
        let mut calls = Vec::with_capacity(TOGETHER);
        let (mut now, mut draws) = (Time::ZERO, Steps(1));
        run(&mut client, &mut calls, &mut now, 3_000, &mut draws);
        let hot = allocation_counter::measure(|| {
            run(&mut client, &mut calls, &mut now, 3_000, &mut draws);
        });
        assert_eq!(hot.count_total, 0, "{:?} {:?}", spec.order, spec.scope);
        let stats = client.stats();
        assert!(stats.ok > 0 && stats.retries > 0);
        assert_eq!(stats.hedges > 0, spec.hedge.is_some());
        assert_eq!(stats.in_flight(), 0);
    }
}

#[test]
fn a_call_allocates_nothing_after_warm_up() {
    for (window, counts) in [
        (Window::Count(20), Counts::Attempts),
        (Window::Time(Span::millis(100)), Counts::Calls),
    ] {
        let policy = everything(window, counts).check().expect("sound");
        let mut client = Client::new(policy, Time::ZERO);
        let mut calls = Vec::with_capacity(TOGETHER);
        let (mut now, mut draws) = (Time::ZERO, Steps(1));
        let warm = allocation_counter::measure(|| {
            run(&mut client, &mut calls, &mut now, 200, &mut draws);
        });
        assert!(
            warm.count_total > 0,
            "the line itself is allocated, or nothing is measured"
        );
        let hot = allocation_counter::measure(|| {
            run(&mut client, &mut calls, &mut now, 5_000, &mut draws);
        });
        assert_eq!(hot.count_total, 0);

        // All of it was in use.
        let stats = client.stats();
        assert!(stats.ok > 0 && stats.retries > 0 && stats.waited > 0);
        assert!(client.breaker_openings() > 0);
        for stopped in [
            Stopped::BudgetEmpty,
            Stopped::BreakerOpen,
            Stopped::BulkheadFull,
        ] {
            assert!(stats.stopped[stopped.index()] > 0, "{}", stopped.name());
        }
    }
}
