//! The engine on std alone: one thread, one flaky function, and every decision printed.
//!
//! `cargo run -p seawall --example blocking`
//!
//! The function is well for two calls, has a hiccup, goes down, and comes back. Watch the retry of the
//! hiccup, the budget running out in the outage, the breaker opening, and its trial when all is over.
#![allow(clippy::disallowed_methods)]

use std::thread::sleep;
use std::time::Duration;

use seawall::{
    Action, Backoff, Breaker, BreakerRule, Budget, BudgetEvent, CallError, CallKey, Client,
    Deadline, Entropy, FailureKind, FailureSet, Jitter, Operation, Rates, Reply, Request, Retry,
    Span, Spec, SpecError, Wall, Window,
};

fn main() -> Result<(), Vec<SpecError>> {
    let wall = Wall::start();
    let mut client = Client::new(policy().check()?, wall.now());
    let mut draws = SplitMix(42);
    for key in 1..=12 {
        let mut dependency = |timeout| flaky(key, timeout);
        match call(
            &mut client,
            &wall,
            &mut draws,
            CallKey(key),
            &mut dependency,
        ) {
            Ok(()) => println!("   ok"),
            Err(error) => println!("   {error}"),
        }
        let breaker = client
            .breaker_state(wall.now())
            .map_or("none", |state| state.name());
        let tokens = client.budget_balance(wall.now());
        println!("   breaker {breaker}, {tokens:.1} retries in the budget\n");
        sleep(Duration::from_millis(40));
    }
    let stats = client.stats();
    println!(
        "{} calls, {} ok, {} attempts, {} of them retries",
        stats.calls, stats.ok, stats.attempts, stats.retries
    );
    Ok(())
}

fn policy() -> Spec {
    let transient = FailureSet::of(&[FailureKind::Timeout, FailureKind::Unavailable]);
    Spec {
        deadline: Deadline {
            limit: Some(Span::millis(400)),
            ..Deadline::default()
        },
        attempt_timeout: Some(Span::millis(60)),
        retry: Retry {
            max_attempts: 3,
            backoff: Backoff::Exponential {
                base: Span::millis(20),
                multiplier: 2.0,
                max: Span::millis(200),
                jitter: Jitter::Full,
            },
            on: transient,
            ..Retry::default()
        },
        budget: Budget::Ratio {
            of: BudgetEvent::Calls,
            ratio: 0.2,
            burst: 3.0,
        },
        breaker: Some(Breaker {
            rule: BreakerRule::Rates(Rates {
                window: Window::Count(10),
                failure_rate: 0.6,
                slow_rate: None,
                slow_after: Span::MAX,
                minimum_calls: 6,
                open_for: Span::millis(120),
                half_open_calls: 1,
                ramp: None,
            }),
            counts: None,
            count_refusals: false,
            on: transient,
            ignored: FailureSet::NONE,
        }),
        ..Spec::default()
    }
}

/// Brings one call to its end on this thread. This loop is all that a driver is.
fn call(
    client: &mut Client,
    wall: &Wall,
    draws: &mut SplitMix,
    key: CallKey,
    dependency: &mut dyn FnMut(Duration) -> Option<Reply>,
) -> Result<(), CallError> {
    let request = Request {
        key,
        deadline: None,
        operation: Operation::default(),
    };
    let mut call = client.begin(wall.now(), request);
    loop {
        while let Some(action) = client.poll(&mut call, wall.now(), draws) {
            match action {
                // There is one host, and no policy here asks.
                Action::Choose(_) => client.on_host(&mut call, 0),
                Action::Send {
                    attempt, timeout, ..
                } => {
                    let reply = dependency(timeout.unwrap_or(Span::MAX).into());
                    println!(
                        "{}call {} attempt {attempt}: {}",
                        clock(wall),
                        key.0,
                        text(reply)
                    );
                    if let Some(reply) = reply {
                        client.on_reply(&mut call, wall.now(), attempt, reply);
                    }
                }
                // The function has returned without an answer; there is nothing left to cancel.
                Action::Abandon(attempt) => println!("{}   gave up on {attempt}", clock(wall)),
                Action::Finish(verdict) => return verdict.into_result(key),
            }
        }
        if let Some(timer) = call.timer() {
            let wait = timer.since(wall.now());
            if wait > Span::micros(1) {
                println!("{}   waits {:.1} ms", clock(wall), wait.as_secs_f64() * 1e3);
            }
            sleep(wait.into());
            client.on_timer(&mut call, wall.now());
        }
    }
}

/// A dependency that answers within `timeout`, or not at all.
fn flaky(call: u64, timeout: Duration) -> Option<Reply> {
    static HICCUP: std::sync::Once = std::sync::Once::new();
    let (takes, reply) = match call {
        3 if !HICCUP.is_completed() => {
            HICCUP.call_once(|| {});
            (Duration::from_secs(1), Reply::Ok)
        }
        5..=8 => (
            Duration::from_millis(5),
            Reply::Failed(FailureKind::Unavailable.into()),
        ),
        _ => (Duration::from_millis(10), Reply::Ok),
    };
    sleep(takes.min(timeout));
    (takes < timeout).then_some(reply)
}

fn text(reply: Option<Reply>) -> &'static str {
    match reply {
        None => "no answer",
        Some(Reply::Ok) => "ok",
        Some(Reply::Failed(failure)) => failure.kind.name(),
    }
}

fn clock(wall: &Wall) -> String {
    format!(
        "{:>7.1} ms  ",
        wall.now().since(seawall::Time::ZERO).as_secs_f64() * 1e3
    )
}

/// G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
struct SplitMix(u64);

impl Entropy for SplitMix {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}
