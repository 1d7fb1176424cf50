//! Files with many mistakes: all are reported at once, each at its place, in every format.

use sim::scenario::Format;

use crate::{loaded, wrong};

/// Thirteen mistakes of different kinds.
const YAML: &str = r#"version: 1
run: { duration: 60, warmup: 2min }
clients:
  web:
    arrivals: { poisson: 900 }
    instances: 0
    calls: [ { to: apo, policy: sdk } ]
services:
  api:
    concurency: 10
    queue: { capacity: 1000, discipline: fifoo }
    work: { exponential: { mean: 10ms, cv: 2 } }
policies:
  sdk:
    attempt_timeout: [ 1s ]
    retry: { backoff: { exponential: { base: 50ms, max: 10ms } }, on: [ timeout, 799 ] }
faults:
  - { at: 30s, for: 5s, slow: { service: api, factor: -3 } }
expect:
  - amplificaton(api) <= 1.2
"#;

const YAML_PROBLEMS: &str = r#"
world.yaml:2:18: run.duration: "60" has no unit: write "60ms" or "60s"
world.yaml:5:26: clients.web.arrivals.poisson: "900" has no unit: write "900/s" or "900/min"
world.yaml:6:16: clients.web.instances: expected a whole number from 1 to 4294967295, got the number 0
world.yaml:7:20: clients.web: no service is called `apo`: did you mean `api`? Allowed: `api`
world.yaml:10:5: services.api: unknown key `concurency`: did you mean `concurrency`? Allowed: `replicas`, `balance`, `concurrency`, `queue`, `messages`, `serve`, `contention`, `conflicts`, `rate_limit`, `memory`, `restart`, `pauses`, `outlier`, `panic_threshold`, `probes`, `scaling`, `holds_worker`, `honours_cancellation`, `idempotent`, `retryable`, `retry_only`, `script`, `idempotency`, `work`, `program` or `operations`
world.yaml:11:42: services.api.queue.discipline: "fifoo" is not known here: did you mean `fifo`? Allowed: `fifo`, `lifo`, `deadline_drop`, `siro`, `priority`, `fair` or `adaptive_lifo`
world.yaml:12:40: services.api.work.exponential: unknown key `cv`: allowed: `mean`
world.yaml:15:22: policies.sdk.attempt_timeout: expected a length of time such as "250ms", got a list of 1
world.yaml:16:12: policies.sdk.retry.max_attempts: missing, but it is needed
world.yaml:16:57: policies.sdk.retry.backoff.max: must be at least base (50ms); got 10ms
world.yaml:16:82: policies.sdk.retry.on: the number 799 is no kind of failure: allowed: `dns`, `connect_refused`, `connect_timeout`, `tls`, `unauthenticated`, `reset`, `timeout`, `unavailable`, `overloaded`, `bad_gateway`, `deadline_exceeded`, `internal`, `conflict`, `permission_denied`, `invalid`, `cancelled` or `decode`, an HTTP status such as 503, `5xx`, or a gRPC status such as `UNAVAILABLE`
world.yaml:18:55: faults.0.slow.factor: expected a factor from 0 to 1000000 such as 3, "3x" or 0.5, got the number -3
world.yaml:20:5: expect: "amplificaton(api) <= 1.2": no metric is called `amplificaton`: did you mean `amplification`? All are listed in docs/promises.md
"#;

const TOML: &str = r#"version = 1
expect = [ "amplificaton(api) <= 1.2" ]
run = { duration = 60, warmup = "2min" }
[clients.web]
arrivals.poisson = 900
instances = 0
calls = [ { to = "apo", policy = "sdk" } ]
[services.api]
concurency = 10
queue = { capacity = 1000, discipline = "fifoo" }
work.exponential = { mean = "10ms", cv = 2 }
[policies.sdk]
attempt_timeout = [ "1s" ]
[policies.sdk.retry]
backoff.exponential = { base = "50ms", max = "10ms" }
on = [ "timeout", 799 ]
[[faults]]
at = "30s"
for = "5s"
slow = { service = "api", factor = -3 }
"#;

