//! A dropped future gives back all it holds, wherever it is dropped.

use std::task::Poll;
use std::time::Duration;

use seawall::{BreakerState, Budget, BudgetEvent, Spec, Stopped};
use tokio::time::advance;

use crate::dependency::{begin, brittle, one_at_a_time, poll, retries, under};

const CANCELLED: usize = Stopped::Cancelled.index();

#[tokio::test(start_paused = true)]
async fn dropped_in_flight_it_drops_the_attempt_and_passes_its_permit_on() {
    let (dependency, engine, mut service) = under(&one_at_a_time());
    let mut first = begin(&mut service, 2);
    let mut second = begin(&mut service, 4);
    assert!(poll(&mut first).is_pending());
    assert!(poll(&mut second).is_pending());
    let arrived = dependency.one();
    assert_eq!((arrived.request, engine.bulkhead_load()), (2, Some((1, 1))));
    drop(first);
    assert!(arrived.is_abandoned());
    assert_eq!(engine.bulkhead_load(), Some((1, 0)), "passed on");
    assert!(poll(&mut second).is_pending());
    let arrived = dependency.one();
    assert_eq!(arrived.request, 4);
    arrived.ok(0);
    assert!(poll(&mut second).is_ready());
    assert_eq!(engine.bulkhead_load(), Some((0, 0)));
    assert_eq!(engine.stats().stopped[CANCELLED], 1);
}

#[tokio::test(start_paused = true)]
async fn dropped_while_it_waits_for_a_permit_it_leaves_the_line() {
    let (dependency, engine, mut service) = under(&one_at_a_time());
    let mut calls: Vec<_> = (0..3).map(|n| begin(&mut service, 2 * n)).collect();
    for call in &mut calls {
        assert!(poll(call).is_pending());
    }
    assert_eq!(engine.bulkhead_load(), Some((1, 2)));
    drop(calls.remove(1));
    assert_eq!(engine.bulkhead_load(), Some((1, 1)));
    dependency.one().ok(0);
    assert!(poll(&mut calls[0]).is_ready());
    assert!(poll(&mut calls[1]).is_pending());
    assert_eq!(dependency.one().request, 4, "the third, not the second");
}

#[tokio::test(start_paused = true)]
async fn dropped_with_a_permit_it_has_not_taken_up_it_passes_it_on() {
    let (dependency, engine, mut service) = under(&one_at_a_time());
    let mut calls: Vec<_> = (0..3).map(|n| begin(&mut service, 2 * n)).collect();
    for call in &mut calls {
        assert!(poll(call).is_pending());
    }
    dependency.one().ok(0);
    assert!(poll(&mut calls[0]).is_ready());
    // The second was given the permit, and is dropped before it is polled again.
    assert_eq!(engine.bulkhead_load(), Some((1, 1)));
    drop(calls.remove(1));
    assert_eq!(engine.bulkhead_load(), Some((1, 0)));
    assert!(poll(&mut calls[1]).is_pending());
    assert_eq!(dependency.one().request, 4);
}

#[tokio::test(start_paused = true)]
async fn dropped_in_backoff_it_gives_back_its_permit_and_the_retry_it_did_not_make() {
    let spec = Spec {
        budget: Budget::Ratio {
            of: BudgetEvent::Calls,
            ratio: 0.1,
            burst: 5.0,
        },
        ..one_at_a_time()
    };
    let (dependency, engine, mut service) = under(&spec);
    let mut call = begin(&mut service, 2);
    assert!(poll(&mut call).is_pending());
    dependency.one().fail();
    assert!(poll(&mut call).is_pending(), "backing off");
    assert_eq!(engine.bulkhead_load(), Some((1, 0)));
    assert!((engine.budget_balance() - 4.0).abs() < 1e-9);
    drop(call);
    assert_eq!(engine.bulkhead_load(), Some((0, 0)));
    assert!((engine.budget_balance() - 5.0).abs() < 1e-9);
    assert_eq!(engine.stats().in_flight(), 0);
}

#[tokio::test(start_paused = true)]
async fn dropped_in_a_half_open_trial_it_leaves_the_trial_to_another() {
    let (dependency, engine, mut service) = under(&brittle());
    for _ in 0..2 {
        let mut call = begin(&mut service, 2);
        assert!(poll(&mut call).is_pending());
        dependency.one().ok(1);
        assert!(poll(&mut call).is_ready());
    }
    assert_eq!(engine.breaker_state(), Some(BreakerState::Open));
    let mut refused = begin(&mut service, 2);
    let Poll::Ready(Err(error)) = poll(&mut refused) else {
        panic!("it is refused at once");
    };
    assert_eq!(error.call().unwrap().stopped, Stopped::BreakerOpen);
    advance(Duration::from_secs(1)).await;
    let mut trial = begin(&mut service, 2);
    assert!(poll(&mut trial).is_pending());
    let mut other = begin(&mut service, 4);
    assert!(poll(&mut other).is_ready(), "one trial at a time");
    drop(trial);
    assert!(dependency.one().is_abandoned());
    let mut next = begin(&mut service, 6);
    assert!(poll(&mut next).is_pending(), "the trial is free again");
    dependency.one().ok(0);
    assert!(poll(&mut next).is_ready());
    assert_eq!(engine.breaker_state(), Some(BreakerState::Closed));
}

#[tokio::test(start_paused = true)]
async fn dropped_after_its_end_it_changes_nothing() {
    let (dependency, engine, mut service) = under(&retries());
    let mut call = begin(&mut service, 2);
    assert!(poll(&mut call).is_pending());
    dependency.one().ok(0);
    assert!(poll(&mut call).is_ready());
    let before = engine.stats();
    drop(call);
    assert_eq!(engine.stats(), before);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_around_it_is_a_dropped_future() {
    let (dependency, engine, mut service) = under(&one_at_a_time());
    let call = begin(&mut service, 2);
    let outer = tokio::time::timeout(Duration::from_millis(10), call).await;
    assert!(outer.is_err());
    assert!(dependency.one().is_abandoned());
    assert_eq!(engine.bulkhead_load(), Some((0, 0)));
    assert_eq!(engine.stats().stopped[CANCELLED], 1);
}
