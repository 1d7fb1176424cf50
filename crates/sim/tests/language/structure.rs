//! Who calls whom: programs, circles, and what can be said before a run.

use seawall::Span;
use sim::scenario::Topology;
use sim::scenario::model::{CallSite, Caller, Edge};
use sim::step::{Instr, Pc};

use crate::{wrong, yaml};

fn head(services: &str) -> String {
    format!(
        "version: 1
run: {{ duration: 10s }}
clients: {{ web: {{ arrivals: {{ poisson: 10/s }}, calls: [ {{ to: a, policy: three }} ] }} }}
policies:
  three: {{ deadline: 1s, retry: {{ max_attempts: 3 }} }}
  four: {{ deadline: {{ slack: 30ms, default: 800ms }}, retry: {{ max_attempts: 4 }} }}
  alone: {{ deadline: {{ limit: 2s, inherit: false, propagate: false }}, retry: {{ max_attempts: 2 }} }}
  endless: {{ retry: {{ max_attempts: unlimited }} }}
services:
{services}"
    )
}

#[test]
fn programs_are_laid_out_straight_line_first_then_nested_blocks() {
    let scenario = yaml(&head(
        "  a:
    program:
      - work: 1ms
      - parallel: [ { call: b }, [ { delay: 2ms }, { call: b } ] ]
      - choose: [ { weight: 30%, do: { call: { to: b, policy: four } } }, { weight: 70%, do: [ { work: 3ms }, { respond: ok } ] } ]
      - repeat: { times: 5, do: [ { call: b } ] }
      - respond: { fail: { kind: 503, retry_after: 2s } }
  b: { work: 1ms }
",
    ));
    let code = &scenario.code;
    let Pc(entry) = scenario.services[0].operations[0].entry;
    let at = |offset: u32| Pc(entry + offset);
    assert_eq!(
        code.instrs[entry as usize..entry as usize + 18],
        [
            Instr::Work(0),
            Instr::Parallel { first: 0, count: 2 },
            Instr::Choose { first: 0, count: 2 },
            Instr::Repeat {
                times: 5,
                body: at(16)
            },
            Instr::Respond(0),
            Instr::End,
            Instr::Call(1),
            Instr::End,
            Instr::Delay(1),
            Instr::Call(2),
            Instr::End,
            Instr::Call(3),
            Instr::Jump(at(3)),
            Instr::Work(2),
            Instr::Respond(1),
            Instr::Jump(at(3)),
            Instr::Call(4),
            Instr::End,
        ]
    );
    assert_eq!(code.branches, [at(6), at(8)]);
    assert_eq!(code.arms, [(0.3, at(11)), (1.0, at(13))]);
    assert_eq!(
        scenario.edges.len(),
        3,
        "call sites that agree share an edge"
    );
    let a = Caller::Service(0);
    assert_eq!(
        scenario.edges[1],
        Edge {
            caller: a,
            service: 1,
            policy: 0
        }
    );
    assert_eq!(
        scenario.edges[2],
        Edge {
            caller: a,
            service: 1,
            policy: 2
        }
    );
    assert_eq!(
        scenario.sites[4],
        CallSite {
            edge: 1,
            operation: 0,
            link: 0,
            optional: false,
            priority: None,
        }
    );
}

#[test]
fn calls_in_a_circle_are_refused_and_the_circle_is_named() {
    let problems = wrong(&head(
        "  a: { program: [ { call: b } ] }
  b: { program: [ { work: 1ms }, { choose: [ { weight: 1, do: { call: c } }, { weight: 1, do: { work: 1ms } } ] } ] }
  c: { program: [ { parallel: [ { call: { to: a } } ] } ] }
",
    ));
    let expected =
        "world.yaml:12:47: a -> b -> c -> a: these calls go in a circle and would never end";
    assert_eq!(problems, expected);
    let problems = wrong(&head("  a: { program: [ { call: a } ] }\n"));
    assert!(problems.contains("a -> a: these calls"), "{problems}");
}