const JSON: &str = r#"{
  "version": 1,
  "run": { "duration": 60, "warmup": "2min" },
  "clients": {
    "web": {
      "arrivals": { "poisson": 900 },
      "instances": 0,
      "calls": [ { "to": "apo", "policy": "sdk" } ]
    }
  },
  "services": {
    "api": {
      "concurency": 10,
      "queue": { "capacity": 1000, "discipline": "fifoo" },
      "work": { "exponential": { "mean": "10ms", "cv": 2 } }
    }
  },
  "policies": {
    "sdk": {
      "attempt_timeout": [ "1s" ],
      "retry": { "backoff": { "exponential": { "base": "50ms", "max": "10ms" } }, "on": [ "timeout", 799 ] }
    }
  },
  "faults": [ { "at": "30s", "for": "5s", "slow": { "service": "api", "factor": -3 } } ],
  "expect": [ "amplificaton(api) <= 1.2" ]
}
"#;

fn problems(text: &str, format: Format) -> String {
    loaded(text, format, &[]).unwrap_err().to_string()
}

/// Each problem's place and what follows it.
fn split(problems: &str) -> Vec<(&str, &str)> {
    problems
        .lines()
        .map(|line| line.split_once(": ").unwrap())
        .collect()
}

#[test]
fn all_mistakes_are_reported_at_once_each_with_its_place() {
    assert_eq!(problems(YAML, Format::Yaml), YAML_PROBLEMS.trim());
}

/// The messages are the same as in YAML; the places, in the order of the YAML problems, are those of the
/// format. (TOML has no place for top-level keys after its tables, so `expect` stands first.)
#[test]
fn the_same_mistakes_are_reported_in_toml_and_json() {
    let yaml = problems(YAML, Format::Yaml);
    for (text, format, places) in [
        (
            TOML,
            Format::Toml,
            [
                "3:20", "5:20", "6:13", "7:18", "9:1", "10:41", "11:37", "13:19", "14:1", "15:46",
                "16:19", "20:36", "2:12",
            ],
        ),
        (
            JSON,
            Format::Json,
            [
                "3:24", "6:32", "7:20", "8:26", "13:7", "14:50", "15:50", "20:26", "21:16",
                "21:71", "21:102", "24:81", "25:15",
            ],
        ),
    ] {
        let found = problems(text, format);
        let mut found = split(&found);
        if format == Format::Toml {
            found.rotate_left(1);
        }
        let name = if format == Format::Toml {
            "world.toml"
        } else {
            "world.json"
        };
        let expected = split(&yaml);
        let expected = expected.iter().zip(places);
        let expected: Vec<_> = expected
            .map(|((_, message), place)| (format!("{name}:{place}"), *message))
            .collect();
        let found: Vec<_> = found
            .iter()
            .map(|(place, m)| ((*place).to_owned(), *m))
            .collect();
        assert_eq!(found, expected);
    }
}

/// `text` with one part replaced; the only problem must say `message`.
fn with(from: &str, to: &str, message: &str) {
    let good = crate::examples::SMALL;
    assert!(good.contains(from), "{from}");
    let problems = wrong(&good.replacen(from, to, 1));
    assert!(
        problems.contains(message),
        "{problems}\ndoes not say\n{message}"
    );
    assert_eq!(problems.lines().count(), 1, "{problems}");
}

