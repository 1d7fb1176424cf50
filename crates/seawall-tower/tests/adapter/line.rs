//! Who waits for a permit.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use seawall::{Bulkhead, Spec, Stopped};
use tokio::time::{Instant, sleep};
use tower::{Service, ServiceExt};

use crate::dependency::{begin, one_at_a_time, under};

fn line_of(max_waiting: u32) -> Spec {
    let spec = one_at_a_time();
    Spec {
        bulkhead: spec.bulkhead.map(|bulkhead| Bulkhead {
            max_waiting,
            ..bulkhead
        }),
        attempt_timeout: None,
        ..spec
    }
}

#[tokio::test(start_paused = true)]
async fn permits_go_in_the_order_of_the_line() {
    let (dependency, engine, service) = under(&line_of(9));
    let ended = Arc::new(Mutex::new(Vec::new()));
    let tasks: Vec<_> = (0..10)
        .map(|n| {
            let (mut service, ended) = (service.clone(), Arc::clone(&ended));
            tokio::spawn(async move {
                service.ready().await.unwrap().call(n).await.unwrap();
                ended.lock().unwrap().push(n);
            })
        })
        .collect();
    let mut arrived = Vec::new();
    while arrived.len() < 10 {
        sleep(Duration::from_millis(10)).await;
        let one = dependency.one();
        arrived.push(one.request);
        one.ok(0);
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(arrived, Vec::from_iter(0..10));
    assert_eq!(*ended.lock().unwrap(), arrived);
    assert_eq!(engine.bulkhead_load(), Some((0, 0)));
    assert_eq!(engine.stats().waited, 9);
}

#[tokio::test(start_paused = true)]
async fn who_finds_the_line_full_is_refused_and_who_waits_too_long_gives_up() {
    let (dependency, engine, mut service) = under(&line_of(1));
    let began = Instant::now();
    let first = tokio::spawn(begin(&mut service, 0));
    tokio::task::yield_now().await;
    let second = tokio::spawn(begin(&mut service, 2));
    tokio::task::yield_now().await;
    let third = begin(&mut service, 4).await.unwrap_err();
    assert_eq!(third.call().unwrap().stopped, Stopped::BulkheadFull);
    let second = second.await.unwrap().unwrap_err();
    assert_eq!(second.call().unwrap().stopped, Stopped::BulkheadTimeout);
    assert_eq!(began.elapsed().as_millis(), 1000);
    dependency.one().ok(0);
    assert_eq!(first.await.unwrap().unwrap(), 0);
    assert_eq!(engine.stats().in_flight(), 0);
}
