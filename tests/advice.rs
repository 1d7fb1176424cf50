//! Every trap is seen where it is and not where it is not, and docs/advice.md says all of them.

mod operations;

use std::fmt::Write as _;
use std::path::Path;

use retrystorm::advice::{self, Advice, KEYS, SUMMARY, facts::Facts};
use retrystorm::input::Input;
use retrystorm::shipped::{self, Folder as Shipped};
use sim::scenario::{Format, Places, Source};

use crate::docs::{is_up_to_date, two_columns};
use crate::program::Folder;

/// A world that there is nothing to say about.
const WELL: &str = "\
version: 1
run: { duration: 60s, window: 1s, warmup: 10s }
clients:
  web: { instances: 4, arrivals: { poisson: 100/s }, calls: [ { to: front, policy: outer } ] }
services:
  front: { concurrency: 100, queue: 10, honours_cancellation: true, program: [ { work: 1ms }, { call: { to: api, policy: inner } } ] }
  api: { concurrency: 10, queue: 20, honours_cancellation: true, work: { exponential: { mean: 10ms } } }
policies:
  outer:
    deadline: 2s
    attempt_timeout: 800ms
    retry: { max_attempts: 3, backoff: { exponential: { base: 50ms, max: 1s, jitter: full } }, on: [timeout, unavailable] }
    budget: { ratio: { percent: 10%, burst: 10 } }
  inner: { deadline: 500ms, bulkhead: 50 }
faults:
  - { at: 30s, for: 5s, slow: { service: api, factor: 2 } }
";

const BUDGET: (&str, &str) = ("    budget: { ratio: { percent: 10%, burst: 10 } }\n", "");

/// From the first to the second.
type Edit = (&'static str, &'static str);

/// An API that refuses with a wait, and clients that keep to it.
const REFUSING: &[Edit] = &[
    (
        "slow: { service: api, factor: 2 }",
        "errors: { service: front, fail: { kind: overloaded, retry_after: 1s } }",
    ),
    (
        "on: [timeout, unavailable] }",
        "on: [timeout, overloaded], retry_after: { spread: 500ms } }",
    ),
];

/// A front that does something, with a key that keeps it from doing it twice.
const ORDERS: &[Edit] = &[
    ("policy: outer }", "policy: outer, key: per_call }"),
    (
        "program: [ { work: 1ms }, ",
        "idempotency: { claim: atomic, retention: 24h }, program: [ { effect: order }, { work: 1ms }, ",
    ),
];

const BREAKER: &[Edit] = &[(
    "bulkhead: 50 }",
    "bulkhead: 50, breaker: { window: 10s, minimum_calls: 20, on: [timeout] } }",
)];

const LOOP: &[Edit] = &[(
    "arrivals: { poisson: 100/s }, calls: [ { to: front, policy: outer } ]",
    "loop: [ { call: { to: front, policy: outer } }, { delay: 10s } ]",
)];

