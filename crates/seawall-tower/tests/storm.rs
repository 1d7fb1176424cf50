//! The example's storm, shortened. Nothing here depends on how fast the machine is: what is held to is counted.

#[path = "../examples/storm/loopback.rs"]
mod loopback;
#[path = "../examples/storm/policies.rs"]
mod policies;

use std::time::Duration;

use loopback::{Plan, run};
use policies::{BURST, RATIO, cure, naive};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_bounds_the_retries_that_a_slow_second_sets_off() {
    let plan = Plan {
        every: Duration::from_millis(10),
        workers: 5,
        work: Duration::from_millis(25),
        slow_work: Duration::from_millis(500),
        healthy: Duration::from_millis(200),
        slow: Duration::from_millis(800),
        after: Duration::from_millis(500),
    };
    let naive = run(plan, &naive()).await.unwrap();
    let cure = run(plan, &cure()).await.unwrap();
    for outcome in [&naive, &cure] {
        let stats = &outcome.stats;
        assert_eq!(stats.in_flight(), 0, "every call ended");
        assert_eq!(outcome.answered.iter().sum::<u32>() as u64, stats.ok);
        assert!(outcome.for_nobody <= outcome.jobs);
    }
    // A worker answers two jobs in the slow time, of 80 calls that come in it; all others are tried four times.
    assert!(naive.stats.retries > naive.stats.calls);
    let earned = BURST + RATIO * cure.stats.calls as f64;
    assert!(cure.stats.retries as f64 <= earned);
}
