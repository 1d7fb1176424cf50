//! Who is next, and who is let go.

use sim::metrics::{JobEnd, Said};

use crate::{jobs, run, seconds, stays, wrong};

const HEAD: &str = "
version: 1
run: { duration: 100s, window: 10s, drain: 100s }
";

/// Client `a` at these instants, `b` at these after `later`; each job is a second of work.
fn two(queue: &str, a: &str, later: &str, b: &str) -> Vec<(u32, f64)> {
    let text = format!(
        "{HEAD}
clients:
  a: {{ arrivals: {{ trace: a.csv }}, calls: [ {{ to: api, priority: 1 }} ] }}
  b: {{ arrivals: {{ trace: b.csv }}, program: [ {{ delay: {later} }}, {{ call: gateway }} ] }}
services:
  api: {{ concurrency: 1, queue: {{ {queue} }}, work: 1s }}
  gateway: {{ program: [ {{ call: api }} ] }}
"
    );
    let outcome = run(&text, &[("a.csv", a), ("b.csv", b)]);
    let jobs = jobs(&outcome);
    jobs.iter()
        .map(|job| (job.edge, seconds(job.left)))
        .collect()
}

/// Edges in the order of their first call step: `a -> api`, `b -> gateway`, `gateway -> api`.
const A: u32 = 0;
const B: u32 = 2;

#[test]
fn the_important_go_first_and_importance_is_handed_down() {
    // The first of a is at work when the others come; b's calls come with its own priority, 0, through the gateway.
    let order = two("discipline: priority", "0\n0.1\n0.2", "300ms", "0\n0.1");
    assert_eq!(order, [(A, 1.0), (B, 2.0), (B, 3.0), (A, 4.0), (A, 5.0)]);
    let order = two("discipline: fifo", "0\n0.1\n0.2", "300ms", "0\n0.1");
    assert_eq!(order.map_edges(), [A, A, A, B, B]);
}

#[test]
fn each_client_has_its_turn() {
    let order = two("discipline: fair", "0\n0.1\n0.2\n0.3", "400ms", "0\n0.1");
    assert_eq!(order.map_edges(), [A, A, B, A, B, A]);
}

#[test]
fn a_long_queue_is_served_from_its_end() {
    let text = format!(
        "{HEAD}
clients: {{ a: {{ arrivals: {{ trace: a.csv }}, calls: [ api ] }} }}
services: {{ api: {{ concurrency: 1, queue: {{ discipline: {{ adaptive_lifo: 2 }} }}, work: 1s }} }}
"
    );
    let outcome = run(&text, &[("a.csv", "0\n0.1\n0.2\n0.3\n0.4")]);
    // Four wait at 1 s, three at 2 s: the last goes first; then two wait, and the first goes first.
    let order: Vec<f64> = stays(&outcome)
        .iter()
        .map(|(arrived, _)| *arrived)
        .collect();
    assert_eq!(order, [0.0, 0.4, 0.3, 0.1, 0.2]);
}

#[test]
fn any_order_but_that_of_arrival() {
    let all: String = (0..50).map(|n| format!("0.{n:02}\n")).collect();
    let text = format!(
        "{HEAD}
clients: {{ a: {{ arrivals: {{ trace: a.csv }}, calls: [ api ] }} }}
services: {{ api: {{ concurrency: 1, queue: {{ discipline: siro }}, work: 1s }} }}
"
    );
    let outcome = run(&text, &[("a.csv", &all)]);
    let mut order: Vec<f64> = stays(&outcome)
        .iter()
        .map(|(arrived, _)| *arrived)
        .collect();
    assert_eq!(order.len(), 50);
    let falls = order.windows(2).filter(|pair| pair[0] > pair[1]).count();
    // 49 pairs in random order fall with probability 1/2: 24.5 ± 3.3 standard deviations of 2.06.
    assert!((18..=31).contains(&falls), "{falls}");
    order.sort_by(f64::total_cmp);
    order.dedup();
    assert_eq!(order.len(), 50, "each once");
}

#[test]
fn nobody_waits_longer_than_the_service_lets_them() {
    let text = format!(
        "{HEAD}
clients: {{ a: {{ arrivals: {{ trace: a.csv }}, calls: [ api ] }} }}
services: {{ api: {{ concurrency: 1, queue: {{ max_wait: 500ms, retry_after: 7s }}, work: 1s }} }}
"
    );
    let outcome = run(&text, &[("a.csv", "0\n0.1\n0.7\n5")]);
    assert_eq!(
        stays(&outcome),
        [(0.1, 0.6), (0.0, 1.0), (0.7, 2.0), (5.0, 6.0)]
    );
    assert_eq!(jobs(&outcome)[0].end, JobEnd::ShedWaited);
    assert_eq!(outcome.drained.services[0].shed_waited, 1);
    let said = &outcome.log.as_ref().expect("a log").exchanges;
    let asked = said.iter().filter_map(|exchange| match exchange.said {
        Said::Answer {
            reply: seawall::Reply::Failed(failure),
            ..
        } => failure.retry_after,
        _ => None,
    });
    assert_eq!(asked.collect::<Vec<_>>(), [seawall::Span::secs(7)]);
}