#[test]
fn what_parts_say_of_each_other_is_checked_too() {
    for (from, to, message) in [
        (
            "version: 1",
            "version: 2",
            "3:10: version: this program reads version 1, got 2",
        ),
        (
            "warmup: 30s",
            "warmup: 10min",
            "run.warmup: must be shorter than the duration (600s)",
        ),
        (
            "window: 1s",
            "window: 20min",
            "run.window: must be above 0s and at most the duration",
        ),
        (
            "window: 1s",
            "window: 1us",
            "makes 600000000 windows, more than 1000000",
        ),
        (
            "at: 2min",
            "at: 10min",
            "faults.0.at: 600s is after the end of the run (600s)",
        ),
        ("for: 5s", "for: 0s", "faults.0.for: must be above 0s"),
        (
            "service: api,",
            "service: web,",
            "faults.0: no service is called `web`",
        ),
        (
            "policy: sdk",
            "policy: skd",
            "no policy is called `skd`: did you mean `sdk`?",
        ),
        (
            "policy: sdk",
            "link: fast",
            "no link is called `fast`: allowed: `default`",
        ),
        (
            "policy: sdk",
            "operation: read",
            "no operation of `api` is called `read`: allowed: `default`",
        ),
        (
            "policies:",
            "policies:\n  none: {}",
            "`none` is the policy that does nothing; choose another name",
        ),
        (
            "services:",
            "services:\n  web: { work: 1s }",
            "`web` is a client already",
        ),
        (
            "services:",
            "services:\n  b.b: { work: 1s }",
            "the name \"b.b\" may only have letters, digits",
        ),
        (
            "services:",
            "services:\n  b: {}",
            "services.b: does nothing",
        ),
        (
            "services:",
            "services:\n  b: { work: 1s, program: [ { work: 1s } ] }",
            "write only one of the two",
        ),
        (
            "services:",
            "services:\n  b: { program: [] }",
            "an empty program; a list of steps",
        ),
        (
            "services:",
            "services:\n  b: { program: [ { parallel: [] } ] }",
            "an empty list; at least one",
        ),
        (
            "services:",
            "services:\n  b: { program: [ { wrk: 1s } ] }",
            "unknown key `wrk`: did you mean `work`?",
        ),
        (
            "services:",
            "services:\n  b: { program: [ { work: 1s, delay: 1s } ] }",
            "`delay` is one too many",
        ),
        (
            "services:",
            "services:\n  b: { work: 1s, operations: { default: { work: 1s } } }",
            "`default` is what",
        ),
        (
            "services:",
            "services:\n  b: { operations: { read: {} } }",
            "services.b.operations.read: does nothing",
        ),
        (
            "  default:",
            "  web -> apo:",
            "no service is called `apo`: did you mean `api`?",
        ),
        (
            "  default:",
            "  wob->api:",
            "no caller is called `wob`: did you mean `web`?",
        ),
        (
            "calls: [ { to: api, policy: sdk } ]",
            "loop: [ { call: api } ]",
            "`arrivals` or `loop`: write only one",
        ),
        (
            "arrivals: { poisson: 900/s }, ",
            "",
            "never calls: `arrivals` or `loop` is needed",
        ),
        (
            "arrivals:",
            "start: 1s, arrivals:",
            "`start` goes with `loop`",
        ),
        (
            "calls: [ { to: api, policy: sdk } ]",
            "calls: []",
            "an empty list; at least one is needed",
        ),
        (
            "calls: [ { to: api, policy: sdk } ]",
            "operations: {}",
            "`calls` or `program` is needed",
        ),
        (
            "calls: [ { to: api, policy: sdk } ]",
            "program: [ { work: 1s } ]",
            "a client has no workers",
        ),
        (
            "calls: [ { to: api, policy: sdk } ]",
            "program: [ { respond: ok } ]",
            "has nobody to answer",
        ),
        (
            "calls: [ {",
            "operations: { a: 1 }, calls: [ {",
            "there is only one program",
        ),
        (
            "max: 1s, jitter",
            "max: 1ms, jitter",
            "sdk.retry.backoff.max: must be at least base (50ms); got 1ms",
        ),
        (
            "burst: 100",
            "burst: 0.5",
            "16:56: policies.sdk.budget.burst: must be 1 to",
        ),
        (
            "percent: 10%",
            "percent: 10%, ratio: 0.1",
            "`percent` or `ratio`: write only one of the two",
        ),
        (
            "percent: 10%, ",
            "",
            "budget.ratio: `percent` or `ratio` is needed",
        ),
        (
            "mean: 10ms",
            "mean: 0s",
            "services.api.work: the mean must be above 0s",
        ),
        (
            "slow: {",
            "outage: api, slow: {",
            "`slow` is one too many: only one of `slow`, `errors`",
        ),
        (
            ", slow: { service: api, factor: 3 }",
            "",
            "one of `slow`, `errors`, `lose_capacity`",
        ),
        (
            "slow: {",
            "slw: {",
            "unknown key `slw`: did you mean `slow`?",
        ),
    ] {
        with(from, to, message);
    }
}

