//! The labs: worlds of a few attempts, followed to the letter through the program.

use crate::program::Folder;

/// The ledger of a shipped model, one line per attempt: `columns` of each, apart by ` | `.
fn ledger(model: &str, calls: u32, columns: &[&str]) -> Vec<String> {
    let folder = Folder::new();
    folder
        .run(&format!("run {model} --no-plots --ledger {calls}"))
        .ended(0);
    let text = folder.read(&format!("output/{model}/ledger.csv"));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let place = |name: &&str| header.iter().position(|h| h == *name).expect("a column");
    let places: Vec<usize> = columns.iter().map(place).collect();
    let line = |row: csv::StringRecord| {
        let cells: Vec<&str> = places.iter().map(|&i| &row[i]).collect();
        cells.join(" | ")
    };
    reader
        .records()
        .map(|row| line(row.expect("a row")))
        .collect()
}

/// What happened and what the caller did about it.
const STORY: [&str; 8] = [
    "caller",
    "attempt",
    "key",
    "response",
    "answered_by",
    "effects",
    "known",
    "next",
];

/// C1.
#[test]
fn an_order_stored_before_a_503_doubles_without_a_key_and_is_replayed_with_one() {
    assert_eq!(
        ledger("lab-stored-then-503", 2, &STORY),
        [
            "blind | 1 |  | 503 unavailable | script | order | unknown | retry",
            "careful | 1 | k1 | 503 unavailable | script | order | unknown | retry",
            "blind | 2 |  | 201 | program | order (duplicate) | done | done",
            "careful | 2 | k1 | 201 | store |  | done | done",
        ]
    );
}

/// C2.
#[test]
fn a_key_with_another_body_is_refused_and_not_tried_again() {
    let columns = [
        "attempt",
        "key",
        "body",
        "response",
        "answered_by",
        "effects",
        "next",
        "why",
    ];
    assert_eq!(
        ledger("lab-same-key-other-body", 1, &columns),
        [
            "1 | k1 | b1 | 503 unavailable | script | order | retry | ",
            "2 | k1 | b2 | 409 conflict | store |  | give up | not_retryable",
        ]
    );
}

/// C3.
#[test]
fn a_new_key_each_time_stores_three_orders_and_one_key_stores_one() {
    let of = |caller: &str| -> Vec<String> {
        let all = ledger("lab-new-key-each-time", 3, &STORY);
        all.into_iter()
            .filter(|row| row.starts_with(caller))
            .collect()
    };
    assert_eq!(
        of("forgetful"),
        [
            "forgetful | 1 | k1 | unknown |  | order | unknown | retry",
            "forgetful | 2 | k4 | unknown |  | order (duplicate) | unknown | retry",
            "forgetful | 3 | k5 | unknown |  | order (duplicate) | unknown | give up",
        ]
    );
    assert_eq!(
        of("careful"),
        [
            "careful | 1 | k2 | unknown |  | order | unknown | retry",
            "careful | 2 | k2 | 200 | store |  | done | done",
        ]
    );
    assert_eq!(
        of("unlucky"),
        [
            "unlucky | 1 | k3 | unknown |  | order | unknown | retry",
            "unlucky | 2 | k3 | unknown |  |  | unknown | retry",
            "unlucky | 3 | k3 | unknown |  |  | unknown | give up",
        ]
    );
    let waits = ledger("lab-new-key-each-time", 3, &["caller", "attempt", "wait_s"]);
    let wait = waits
        .iter()
        .find_map(|row| row.strip_prefix("careful | 1 | "))
        .expect("it waits once");
    let wait: f64 = wait.parse().expect("seconds");
    assert!((0.0..=0.1).contains(&wait), "{wait}");
}

/// C4.
#[test]
fn retry_after_is_followed_as_seconds_and_as_a_date() {
    let columns = ["attempt", "sent_s", "response", "next", "wait_s"];
    assert_eq!(
        ledger("lab-retry-after", 1, &columns),
        [
            "1 | 0 | 429 overloaded | retry | 2",
            "2 | 2 | 503 unavailable | retry | 4",
            "3 | 6 | 201 | done | ",
        ]
    );
}

