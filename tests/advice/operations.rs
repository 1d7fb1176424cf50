//! Advice, the tree and the worst case follow the operations that are called, and count the retries that are made.

use sim::scenario::{Format, Source, Topology};

use super::{names, of, of_model};
use crate::program::Folder;
use retrystorm::advice::Advice;
use retrystorm::shipped::{self, Folder as Shipped};

/// Only `browse` is called, and nothing is below it.
const UNUSED: &str = "\
version: 1
run: { duration: 60s }
clients:
  app: { arrivals: { poisson: 10/s }, calls: [ { to: gw, operation: browse, policy: p } ] }
services:
  gw:
    operations:
      browse: { work: 1ms }
      buy: { program: [ { call: { to: pay, policy: p } } ] }
  pay: { concurrency: 4, program: [ { call: { to: db, policy: p } } ] }
  db: { concurrency: 4, work: 10ms }
policies:
  p: { attempt_timeout: 1s, retry: { max_attempts: 3, on: [ 5xx, timeout ] } }
";

/// The same, with a client that buys, and a write that must not be done twice.
fn bought() -> String {
    UNUSED
        .replace(
            "services:\n",
            "  web: { arrivals: { poisson: 10/s }, calls: [ { to: gw, operation: buy } ] }\nservices:\n",
        )
        .replace(
            "db: { concurrency: 4, work: 10ms }",
            "db: { concurrency: 4, operations: { write: { work: 10ms, idempotent: false }, read: { work: 1ms } } }",
        )
}

/// Reads and writes of one database, by clients of which one only reads.
const SHOP: &str = "\
version: 1
run: { duration: 3min, warmup: 10s }
clients:
  web:
    instances: 20
    arrivals: { poisson: 200/s }
    operations: { browse: 80%, buy: 20% }
    program:
      browse: [ { call: { to: gateway, operation: browse, policy: browser } } ]
      buy: [ { call: { to: gateway, operation: buy, policy: browser } } ]
  mobile: { instances: 50, arrivals: { poisson: 80/s }, calls: [ { to: gateway, operation: browse, policy: app } ] }
services:
  gateway:
    operations:
      browse: { program: [ { work: 1ms }, { call: { to: catalog, policy: mesh } } ] }
      buy: { program: [ { work: 1ms }, { call: { to: checkout, policy: mesh } } ], idempotent: false }
  catalog: { concurrency: 48, queue: 200, program: [ { work: 4ms }, { call: { to: db, operation: read, policy: sql } } ] }
  checkout:
    concurrency: 32
    queue: 100
    program: [ { work: 5ms }, { call: { to: inventory, policy: mesh } }, { call: { to: db, operation: write, policy: sql } } ]
  inventory: { concurrency: 16, queue: 100, program: [ { call: { to: db, operation: read, policy: sql } } ] }
  db:
    concurrency: 8
    queue: 400
    operations:
      read: { work: { exponential: 12ms } }
      write: { work: { lognormal: { p50: 20ms, p99: 120ms } }, idempotent: false }
policies:
  browser: { deadline: 5s }
  app: { deadline: 4s, attempt_timeout: 2s, retry: { max_attempts: 3, on: [ timeout, 5xx ] } }
  mesh: { attempt_timeout: 1s, retry: { max_attempts: 3, on: [ 5xx, timeout ] } }
  sql: { attempt_timeout: 400ms, retry: { max_attempts: 2, on: [ timeout, unavailable ] } }
";

fn worst(text: &str) -> Vec<f64> {
    let source = Source {
        name: "x.yaml",
        text,
        format: Format::Yaml,
    };
    let scenario = sim::scenario::load(&source, &[], &mut |_| Err("no files".into()));
    Topology::of(&scenario.unwrap_or_else(|problems| panic!("{problems}"))).worst_amplification
}

fn piece<'a>(advice: &'a [Advice], name: &str) -> &'a Advice {
    let found = advice.iter().find(|piece| piece.name == name);
    found.unwrap_or_else(|| panic!("{name} is not in {advice:#?}"))
}

fn figure(piece: &Advice, name: &str) -> f64 {
    let found = piece.figures.iter().find(|(known, _)| *known == name);
    found
        .unwrap_or_else(|| panic!("{name} is not in {piece:#?}"))
        .1
}

fn about<'a>(advice: &'a [Advice], subject: &'a str) -> Vec<&'static str> {
    let to = |piece: &&Advice| piece.subject == subject || piece.also.iter().any(|a| a == subject);
    advice.iter().filter(to).map(|piece| piece.name).collect()
}

