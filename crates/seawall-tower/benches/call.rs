//! What a call costs under seawall's layer and under tower's own retry layer with its budget, in nanoseconds per call,
//! made by one task and by several that share the policy.
//!
//! `cargo bench -p seawall-tower`
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::fmt::Debug;
use std::future::{Ready, ready};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use seawall::budget::TowerTps;
use seawall::{
    Breaker, BreakerRule, Budget, Bulkhead, FailureKind, FailureSet, Rates, Reply, Retry, Span,
    Spec, Window,
};
use seawall_tower::{Engine, PolicyService, SplitMix};
use tokio::runtime::Runtime;
use tower::retry::budget::{Budget as _, TpsBudget};
use tower::retry::{self, Policy};
use tower::{Service, ServiceExt};

const TASKS: [u64; 3] = [1, 2, 8];

/// A request that knows whether it is a copy.
#[derive(Debug)]
struct Numbered {
    number: u64,
    copy: bool,
}

impl Clone for Numbered {
    fn clone(&self) -> Self {
        Numbered {
            copy: true,
            ..*self
        }
    }
}

/// Answers at once; the first attempt of one call in `fails` fails.
#[derive(Clone)]
struct Inner {
    fails: u64,
}

impl Service<Numbered> for Inner {
    type Response = u64;
    type Error = &'static str;
    type Future = Ready<Result<u64, &'static str>>;

    fn poll_ready(
        &mut self,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), &'static str>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Numbered) -> Self::Future {
        let fail = request.number % self.fails == self.fails - 1 && !request.copy;
        ready(if fail {
            Err("down")
        } else {
            Ok(request.number)
        })
    }
}

/// tower's parts put together as its documentation does: a budget shared by all, attempts counted per call.
#[derive(Clone)]
struct Budgeted {
    budget: Arc<TpsBudget>,
    retries_left: u32,
}

impl Policy<Numbered, u64, &'static str> for Budgeted {
    type Future = Ready<()>;

    fn retry(
        &mut self,
        _: &mut Numbered,
        result: &mut Result<u64, &'static str>,
    ) -> Option<Ready<()>> {
        if result.is_ok() {
            self.budget.deposit();
            return None;
        }
        self.retries_left = self.retries_left.checked_sub(1)?;
        self.budget.withdraw().then(|| ready(()))
    }

    fn clone_request(&mut self, request: &Numbered) -> Option<Numbered> {
        Some(request.clone())
    }
}

fn main() {
    // `cargo test --all-targets` runs benches too, without this flag: then it is enough that it works.
    let measured = std::env::args().any(|arg| arg == "--bench");
    let calls = if measured { 200_000 } else { 1_000 };
    let runtime = Runtime::new().expect("a runtime");
    let tps = TowerTps {
        retry_percent: 1.0,
        ..TowerTps::default()
    };
    let retries = Spec {
        retry: Retry {
            max_attempts: 3,
            ..Retry::default()
        },
        budget: Budget::TowerTps(tps),
        ..Spec::default()
    };
    let timeout = Spec {
        attempt_timeout: Some(Span::secs(1)),
        ..retries.clone()
    };
    let all = Spec {
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
        bulkhead: Some(Bulkhead {
            max_in_flight: 50,
            queue_from: None,
            max_waiting: 50,
            max_wait: Span::millis(50),
            hold_during_backoff: Some(true),
        }),
        ..timeout.clone()
    };

    println!(
        "ns per call, best of 25            all ok, by tasks        1 in 10 retried, by tasks"
    );
    print!("{:<32}", "");
    for _ in 0..2 {
        TASKS.iter().for_each(|tasks| print!("{tasks:>9}"));
    }
    println!();
    let row = |name: &str, of: &dyn Fn(u64, u64) -> f64| {
        print!("{name:<32}");
        for fails in [u64::MAX, 10] {
            for tasks in TASKS {
                print!("{:>9.0}", of(fails, tasks));
            }
        }
        println!();
    };
    // Nothing would retry a failure here.
    row("no policy, none fails", &|_, tasks| {
        run(&runtime, Inner { fails: u64::MAX }, calls, tasks)
    });
    row("tower: retry, TpsBudget", &|fails, tasks| {
        let budget = TpsBudget::new(Duration::from_secs(10), 10, 1.0);
        let policy = Budgeted {
            budget: Arc::new(budget),
            retries_left: 2,
        };
        let service = retry::Retry::new(policy, Inner { fails });
        run(&runtime, service, calls, tasks)
    });
    for (name, spec) in [
        ("seawall: retry, TpsBudget", &retries),
        ("  + attempt timeout", &timeout),
        ("  + breaker, bulkhead of 50", &all),
    ] {
        row(name, &|fails, tasks| {
            let engine = Engine::new(spec.check().expect("sound"), SplitMix::seeded(1));
            let judge = |result: &Result<u64, &'static str>| match result {
                Ok(_) => Reply::Ok,
                Err(_) => Reply::Failed(FailureKind::Unavailable.into()),
            };
            let service = PolicyService::new(Inner { fails }, engine, judge);
            run(&runtime, service, calls, tasks)
        });
    }
}

/// Time per call of the best of 25 passes, in ns. All tasks together make `calls` calls.
fn run<S>(runtime: &Runtime, service: S, calls: u64, tasks: u64) -> f64
where
    S: Service<Numbered, Response = u64> + Clone + Send + 'static,
    S::Error: Debug,
    S::Future: Send,
{
    let mut best = f64::INFINITY;
    for _ in 0..25 {
        let began = Instant::now();
        runtime.block_on(async {
            let running: Vec<_> = (0..tasks)
                .map(|_| tokio::spawn(many(service.clone(), calls / tasks)))
                .collect();
            for task in running {
                task.await.expect("no panic");
            }
        });
        best = best.min(began.elapsed().as_secs_f64() / calls as f64 * 1e9);
    }
    best
}

async fn many<S>(mut service: S, calls: u64)
where
    S: Service<Numbered, Response = u64>,
    S::Error: Debug,
{
    for number in 0..calls {
        let request = Numbered {
            number,
            copy: false,
        };
        let ready = service.ready().await.expect("always ready");
        let answer = ready.call(request).await.expect("a retry is always enough");
        assert_eq!(black_box(answer), number);
    }
}