/// C5.
#[test]
fn a_retry_after_beyond_the_budget_is_one_attempt_and_says_what_it_would_have_needed() {
    let columns = [
        "attempt", "sent_s", "ended_s", "response", "next", "why", "wait_s",
    ];
    assert_eq!(
        ledger("lab-retry-after-budget", 1, &columns),
        ["1 | 0 | 0 | 503 unavailable | give up | retry_after_too_long | 120"]
    );
}

/// C6: the race.
#[test]
fn looking_before_writing_doubles_in_the_race_and_only_there() {
    assert_eq!(
        ledger("lab-key-race", 4, &STORY),
        [
            "racing | 1 | k1 | unknown |  | order | unknown | retry",
            "calm | 1 | k2 | unknown |  | order | unknown | retry",
            "atomic | 1 | k3 | unknown |  | order | unknown | retry",
            "polling | 1 | k4 | unknown |  | order | unknown | retry",
            "racing | 2 | k1 | unknown |  | order (duplicate) | unknown | give up",
            "atomic | 2 | k3 | 409 conflict | store |  | unknown | give up",
            "polling | 2 | k4 | 200 | store |  | done | done",
            "calm | 2 | k2 | 200 | store |  | done | done",
        ]
    );
}

/// C6: retention.
#[test]
fn a_retry_after_the_key_was_forgotten_stores_again() {
    assert_eq!(
        ledger("lab-key-retention", 2, &STORY),
        [
            "soon | 1 | k1 | unknown |  | order | unknown | retry",
            "late | 1 | k2 | unknown |  | order | unknown | retry",
            "soon | 2 | k1 | 200 | program | order (duplicate) | done | done",
            "late | 2 | k2 | 200 | store |  | done | done",
        ]
    );
}

/// C6: one key, one effect.
#[test]
fn one_key_protects_one_effect_and_the_ledger_says_which() {
    assert_eq!(
        ledger("lab-one-key-one-effect", 3, &STORY),
        [
            "letter | 1 | k1 | unknown |  | order; confirmation | unknown | retry",
            "broken | 1 | k2 | unknown |  | order | unknown | retry",
            "batch | 1 | k3 | unknown |  | item; item | unknown | retry",
            "letter | 2 | k1 | 200 | program | order (skipped); confirmation (duplicate) | done | done",
            "broken | 2 | k2 | 409 conflict | store |  | unknown | give up",
            "batch | 2 | k3 | 200 | program | item (duplicate); item (duplicate); item | done | done",
        ]
    );
}

/// C7: calls made for calls are in it, under the task that made them.
#[test]
fn a_ledger_follows_a_call_down_the_layers() {
    let folder = Folder::new();
    folder.write("layers.yaml", LAYERS);
    folder.run("run layers.yaml --no-plots --ledger 1").ended(0);
    let text = folder.read("output/layers/ledger.csv");
    let rows: Vec<&str> = text.lines().skip(1).collect();
    // The call, its two attempts at the gateway, and what each of them sent on.
    let starts = [
        "1,,web,0,gateway",
        "2,1,gateway,0,orders",
        "1,,web,0,gateway",
        "3,3,gateway,0,orders",
    ];
    assert_eq!(rows.len(), starts.len(), "{text}");
    for (row, start) in rows.iter().zip(starts) {
        assert!(row.starts_with(start), "{start}: {row}");
    }
    assert!(rows[3].contains("order (duplicate)"), "{text}");
    let summary = folder.read("output/layers/summary.json");
    assert!(summary.contains("\"orders.order\""), "{summary}");
}

/// The gateway answers 503 once although all went well below; no key is sent.
const LAYERS: &str = "\
version: 1
run: { duration: 10s, window: 1s }
clients: { web: { arrivals: { at: [0s, 5s] }, calls: [ { to: gateway, policy: sdk } ] } }
services:
  gateway:
    script: { answers: [ { status: 503, program: true } ], then: normal }
    program: [ { call: orders } ]
  orders: { program: [ { effect: order } ] }
policies: { sdk: { retry: { max_attempts: 2, backoff: { fixed: 1s }, on: [unavailable] } } }
expect:
  - effects(orders) == 3
  - duplicate_effects(orders) == 1
";