#[test]
fn nothing_is_said_of_calls_that_nobody_comes_to() {
    assert_eq!(worst(UNUSED), [3.0, 0.0, 0.0]);
    let advice = of(UNUSED);
    for subject in ["gw → pay", "pay → db", "pay", "db"] {
        assert_eq!(about(&advice, subject), [""; 0], "{subject}");
    }
    assert!(about(&advice, "app → gw").contains(&"timeouts-retried-unbounded"));
    // The same calls once somebody makes them.
    let advice = of(&bought());
    assert!(about(&advice, "gw → pay").contains(&"timeouts-retried-unbounded"));
}

#[test]
fn the_tree_follows_operations_and_names_them_where_there_are_several() {
    let folder = Folder::new();
    folder.write("unused.yaml", UNUSED);
    folder.write("bought.yaml", &bought());
    let ran = folder.run("check unused.yaml").ended(0);
    let tree = "  └─ gw.browse ×3  under p · 1 replica × workers without limit, queue without limit\n  \
                never called: gw.buy, pay, db\n";
    assert!(ran.stdout.contains(tree), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("gw → pay  policy p · never called\n"),
        "{}",
        ran.stdout
    );
    let ran = folder.run("check bought.yaml").ended(0);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let web = lines.iter().position(|line| line.starts_with("  web  "));
    let below = &lines[web.expect("the client") + 1..][..4];
    let drawn: Vec<&str> = below
        .iter()
        .map(|line| line.split("  under").next().expect("a head"))
        .collect();
    assert_eq!(
        drawn,
        [
            "  └─ gw.buy ×1",
            "     └─ pay ×3",
            "        └─ db.write ×1",
            "  never called: db.read",
        ]
    );
}

#[test]
fn layers_multiply_along_calls_that_lead_to_each_other() {
    // Mobile never buys: 3 × 3 × 2 by way of the catalogue, as much by way of the checkout, whose write comes on top.
    let advice = of(SHOP);
    let stacked: Vec<&Advice> = advice
        .iter()
        .filter(|a| a.name == "stacked-retries")
        .collect();
    assert_eq!(stacked.len(), 1, "{stacked:#?}");
    assert_eq!(stacked[0].subject, "db");
    assert_eq!(figure(stacked[0], "layers"), 3.0);
    assert_eq!(figure(stacked[0], "attempts_per_call"), 18.0);
    assert_eq!(figure(stacked[0], "worst_amplification"), 21.0);
    assert_eq!(worst(SHOP)[4], 21.0);
    for (model, ..) in shipped::all(Shipped::Models) {
        for piece in of_model(model)
            .iter()
            .filter(|a| a.name == "stacked-retries")
        {
            let (all, worst) = (
                figure(piece, "attempts_per_call"),
                figure(piece, "worst_amplification"),
            );
            assert!(all <= worst, "{model}: {piece:#?}");
        }
    }
}

/// One client is in a hurry and reads, another has time and writes; only writing goes further down.
#[test]
fn deadlines_come_from_those_whose_calls_lead_there() {
    const WORLD: &str = "\
version: 1
run: { duration: 60s }
clients:
  hurried: { arrivals: { poisson: 10/s }, calls: [ { to: gw, operation: read, policy: short } ] }
  patient: { arrivals: { poisson: 10/s }, calls: [ { to: gw, operation: write, policy: long } ] }
services:
  gw:
    operations:
      read: { work: 1ms }
      write: { program: [ { call: { to: db, policy: sql } } ] }
  db: { concurrency: 4, queue: 10, work: 1ms }
policies:
  short: { deadline: 100ms }
  long: { attempt_timeout: 10s }
  sql: { attempt_timeout: 1s, deadline: { limit: 2s, inherit: false } }
";
    for trap in ["callee-outlasts-caller", "deadline-ignored"] {
        assert!(!names(&of(WORLD)).contains(&trap), "{trap}");
        let both = WORLD.replace(
            "operation: read, policy: short",
            "operation: write, policy: short",
        );
        let advice = of(&both);
        let piece = piece(&advice, trap);
        assert!(piece.reason.contains("gw.write"), "{piece:#?}");
    }
}

