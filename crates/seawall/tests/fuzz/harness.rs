//! What is true of the engine whatever is done to it. Used by the fuzz targets and by the replay of their corpus, hence
//! nothing here but what both can build.

use std::collections::BTreeSet;

use seawall::{
    Action, Backoff, Breaker, BreakerRule, Budget, BudgetEvent, Bulkhead, Call, CallKey, Client,
    Deadline, Entropy, Failure, FailureKind, FailureSet, Hedge, HedgeVariant, Jitter, Operation,
    Order, Phase, Preset, PushbackParser, RateLimit, Rates, RefusalSet, Reply, Request, Scope,
    Scopes, Span, Spec, Time, Window, parse_pushback, parse_retry_after, rate_limit,
};

/// Bytes as decisions; zeros when they are used up.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    fn below(&mut self, n: u8) -> u8 {
        self.next() % n
    }

    fn flag(&mut self) -> bool {
        self.next() & 1 == 1
    }

    /// A length of time: none, the shortest, some milliseconds, for ever.
    fn span(&mut self) -> Span {
        match self.next() {
            0 => Span::ZERO,
            1 => Span(1),
            255 => Span::MAX,
            n => Span::millis(u64::from(n)),
        }
    }

    fn some_span(&mut self) -> Span {
        self.span().max(Span(1))
    }
}

impl Entropy for Bytes<'_> {
    fn next_u64(&mut self) -> u64 {
        u64::from(self.next()) << 56 | 0x00ff_00ff_00ff_00ff
    }
}

fn spec(bytes: &mut Bytes<'_>) -> Spec {
    let mut spec = Preset::ALL[usize::from(bytes.below(11))].spec();
    if bytes.flag() {
        spec.retry.max_attempts = 1 + u32::from(bytes.below(4));
        spec.retry.on = FailureSet::of(FailureKind::ALL);
        spec.retry.backoff = Backoff::Fixed {
            delay: bytes.span(),
            jitter: Jitter::Full,
        };
    }
    if bytes.flag() {
        spec.deadline = Deadline {
            limit: Some(bytes.some_span()),
            ..Deadline::default()
        };
        spec.attempt_timeout = Some(bytes.some_span());
    }
    if bytes.flag() {
        spec.budget = Budget::Ratio {
            of: BudgetEvent::Successes,
            ratio: 0.5,
            burst: 2.0,
        };
    }
    if bytes.flag() {
        spec.bulkhead = Some(Bulkhead {
            max_in_flight: 1 + u32::from(bytes.below(3)),
            queue_from: None,
            max_waiting: u32::from(bytes.below(3)),
            max_wait: bytes.some_span(),
            hold_during_backoff: None,
        });
    }
    if bytes.flag() {
        spec.breaker = Some(Breaker {
            rule: BreakerRule::Rates(Rates {
                window: Window::Count(3),
                failure_rate: 0.5,
                slow_rate: None,
                slow_after: Span::MAX,
                minimum_calls: 2,
                open_for: bytes.some_span(),
                half_open_calls: 1,
                ramp: None,
            }),
            counts: None,
            count_refusals: bytes.flag(),
            on: FailureSet::of(FailureKind::ALL),
            ignored: FailureSet::NONE,
        });
    }
    if bytes.flag() {
        spec.rate_limit = Some(RateLimit::Gcra {
            gcra: rate_limit::Gcra {
                period: bytes.some_span(),
                burst: 1,
            },
            max_wait: bytes.span(),
        });
    }
    let orders = [
        Order::resilience4j,
        Order::dotnet_standard,
        Order::envoy,
        Order::finagle,
    ];
    spec.order = (bytes.below(5) as usize)
        .checked_sub(1)
        .map(|index| orders[index]());
    spec.retry.refusals = [RefusalSet::NONE, RefusalSet::ALL][usize::from(bytes.flag())];
    scoped(&mut spec, bytes);
    if bytes.below(3) == 0 {
        spec.retry.max_attempts = 1;
        spec.retry.refusals = RefusalSet::NONE;
        spec.hedge = Some(Hedge {
            max_attempts: 2 + u32::from(bytes.below(4)),
            delay: bytes.span(),
            on: FailureSet::of(&[FailureKind::Unavailable, FailureKind::Timeout]),
            variant: HedgeVariant::Proposal,
        });
    }
    spec
}

