//! What one call costs: `begin`, `poll`, `on_reply`, `poll`, in nanoseconds per call.
//!
//! `cargo bench -p seawall`
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::hint::black_box;
use std::time::Instant;

use seawall::{
    Action, Backoff, Breaker, BreakerRule, Budget, BudgetEvent, Bulkhead, CallKey, Client, Entropy,
    FailureKind, FailureSet, Jitter, Operation, Rates, Reply, Request, Retry, Span, Spec, Time,
    Window,
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
    ] {
        println!(
            "{name:<36} {:>8.1} {:>16.1}",
            run(spec, calls, u64::MAX),
            run(spec, calls, 10)
        );
    }
}

/// The best of five passes; one call in `fails` fails once and is retried if its policy allows.
fn run(spec: &Spec, calls: u64, fails: u64) -> f64 {
    let mut client = Client::new(spec.check().expect("sound"), Time::ZERO);
    let mut entropy = Steps(1);
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let began = Instant::now();
        let mut until_failure = fails;
        for key in 0..calls {
            until_failure -= 1;
            let fail = until_failure == 0;
            if fail {
                until_failure = fails;
            }
            one(&mut client, CallKey(key), fail, &mut entropy);
        }
        best = best.min(began.elapsed().as_secs_f64() / calls as f64 * 1e9);
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
            Some(Action::Abandon(_) | Action::Choose(_)) => {}
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