/// Each trap: what the world is like, and the mistake in it.
const CASES: &[(&str, &[Edit], &[Edit])] = &[
    (
        "visibility-shorter-than-work",
        &[(
            "api: { concurrency: 10, queue: 20,",
            "api: { concurrency: 10, queue: 20, messages: 1s,",
        )],
        &[("messages: 1s", "messages: 30ms")],
    ),
    (
        "timeout-below-p99",
        &[],
        &[("attempt_timeout: 800ms", "attempt_timeout: 40ms")],
    ),
    (
        "no-timeout",
        &[],
        &[("    deadline: 2s\n    attempt_timeout: 800ms\n", "")],
    ),
    (
        "timeout-never-retried",
        &[],
        &[("attempt_timeout: 800ms", "attempt_timeout: 2s")],
    ),
    (
        "attempts-never-made",
        &[],
        &[("base: 50ms, max: 1s", "base: 9s, max: 9s")],
    ),
    (
        "callee-outlasts-caller",
        &[("queue: 10, honours_cancellation: true", "queue: 10")],
        &[("deadline: 500ms", "deadline: { limit: 5s, inherit: false }")],
    ),
    (
        "deadline-ignored",
        &[],
        &[(
            "deadline: 500ms",
            "deadline: { limit: 500ms, inherit: false }",
        )],
    ),
    (
        "stacked-retries",
        &[],
        &[
            BUDGET,
            (
                "bulkhead: 50 }",
                "bulkhead: 50, retry: { max_attempts: 3 } }",
            ),
        ],
    ),
    (
        "endless-attempts",
        &[],
        &[
            ("max_attempts: 3", "max_attempts: unlimited"),
            ("    deadline: 2s\n", ""),
        ],
    ),
    ("timeouts-retried-unbounded", &[], &[BUDGET]),
    (
        "no-budget",
        &[("on: [timeout, unavailable]", "on: [unavailable]")],
        &[BUDGET],
    ),
    (
        "budget-of-next-to-nothing",
        &[],
        &[("percent: 10%", "percent: 0.2%")],
    ),
    (
        "budget-of-everything",
        &[],
        &[("percent: 10%", "percent: 100%")],
    ),
    ("budget-saved-up", &[], &[("burst: 10 ", "burst: 1000 ")]),
    ("no-jitter", &[], &[("jitter: full", "jitter: none")]),
    (
        "narrow-jitter",
        LOOP,
        &[("instances: 4", "instances: 20000")],
    ),
    (
        "no-backoff",
        &[],
        &[(
            "{ exponential: { base: 50ms, max: 1s, jitter: full } }",
            "none",
        )],
    ),
    (
        "overloaded-retried-blindly",
        REFUSING,
        &[("{ spread: 500ms }", "{ honour: false }")],
    ),
    (
        "retry-after-herd",
        REFUSING,
        &[("{ spread: 500ms }", "{ max: 10s }")],
    ),
    (
        "retry-after-out-of-reach",
        REFUSING,
        &[("retry_after: 1s", "retry_after: 30s")],
    ),
    (
        "effects-doubled",
        &[
            ("front: { ", "front: { idempotent: false, "),
            (
                "on: [timeout, unavailable] }",
                "on: [timeout, connect_refused] }",
            ),
        ],
        &[(
            "connect_refused] }",
            "connect_refused], unprocessed: [timeout] }",
        )],
    ),
    (
        "retries-refused",
        &[],
        &[("front: { ", "front: { retryable: false, ")],
    ),
    (
        "hopeless-retries",
        &[],
        &[("[timeout, unavailable]", "[timeout, unavailable, invalid]")],
    ),
    (
        "effect-without-key",
        ORDERS,
        &[("key: per_call", "key: per_attempt")],
    ),
    (
        "key-races",
        ORDERS,
        &[("claim: atomic", "claim: check_then_act")],
    ),
    (
        "key-forgotten-early",
        ORDERS,
        &[("retention: 24h", "retention: 1s")],
    ),
    (
        "queue-outlasts-callers",
        &[],
        &[("queue: 20, honours_cancellation: true", "queue: 2000")],
    ),
    (
        "unbounded-queue",
        &[],
        &[("queue: 20, honours_cancellation: true, ", "")],
    ),
    (
        "abandoned-work-goes-on",
        &[],
        &[("queue: 10, honours_cancellation: true", "queue: 10")],
    ),
    ("overloaded", &[], &[("poisson: 100/s", "poisson: 2000/s")]),
    (
        "retries-exceed-capacity",
        &[("poisson: 100/s", "poisson: 500/s")],
        &[BUDGET],
    ),
    (
        "no-concurrency-limit",
        &[],
        &[("concurrency: 100, queue: 10, ", "")],
    ),
    (
        "breaker-never-opens",
        BREAKER,
        &[("minimum_calls: 20", "minimum_calls: 5000")],
    ),
    (
        "breaker-counts-callers-faults",
        BREAKER,
        &[("on: [timeout] }", "on: [timeout, invalid] }")],
    ),
    (
        "bulkhead-never-full",
        &[],
        &[("bulkhead: 50", "bulkhead: 100")],
    ),
    (
        "hang-takes-all-workers",
        &[("poisson: 100/s", "poisson: 300/s")],
        &[(", bulkhead: 50", "")],
    ),
    ("no-baseline", &[], &[("at: 30s", "at: 12s")]),
    ("no-aftermath", &[], &[("at: 30s", "at: 53s")]),
    ("fault-without-effect", &[], &[("factor: 2", "factor: 1")]),
];

fn edited(text: &str, edits: &[Edit]) -> String {
    edits.iter().fold(text.to_string(), |text, (from, to)| {
        assert!(text.contains(from), "{from} is not in\n{text}");
        text.replace(from, to)
    })
}

fn of(text: &str) -> Vec<Advice> {
    let source = Source {
        name: "x.yaml",
        text,
        format: Format::Yaml,
    };
    let scenario = sim::scenario::load(&source, &[], &mut |_| Err("no files".into()));
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    let places = Places::of(&source, &[]).expect("it was read before");
    advice::advise(&Facts::of(&scenario, &places), &[])
}

fn names(advice: &[Advice]) -> Vec<&'static str> {
    advice.iter().map(|advice| advice.name).collect()
}

#[test]
fn a_world_without_mistakes_gets_no_advice() {
    assert_eq!(of(WELL), []);
}