#[test]
fn services_may_call_each_other_as_long_as_no_operation_comes_back_to_itself() {
    let scenario = yaml(&head(
        "  a: { operations: { read: { program: [ { call: { to: b, operation: look } } ] }, leaf: { work: 1ms } } }
  b: { operations: { look: { program: [ { call: { to: a, operation: leaf } } ] } } }
",
    ));
    let topology = Topology::of(&scenario);
    assert_eq!(topology.worst_amplification, [6.0, 3.0]);
    let problems = wrong(&head(
        "  a: { operations: { read: { program: [ { call: { to: b, operation: look } } ] }, leaf: { work: 1ms } } }
  b: { operations: { look: { program: [ { call: { to: a, operation: read } } ] } } }
",
    ));
    assert!(problems.contains("a.read -> b -> a.read"), "{problems}");
}

#[test]
fn the_worst_case_is_the_product_of_the_layers_summed_over_programs() {
    let scenario = yaml(&head(
        "  a:
    program:
      - call: { to: b, policy: four }
      - parallel: [ { call: { to: c, policy: alone } }, { call: c } ]
      - repeat: { times: 2, do: { call: d } }
      - choose:
          - { weight: 1, do: { call: { to: d, policy: four } } }
          - { weight: 1, do: { repeat: { times: 9, do: { call: c } } } }
      - call: d
  b: { program: [ { call: { to: c, policy: three } } ] }
  c: { work: 1ms }
  d: { work: 1ms }
",
    ));
    let topology = Topology::of(&scenario);
    // a: 3. b: 3 × 4. c: 3 × (4 × 3 + 2 + 1 + 9). d: 3 × (2 + 4 + 1).
    assert_eq!(topology.worst_amplification, [3.0, 12.0, 72.0, 21.0]);
    // One call of b by a: four attempts there, three below each.
    assert_eq!(topology.attempts_per_call[1], [0.0, 4.0, 12.0, 0.0]);
}

#[test]
fn without_a_limit_the_worst_case_is_infinite_but_only_where_calls_go() {
    let scenario = yaml(&head(
        "  a: { program: [ { call: { to: b, policy: endless } } ] }
  b: { work: 1ms }
  c: { work: 1ms }
",
    ));
    let topology = Topology::of(&scenario);
    assert_eq!(topology.worst_amplification, [3.0, f64::INFINITY, 0.0]);
}

#[test]
fn copies_of_a_hedged_call_are_part_of_the_worst_case() {
    let scenario = yaml(
        "
version: 1
run: { duration: 10s }
clients: { web: { arrivals: { poisson: 10/s }, calls: [ { to: a, policy: hedged } ] } }
services: { a: { work: 1ms } }
policies: { hedged: { hedge: { max_attempts: 4, delay: 10ms } } }
",
    );
    assert_eq!(Topology::of(&scenario).worst_amplification, [4.0]);
}

#[test]
fn deadlines_shrink_on_the_way_down_where_they_are_passed_on() {
    let scenario = yaml(&head(
        "  a: { program: [ { call: { to: b, policy: four } }, { call: { to: b, policy: alone } }, { call: b } ] }
  b: { program: [ { call: { to: c, policy: four } } ] }
  c: { work: 1ms }
",
    ));
    let topology = Topology::of(&scenario);
    let edge = |caller, policy: u32| {
        let index = scenario
            .edges
            .iter()
            .position(|e| e.caller == caller && e.policy == policy);
        topology.deadlines[index.unwrap()]
    };
    assert_eq!(edge(Caller::Client(0), 1), Some(Span::secs(1)));
    assert_eq!(
        edge(Caller::Service(0), 2),
        Some(Span::millis(970)),
        "less the slack"
    );
    assert_eq!(
        edge(Caller::Service(0), 3),
        Some(Span::secs(2)),
        "does not inherit"
    );
    assert_eq!(
        edge(Caller::Service(0), 0),
        Some(Span::secs(1)),
        "`none` inherits as well"
    );
    // Of the callers of b one passes 970 ms on, one 1 s, and one nothing, so that the default counts.
    // The longest that c can be waited for is 1 s, less the slack.
    assert_eq!(edge(Caller::Service(1), 2), Some(Span::millis(970)));
}