/// A5: an operation that counts as idempotent only where a key is sent.
#[test]
fn where_a_key_is_required_a_call_without_one_is_not_retried() {
    for (key, attempts, refused) in [("none", 1, 1), ("per_call", 2, 0)] {
        let folder = Folder::new();
        folder.write(
            "keys.yaml",
            &format!(
                "version: 1
run: {{ duration: 10s, window: 1s }}
clients: {{ shop: {{ arrivals: {{ at: [0s] }}, calls: [ {{ to: orders, policy: sdk, key: {key} }} ] }} }}
services:
  orders:
    idempotent: false
    idempotency: {{ required: true }}
    script: [ lost ]
    program: [ {{ effect: order }} ]
policies: {{ sdk: {{ attempt_timeout: 1s, retry: {{ max_attempts: 2, backoff: none, on: [timeout] }} }} }}
expect:
  - attempts(shop) == {attempts}
  - stopped(shop, not_idempotent) == {refused}
  - replayed(orders) == {}
",
                1 - refused
            ),
        );
        folder.run("run keys.yaml --no-plots").ended(0);
    }
}

/// A fault that answers once all is done, and a link that loses answers, leave effects that nobody was told of.
#[test]
fn effects_are_there_whatever_becomes_of_the_answer() {
    for (fault, link, unknown) in [
        (
            "- { at: 0s, errors: { service: orders, fail: internal, after_program: true } }",
            "0%",
            0,
        ),
        (
            "- { at: 0s, errors: { service: orders, fail: internal, after_program: true } }",
            "100%",
            20,
        ),
        ("- { at: 2ms, outage: { service: orders } }", "0%", 20),
    ] {
        let folder = Folder::new();
        folder.write(
            "world.yaml",
            &format!(
                "version: 1
run: {{ duration: 10s, window: 1s }}
clients: {{ shop: {{ instances: 20, loop: [ {{ call: {{ to: orders, policy: sdk, optional: true }} }}, {{ delay: 1h }} ] }} }}
services: {{ orders: {{ program: [ {{ work: 1ms }}, {{ effect: order }}, {{ work: 5ms }}, {{ effect: receipt }} ] }} }}
links: {{ default: {{ lose_response: {link} }} }}
policies: {{ sdk: {{ attempt_timeout: 100ms }} }}
faults:
  {fault}
expect:
  - effects(orders, order) == 20
  - duplicate_effects == 0
  - lost_effects == 0
  - hidden_effects(orders, order) == 20
  - unknown_effects(orders, order) == {unknown}
  - half_done_effects(orders, receipt) == {}
",
                if fault.contains("outage") { 20 } else { 0 }
            ),
        );
        folder.run("run world.yaml --no-plots").ended(0);
    }
}

/// One that answers first and writes later loses what a crash comes before.
#[test]
fn an_answer_before_the_effect_is_a_promise_that_a_crash_breaks() {
    let folder = Folder::new();
    folder.write(
        "world.yaml",
        "version: 1
run: { duration: 10s, window: 1s }
clients: { shop: { arrivals: { at: [0s, 1s] }, calls: [ orders ] } }
services: { orders: { program: [ { respond: ok }, { work: 10ms }, { effect: order } ] } }
faults: [ { at: 5ms, for: 1ms, outage: { service: orders } } ]
expect:
  - success_rate(shop) == 100%
  - effects(orders) == 1
  - lost_effects(orders) == 1
",
    );
    let ran = folder.run("run world.yaml --no-plots").ended(0);
    assert!(ran.stdout.contains("1 are lost"), "{}", ran.stdout);
}

/// C6: keys that are numbers are the same in two tenants. Told apart, each order is stored; otherwise the second one is
/// refused, or, where nobody looks at the body, gets the answer to somebody else's order, which is lost.
#[test]
fn keys_that_collide_between_tenants_are_refused_or_lose_an_order() {
    for (keys, effects, conflicts, lost) in [
        ("scope: [tenant, operation]", 2, 0, 0),
        ("scope: [operation]", 1, 1, 0),
        ("scope: [operation], fingerprint: false", 1, 0, 1),
    ] {
        let folder = Folder::new();
        folder.write(
            "world.yaml",
            &format!(
                "version: 1
run: {{ duration: 10s, window: 1s }}
clients:
  shop: {{ instances: 2, loop: [ {{ call: {{ to: orders, policy: sdk, key: numbered, optional: true }} }}, {{ delay: 1h }} ] }}
services: {{ orders: {{ idempotency: {{ {keys} }}, program: [ {{ effect: order }} ] }} }}
policies: {{ sdk: {{ retry: {{ max_attempts: 3, backoff: none, on: [conflict] }} }} }}
expect:
  - attempts(shop) == 2
  - effects(orders) == {effects}
  - key_conflicts(orders) == {conflicts}
  - lost_effects(orders) == {lost}
"
            ),
        );
        folder.run("run world.yaml --no-plots").ended(0);
    }
}

