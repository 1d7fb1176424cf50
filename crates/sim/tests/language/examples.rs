//! Files as users write them.

use seawall::{Backoff, Budget, BudgetEvent, FailureKind, FailureSet, Jitter, Span, Time};
use sim::law::Law;
use sim::scenario::model::{Caller, Discipline, FaultKind, Source};
use sim::step::Instr;

use crate::{wrong, yaml};

/// The smallest useful file.
pub const SMALL: &str = "
# A healthy service, a five-second slowdown, and retries that keep it down.
version: 1
run: { duration: 10min, window: 1s, warmup: 30s }
clients:
  web: { instances: 100, arrivals: { poisson: 900/s }, calls: [ { to: api, policy: sdk } ] }
services:
  api: { replicas: 1, concurrency: 10, queue: { capacity: 1000, discipline: fifo }, work: { exponential: { mean: 10ms } } }
links:
  default: { delay: { constant: 1ms } }
policies:
  sdk:
    deadline: 1s
    attempt_timeout: 100ms
    retry: { max_attempts: 3, backoff: { exponential: { base: 50ms, max: 1s, jitter: full } }, on: [timeout, unavailable] }
    budget: { ratio: { of: calls, percent: 10%, burst: 100 } }
faults:
  - { at: 2min, for: 5s, slow: { service: api, factor: 3 } }
expect:                      # exit code says whether the world kept its promise
  - amplification(api) <= 1.2
  - recovery_time <= 30s
";

#[test]
fn the_smallest_useful_file_means_what_it_says() {
    let scenario = yaml(SMALL);
    assert_eq!(scenario.run.duration, Span::secs(600));
    assert_eq!(scenario.run.warmup, Span::secs(30));
    let [web] = scenario.clients.as_slice() else {
        panic!()
    };
    assert_eq!((web.name.as_str(), web.instances), ("web", 100));
    assert!(matches!(web.source, Source::Open(_)));
    let [api] = scenario.services.as_slice() else {
        panic!()
    };
    assert_eq!(
        (api.concurrency, api.queue.capacity),
        (Some(10), Some(1000))
    );
    assert_eq!(api.queue.discipline, Discipline::Fifo);
    assert!(api.holds_worker && !api.honours_cancellation);
    assert_eq!(scenario.links[0].delay, Law::Constant(Span::millis(1)));

    let [edge] = scenario.edges.as_slice() else {
        panic!()
    };
    assert_eq!(
        (edge.caller, edge.service, edge.policy),
        (Caller::Client(0), 0, 1)
    );
    let entry = web.operations[0].entry.0 as usize;
    assert_eq!(
        scenario.code.instrs[entry..entry + 2],
        [Instr::Call(0), Instr::End]
    );
    let entry = api.operations[0].entry.0 as usize;
    assert_eq!(
        scenario.code.instrs[entry..entry + 2],
        [Instr::Work(0), Instr::End]
    );
    assert_eq!(
        scenario.code.laws[0],
        Law::exponential(Span::millis(10)).unwrap()
    );

    let spec = scenario.policies[1].policy.spec();
    assert_eq!(scenario.policies[0].name, "none");
    assert_eq!(spec.deadline.limit, Some(Span::secs(1)));
    assert_eq!(spec.attempt_timeout, Some(Span::millis(100)));
    assert_eq!(spec.retry.max_attempts, 3);
    assert_eq!(
        spec.retry.on,
        FailureSet::of(&[FailureKind::Timeout, FailureKind::Unavailable])
    );
    assert_eq!(
        spec.retry.backoff,
        Backoff::Exponential {
            base: Span::millis(50),
            multiplier: 2.0,
            max: Span::secs(1),
            jitter: Jitter::Full
        }
    );
    assert_eq!(
        spec.budget,
        Budget::Ratio {
            of: BudgetEvent::Calls,
            ratio: 0.1,
            burst: 100.0
        }
    );
    let [fault] = scenario.faults.as_slice() else {
        panic!()
    };
    assert_eq!(fault.at, Time(120_000_000_000));
    assert_eq!(fault.until, Some(Time(125_000_000_000)));
    assert!(matches!(
        fault.kind,
        FaultKind::Slow {
            service: 0,
            factor: 3.0
        }
    ));
}

#[test]
fn a_policy_keeps_what_the_one_it_extends_says_unless_it_says_otherwise() {
    let text = SMALL.replace(
        "faults:",
        "
  batch:
    extends: sdk
    deadline: 10s
    retry: { max_attempts: 5, backoff: { fixed: 1s } }
    budget: none
  nightly: { extends: batch, retry: { on: [503] } }
faults:",
    );
    let scenario = yaml(&text);
    let [_, sdk, batch, nightly] = scenario.policies.as_slice() else {
        panic!()
    };
    let (sdk, batch, nightly) = (
        sdk.policy.spec(),
        batch.policy.spec(),
        nightly.policy.spec(),
    );
    assert_eq!(batch.deadline.limit, Some(Span::secs(10)));
    assert_eq!(batch.attempt_timeout, sdk.attempt_timeout);
    assert_eq!(
        (batch.retry.max_attempts, batch.retry.on),
        (5, sdk.retry.on)
    );
    assert_eq!(batch.budget, Budget::None);
    let fixed = Backoff::Fixed {
        delay: Span::secs(1),
        jitter: Jitter::None,
    };
    assert_eq!(nightly.retry.backoff, fixed);
    assert_eq!(
        nightly.retry.on,
        FailureSet::of(&[FailureKind::Unavailable])
    );
    assert_eq!(nightly.deadline, batch.deadline);
}

#[test]
fn policies_cannot_extend_each_other_in_a_circle_or_what_is_not_there() {
    let text = SMALL.replace(
        "faults:",
        "
  a: { extends: b }
  b: { extends: a }
  c: { extends: skd }
faults:",
    );
    let problems = wrong(&text);
    assert!(
        problems.contains("world.yaml:18:3: a -> b -> a: policies extend each other"),
        "{problems}"
    );
    assert!(
        problems.contains("no policy is called `skd`: did you mean `sdk`?"),
        "{problems}"
    );
}