#[test]
fn retries_that_an_operation_forbids_are_not_counted() {
    let text = bought();
    assert_eq!(worst(&text), [3.0, 3.0, 3.0]);
    let advice = of(&text);
    let refused = piece(&advice, "retries-refused");
    assert!(
        refused.reason.starts_with("the 2 retries on "),
        "{refused:#?}"
    );
    assert!(
        refused
            .reason
            .ends_with("are never made: db.write is not idempotent"),
        "{refused:#?}"
    );
    // What says that they are never made does not say what they do.
    assert_eq!(
        about(&advice, "pay → db"),
        ["retries-refused", "hang-takes-all-workers"]
    );
    let once = text.replace("max_attempts: 3", "max_attempts: 2");
    let advice = of(&once);
    let refused = piece(&advice, "retries-refused");
    assert!(refused.reason.starts_with("the retry on "), "{refused:#?}");
    // The bound is one: whatever can be repeated safely counts.
    let connect = |more: &str| text.replace("on: [ 5xx, timeout ]", more);
    for counted in [
        "on: [ 5xx, timeout, connect_refused ]",
        "on: [ 5xx, timeout ], unprocessed: [ unavailable ]",
    ] {
        assert_eq!(worst(&connect(counted)), [3.0, 3.0, 9.0], "{counted}");
    }
    let early = "policies:\n";
    let faults = "faults: [ { at: 1s, errors: { service: db, fail: { kind: unavailable, phase: connect } } } ]\npolicies:\n";
    let early = text.replace(early, faults);
    assert_eq!(worst(&early), [3.0, 3.0, 9.0], "it fails before it is sent");
    assert!(!names(&of(&early)).contains(&"retries-refused"));
    let deaf = early.replace(
        "on: [ 5xx, timeout ]",
        "on: [ 5xx, timeout ], phases: [ server ]",
    );
    assert_eq!(
        worst(&deaf),
        [3.0, 3.0, 3.0],
        "and is not tried again there"
    );
}

#[test]
fn capacity_is_that_of_the_mix_that_is_offered() {
    // Reads of 12 ms and writes of 20 ms × e^(s²/2) with s = ln 6 / 2.326: 280/s and 40/s.
    let spread = 6.0_f64.ln() / 2.326_347_874;
    let write = 0.020 * (spread * spread / 2.0).exp();
    let mean = (280.0 * 0.012 + 40.0 * write) / 320.0;
    let advice = of(SHOP);
    let storm = piece(&advice, "retries-exceed-capacity");
    assert_eq!(storm.subject, "db");
    assert!((figure(storm, "offered_per_s") - 320.0).abs() < 1e-9);
    let capacity = figure(storm, "capacity_per_s");
    assert!((capacity - 8.0 / mean).abs() < 1e-3, "{capacity}");
    let room = figure(storm, "retries_per_call_at_capacity");
    assert!((room - (capacity / 320.0 - 1.0)).abs() < 1e-9, "{room}");
    assert!(
        storm.mend.contains("80.3 %") && storm.mend.contains("40.2 %"),
        "{}",
        storm.mend
    );
    // Reads are tried again and writes are not, so more can be done of what comes then.
    assert!(figure(storm, "capacity_then_per_s") > 1.03 * capacity);
    let queue = piece(&advice, "queue-outlasts-callers");
    let wait = figure(queue, "full_queue_wait_s");
    assert!((wait - 400.0 / 8.0 * mean).abs() < 1e-6, "{wait}");
}

#[test]
fn what_is_the_same_everywhere_is_said_once_and_mistakes_come_first() {
    let advice = of(SHOP);
    let left: Vec<&Advice> = advice
        .iter()
        .filter(|piece| piece.name == "abandoned-work-goes-on")
        .collect();
    assert_eq!(left.len(), 1, "{left:#?}");
    assert_eq!(left[0].subject, "mobile → gateway");
    assert_eq!(
        left[0].also,
        [
            "gateway → catalog",
            "gateway → checkout",
            "checkout → inventory",
            "catalog → db",
            "inventory → db",
        ]
    );
    for service in ["gateway", "catalog", "checkout", "inventory", "db"] {
        assert!(left[0].mend.contains(service), "{}", left[0].mend);
    }
    let order = |advice: &[Advice]| {
        let keys = advice.iter().map(|piece| {
            let place = piece.place.line_and_column;
            (piece.severity.name() != "mistake", place)
        });
        keys.collect::<Vec<_>>()
    };
    let given = order(&advice);
    let mut sorted = given.clone();
    sorted.sort();
    assert_eq!(given, sorted);
    assert!(given.iter().any(|(risk, _)| *risk) && given.iter().any(|(risk, _)| !risk));
}
