use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::Duration;

use seawall::{Deadline, Operation, Reply, Span, Spec, Stopped};
use seawall_tower::{Attempt, Engine, Error, PolicyService, Protocol, SplitMix};
use tokio::time::{Instant, advance, sleep};
use tower::{Service, ServiceExt};

use crate::dependency::{Dependency, begin, judge, poll, retries, under};

const MS: Duration = Duration::from_millis(1);

#[tokio::test(start_paused = true)]
async fn a_usable_answer_comes_back_after_one_attempt() {
    let (dependency, engine, mut service) = under(&retries());
    let mut call = begin(&mut service, 7);
    assert!(poll(&mut call).is_pending());
    let arrived = dependency.one();
    assert_eq!(arrived.request, 7);
    arrived.ok(8);
    assert!(matches!(poll(&mut call), Poll::Ready(Ok(8))));
    let stats = engine.stats();
    assert_eq!((stats.calls, stats.ok, stats.attempts), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn nothing_happens_before_the_first_poll() {
    let (dependency, engine, mut service) = under(&retries());
    drop(begin(&mut service, 7));
    assert!(dependency.arrived().is_empty());
    assert_eq!(engine.stats().calls, 0);
}

#[tokio::test(start_paused = true)]
async fn timeouts_and_backoffs_take_as_long_as_the_policy_says() {
    let (dependency, engine, mut service) = under(&retries());
    let began = Instant::now();
    let error = service.ready().await.unwrap().call(7).await.unwrap_err();
    // Three timeouts and two backoffs; tokio wakes up to a millisecond late, five times.
    let took = began.elapsed();
    assert!(400 * MS <= took && took <= 405 * MS, "{took:?}");
    assert_eq!(dependency.arrived().len(), 3);
    assert!(matches!(error, Error::Stopped(_)), "{error:?}");
    let call = error.call().unwrap();
    assert_eq!((call.stopped, call.attempts), (Stopped::AttemptsUsed, 3));
    assert_eq!(engine.stats().in_flight(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_timed_out_attempt_is_dropped() {
    let (dependency, _, mut service) = under(&retries());
    let mut call = begin(&mut service, 7);
    assert!(poll(&mut call).is_pending());
    let first = dependency.one();
    advance(99 * MS).await;
    assert!(poll(&mut call).is_pending() && !first.is_abandoned());
    advance(MS).await;
    assert!(poll(&mut call).is_pending() && first.is_abandoned());
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_the_instant_of_the_timeout_is_in_time() {
    let (dependency, _, mut service) = under(&retries());
    let mut call = begin(&mut service, 7);
    assert!(poll(&mut call).is_pending());
    advance(100 * MS).await;
    dependency.one().ok(8);
    assert!(matches!(poll(&mut call), Poll::Ready(Ok(8))));
}

#[tokio::test(start_paused = true)]
async fn the_last_answer_is_handed_on_even_if_it_is_a_failure() {
    let (dependency, engine, mut service) = under(&Spec::default());
    let mut call = begin(&mut service, 7);
    assert!(poll(&mut call).is_pending());
    dependency.one().ok(9);
    assert!(matches!(poll(&mut call), Poll::Ready(Ok(9))));
    assert_eq!(engine.stats().failed(), 1, "though it counts as one");
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_last_attempt_says_what_the_policy_made_of_it() {
    let (dependency, _, mut service) = under(&Spec::default());
    let mut call = begin(&mut service, 7);
    assert!(poll(&mut call).is_pending());
    dependency.one().fail();
    let Poll::Ready(Err(error)) = poll(&mut call) else {
        panic!("it is over");
    };
    assert_eq!(error.call().unwrap().stopped, Stopped::NotRetryable);
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), "down");
}

#[tokio::test(start_paused = true)]
async fn the_service_that_was_ready_is_the_one_that_is_called() {
    let (dependency, _, mut service) = under(&retries());
    // The dependency panics if it is called without being asked first; so does each retry's.
    for request in 0..3 {
        let mut call = begin(&mut service, request);
        assert!(poll(&mut call).is_pending());
        dependency.one().fail();
        assert!(poll(&mut call).is_pending(), "backing off");
        advance(50 * MS).await;
        assert!(poll(&mut call).is_pending());
        dependency.one().ok(2);
        assert!(poll(&mut call).is_ready());
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_waits_until_the_service_is_ready_within_its_timeout() {
    let (dependency, engine, mut service) = under(&retries());
    let mut call = begin(&mut service, 7);
    assert!(poll(&mut call).is_pending());
    dependency.one().fail();
    dependency.be_busy(2);
    assert!(poll(&mut call).is_pending());
    advance(50 * MS).await;
    assert!(poll(&mut call).is_pending(), "asked once");
    assert!(poll(&mut call).is_pending(), "asked twice");
    assert!(dependency.arrived().is_empty());
    assert!(poll(&mut call).is_pending());
    dependency.one().fail();
    dependency.be_busy(u32::MAX);
    assert!(poll(&mut call).is_pending());
    advance(50 * MS).await;
    assert!(poll(&mut call).is_pending());
    advance(100 * MS).await;
    let Poll::Ready(Err(Error::Stopped(_))) = poll(&mut call) else {
        panic!("the last attempt timed out though it was never sent on");
    };
    assert_eq!(engine.stats().attempts, 3);
}

#[tokio::test(start_paused = true)]
async fn it_takes_any_runtime_without_a_timer_to_answer_a_call_that_needs_none() {
    // No timeout, no wait: no timer of tokio's is ever made.
    let (dependency, _, service) = under(&Spec::default());
    let answering = std::thread::spawn(move || {
        let mut service = service;
        let mut call = begin(&mut service, 7);
        assert!(poll(&mut call).is_pending());
        dependency.one().ok(2);
        assert!(poll(&mut call).is_ready());
    });
    answering.join().expect("no panic outside the runtime");
}

#[tokio::test(start_paused = true)]
async fn the_kill_switch_ends_retries() {
    let (dependency, engine, mut service) = under(&retries());
    engine.set_kill_switch(true);
    let mut call = begin(&mut service, 7);
    assert!(poll(&mut call).is_pending());
    dependency.one().fail();
    let Poll::Ready(Err(error)) = poll(&mut call) else {
        panic!("it is over");
    };
    assert_eq!(error.call().unwrap().stopped, Stopped::KillSwitch);
}

/// Counts copies, refuses those of odd requests, and knows a deadline.
#[derive(Clone, Default)]
struct Told {
    copies: Arc<AtomicU32>,
    deadline: Option<Instant>,
    operation: Option<Operation>,
    prepared: Arc<std::sync::Mutex<Vec<Attempt>>>,
}

impl Protocol<u32, u32, std::io::Error> for Told {
    fn reply(&self, result: &Result<u32, std::io::Error>) -> Reply {
        judge(result)
    }

    fn copy(&self, request: &u32) -> Option<u32> {
        self.copies.fetch_add(1, Ordering::Relaxed);
        request.is_multiple_of(2).then_some(*request)
    }

    fn operation(&self, _: &u32) -> Operation {
        self.operation.unwrap_or_default()
    }

    fn deadline(&self, _: &u32) -> Option<Instant> {
        self.deadline
    }

    fn prepare(&self, _: &mut u32, attempt: Attempt) {
        self.prepared.lock().unwrap().push(attempt);
    }
}

fn told(spec: &Spec, told: Told) -> (Dependency, PolicyService<Dependency, Told>) {
    let engine = Engine::new(spec.check().unwrap(), SplitMix::seeded(1));
    let dependency = Dependency::default();
    let service = PolicyService::new(dependency.clone(), engine, told);
    (dependency, service)
}

/// Every attempt fails until the call is over.
async fn all_fail(
    dependency: &Dependency,
    service: &mut PolicyService<Dependency, Told>,
    request: u32,
) -> Error {
    let mut call = Box::pin(service.ready().await.unwrap().call(request));
    loop {
        if let Poll::Ready(result) = poll(&mut call) {
            return result.unwrap_err();
        }
        for arrived in dependency.arrived() {
            arrived.fail();
        }
        sleep(MS).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_is_copied_only_while_it_may_be_sent_again() {
    let copies_in = |spec: Spec, operation, request| async move {
        let protocol = Told {
            operation,
            ..Told::default()
        };
        let copies = Arc::clone(&protocol.copies);
        let (dependency, mut service) = told(&spec, protocol);
        let error = all_fail(&dependency, &mut service, request).await;
        let call = *error.call().unwrap();
        (copies.load(Ordering::Relaxed), call.attempts, call.stopped)
    };
    let never = Some(Operation {
        retryable: false,
        ..Operation::default()
    });
    let used = Stopped::AttemptsUsed;
    assert_eq!(copies_in(retries(), None, 2).await, (2, 3, used));
    let no = Stopped::NotRetryable;
    assert_eq!(copies_in(Spec::default(), None, 2).await, (0, 1, no));
    assert_eq!(copies_in(retries(), never, 2).await, (0, 1, no));
    assert_eq!(
        copies_in(retries(), None, 1).await,
        (1, 1, no),
        "it cannot be copied"
    );
}

#[tokio::test(start_paused = true)]
async fn deadlines_come_in_with_requests_and_leave_with_attempts() {
    let limit = Spec {
        deadline: Deadline {
            limit: Some(Span::secs(10)),
            slack: Span::millis(20),
            ..Deadline::default()
        },
        ..retries()
    };
    let deadline = Instant::now() + 120 * MS;
    let protocol = Told {
        deadline: Some(deadline),
        ..Told::default()
    };
    let prepared = Arc::clone(&protocol.prepared);
    let (dependency, mut service) = told(&limit, protocol);
    let began = Instant::now();
    let mut call = Box::pin(service.ready().await.unwrap().call(2));
    assert!(poll(&mut call).is_pending());
    let attempt = prepared.lock().unwrap()[0];
    assert_eq!(attempt.number, 1);
    assert_eq!(attempt.deadline, Some(deadline - 20 * MS));
    assert_eq!(attempt.gives_up, Some(began + 100 * MS));
    dependency.one().fail();
    let error = call.await.unwrap_err();
    // 50 ms after the first failure there are 50 ms left for the second attempt, and then none.
    assert_eq!(began.elapsed().as_millis(), 100);
    assert_eq!(error.call().unwrap().stopped, Stopped::DeadlineExceeded);
    assert_eq!(error.call().unwrap().attempts, 2);
}

#[tokio::test(start_paused = true)]
async fn one_engine_serves_many_tasks() {
    let (_, engine, _) = under(&retries());
    let echo = tower::service_fn(|n: u32| async move { Ok::<_, std::io::Error>(2 * n) });
    let service = PolicyService::new(echo, engine.clone(), judge as crate::dependency::Judge);
    let tasks = (0..50).map(|task| {
        let mut service = service.clone();
        tokio::spawn(async move {
            for n in 0..20 {
                assert_eq!(
                    service.ready().await.unwrap().call(n + task).await.unwrap(),
                    2 * (n + task)
                );
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let stats = engine.stats();
    assert_eq!((stats.calls, stats.ok), (1000, 1000));
}
