//! Hedged calls: several attempts at once, of which one is used.

use std::io;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use seawall::{
    Budget, BudgetEvent, Bulkhead, FailureKind, FailureSet, Hedge, HedgeVariant, Reply, Span, Spec,
    Stopped,
};
use seawall_tower::{Attempt, Engine, PolicyService, Protocol, SplitMix};
use tokio::time::{Instant, advance};
use tower::{Service, ServiceExt};

use crate::dependency::{Dependency, begin, judge, poll, under};

fn hedged() -> Spec {
    Spec {
        hedge: Some(Hedge {
            max_attempts: 3,
            delay: Span::millis(20),
            on: FailureSet::of(&[FailureKind::Unavailable]),
            variant: HedgeVariant::Proposal,
        }),
        ..Spec::default()
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_answer_is_used_and_the_other_attempts_are_dropped() {
    for winner in [0, 1] {
        let (dependency, engine, mut service) = under(&hedged());
        let mut call = begin(&mut service, 2);
        assert!(poll(&mut call).is_pending());
        let mut out = dependency.arrived();
        advance(Duration::from_millis(21)).await;
        assert!(poll(&mut call).is_pending());
        out.extend(dependency.arrived());
        assert_eq!(out.len(), 2, "the first and a copy");
        out.remove(winner).ok(8);
        let Poll::Ready(answer) = poll(&mut call) else {
            panic!("it was answered");
        };
        assert_eq!(answer.expect("well"), 8);
        assert!(out[0].is_abandoned(), "the loser");
        let stats = engine.stats();
        assert_eq!((stats.attempts, stats.hedges, stats.ok), (2, 1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_sends_the_next_copy_at_once_and_the_last_one_is_returned() {
    let (dependency, engine, mut service) = under(&hedged());
    let mut call = begin(&mut service, 2);
    for attempt in 1..=3 {
        assert!(poll(&mut call).is_pending(), "attempt {attempt}");
        dependency.one().ok(7);
    }
    let Poll::Ready(answer) = poll(&mut call) else {
        panic!("all have failed");
    };
    assert_eq!(answer.expect("the answer of the last one"), 7);
    let stats = engine.stats();
    assert_eq!((stats.attempts, stats.ok), (3, 0));
}

#[tokio::test(start_paused = true)]
async fn dropped_it_drops_all_its_attempts() {
    let (dependency, engine, mut service) = under(&hedged());
    let mut call = begin(&mut service, 2);
    assert!(poll(&mut call).is_pending());
    advance(Duration::from_millis(21)).await;
    assert!(poll(&mut call).is_pending());
    let out = dependency.arrived();
    assert_eq!(out.len(), 2);
    drop(call);
    assert!(out.iter().all(|attempt| attempt.is_abandoned()));
    assert_eq!(engine.stats().in_flight(), 0);
}

/// Has bodies that can be copied so often, and keeps what it was told of attempts.
#[derive(Clone, Default)]
struct Bodies {
    copies_left: Arc<Mutex<u32>>,
    prepared: Arc<Mutex<Vec<Attempt>>>,
}

impl Protocol<u32, u32, io::Error> for Bodies {
    fn reply(&self, result: &io::Result<u32>) -> Reply {
        judge(result)
    }

    fn copy(&self, request: &u32) -> Option<u32> {
        let mut left = self.copies_left.lock().unwrap();
        *left = left.checked_sub(1)?;
        Some(*request)
    }

    fn prepare(&self, _: &mut u32, attempt: Attempt) {
        self.prepared.lock().unwrap().push(attempt);
    }
}

fn with_bodies(
    spec: &Spec,
    copies: u32,
) -> (Dependency, Bodies, PolicyService<Dependency, Bodies>) {
    let engine = Engine::new(spec.check().unwrap(), SplitMix::seeded(1));
    let (dependency, bodies) = (Dependency::default(), Bodies::default());
    *bodies.copies_left.lock().unwrap() = copies;
    let service = PolicyService::new(dependency.clone(), engine, bodies.clone());
    (dependency, bodies, service)
}

#[tokio::test(start_paused = true)]
async fn a_body_that_cannot_be_copied_is_sent_once_and_no_copy_takes_anything() {
    let spec = Spec {
        budget: Budget::Ratio {
            of: BudgetEvent::Successes,
            ratio: 0.1,
            burst: 3.0,
        },
        bulkhead: Some(Bulkhead {
            max_in_flight: 3,
            queue_from: None,
            max_waiting: 0,
            max_wait: Span::ZERO,
            hold_during_backoff: None,
        }),
        ..hedged()
    };
    // So many times it can be copied; the delay of each copy passes.
    for copies in 0..=1 {
        let (dependency, _, mut service) = with_bodies(&spec, copies);
        let sent = copies + 1;
        let mut call = Box::pin(service.ready().await.unwrap().call(2));
        let mut out = Vec::new();
        for _ in 0..4 {
            assert!(poll(&mut call).is_pending());
            out.extend(dependency.arrived());
            advance(Duration::from_millis(21)).await;
        }
        let engine = service.engine();
        let stats = engine.stats();
        assert_eq!(out.len(), sent as usize);
        assert_eq!(
            (stats.attempts, stats.hedges),
            (u64::from(sent), u64::from(copies))
        );
        assert_eq!(engine.bulkhead_load(), Some((sent, 0)));
        assert_eq!(engine.budget_balance(), 3.0 - f64::from(copies));
        out.remove(0).fail();
        let Poll::Ready(Err(error)) = poll(&mut call) else {
            panic!("nothing follows");
        };
        let call = error.call().expect("the policy's word");
        assert_eq!((call.stopped, call.attempts), (Stopped::NotRetryable, sent));
        assert_eq!(service.engine().bulkhead_load(), Some((0, 0)));
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_are_told_when_they_are_given_up_not_when_the_next_copy_is_due() {
    for timeout in [None, Some(150)] {
        let spec = Spec {
            attempt_timeout: timeout.map(Span::millis),
            ..hedged()
        };
        let (_, bodies, mut service) = with_bodies(&spec, 2);
        let mut call = Box::pin(service.ready().await.unwrap().call(2));
        let mut gives_up = Vec::new();
        for _ in 0..2 {
            assert!(poll(&mut call).is_pending());
            let now = Instant::now();
            gives_up.push(timeout.map(|timeout| now + Duration::from_millis(timeout)));
            advance(Duration::from_millis(21)).await;
        }
        let prepared = bodies.prepared.lock().unwrap();
        let told: Vec<_> = prepared.iter().map(|attempt| attempt.gives_up).collect();
        assert_eq!(told, gives_up);
    }
}
