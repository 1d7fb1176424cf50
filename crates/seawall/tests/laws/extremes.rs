//! Nothing a caller does makes it panic: the largest numbers, time running back, unknown replies.

use seawall::{
    Backoff, Breaker, BreakerRule, Budget, BudgetEvent, Bulkhead, Call, CallKey, Client, Counts,
    Deadline, Entropy, Failure, FailureKind, FailureSet, Hedge, HedgeVariant, Jitter, Operation,
    Order, Phase, PhaseSet, Ramp, Rates, RefusalSet, Reply, Request, Retry, RetryAfter, Scope,
    Scopes, Span, Spec, Time, Window,
};

use crate::peers;
use crate::random::Draws;

impl Entropy for Draws {
    fn next_u64(&mut self) -> u64 {
        [0, u64::MAX, self.below(usize::MAX) as u64][self.below(3)]
    }
}

const SPANS: [Span; 6] = [
    Span(1),
    Span(10),
    Span(1 << 40),
    Span(1 << 63),
    Span(u64::MAX - 1),
    Span::MAX,
];

pub(crate) fn span(draws: &mut Draws) -> Span {
    SPANS[draws.below(SPANS.len())]
}

fn time(draws: &mut Draws) -> Time {
    let near = [0, 1, 9, 1 << 40, 1 << 63, u64::MAX - 1, u64::MAX];
    Time(near[draws.below(near.len())])
}

pub(crate) fn number(draws: &mut Draws) -> u32 {
    [1, 2, 3, u32::MAX - 1, u32::MAX][draws.below(5)]
}

/// A sound spec made of extremes.
fn spec(draws: &mut Draws) -> Spec {
    let maybe = |draws: &mut Draws| (draws.below(2) == 0).then(|| span(draws));
    let jitters = [
        Jitter::None,
        Jitter::Full,
        Jitter::Equal,
        Jitter::Decorrelated,
        Jitter::Proportional { ratio: 1.0 },
    ];
    let mut spec = Spec {
        deadline: Deadline {
            limit: maybe(draws),
            default: maybe(draws),
            inherit: draws.below(2) == 0,
            slack: span(draws),
            propagate: draws.below(2) == 0,
        },
        attempt_timeout: maybe(draws),
        attempt_timeout_jitter: Jitter::None,
        retry: Retry {
            max_attempts: number(draws),
            backoff: if draws.below(2) == 0 {
                peers::backoff(draws)
            } else {
                Backoff::Exponential {
                    base: span(draws),
                    multiplier: [1.0, 2.0, f64::MAX][draws.below(3)],
                    max: Span::MAX,
                    jitter: jitters[draws.below(jitters.len())],
                }
            },
            on: FailureSet::of(FailureKind::ALL),
            phases: PhaseSet::ALL,
            unprocessed: FailureSet::NONE,
            reserve: span(draws),
            min_attempt: span(draws),
            retry_after: RetryAfter {
                honour: draws.below(2) == 0,
                max: span(draws),
                spread: span(draws),
            },
            persistence: [1.0, 0.5, f64::MIN_POSITIVE][draws.below(3)],
            refusals: [RefusalSet::NONE, RefusalSet::ALL][draws.below(2)],
        },
        hedge: None,
        budget: [
            Budget::None,
            Budget::Ratio {
                of: BudgetEvent::Calls,
                ratio: 1000.0,
                burst: 1e9,
            },
            Budget::Windowed {
                of: BudgetEvent::Successes,
                ratio: 1000.0,
                window: [Span(10), Span::MAX][draws.below(2)],
                floor_per_sec: 1e9,
            },
            peers::budget(draws),
            peers::budget(draws),
        ][draws.below(5)]
        .clone(),
        breaker: (draws.below(2) == 0).then(|| Breaker {
            rule: if draws.below(3) > 0 {
                peers::breaker(draws)
            } else {
                BreakerRule::Rates(Rates {
                    window: [
                        Window::Count(1),
                        Window::Time(Span(10)),
                        Window::Time(Span::MAX),
                    ][draws.below(3)],
                    failure_rate: f64::MIN_POSITIVE,
                    slow_rate: Some(1.0),
                    slow_after: span(draws),
                    minimum_calls: 1,
                    open_for: span(draws),
                    half_open_calls: number(draws),
                    ramp: [
                        None,
                        Some(Ramp {
                            from: f64::MIN_POSITIVE,
                            factor: f64::MAX,
                            every: span(draws),
                        }),
                        Some(Ramp {
                            from: 0.999,
                            factor: 1.0 + f64::EPSILON,
                            every: Span::ZERO,
                        }),
                    ][draws.below(3)],
                })
            },
            ignored: [FailureSet::NONE, FailureSet::of(FailureKind::ALL)][draws.below(2)],
            counts: [None, Some(Counts::Attempts), Some(Counts::Calls)][draws.below(3)],
            count_refusals: draws.below(2) == 0,
            on: FailureSet::of(FailureKind::ALL),
        }),
        bulkhead: (draws.below(2) == 0).then(|| Bulkhead {
            max_in_flight: number(draws),
            queue_from: [None, Some(1)][draws.below(2)],
            max_waiting: number(draws),
            max_wait: span(draws),
            hold_during_backoff: [None, Some(true), Some(false)][draws.below(3)],
        }),
        limiter: None,
        rate_limit: (draws.below(3) == 0).then(|| peers::rate_limit(draws)),
        order: None,
        scope: Scopes::default(),
    };
    compose(&mut spec, draws);
    if spec.bulkhead.is_some() && draws.below(2) == 0 {
        spec.limiter = Some(peers::limiter(draws));
    }
    if draws.below(4) == 0 && !spec.scope.asks_for_host() {
        spec.retry.max_attempts = 1;
        spec.retry.refusals = RefusalSet::NONE;
        spec.hedge = Some(Hedge {
            max_attempts: 2 + draws.below(4) as u32,
            delay: span(draws),
            on: [FailureSet::NONE, FailureSet::of(FailureKind::ALL)][draws.below(2)],
            variant: HedgeVariant::Proposal,
        });
    }
    if spec.attempt_timeout.is_some() && spec.order.is_none() && spec.hedge.is_none() {
        spec.attempt_timeout_jitter =
            [Jitter::None, Jitter::Exponential, Jitter::Full][draws.below(3)];
    }
    spec.check()
        .unwrap_or_else(|problems| panic!("{problems:?}"));
    spec
}