fn scoped(spec: &mut Spec, bytes: &mut Bytes<'_>) {
    let scopes = [
        Scope::Process,
        Scope::Tenant { cap: 2 },
        Scope::Operation { cap: 1 },
        Scope::Host { cap: 2 },
    ];
    let mut scope = || scopes[usize::from(bytes.below(4))];
    let wanted = Scopes {
        breaker: scope(),
        budget: scope(),
        bulkhead: scope(),
        rate_limit: scope(),
    };
    let sets: [fn(&mut Scopes, Scopes); 4] = [
        |it, wanted| it.breaker = wanted.breaker,
        |it, wanted| it.budget = wanted.budget,
        |it, wanted| it.bulkhead = wanted.bulkhead,
        |it, wanted| it.rate_limit = wanted.rate_limit,
    ];
    for set in sets {
        let mut trial = spec.clone();
        set(&mut trial.scope, wanted);
        if trial.check().is_ok() {
            spec.scope = trial.scope;
        }
    }
}

struct Driven {
    call: Call,
    out: BTreeSet<u32>,
    sent: u32,
    over: bool,
}

struct Desk<'a> {
    client: Client,
    calls: Vec<Driven>,
    now: Time,
    bytes: Bytes<'a>,
}

impl Desk<'_> {
    fn drain(&mut self, index: usize) {
        let most = self.client.policy().spec().max_attempts();
        let driven = &mut self.calls[index];
        // At most 255 refused tries may follow each other in an instant, each with a host to choose.
        for _ in 0..600 {
            let Some(action) = self
                .client
                .poll(&mut driven.call, self.now, &mut self.bytes)
            else {
                return;
            };
            assert!(!driven.over, "{action:?} after the end");
            match action {
                Action::Choose(attempt) => {
                    assert_eq!(attempt, driven.sent + 1);
                    let host = u64::from(self.bytes.below(4));
                    let _ = self.client.admits_host(self.now, host);
                    self.client.on_host(&mut driven.call, host);
                }
                Action::Send { attempt, .. } => {
                    driven.sent += 1;
                    assert_eq!(attempt, driven.sent, "attempts are numbered");
                    assert!(attempt <= most, "no more than {most}");
                    driven.out.insert(attempt);
                }
                Action::Abandon(attempt) => {
                    assert!(driven.out.remove(&attempt), "{attempt} is out")
                }
                Action::Finish(verdict) => {
                    assert_eq!(verdict.attempts, driven.sent);
                    assert!(driven.out.is_empty(), "nothing is left behind");
                    driven.over = true;
                }
            }
        }
        panic!("a call keeps its driver busy for ever");
    }

    fn admit(&mut self) {
        while let Some(CallKey(key)) = self.client.next_admitted() {
            self.drain(key as usize);
        }
    }

    fn step(&mut self) {
        let what = self.bytes.below(8);
        if what == 0 || self.calls.is_empty() {
            let operation = Operation {
                retryable: self.bytes.below(4) > 0,
                idempotent: self.bytes.below(4) > 0,
                group: u64::from(self.bytes.below(3)),
                tenant: u64::from(self.bytes.below(4)),
                ..Operation::default()
            };
            let request = Request {
                key: CallKey(self.calls.len() as u64),
                deadline: self.bytes.flag().then(|| self.now.after(self.bytes.span())),
                operation,
            };
            self.calls.push(Driven {
                call: self.client.begin(self.now, request),
                out: BTreeSet::new(),
                sent: 0,
                over: false,
            });
            self.drain(self.calls.len() - 1);
            return;
        }
        let index = usize::from(self.bytes.next()) % self.calls.len();
        let driven = &mut self.calls[index];
        match what {
            1 | 2 => {
                // An answer to an attempt that is out, or to one that is not.
                let attempt = match self.bytes.below(4) {
                    0 => u32::from(self.bytes.next()),
                    _ => driven.out.first().copied().unwrap_or(1),
                };
                driven.out.remove(&attempt);
                self.client
                    .on_reply(&mut driven.call, self.now, attempt, Reply::Ok);
            }
            3 | 4 => {
                let attempt = driven.out.last().copied().unwrap_or(0);
                driven.out.remove(&attempt);
                let failure = Failure {
                    kind: FailureKind::ALL[usize::from(self.bytes.next()) % FailureKind::ALL.len()],
                    phase: Phase::ALL[usize::from(self.bytes.below(8))],
                    retry_after: self.bytes.flag().then(|| self.bytes.span()),
                };
                self.client
                    .on_reply(&mut driven.call, self.now, attempt, Reply::Failed(failure));
            }
            5 => {
                if let Some(timer) = driven.call.timer() {
                    self.now = self.now.max(timer);
                }
                self.client.on_timer(&mut driven.call, self.now);
            }
            6 => self.client.cancel(&mut driven.call, self.now),
            _ => {
                self.client.set_kill_switch(self.bytes.below(4) == 0);
                self.now = self.now.after(self.bytes.span().min(Span::secs(1)));
            }
        }
        self.drain(index);
    }

    fn check(&mut self) {
        let stats = self.client.stats();
        assert_eq!(stats.calls, self.calls.len() as u64);
        let over = self.calls.iter().filter(|driven| driven.over).count() as u64;
        assert_eq!(stats.ok + stats.failed(), over, "each call ends once");
        assert_eq!(
            stats.attempts,
            self.calls
                .iter()
                .map(|driven| u64::from(driven.sent))
                .sum::<u64>()
        );
        if let Budget::Ratio { burst, .. } = self.client.policy().spec().budget {
            let balance = self.client.budget_balance(self.now);
            assert!(
                (0.0..=burst).contains(&balance),
                "{balance} tokens of {burst}"
            );
        }
    }
}