#[test]
fn every_trap_is_seen_where_it_is_and_not_in_its_mended_twin() {
    for (name, world, mistake) in CASES {
        let well = edited(WELL, world);
        let seen = names(&of(&well));
        assert!(!seen.contains(name), "{name} is seen in\n{well}\n{seen:?}");
        let wrong = edited(&well, mistake);
        let seen = of(&wrong);
        let piece = seen.iter().find(|advice| advice.name == *name);
        let piece = piece.unwrap_or_else(|| panic!("{name} is not seen in\n{wrong}\n{seen:#?}"));
        assert!(piece.place.line_and_column.is_some(), "{piece:?}");
        assert!(
            !piece.reason.is_empty() && !piece.mend.is_empty(),
            "{piece:?}"
        );
    }
    let mut all: Vec<&str> = advice::traps().iter().map(|trap| trap.name).collect();
    let mut tried: Vec<&str> = CASES.iter().map(|(name, ..)| *name).collect();
    all.sort_unstable();
    tried.sort_unstable();
    assert_eq!(all, tried, "each trap is tried once");
}

#[test]
fn the_numbers_are_those_of_the_formulas() {
    let figure = |text: &str, trap: &str, figure: &str| {
        let advice = of(text);
        let piece = advice.iter().find(|a| a.name == trap).expect(trap);
        let found = piece.figures.iter().find(|(name, _)| *name == figure);
        found.expect(figure).1
    };
    // 1 ms + exponential of mean 10 ms: p99 = 1 ms + 10 ms × ln 100; beyond 40 ms: e^(−39/10).
    let short = edited(WELL, &[("attempt_timeout: 800ms", "attempt_timeout: 40ms")]);
    let p99 = figure(&short, "timeout-below-p99", "answer_p99_s");
    assert!((p99 - 0.047_051_7).abs() < 1e-7, "{p99}");
    let share = figure(&short, "timeout-below-p99", "given_up_share");
    assert!((share - 0.020_241_9).abs() < 1e-7, "{share}");
    // Phases of each attempt come on top; those of a new connection only where none is kept.
    for (more, phases) in [
        ("phases: { tls: 3ms, decode: 2ms }", 0.005),
        ("phases: { tls: 3ms, decode: 2ms }, pool: {}", 0.002),
    ] {
        let link = format!("links: {{ web -> front: {{ {more} }} }}\nfaults:\n");
        let way = short.replace("faults:\n", &link);
        let p99 = figure(&way, "timeout-below-p99", "answer_p99_s");
        assert!((p99 - 0.047_051_7 - phases).abs() < 1e-7, "{more}: {p99}");
    }
    // Two exponentials of 10 ms in a row: Erlang, p99 = 66.38 ms. Of 10 000 draws, the share beyond the true
    // p99 is within 0.4 % (four standard deviations) of 1 %, so the estimate is between p98.6 and p99.4.
    let two = edited(
        &short,
        &[("{ work: 1ms }", "{ work: { exponential: { mean: 10ms } } }")],
    );
    let p99 = figure(&two, "timeout-below-p99", "answer_p99_s");
    assert!((0.062..0.073).contains(&p99), "{p99}");
    // 500 /s × 3 attempts against 10 workers of 10 ms.
    let storm = edited(WELL, &[("poisson: 100/s", "poisson: 500/s"), BUDGET]);
    assert_eq!(
        figure(&storm, "retries-exceed-capacity", "failing_per_s"),
        1500.0
    );
    assert_eq!(
        figure(&storm, "retries-exceed-capacity", "capacity_per_s"),
        1000.0
    );
    let stacked = edited(
        WELL,
        &[
            BUDGET,
            (
                "bulkhead: 50 }",
                "bulkhead: 50, retry: { max_attempts: 4 } }",
            ),
        ],
    );
    assert_eq!(
        figure(&stacked, "stacked-retries", "attempts_per_call"),
        12.0
    );
}

/// The models that come with the program tell stories of mistakes; the cured ones are cured of theirs.
#[test]
fn stories_of_mistakes_are_seen_through_and_their_cures_are_not_blamed_for_them() {
    for (model, cure, traps) in [
        (
            "metastable",
            "metastable-budget",
            &["timeouts-retried-unbounded", "retries-exceed-capacity"][..],
        ),
        (
            "metastable",
            "metastable-breaker",
            &["timeouts-retried-unbounded", "retries-exceed-capacity"],
        ),
        (
            "real-traffic",
            "real-traffic-budget",
            &[
                "stacked-retries",
                "timeouts-retried-unbounded",
                "retries-exceed-capacity",
            ],
        ),
        ("thundering-herd", "thundering-herd-jitter", &["no-jitter"]),
        (
            "retry-after-herd",
            "retry-after-spread",
            &["retry-after-herd"],
        ),
        (
            "grpc-chain",
            "grpc-chain-propagated",
            &[
                "callee-outlasts-caller",
                "deadline-ignored",
                "queue-outlasts-callers",
            ],
        ),
    ] {
        let (sick, well) = (of_model(model), of_model(cure));
        for trap in traps {
            assert!(names(&sick).contains(trap), "{model}: {trap}");
            assert!(!names(&well).contains(trap), "{cure}: {trap}");
        }
    }
    for (model, trap) in [
        ("three-layers", "stacked-retries"),
        ("hidden-mesh-retries", "stacked-retries"),
        ("naive-deadline", "callee-outlasts-caller"),
        ("slow-dependency", "hang-takes-all-workers"),
    ] {
        assert!(names(&of_model(model)).contains(&trap), "{model}: {trap}");
    }
    let about_reviews = |model: &str| {
        let advice = of_model(model);
        advice
            .iter()
            .any(|a| a.name == "hang-takes-all-workers" && a.subject.contains("reviews"))
    };
    assert!(about_reviews("slow-dependency") && !about_reviews("slow-dependency-bulkhead"));
}

