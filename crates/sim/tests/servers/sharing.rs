//! Jobs that share their replica.

use crate::{run, stays, wrong};

/// A long job (3 s) at 0 s and a short, important one (1 s) at 1 s; when each left.
fn long_and_short(service: &str) -> Vec<(f64, f64)> {
    let text = format!(
        "
version: 1
run: {{ duration: 100s, window: 10s, drain: 100s }}
clients:
  a: {{ arrivals: {{ trace: a.csv }}, calls: [ {{ to: api, operation: long, priority: 1 }} ] }}
  b: {{ arrivals: {{ trace: b.csv }}, program: [ {{ delay: 1s }}, {{ call: {{ to: api, operation: short, policy: hasty }} }} ] }}
services:
  api: {{ {service}, operations: {{ long: {{ work: 3s }}, short: {{ work: 1s }} }} }}
policies: {{ hasty: {{ deadline: 4s }} }}
"
    );
    stays(&run(&text, &[("a.csv", "0"), ("b.csv", "0")]))
}

#[test]
fn jobs_at_work_share_the_processor() {
    // The long one is alone for a second; then both go on at half speed until the short one is done.
    let one = long_and_short("serve: { processor_sharing: 1 }");
    assert_eq!(one, [(1.0, 3.0), (0.0, 4.0)]);
    let two = long_and_short("serve: { processor_sharing: 2 }");
    assert_eq!(two, [(1.0, 2.0), (0.0, 3.0)]);
}

#[test]
fn three_on_one_core_are_exact_to_the_nanosecond() {
    let text = "
version: 1
run: { duration: 100s, window: 10s, drain: 100s }
clients: { a: { arrivals: { trace: a.csv }, calls: [ api ] } }
services: { api: { serve: { processor_sharing: 1 }, work: 1s } }
";
    let outcome = run(text, &[("a.csv", "0\n0\n0")]);
    assert_eq!(stays(&outcome), [(0.0, 3.0); 3]);
    // Three seconds of a hundred; of two replicas with two cores each, three of four hundred.
    assert_eq!(outcome.totals.services[0].utilisation(), Some(0.03));
    let more = text.replace(
        "processor_sharing: 1 }",
        "processor_sharing: 2 }, replicas: 2",
    );
    let outcome = run(&more, &[("a.csv", "0\n0\n0")]);
    assert_eq!(outcome.totals.services[0].utilisation(), Some(0.0075));
}

#[test]
fn the_last_to_come_works_first() {
    let stays = long_and_short("serve: { preemptive_lifo: 1 }");
    assert_eq!(stays, [(1.0, 2.0), (0.0, 4.0)]);
}

#[test]
fn the_important_work_first() {
    let stays = long_and_short("serve: { preemptive_priority: 1 }");
    assert_eq!(stays, [(1.0, 2.0), (0.0, 4.0)]);
}

#[test]
fn jobs_at_work_slow_each_other_down() {
    // Alone for a second; then two at once take 1 + 0.5 + 2 × 0.25 = 2 times as long: the short one is done after
    // two seconds, the long one has one of its three left.
    let stays = long_and_short("concurrency: 10, contention: { usl: { alpha: 0.5, beta: 0.25 } }");
    assert_eq!(stays, [(1.0, 3.0), (0.0, 4.0)]);
}

#[test]
fn a_job_may_keep_the_slowdown_it_began_with() {
    // The long one begins alone and takes its three seconds; the short one finds two at once, itself counted, and
    // takes 1 + 0.5 + 2 × 0.25 = 2 times as long, also when it is alone again.
    let stays = long_and_short(
        "concurrency: 10, contention: { usl: { alpha: 0.5, beta: 0.25, frozen: true } }",
    );
    assert_eq!(stays, [(0.0, 3.0), (1.0, 3.0)]);
}

#[test]
fn who_is_cancelled_gives_up_its_share() {
    let text = "
version: 1
run: { duration: 100s, window: 10s, drain: 100s }
clients:
  a: { arrivals: { trace: a.csv }, calls: [ api ] }
  b: { arrivals: { trace: b.csv }, program: [ { delay: 1s }, { call: { to: api, policy: hasty } } ] }
services: { api: { serve: { processor_sharing: 1 }, honours_cancellation: true, work: 3s } }
policies: { hasty: { deadline: 2s } }
";
    // Alone for a second, at half speed for two, and alone for the last second of work.
    let stays = stays(&run(text, &[("a.csv", "0"), ("b.csv", "0")]));
    assert_eq!(stays, [(1.0, 3.0), (0.0, 4.0)]);
}

#[test]
fn contention_of_jobs_that_do_not_work_at_once_is_refused() {
    let problems = wrong(
        "
version: 1
run: { duration: 100s }
clients: { a: { arrivals: { poisson: 1/s }, calls: [ api ] } }
services: { api: { serve: { preemptive_lifo: 1 }, contention: { usl: { alpha: -1, beta: 0 } }, work: 1s } }
",
    );
    assert!(
        problems.contains("contention.usl.alpha: must be at least 0, got -1"),
        "{problems}"
    );
    assert!(
        problems.contains("goes with `workers` and `processor_sharing`"),
        "{problems}"
    );
}