/// Puts the parts in some order, and tells keys apart where that is possible.
fn compose(spec: &mut Spec, draws: &mut Draws) {
    let orders = [
        Order::resilience4j,
        Order::dotnet_standard,
        Order::envoy,
        Order::finagle,
    ];
    if draws.below(2) == 0 {
        spec.order = Some(orders[draws.below(4)]());
        if let Some(breaker) = &mut spec.breaker {
            breaker.counts = None;
        }
        if let Some(bulkhead) = &mut spec.bulkhead {
            bulkhead.hold_during_backoff = None;
        }
    }
    let scopes = [
        Scope::Process,
        Scope::Host { cap: 1 },
        Scope::Operation { cap: 2 },
        Scope::Tenant { cap: u16::MAX },
    ];
    let mut try_scope = |set: fn(&mut Scopes, Scope)| {
        let mut changed = spec.clone();
        set(&mut changed.scope, scopes[draws.below(4)]);
        if changed.check().is_ok() {
            spec.scope = changed.scope;
        }
    };
    try_scope(|scopes, scope| scopes.breaker = scope);
    try_scope(|scopes, scope| scopes.budget = scope);
    try_scope(|scopes, scope| scopes.bulkhead = scope);
    try_scope(|scopes, scope| scopes.rate_limit = scope);
}

/// Does anything at all, in no order, at any time, to calls of two clients.
#[test]
fn no_input_makes_it_panic() {
    for seed in 0..3000 {
        let mut draws = Draws(seed);
        let mut clients: Vec<Client> = (0..2)
            .map(|_| Client::new(spec(&mut draws).check().expect("sound"), time(&mut draws)))
            .collect();
        let mut calls: Vec<Call> = Vec::new();
        for _ in 0..120 {
            let now = time(&mut draws);
            let client = &mut clients[draws.below(2)];
            if calls.is_empty() || draws.below(4) == 0 {
                let request = Request {
                    key: CallKey(draws.below(3) as u64),
                    deadline: (draws.below(2) == 0).then(|| time(&mut draws)),
                    operation: Operation {
                        retryable: draws.below(4) > 0,
                        idempotent: draws.below(2) == 0,
                        group: draws.below(4) as u64,
                        tenant: draws.below(4) as u64,
                        ..Operation::default()
                    },
                };
                calls.push(client.begin(now, request));
            }
            let i = draws.below(calls.len());
            let call = &mut calls[i];
            match draws.below(8) {
                0..=2 => {
                    let _ = client.poll(call, now, &mut draws);
                }
                3 => client.on_timer(call, now),
                4 => client.cancel(call, now),
                5 => {
                    let attempt = [0, 1, call.attempts(), u32::MAX][draws.below(4)];
                    client.on_reply(call, now, attempt, Reply::Ok);
                }
                6 => {
                    let failure = Failure {
                        kind: FailureKind::ALL[draws.below(FailureKind::ALL.len())],
                        phase: Phase::ALL[draws.below(8)],
                        retry_after: (draws.below(2) == 0).then(|| span(&mut draws)),
                    };
                    let attempt = call.attempts();
                    client.on_reply(call, now, attempt, Reply::Failed(failure));
                }
                _ => {
                    let _ = client.next_admitted();
                    client.on_host(call, draws.below(3) as u64);
                    let _ = client.admits_host(now, draws.below(3) as u64);
                    let _ = client.breaker_state(now);
                    let _ = client.budget_balance(now);
                    client.set_kill_switch(draws.below(3) == 0);
                    // Two copies of one call, and calls driven through a client not their own.
                    let copy = calls[i];
                    calls.push(copy);
                }
            }
        }
    }
}