#[test]
fn a_full_queue_says_when_to_come_back() {
    let text = format!(
        "{HEAD}
clients: {{ a: {{ arrivals: {{ trace: a.csv }}, calls: [ {{ to: api, policy: patient }} ] }} }}
services: {{ api: {{ concurrency: 1, queue: {{ capacity: 0, retry_after: 7s }}, work: 1s }} }}
policies: {{ patient: {{ retry: {{ max_attempts: 2, on: [ unavailable ] }} }} }}
"
    );
    let outcome = run(&text, &[("a.csv", "0\n0.5")]);
    assert_eq!(stays(&outcome), [(0.5, 0.5), (0.0, 1.0), (7.5, 8.5)]);
}

#[test]
fn codel_drops_those_that_waited_more_than_twice_the_target_while_the_queue_is_slow() {
    let text = |codel: &str| {
        format!(
            "{HEAD}
clients: {{ a: {{ arrivals: {{ poisson: 200/s }}, calls: [ api ] }} }}
services: {{ api: {{ concurrency: 1, queue: {{ {codel} }}, work: 10ms }} }}
"
        )
    };
    let controlled = run(&text("codel: { target: 20ms, interval: 100ms }"), &[]);
    let free = run(&text("discipline: fifo"), &[]);
    let waits = |job: &sim::metrics::JobRecord| job.left.since(job.arrived).as_secs_f64();
    let dropped: Vec<f64> = jobs(&controlled)
        .iter()
        .filter(|job| job.end == JobEnd::ShedWaited)
        .map(waits)
        .collect();
    // Twice as much comes as can be worked on: about half of 20 000 is dropped.
    assert!(
        (8_000..12_000).contains(&dropped.len()),
        "{}",
        dropped.len()
    );
    assert!(dropped.iter().all(|&wait| wait > 0.04));
    let worst = |outcome| jobs(outcome).iter().map(waits).fold(0.0, f64::max);
    assert!(worst(&controlled) < 1.0 && worst(&free) > 90.0);
}

#[test]
fn waits_that_cannot_be_are_refused() {
    let problems = wrong(&format!(
        "{HEAD}
clients: {{ a: {{ arrivals: {{ poisson: 1/s }}, calls: [ {{ to: api, priority: 256 }} ] }} }}
services: {{ api: {{ queue: {{ max_wait: 1s, codel: {{ target: 100ms }} }}, work: 1s }} }}
"
    ));
    for expected in [
        "services.api.queue.codel.target: must be above 0s and below the interval (100ms)",
        "max_wait: nobody waits where workers are unlimited",
        "priority: must be from 0 to 255, got 256",
    ] {
        assert!(problems.contains(expected), "{problems}");
    }
}

trait MapEdges {
    fn map_edges(&self) -> Vec<u32>;
}

impl MapEdges for Vec<(u32, f64)> {
    fn map_edges(&self) -> Vec<u32> {
        self.iter().map(|(edge, _)| *edge).collect()
    }
}

/// Attempts that were cancelled while they waited cost their client no turn.
#[test]
fn a_turn_is_not_lost_with_those_who_left() {
    let text = format!(
        "{HEAD}
clients:
  a:
    arrivals: {{ trace: a.csv }}
    program:
      - delay: 100ms
      - parallel: [ [ {{ call: {{ to: api, policy: hasty, optional: true }} }} ], [ {{ call: {{ to: api, policy: hasty, optional: true }} }} ] ]
      - call: {{ to: api, policy: patient }}
  b: {{ arrivals: {{ trace: b.csv }}, calls: [ {{ to: api, policy: patient }} ] }}
services:
  api: {{ concurrency: 1, queue: {{ discipline: fair }}, honours_cancellation: true, work: 1s }}
policies: {{ hasty: {{ attempt_timeout: 200ms }}, patient: {{}} }}
"
    );
    let outcome = run(&text, &[("a.csv", "0"), ("b.csv", "0\n0\n0\n0\n0")]);
    let served = jobs(&outcome)
        .into_iter()
        .filter(|job| job.end == JobEnd::Served);
    // The turn of a comes after one of b's, at two seconds; its edge under `patient` is the first.
    let order: Vec<u32> = served.map(|job| job.edge).collect();
    assert_eq!(order, [2, 2, 0, 2, 2, 2]);
}