#[test]
fn operations_need_weights_that_make_a_whole() {
    let client = |operations: &str| {
        crate::examples::SMALL.replace(
            "calls: [ { to: api, policy: sdk } ]",
            &format!("program: {{ browse: [ {{ call: api }} ], order: [ {{ call: api }} ] }}, operations: {operations}"),
        )
    };
    for (operations, message) in [
        (
            "{ browse: 90%, order: 20% }",
            "weights: they must sum to 100%, got 110",
        ),
        (
            "{ browse: 90%, order: 1 }",
            "weights: write all of them in percent, or none",
        ),
        ("{ browse: 90% }", "`operations` gives `order` no weight"),
        (
            "{ browse: 1, order: 1, pay: 1 }",
            "no program is called `pay`",
        ),
        ("{ browse: 1, order: 0 }", "expected a weight above 0"),
    ] {
        let problems = wrong(&client(operations));
        assert!(
            problems.contains(message),
            "{problems}\ndoes not say\n{message}"
        );
        assert_eq!(problems.lines().count(), 1, "{problems}");
    }
    let scenario = crate::yaml(&client("{ browse: 9, order: 1 }"));
    let [browse, order] = scenario.clients[0].operations.as_slice() else {
        panic!()
    };
    assert_eq!((browse.name.as_str(), browse.weight), ("browse", 0.9));
    assert_eq!((order.name.as_str(), order.weight), ("order", 0.1));
}

#[test]
fn a_fault_that_could_do_nothing_is_refused() {
    let world = |fault: &str| {
        format!(
            "version: 1
run: {{ duration: 100s }}
clients: {{ cron: {{ loop: [ {{ call: {{ to: api }} }}, {{ delay: 1s }} ] }} }}
services: {{ api: {{ work: 1ms }} }}
faults: [ {{ at: 1s, for: 1s, {fault} }} ]
"
        )
    };
    for (fault, message) in [
        (
            "load: { client: cron, factor: 3 }",
            "5:46: faults.0: `cron` loops and has no arrivals that could come more often; up to 1, the factor is the share of its instances that go on",
        ),
        (
            "lose_capacity: { service: api, share: 50% }",
            "5:56: faults.0: `api` has unlimited workers",
        ),
    ] {
        let problems = wrong(&world(fault));
        assert!(problems.contains(message), "{problems}\n{message}");
        assert_eq!(problems.lines().count(), 1, "{problems}");
    }
}

#[test]
fn more_processes_than_memory_has_room_for_are_refused() {
    let world = |instances: &str| {
        format!(
            "version: 1
run: {{ duration: 100s }}
clients: {{ web: {{ instances: {instances}, arrivals: {{ poisson: 1/s }}, calls: [ api, db ] }} }}
services: {{ api: {{ work: 1ms }}, db: {{ replicas: 100, work: 1ms }} }}
"
        )
    };
    crate::yaml(&world("499000"));
    let problems = wrong(&world("500001"));
    let message = "3:12: instances: 500001 with 2 edges each make more than 1000000 processes";
    assert!(problems.contains(message), "{problems}");
}
