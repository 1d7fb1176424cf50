//! Hedged calls: several attempts at once, of which one is used.

use std::task::Poll;
use std::time::Duration;

use seawall::{FailureKind, FailureSet, Hedge, HedgeVariant, Span, Spec};
use tokio::time::advance;

use crate::dependency::{begin, poll, under};

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
