//! `retrystorm trace`: one call as a tree.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::program::Folder;

#[test]
fn every_attempt_of_every_layer_is_shown() {
    let shown = Folder::new().run("trace three-layers").ended(0).stdout;
    // 4 at the gateway, 16 at orders, 64 at the database.
    assert!(shown.contains("84 attempts in all"), "{shown}");
    let attempts = shown
        .lines()
        .filter(|line| line.trim_start().starts_with("attempt "));
    assert_eq!(attempts.count(), 84);
    assert!(
        shown.lines().all(|line| line.chars().count() <= 100),
        "{shown}"
    );
    assert!(shown.contains("failed by a fault"), "{shown}");
    assert!(shown.contains("attempts used · unavailable"), "{shown}");
    assert!(shown.contains("wait · before the next attempt"), "{shown}");
}

#[test]
fn work_for_a_caller_that_has_left_is_shown_as_such() {
    let shown = Folder::new()
        .run("trace naive-deadline --call 1")
        .ended(0)
        .stdout;
    assert!(shown.contains("for nobody"), "{shown}");
    assert!(shown.contains('╌'), "{shown}");
}

#[test]
fn phases_of_an_attempt_and_what_it_waits_for_are_shown() {
    let shown = Folder::new()
        .run("trace keepalive-mismatch --call 1")
        .ended(0)
        .stdout;
    for phase in ["connect", "tls"] {
        let named = |line: &str| line.trim_start().starts_with(phase);
        assert!(shown.lines().any(named), "{phase}: {shown}");
    }
    let shown = Folder::new()
        .run("trace token-single-flight --call 1")
        .ended(0)
        .stdout;
    assert!(shown.contains("wait · for a token"), "{shown}");
    // Asking for the token is nobody's call.
    assert!(shown.contains("web → api"), "{shown}");
}

/// Name, number or time: there is nothing else to tell, so nothing secret either.
const KEYS: [&str; 16] = [
    "error.type",
    "http.request.resend_count",
    "http.response.status_code",
    "retrystorm.attempt",
    "retrystorm.attempts",
    "retrystorm.breaker",
    "retrystorm.deadline_ms",
    "retrystorm.job_end",
    "retrystorm.phase",
    "retrystorm.policy",
    "retrystorm.retry_reason",
    "rpc.grpc.status",
    "rpc.method",
    "rpc.service",
    "service.instance.id",
    "service.name",
];

#[test]
fn the_otlp_export_is_one_tree_of_spans() {
    let export = Folder::new()
        .run("trace three-layers --format otlp")
        .ended(0)
        .stdout;
    let export: Value = serde_json::from_str(&export).expect("JSON");
    let mut spans: BTreeMap<String, (u64, u64, Option<String>)> = BTreeMap::new();
    let (mut traces, mut keys, mut kinds) = (BTreeSet::new(), BTreeSet::new(), [0; 4]);
    for resource in export["resourceSpans"].as_array().expect("a list") {
        for span in resource["scopeSpans"][0]["spans"]
            .as_array()
            .expect("a list")
        {
            let text = |key: &str| span[key].as_str().map(String::from);
            let nanos = |key: &str| -> u64 { text(key).expect("text").parse().expect("a number") };
            let times = (nanos("startTimeUnixNano"), nanos("endTimeUnixNano"));
            let id = text("spanId").expect("an id");
            assert_eq!(id.len(), 16);
            spans.insert(id, (times.0, times.1, text("parentSpanId")));
            traces.insert(text("traceId").expect("an id"));
            kinds[span["kind"].as_u64().expect("a number") as usize] += 1;
            for attribute in span["attributes"].as_array().expect("a list") {
                keys.insert(attribute["key"].as_str().expect("text").to_string());
            }
        }
    }
    assert_eq!(traces.len(), 1);
    assert_eq!(traces.first().expect("one").len(), 32);
    // 84 attempts reach 84 jobs.
    assert_eq!((kinds[3], kinds[2]), (84, 84));
    let roots = spans.values().filter(|(.., parent)| parent.is_none());
    assert_eq!(roots.count(), 1);
    for (from, to, parent) in spans.values() {
        assert!(from <= to);
        if let Some(parent) = parent {
            assert!(
                spans[parent].0 <= *from,
                "nothing begins before what caused it"
            );
        }
    }
    let unknown: Vec<_> = keys
        .iter()
        .filter(|key| !KEYS.contains(&key.as_str()))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    for needed in [
        "retrystorm.phase",
        "retrystorm.retry_reason",
        "rpc.method",
        "error.type",
    ] {
        assert!(keys.contains(needed), "{needed} in {keys:?}");
    }
}

#[test]
fn the_perfetto_export_nests_what_shares_a_track() {
    let folder = Folder::new();
    folder
        .run("trace three-layers --format perfetto --out trace.json")
        .ended(0);
    let document: Value = serde_json::from_str(&folder.read("trace.json")).expect("JSON");
    let events = document["traceEvents"].as_array().expect("a list");
    let mut tracks: BTreeMap<(u64, u64), Vec<(f64, f64)>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let place = (
            event["pid"].as_u64().expect("pid"),
            event["tid"].as_u64().expect("tid"),
        );
        let from = event["ts"].as_f64().expect("a time");
        let to = from + event["dur"].as_f64().expect("a length");
        tracks.entry(place).or_default().push((from, to));
    }
    assert!(tracks.len() > 80);
    for spans in tracks.values() {
        for (i, a) in spans.iter().enumerate() {
            for b in &spans[i + 1..] {
                let apart = a.1 <= b.0 + 1e-6 || b.1 <= a.0 + 1e-6;
                let inside = a.0 <= b.0 + 1e-6 && b.1 <= a.1 + 1e-6;
                assert!(apart || inside, "{a:?} and {b:?} overlap");
            }
        }
    }
    let named = events
        .iter()
        .filter(|event| event["name"] == "process_name");
    assert_eq!(named.count(), 4, "a client and three services");
}

#[test]
fn calls_can_be_chosen() {
    let folder = Folder::with_small();
    let saved = folder.run("trace small.yaml --pick saved").ended(0).stdout;
    let title = saved.lines().next().expect("a title");
    assert!(title.ends_with(", ok"), "{title}");
    assert!(saved.contains("attempt 2 · ok"), "{saved}");
    let number: String = title
        .split("call ")
        .nth(1)
        .expect("its number")
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    let same = folder
        .run(&format!("trace small.yaml --call {number}"))
        .ended(0)
        .stdout;
    assert_eq!(saved, same);
    let slowest = folder
        .run("trace small.yaml --pick slowest")
        .ended(0)
        .stdout;
    assert_ne!(slowest, saved);
    let too_many = folder.run("trace small.yaml --call 1000000").ended(2);
    assert!(
        too_many.stderr.contains("clients began only"),
        "{}",
        too_many.stderr
    );
    let none = folder
        .run("trace small.yaml --pick failed --set faults=[] --set policies.sdk.attempt_timeout=1s")
        .ended(2);
    assert!(none.stderr.contains("no call failed"), "{}", none.stderr);
}

#[test]
fn looking_changes_nothing() {
    let folder = Folder::with_small();
    let at = |seed: u64| {
        folder
            .run(&format!("trace small.yaml --call 7 --seed {seed}"))
            .ended(0)
            .stdout
    };
    assert_eq!(at(7), at(7));
    assert_ne!(at(7), at(8));
}