/// C6: a failure is forgotten, and the retry does it all again; or it is remembered, and the retry fails like the first.
#[test]
fn a_failed_request_is_done_again_or_fails_again() {
    for (failures, effects, replayed) in [("forget", 2, 0), ("replay", 1, 1)] {
        let folder = Folder::new();
        folder.write(
            "world.yaml",
            &format!(
                "version: 1
run: {{ duration: 10s, window: 1s }}
clients: {{ shop: {{ arrivals: {{ at: [0s] }}, calls: [ {{ to: orders, policy: sdk, key: per_call }} ] }} }}
services:
  orders: {{ idempotency: {{ failures: {failures} }}, program: [ {{ effect: order }}, {{ call: mail }} ] }}
  mail: {{ script: [503], work: 1ms }}
policies: {{ sdk: {{ retry: {{ max_attempts: 2, backoff: none, on: [unavailable] }} }} }}
expect:
  - attempts(shop) == 2
  - success_rate(shop) == 0%
  - effects(orders) == {effects}
  - replayed(orders) == {replayed}
"
            ),
        );
        folder.run("run world.yaml --no-plots").ended(0);
    }
}

/// A20: first 503, then 200, for every call.
#[test]
fn a_script_may_count_the_attempts_of_each_call() {
    let folder = Folder::new();
    folder.write(
        "world.yaml",
        "version: 1
run: { duration: 10s, window: 1s }
clients: { shop: { arrivals: { paced: 10/s }, calls: [ { to: orders, policy: sdk } ] } }
services: { orders: { script: { answers: [503], then: normal, per: call }, work: 1ms } }
policies: { sdk: { retry: { max_attempts: 2, backoff: none, on: [unavailable] } } }
expect:
  - attempts_per_call(shop) == 2
  - success_rate(shop) == 100%
  - served(orders) == 100
",
    );
    folder.run("run world.yaml --no-plots").ended(0);
}

/// With a key made from the request, the service below knows the gateway's second call as the first.
#[test]
fn an_inherited_key_holds_through_a_retried_gateway_and_a_new_one_does_not() {
    for (key, effects) in [("inherited", 1), ("per_call", 2)] {
        let folder = Folder::new();
        let world = LAYERS
            .replace("at: [0s, 5s]", "at: [0s]")
            .replace(
                "call: orders",
                &format!("call: {{ to: orders, key: {key} }}"),
            )
            .replace(
                "{ program: [ { effect",
                "{ idempotency: {}, program: [ { effect",
            )
            .replace(
                "effects(orders) == 3",
                &format!("effects(orders) == {effects}"),
            )
            .replace(
                "duplicate_effects(orders) == 1",
                &format!("duplicate_effects(orders) == {}", effects - 1),
            );
        folder.write("layers.yaml", &world);
        folder.run("run layers.yaml --no-plots").ended(0);
    }
}

/// B7, to the letter; the two calls that keep the third waiting are answered live.
#[test]
fn a_snapshot_is_served_up_to_its_age_and_never_instead_of_a_refusal() {
    let columns = ["caller", "sent_s", "response", "source", "age_s"];
    assert_eq!(
        ledger("lab-snapshot", 20, &columns),
        [
            "page | 0 | 200 | live | ",
            "page | 30 | 503 unavailable | snapshot | 30",
            "page | 60 | 503 unavailable | snapshot | 60",
            "page | 60.000000001 | 503 unavailable | too_old | ",
            "ahead | 65 | 503 unavailable | future | ",
            "empty | 70 | 503 unavailable | missing | ",
            "page | 80 | 422 invalid | failed | ",
            "crowd | 90 | 200 | live | ",
            "crowd | 90 | 200 | live | ",
            "crowd | 90 | not sent | capacity | ",
            "page | 100 | 200 | live | ",
        ]
    );
}

