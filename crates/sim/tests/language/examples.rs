//! Files as users write them.

use seawall::{Backoff, Budget, BudgetEvent, FailureKind, FailureSet, Jitter, Span, Time};
use sim::law::Law;
use sim::scenario::model::{Caller, Discipline, FaultKind, Source};
use sim::step::Instr;

use sim::scenario::{Format, Source as Text, to_json};

use crate::{loaded, wrong, yaml};

/// The smallest useful file.
pub(crate) const SMALL: &str = "
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
fn a_warmup_can_be_left_to_be_detected() {
    let detected = yaml(&SMALL.replace("warmup: 30s", "warmup: auto")).run;
    assert_eq!(
        (detected.warmup, detected.detect_warmup),
        (Span::ZERO, true)
    );
    assert!(!yaml(SMALL).run.detect_warmup);
    let problems = wrong(&SMALL.replace("warmup: 30s", "warmup: automatic"));
    assert!(problems.contains("automatic"), "{problems}");
}

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

/// The limits a careful SDK ships with.
#[test]
fn a_whole_set_of_careful_limits_loads() {
    let scenario = yaml(
        "
version: 1
run: { duration: 10min }
clients: { app: { arrivals: { poisson: 100/s }, calls: [ { to: api, policy: sdk } ] } }
services: { api: { work: 10ms } }
policies:
  sdk:
    deadline: 12s
    attempt_timeout: 8s
    retry: { max_attempts: 3, backoff: { exponential: { base: 100ms, max: 2s, jitter: full } } }
    budget: { ratio: { ratio: 0.1, burst: 10 } }
    breaker: { minimum_calls: 20, failure_rate: 50%, open_for: 30s }
    bulkhead: { max_in_flight: 50, max_waiting: 50, max_wait: 50ms }
",
    );
    let spec = scenario.policies[1].policy.spec();
    assert_eq!(spec.deadline.limit, Some(Span::secs(12)));
    assert_eq!(spec.attempt_timeout, Some(Span::secs(8)));
    assert!(matches!(spec.budget, Budget::Ratio { ratio: 0.1, .. }));
    assert_eq!(
        spec.bulkhead.map(|bulkhead| bulkhead.max_wait),
        Some(Span::millis(50))
    );
    assert_eq!(
        spec.retry.on,
        seawall::Retry::default().on,
        "nothing risky is retried unless asked for"
    );
}

/// Operations, gateways, fan-outs, loops and links.
#[test]
fn a_shop_with_gateways_and_fan_outs_means_what_it_says() {
    let scenario = yaml(
        "
version: 1
run: { duration: 90s }
clients:
  shop:
    instances: 200
    arrivals: { profile: [ [0s, 500/s], [60s, 500/s], [61s, 2000/s], [90s, 500/s] ] }
    operations: { browse: 90%, order: 10% }
    program: { browse: [ { call: { to: gateway, operation: browse, policy: sdk } } ], order: [ { call: { to: gateway, operation: order } } ] }
  agents: { instances: 5000, loop: [ { call: { to: catalog, operation: browse } }, { delay: { uniform: [9s, 11s] } } ] }
services:
  gateway:
    replicas: 4
    concurrency: 1000
    holds_worker: false
    operations:
      browse: { program: [ { call: { to: catalog, operation: browse, policy: mesh } } ] }
      order: { program: [ { call: { to: catalog, operation: order, policy: mesh } } ] }
  catalog:
    replicas: 6
    balance: least_in_flight
    concurrency: 64
    queue: { capacity: 200, discipline: fifo }
    honours_cancellation: true
    operations:
      browse:
        idempotent: true
        program:
          - work: { lognormal: { p50: 2ms, p99: 15ms } }
          - parallel: [ { call: { to: price } }, { call: { to: reviews, optional: true } } ]
      order: { idempotent: false, program: [ { work: 3ms }, { work: 1ms } ] }
  price: { work: 1ms }
  reviews: { work: 1ms }
links:
  default: { delay: 1ms }
  gateway -> catalog: { delay: 100us }
policies:
  sdk: { deadline: 1s, retry: { max_attempts: 3 } }
  mesh: { retry: { max_attempts: 2 } }
",
    );
    let [shop, agents] = scenario.clients.as_slice() else {
        panic!()
    };
    assert_eq!(
        shop.operations.iter().map(|o| o.weight).collect::<Vec<_>>(),
        [0.9, 0.1]
    );
    assert!(matches!(agents.source, Source::Loop { .. }));
    let catalog = &scenario.services[1];
    assert!(!catalog.operations[1].semantics.idempotent);
    let links: Vec<_> = scenario
        .links
        .iter()
        .map(|link| link.name.as_str())
        .collect();
    assert_eq!(links, ["default", "gateway -> catalog"]);
    for site in &scenario.sites {
        let edge = scenario.edges[site.edge as usize];
        let by_gateway = edge.caller == Caller::Service(0);
        assert_eq!(
            site.link,
            u32::from(by_gateway),
            "the link named by its ends applies by itself"
        );
    }
    let called: Vec<_> = scenario.sites.iter().map(|site| site.operation).collect();
    assert_eq!(
        called,
        [0, 1, 0, 0, 1, 0, 0],
        "by index among the operations of the service"
    );
}

#[test]
fn keys_for_editors_and_anchors_are_not_read() {
    let scenario = yaml(
        "
$schema: ../schema.json
x-defaults: &careful { deadline: 1s, nonsense: 3 }
version: 1
run: { duration: 10s }
clients: { web: { arrivals: { poisson: 1/s }, calls: [ api ] } }
services: { api: { work: &work { exponential: 3ms } }, db: { work: *work } }
policies: { sdk: &sdk { deadline: 1s }, other: { <<: *sdk, attempt_timeout: 1s } }
",
    );
    assert_eq!(
        scenario.policies[2].policy.spec().deadline.limit,
        Some(Span::secs(1))
    );
    assert_eq!(scenario.code.laws[0], scenario.code.laws[1]);
}

/// The same world in all three formats, with an override each.
#[test]
fn yaml_toml_and_json_mean_the_same() {
    let toml = r#"
version = 1
run = { duration = "10min", window = "1s", warmup = "30s" }
expect = [ "amplification(api) <= 1.2", "recovery_time <= 30s" ]
[clients.web]
instances = 100
arrivals.poisson = "900/s"
calls = [ { to = "api", policy = "sdk" } ]
[services.api]
replicas = 1
concurrency = 10
queue = { capacity = 1000, discipline = "fifo" }
work.exponential.mean = "10ms"
[links.default]
delay.constant = "1ms"
[policies.sdk]
deadline = "1s"
attempt_timeout = "100ms"
budget.ratio = { of = "calls", percent = "10%", burst = 100 }
[policies.sdk.retry]
max_attempts = 3
backoff.exponential = { base = "50ms", max = "1s", jitter = "full" }
on = [ "timeout", "unavailable" ]
[[faults]]
at = "2min"
for = "5s"
slow = { service = "api", factor = 3 }
"#;
    let source = Text {
        name: "x.yaml",
        text: SMALL,
        format: Format::Yaml,
    };
    let json = to_json(&source).unwrap().to_string();
    let meant = |text: &str, format| {
        let overrides = ["services.api.concurrency=20", "faults.0.for=7s"];
        format!("{:?}", loaded(text, format, &overrides).unwrap())
    };
    let yaml = meant(SMALL, Format::Yaml);
    assert!(yaml.contains("concurrency: Some(20)"), "{yaml}");
    assert_eq!(meant(toml, Format::Toml), yaml);
    assert_eq!(meant(&json, Format::Json), yaml);
}
