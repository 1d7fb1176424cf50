use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use seawall::{Operation, Scope, Scopes, Spec, Time};
use seawall_tower::{Engine, Event, PolicyService, Protocol, SplitMix};
use tokio::time::advance;
use tower::Service;

use crate::dependency::{Dependency, Guarded, Judge, begin, brittle, judge, poll, retries};

type Seen = Arc<Mutex<Vec<(Time, Event)>>>;

fn observed(spec: &Spec) -> (Dependency, Seen, Guarded) {
    let seen = Seen::default();
    let sink = Arc::clone(&seen);
    let observer = move |at: Time, event: &Event| sink.lock().unwrap().push((at, *event));
    let policy = spec.check().unwrap();
    let engine = Engine::observed(policy, SplitMix::seeded(1), observer);
    let dependency = Dependency::default();
    let service = PolicyService::new(dependency.clone(), engine, judge as Judge);
    (dependency, seen, service)
}

/// What was seen, one word each, with the millisecond.
fn story(seen: &Seen) -> Vec<String> {
    let word = |event: &Event| match *event {
        Event::Began { .. } => "began".into(),
        Event::Sent { attempt, .. } => format!("sent {attempt}"),
        Event::Answered {
            attempt, failure, ..
        } => {
            let answer = failure.map_or("ok", |failure| failure.kind.name());
            format!("answered {attempt} {answer}")
        }
        Event::Abandoned { attempt, .. } => format!("abandoned {attempt}"),
        Event::Waits { on, at_most, .. } => format!("waits {on:?} {}", at_most.unwrap()),
        Event::Ended { verdict, .. } => {
            format!("ended {}", verdict.stopped.map_or("ok", |why| why.name()))
        }
        Event::Breaker { key, from, to } => {
            let whose = key.map_or(String::new(), |key| format!("{key} "));
            format!("breaker {whose}{} {}", from.name(), to.name())
        }
        _ => "something new".into(),
    };
    let seen = seen.lock().unwrap();
    seen.iter()
        .map(|(at, event)| format!("{} {}", at.0 / 1_000_000, word(event)))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn everything_that_happens_to_a_call_is_told_in_order() {
    let (dependency, seen, mut service) = observed(&retries());
    let mut call = begin(&mut service, 2);
    assert!(poll(&mut call).is_pending());
    advance(Duration::from_millis(10)).await;
    dependency.one().fail();
    assert!(poll(&mut call).is_pending());
    advance(Duration::from_millis(50)).await;
    assert!(poll(&mut call).is_pending());
    advance(Duration::from_millis(100)).await;
    assert!(poll(&mut call).is_pending());
    assert!(poll(&mut call).is_pending(), "a look changes nothing");
    drop(call);
    assert_eq!(
        story(&seen),
        [
            "0 began",
            "0 sent 1",
            "10 answered 1 reset",
            "10 waits Backoff 50ms",
            "60 sent 2",
            "160 abandoned 2",
            "160 waits Backoff 50ms",
            "160 ended cancelled",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn refusals_and_changes_of_the_breaker_are_told() {
    let (dependency, seen, mut service) = observed(&brittle());
    for _ in 0..2 {
        let mut call = begin(&mut service, 2);
        assert!(poll(&mut call).is_pending());
        dependency.one().ok(1);
        assert!(poll(&mut call).is_ready());
    }
    seen.lock().unwrap().clear();
    assert!(poll(&mut begin(&mut service, 2)).is_ready());
    advance(Duration::from_secs(1)).await;
    let mut trial = begin(&mut service, 2);
    assert!(poll(&mut trial).is_pending());
    dependency.one().ok(0);
    assert!(matches!(poll(&mut trial), Poll::Ready(Ok(0))));
    assert_eq!(
        story(&seen),
        [
            "0 began",
            "0 ended breaker_open",
            "1000 began",
            "1000 breaker open half_open",
            "1000 sent 1",
            "1000 answered 1 ok",
            "1000 breaker half_open closed",
            "1000 ended ok",
        ]
    );
}

/// The tens of a request are its tenant.
#[derive(Clone)]
struct ByTens;

impl Protocol<u32, u32, std::io::Error> for ByTens {
    fn reply(&self, result: &Result<u32, std::io::Error>) -> seawall::Reply {
        judge(result)
    }

    fn copy(&self, request: &u32) -> Option<u32> {
        Some(*request)
    }

    fn operation(&self, request: &u32) -> Operation {
        Operation {
            tenant: u64::from(request / 10),
            ..Operation::default()
        }
    }
}

#[tokio::test(start_paused = true)]
async fn each_breaker_of_a_key_is_told_of_by_its_key() {
    let spec = Spec {
        scope: Scopes {
            breaker: Scope::Tenant { cap: 2 },
            ..Scopes::default()
        },
        ..brittle()
    };
    let seen = Seen::default();
    let sink = Arc::clone(&seen);
    let observer = move |at: Time, event: &Event| {
        if matches!(event, Event::Breaker { .. }) {
            sink.lock().unwrap().push((at, *event));
        }
    };
    let engine = Engine::observed(spec.check().unwrap(), SplitMix::seeded(1), observer);
    let dependency = Dependency::default();
    let mut service = PolicyService::new(dependency.clone(), engine, ByTens);
    let mut fail = |request: u32, times: u32| {
        for _ in 0..times {
            let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
            assert!(service.poll_ready(&mut cx).is_ready());
            let mut call = Box::pin(service.call(request));
            assert!(poll(&mut call).is_pending());
            dependency.one().ok(1);
            assert!(poll(&mut call).is_ready());
        }
    };
    // Tenants 3 and 5 have breakers of their own, 7 and 9 share one.
    for request in [30, 50, 70] {
        fail(request, 2);
    }
    advance(Duration::from_millis(1001)).await;
    fail(31, 1);
    assert_eq!(
        story(&seen),
        [
            "0 breaker 3 closed open",
            "0 breaker 5 closed open",
            "0 breaker closed open",
            "1001 breaker 3 open half_open",
            "1001 breaker 3 half_open open",
        ]
    );
}