/// Reads a policy and a life of calls under it from the bytes, and checks what must hold.
///
/// # Panics
/// When it does not.
pub(crate) fn engine(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    // What is not sound is refused, and that is all there is to it.
    let Ok(policy) = spec(&mut bytes).check() else {
        return;
    };
    let mut desk = Desk {
        client: Client::new(policy, Time::ZERO),
        calls: Vec::new(),
        now: Time::ZERO,
        bytes,
    };
    for _ in 0..200 {
        if desk.bytes.0.is_empty() {
            break;
        }
        desk.step();
        desk.admit();
        desk.check();
    }
    for index in 0..desk.calls.len() {
        desk.client.cancel(&mut desk.calls[index].call, desk.now);
        desk.drain(index);
        desk.admit();
    }
    desk.check();
    assert!(desk.calls.iter().all(|driven| driven.over));
    assert!(
        desk.client
            .bulkhead_load()
            .is_none_or(|load| load == (0, 0)),
        "permits come back"
    );
}

/// Reads `Retry-After` and gRPC's pushback from whatever the bytes are.
///
/// # Panics
/// When a reader does.
pub(crate) fn headers(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (head, value) = text.split_once('\n').unwrap_or(("0", &text));
    let now = head.trim().parse().unwrap_or(0);
    if let Some(wait) = parse_retry_after(value, now) {
        assert!(
            wait.0.is_multiple_of(1_000_000_000) || wait == Span::MAX,
            "whole seconds"
        );
    }
    for parser in [PushbackParser::Bits32, PushbackParser::Bits64] {
        let _ = parse_pushback([value], parser);
        let _ = parse_pushback(value.split(','), parser);
    }
}