/// B4: past a cache that is down, all reads go to an origin that can do a tenth of them; a bulkhead in front of the
/// fallback lets through what it can do. One permit covers both calls.
#[test]
fn a_direct_fallback_is_a_call_of_its_own_under_the_permit_of_the_first() {
    let world = |direct: &str, permits: &str| {
        format!(
            "version: 1
run: {{ duration: 20s, window: 1s, drain: 20s }}
clients:
  web: {{ arrivals: {{ paced: 100/s }}, calls: [ {{ to: cache, policy: sdk, fallback: {{ direct: {{ to: origin, policy: {direct} }}{permits} }} }} ] }}
services:
  cache: {{ work: 1ms }}
  origin: {{ concurrency: 1, work: 100ms }}
policies:
  sdk: {{ attempt_timeout: 500ms }}
  limited: {{ attempt_timeout: 500ms, bulkhead: 1 }}
faults: [ {{ at: 10s, for: 5s, refuse: cache }} ]
expect:
"
        )
    };
    let run = |world: String, promises: &str| {
        let folder = Folder::new();
        folder.write("world.yaml", &(world + promises));
        folder.run("run world.yaml --no-plots").ended(0);
    };
    // 500 reads in five seconds: without a limit nearly all of them wait for too long.
    run(
        world("sdk", ""),
        "  - answers(web, direct) <= 60
  - answers(web, live) == 1500
  - answers(web, failed) >= 440
  - queue_max(origin) >= 100
",
    );
    run(
        world("limited", ""),
        "  - answers(web, direct) >= 45
  - answers(web, capacity) >= 440
  - answers(web, failed) == 0
  - queue_max(origin) == 0
",
    );
    // One permit: the next call, live or not, is turned away while the origin works for this one.
    run(
        world("sdk", ", permits: 1"),
        "  - answers(web, direct) >= 45
  - answers(web, capacity) >= 440
  - queue_max(origin) == 0
",
    );
}

/// B1: what has become of a write whose answer nobody has is asked, not guessed.
#[test]
fn a_write_without_an_answer_is_looked_up() {
    let folder = Folder::new();
    folder.write(
        "world.yaml",
        "version: 1
run: { duration: 100s, window: 10s }
clients:
  shop:
    arrivals: { at: [0s, 10s, 20s, 30s, 40s] }
    program:
      - call: { to: bank, operation: pay, policy: once, fallback: { look_up: { to: bank, operation: status, policy: once }, permits: 1 } }
      - call: shipping
services:
  bank:
    operations:
      pay:
        idempotent: false
        script: [ program, { status: lost, program: true }, { status: lost, program: false }, { status: lost, program: true }, { status: 422 } ]
        program: [ { work: 10ms }, { effect: payment } ]
      status: { script: [ program, program, 503 ], work: 1ms }
  shipping: { program: [ { effect: parcel } ] }
policies: { once: { attempt_timeout: 1s } }
expect:
  - answers(shop, live) == 1
  - answers(shop, found) == 1          # the second was done, the third was not, of the fourth nobody can say
  - answers(shop, absent) == 1
  - answers(shop, failed) == 2         # and the fifth was refused, and needs no look-up
  - effects(bank, payment) == 3
  - unknown_effects(bank) == 1
  - hidden_effects(bank) == 1
  - effects(shipping) == 2
",
    );
    let world = folder.run("run world.yaml --no-plots");
    println!("{}", world.stdout);
    world.ended(0);
}

/// There is something to be asked about.
#[test]
fn a_look_up_of_nothing_is_refused() {
    let folder = Folder::new();
    folder.write(
        "world.yaml",
        "version: 1
run: { duration: 10s, window: 1s }
clients: { web: { arrivals: { at: [0s] }, calls: [ { to: api, fallback: { look_up: api } } ] } }
services: { api: { work: 1ms } }
",
    );
    let refused = folder.run("check world.yaml");
    assert!(
        refused.stderr.contains("there is nothing to look up"),
        "{}",
        refused.stderr
    );
    refused.ended(2);
}

/// The step is optional as a whole.
#[test]
fn an_optional_call_goes_on_when_its_fallback_fails_too() {
    let folder = Folder::new();
    folder.write(
        "world.yaml",
        "version: 1
run: { duration: 10s, window: 1s }
clients:
  web:
    arrivals: { at: [0s] }
    program: [ { call: { to: gone, optional: true, fallback: { direct: gone } } }, { call: there } ]
services: { gone: { script: [503], work: 0s }, there: { program: [ { effect: seen } ] } }
expect:
  - answers(web, failed) == 1
  - effects(there) == 1
",
    );
    folder.run("run world.yaml --no-plots").ended(0);
}
