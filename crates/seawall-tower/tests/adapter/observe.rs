use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use seawall::{Spec, Time};
use seawall_tower::{Engine, Event, PolicyService, SplitMix};
use tokio::time::advance;

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
        Event::Breaker { from, to } => format!("breaker {} {}", from.name(), to.name()),
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
