//! Rate limits of services.

use sim::metrics::{JobEnd, JobRecord};

use crate::{jobs, run, seconds, wrong};

fn ends(service: &str, arrivals: &str) -> Vec<(f64, JobEnd)> {
    let text = format!(
        "
version: 1
run: {{ duration: 100s, window: 10s, drain: 100s }}
clients: {{ a: {{ arrivals: {{ trace: a.csv }}, calls: [ {{ to: api, policy: patient }} ] }} }}
services: {{ api: {{ {service}, work: 1ms }} }}
policies: {{ patient: {{ retry: {{ max_attempts: 2, on: [ overloaded ] }} }} }}
"
    );
    let outcome = run(&text, &[("a.csv", arrivals)]);
    let of = |job: &JobRecord| (seconds(job.arrived), job.end);
    jobs(&outcome).iter().map(of).collect()
}

use JobEnd::{RateLimited as No, Served as Yes};

#[test]
fn requests_pass_evenly_and_the_others_are_told_when_to_come_back() {
    // Two at once, then one every two seconds.
    let limited = "rate_limit: { gcra: { rate: 0.5/s, burst: 2 }, retry_after: exact }";
    let ends = ends(limited, "0\n0\n0.5");
    // The third could pass at 2 s and is told so: its second attempt passes.
    assert_eq!(ends, [(0.0, Yes), (0.0, Yes), (0.5, No), (2.0, Yes)]);
}

#[test]
fn the_wait_is_told_in_whole_seconds_or_not_at_all() {
    let told = ends("rate_limit: { gcra: { rate: 0.5/s } }", "0\n0.5");
    assert_eq!(told, [(0.0, Yes), (0.5, No), (2.5, Yes)], "1.5 s are two");
    let silent = ends(
        "rate_limit: { gcra: { rate: 0.5/s }, retry_after: none }",
        "0\n0.5",
    );
    assert_eq!(silent, [(0.0, Yes), (0.5, No), (0.5, No)]);
}

#[test]
fn each_period_lets_in_so_many() {
    let limited = "rate_limit: { per_period: { limit: 2, period: 10s } }";
    let ends = ends(limited, "0\n1\n2\n11");
    assert_eq!(
        ends,
        [(0.0, Yes), (1.0, Yes), (2.0, No), (10.0, Yes), (11.0, Yes)]
    );
}

#[test]
fn a_greedy_client_uses_up_its_own_limit_only() {
    let text = |per_client: bool| {
        format!(
            "
version: 1
run: {{ duration: 100s, window: 10s }}
clients:
  greedy: {{ arrivals: {{ paced: 90/s }}, calls: [ gateway ] }}
  modest: {{ arrivals: {{ paced: 5/s }}, calls: [ gateway ] }}
services:
  api: {{ rate_limit: {{ gcra: {{ rate: 10/s, burst: 5 }}, per_client: {per_client} }}, work: 1ms }}
  gateway: {{ program: [ {{ call: api }} ] }}
"
        )
    };
    let refused = |per_client| {
        let outcome = run(&text(per_client), &[]);
        assert_eq!(
            outcome.drained.services[0].rate_limited,
            outcome.drained.edges[2].failed_calls()
        );
        outcome.drained.edges[1].failed_calls()
    };
    assert_eq!(refused(true), 0);
    assert!(refused(false) > 300, "{}", refused(false));
}

#[test]
fn limits_that_let_nobody_in_are_refused() {
    let problems = wrong(
        "
version: 1
run: { duration: 100s }
clients: { a: { arrivals: { poisson: 1/s }, calls: [ api ] } }
services: { api: { rate_limit: { per_period: { limit: 1, period: 0s } }, work: 1ms } }
",
    );
    assert!(
        problems.contains("rate_limit.per_period.period: must be above 0s"),
        "{problems}"
    );
}

#[test]
fn operators_throttle_a_service_for_a_while_and_it_gets_its_own_limit_back() {
    let ends = |own: &str| {
        let text = format!(
            "
version: 1
run: {{ duration: 100s, window: 10s, drain: 100s }}
clients: {{ a: {{ arrivals: {{ trace: a.csv }}, calls: [ api ] }} }}
services: {{ api: {{ {own} work: 1ms }} }}
faults:
  - {{ at: 10s, for: 10s, throttle: {{ service: api, limit: {{ per_period: {{ limit: 1, period: 5s }} }} }} }}
  - {{ at: 12s, for: 2s, throttle: {{ service: api, limit: {{ gcra: {{ rate: 1/s }} }} }} }}
"
        );
        let outcome = run(
            &text,
            &[(
                "a.csv",
                "0\n5\n5.5\n10\n11\n12\n13\n13.1\n14\n15\n16\n30\n30.5",
            )],
        );
        let of = |job: &JobRecord| (seconds(job.arrived), job.end);
        jobs(&outcome).iter().map(of).collect::<Vec<_>>()
    };
    let during = [
        (10.0, Yes),
        (11.0, No), // the period has had its one
        (12.0, Yes),
        (13.0, Yes),
        (13.1, No), // one a second
        (14.0, No), // the period has had its one, whatever came between
        (15.0, Yes),
        (16.0, No), // one a period again
    ];
    let free = [(0.0, Yes), (5.0, Yes), (5.5, Yes)];
    let expected = [&free[..], &during, &[(30.0, Yes), (30.5, Yes)]].concat();
    assert_eq!(ends(""), expected);
    let bound = [(0.0, Yes), (5.0, Yes), (5.5, No)];
    let expected = [&bound[..], &during, &[(30.0, Yes), (30.5, No)]].concat();
    assert_eq!(ends("rate_limit: { gcra: { rate: 1/s } },"), expected);
}