fn of_model(name: &str) -> Vec<Advice> {
    let input = Input::open(Path::new(name), Shipped::Models).expect("it comes with the program");
    let loaded = input.load(&[]).expect("it is right");
    let places = input.places(&[]).expect("it is right");
    advice::advise(&Facts::of(&loaded.scenario, &places), &[])
}

#[test]
fn the_page_on_advice_is_complete() {
    let mut traps =
        String::from("| name | | seen when | why it does harm | from |\n|---|---|---|---|---|\n");
    for trap in advice::traps() {
        let (name, severity) = (trap.name, trap.severity.name());
        let _ = writeln!(
            traps,
            "| `{name}` | {severity} | {} | {} | {} |",
            trap.seen, trap.why, trap.source
        );
    }
    let mut models = String::from("| model | advice |\n|---|---|\n");
    for (name, ..) in shipped::all(Shipped::Models) {
        let mut given: Vec<String> = names(&of_model(name))
            .iter()
            .map(|n| format!("`{n}`"))
            .collect();
        given.sort_unstable();
        given.dedup();
        let given = if given.is_empty() {
            "none".into()
        } else {
            given.join(", ")
        };
        let _ = writeln!(models, "| {name} | {given} |");
    }
    is_up_to_date(
        "docs/advice.md",
        vec![
            ("traps", traps),
            (
                "keys",
                two_columns(["key", "meaning"], SUMMARY.iter().copied()),
            ),
            (
                "keys of advice",
                two_columns(["key", "meaning"], KEYS.iter().copied()),
            ),
            ("models", models),
        ],
    );
}

#[test]
fn advice_fails_a_check_only_where_it_is_denied_and_can_be_allowed_by_name() {
    let folder = Folder::new();
    folder.write("well.yaml", WELL);
    folder.write(
        "wrong.yaml",
        &edited(WELL, &[("jitter: full", "jitter: none")]),
    );
    let ran = folder.run("check wrong.yaml").ended(0);
    assert!(ran.stdout.contains("advice: 1 mistake\n"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("wrong.yaml:12:31: mistake no-jitter"),
        "{}",
        ran.stdout
    );
    folder.run("check well.yaml --deny-advice").ended(0);
    folder.run("check wrong.yaml --deny-advice").ended(1);
    folder
        .run("check wrong.yaml --deny-advice --allow no-jitter")
        .ended(0);
    let set = "--set policies.outer.retry.backoff.exponential.jitter=full";
    folder
        .run(&format!("check wrong.yaml --deny-advice {set}"))
        .ended(0);
    // What is denied is an error, also where nothing else is printed.
    let ran = folder
        .run("check wrong.yaml --deny-advice --quiet")
        .ended(1);
    assert_eq!(ran.stdout, "");
    assert!(
        ran.stderr
            .starts_with("wrong.yaml:12:31: mistake: web → front: "),
        "{}",
        ran.stderr
    );
    let ran = folder.run("check wrong.yaml --allow no-jiter").ended(2);
    assert!(ran.stderr.contains("no-jitter"), "{}", ran.stderr);
}

#[test]
fn advice_is_json_for_programs_and_points_at_an_override_that_brought_it_in() {
    let folder = Folder::new();
    folder.write("well.yaml", WELL);
    let set = "policies.outer.attempt_timeout=40ms";
    let ran = folder
        .run(&format!("check well.yaml --format json --set {set}"))
        .ended(0);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let keys: Vec<&str> = document
        .as_object()
        .expect("a map")
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(keys, SUMMARY.map(|(key, _)| key));
    let advice = &document["advice"][0];
    let keys: Vec<&str> = advice
        .as_object()
        .expect("a map")
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(keys, KEYS.map(|(key, _)| key));
    assert_eq!(advice["name"], "timeout-below-p99");
    assert_eq!(advice["place"]["file"], format!("--set {set}"));
    assert_eq!(advice["figures"]["attempt_limit_s"], 0.04);
    assert_eq!(document["worst_amplification"]["api"], 3.0);
}
