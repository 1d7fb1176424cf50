//! What one call costs: `begin`, `poll`, `on_reply`, `poll`, in nanoseconds per call.
//!
//! `cargo bench -p seawall`
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::Instant;

use seawall::{
    Action, Backoff, Breaker, BreakerRule, Budget, BudgetEvent, Bulkhead, Call, CallKey, Client,
    Entropy, FailureKind, FailureSet, Hedge, HedgeVariant, Jitter, Operation, Order, Rates, Reply,
    Request, Retry, Scope, Scopes, Span, Spec, Time, Window,
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

fn main() {
    // `cargo test --all-targets` runs benches too, without this flag: then it is enough that it works.
    let measured = std::env::args().any(|arg| arg == "--bench");
    let calls = if measured { 10_000_000 } else { 1_000 };
    let timeout = Spec {
        attempt_timeout: Some(Span::secs(1)),
        ..Spec::default()
    };
    let retries = Spec {
        retry: Retry {
            max_attempts: 3,
            backoff: Backoff::Exponential {
                base: Span::millis(50),
                multiplier: 2.0,
                max: Span::secs(1),
                jitter: Jitter::Full,
            },
            ..Retry::default()
        },
        ..timeout.clone()
    };
    let budget = Spec {
        budget: Budget::Ratio {
            of: BudgetEvent::Calls,
            ratio: 0.1,
            burst: 100.0,
        },
        ..retries.clone()
    };
    let breaker = Spec {
        breaker: Some(Breaker {
            rule: BreakerRule::Rates(Rates {
                window: Window::Count(100),
                failure_rate: 0.5,
                slow_rate: None,
                slow_after: Span::secs(1),
                minimum_calls: 20,
                open_for: Span::secs(30),
                half_open_calls: 5,
                ramp: None,
            }),
            counts: None,
            count_refusals: false,
            on: FailureSet::of(&[FailureKind::Unavailable]),
            ignored: FailureSet::NONE,
        }),
        ..budget.clone()
    };
    let bulkhead = Spec {
        bulkhead: Some(Bulkhead {
            max_in_flight: 50,
            queue_from: None,
            max_waiting: 50,
            max_wait: Span::millis(50),
            hold_during_backoff: Some(true),
        }),
        ..breaker.clone()
    };
    // The same parts with the permit given back, as resilience4j composes them; with a breaker and a bulkhead for each of
    // eight hosts; and hedged instead of retried.
    let mut usual = bulkhead.clone();
    if let Some(bulkhead) = &mut usual.bulkhead {
        bulkhead.hold_during_backoff = None;
    }
    let composed = Spec {
        order: Some(Order::resilience4j()),
        ..usual.clone()
    };
    let per_host = Spec {
        scope: Scopes {
            breaker: Scope::Host { cap: 8 },
            bulkhead: Scope::Host { cap: 8 },
            ..Scopes::default()
        },
        ..usual.clone()
    };
    let mut hedged = usual;
    hedged.retry = Retry::default();
    hedged.hedge = Some(Hedge {
        max_attempts: 3,
        delay: Span::millis(50),
        on: FailureSet::of(&[FailureKind::Unavailable]),
        variant: HedgeVariant::Proposal,
    });
    println!(
        "bytes: Call {}, Client {} (and what its parts keep)",
        size_of::<Call>(),
        size_of::<Client>()
    );
    println!(
        "{:<36} {:>8} {:>16}",
        "ns per call", "all ok", "1 in 10 retried"
    );
    for (name, spec) in [
        ("attempt timeout", &timeout),
        ("+ retries with full jitter", &retries),
        ("+ budget, 10 % of calls", &budget),
        ("+ breaker over 100 attempts", &breaker),
        ("+ bulkhead of 50", &bulkhead),
        ("all, in the order of resilience4j", &composed),
        ("all, breaker and bulkhead per host", &per_host),
        ("all, hedged instead of retried", &hedged),
    ] {
        println!(
            "{name:<36} {:>8.1} {:>16.1}",
            run(spec, calls, u64::MAX),
            run(spec, calls, 10)
        );
    }
}

/// Nanoseconds this process has had a core, where the system says so (a busy machine does not count); else nanoseconds that passed.
fn cpu_time() -> f64 {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/self/schedstat").ok();
    let on_cpu = told.and_then(|text| text.split_whitespace().next()?.parse().ok());
    on_cpu.unwrap_or_else(|| BEGAN.elapsed().as_nanos() as f64)
}

/// The best of five passes; one call in `fails` fails once and is retried if its policy allows.
fn run(spec: &Spec, calls: u64, fails: u64) -> f64 {
    let mut client = Client::new(spec.check().expect("sound"), Time::ZERO);
    let mut entropy = Steps(1);
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let began = cpu_time();
        let mut until_failure = fails;
        for key in 0..calls {
            until_failure -= 1;
            let fail = until_failure == 0;
            if fail {
                until_failure = fails;
            }
            one(&mut client, CallKey(key), fail, &mut entropy);
        }
        best = best.min((cpu_time() - began) / calls as f64);
    }
    let stats = black_box(&client).stats();
    assert_eq!(stats.ok + stats.failed(), stats.calls);
    best
}

/// One call to its end; what its driver would use of each answer is used.
fn one(client: &mut Client, key: CallKey, fail: bool, entropy: &mut Steps) {
    let mut now = Time(key.0 * 1000);
    let request = Request {
        key,
        deadline: None,
        operation: Operation::default(),
    };
    let mut call = client.begin(now, request);
    loop {
        match client.poll(&mut call, now, entropy) {
            Some(Action::Send { attempt, .. }) => {
                black_box(call.timer());
                now.0 += 500;
                let reply = if fail && attempt == 1 {
                    Reply::Failed(FailureKind::Unavailable.into())
                } else {
                    Reply::Ok
                };
                client.on_reply(&mut call, now, black_box(attempt), reply);
            }
            Some(Action::Choose(_)) => client.on_host(&mut call, key.0 % 8),
            Some(Action::Abandon(_)) => {}
            Some(Action::Finish(verdict)) => {
                black_box(verdict.stopped.is_some());
                return;
            }
            None => {
                let Some(timer) = call.timer() else { return };
                now = timer;
                client.on_timer(&mut call, now);
            }
        }
    }
}
