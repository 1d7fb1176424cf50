//! Policies in a scenario: presets, what is laid over them, where values come from, and that each key of
//! each member changes what happens.

use std::collections::BTreeSet;
use std::sync::Arc;

use seawall::{Preset, Spec};
use serde_json::{Value as Json, json};
use sim::scenario::{Format, Origin, Override, Settings, Source, load, settings, to_json};

use crate::samples::{DIALECTS, POINTED, POLICIES};
use crate::yaml;

/// A small world around `policies`.
fn world(policies: &str) -> String {
    format!(
        "version: 1
run: {{ duration: 10s }}
clients: {{ web: {{ arrivals: {{ poisson: 10/s }}, calls: [ {{ to: s, policy: p }} ] }} }}
services: {{ s: {{ work: 1ms }} }}
policies:
{policies}
"
    )
}

/// What policy `p` means.
fn spec(policies: &str) -> Spec {
    let scenario = yaml(&world(policies));
    let policy = scenario.policies.iter().find(|policy| policy.name == "p");
    policy.unwrap().policy.spec().clone()
}

fn settings_of(text: &str, format: Format, overrides: &[Override]) -> Vec<Settings> {
    let source = Source {
        name: "world",
        text,
        format,
    };
    settings(&source, overrides).unwrap()
}

#[test]
fn a_preset_means_what_the_engine_says_it_does() {
    for preset in Preset::ALL {
        let name = preset.name();
        assert_eq!(
            spec(&format!("  p: {{ preset: {name} }}")),
            preset.spec(),
            "{name}"
        );
    }
}

#[test]
fn every_preset_is_overridden_key_by_key() {
    for preset in Preset::ALL {
        let name = preset.name();
        let own = format!("  p: {{ preset: {name}, deadline: 7s, retry: {{ max_attempts: 9 }} }}");
        let mut expected = preset.spec();
        expected.deadline.limit = Some(seawall::Span::secs(7));
        expected.retry.max_attempts = 9;
        assert_eq!(spec(&own), expected, "{name}");
    }
}

#[test]
fn a_member_is_overridden_key_by_key_by_the_same_and_replaced_by_another() {
    let seawall::Backoff::Grpc(grpc) =
        spec("  p: { preset: grpc, retry: { backoff: { grpc: { max: 5s } } } }")
            .retry
            .backoff
    else {
        panic!("still gRPC's");
    };
    assert_eq!(
        (grpc.initial, grpc.max),
        (seawall::Span::millis(100), seawall::Span::secs(5))
    );
    let replaced = spec("  p: { preset: grpc, retry: { backoff: none }, budget: none }");
    assert_eq!(replaced.retry.backoff, seawall::Backoff::None);
    assert_eq!(replaced.budget, seawall::Budget::None);
    let without = spec("  p: { preset: resilience4j, breaker: none, bulkhead: none }");
    assert_eq!((without.breaker, without.bulkhead), (None, None));
    let counting = spec("  p: { preset: polly, breaker: { counts: calls } }")
        .breaker
        .unwrap();
    assert_eq!(counting.counts, Some(seawall::Counts::Calls));
    assert!(matches!(counting.rule, seawall::BreakerRule::Polly(_)));
    let rates = spec("  p: { preset: polly, breaker: { failure_rate: 10% } }")
        .breaker
        .unwrap();
    assert!(matches!(rates.rule, seawall::BreakerRule::Rates(_)));
    let shorter = spec("  p: { preset: resilience4j, bulkhead: 7 }")
        .bulkhead
        .unwrap();
    assert_eq!(
        (shorter.max_in_flight, shorter.max_wait),
        (7, seawall::Span::ZERO)
    );
}

#[test]
fn what_follows_from_a_key_follows_from_the_policys_own_and_not_from_the_presets() {
    use seawall::{Backoff, Span, backoff};
    let envoy = |own: &str| match spec(&format!(
        "  p: {{ preset: envoy, retry: {{ backoff: {{ envoy: {own} }} }} }}"
    ))
    .retry
    .backoff
    {
        Backoff::Envoy(envoy) => (envoy.base, envoy.max),
        other => panic!("still Envoy's: {other:?}"),
    };
    let millis = |base, max| (Span::millis(base), Span::millis(max));
    assert_eq!(envoy("{}"), millis(25, 250));
    assert_eq!(envoy("{ base: 100ms }"), millis(100, 1000));
    assert_eq!(envoy("{ max: 1s }"), millis(25, 1000));
    assert_eq!(envoy("{ base: 100ms, max: 400ms }"), millis(100, 400));
    for own in ["legacy", "{ mode: legacy }"] {
        let policy =
            format!("  p: {{ preset: aws-standard, retry: {{ backoff: {{ aws_sdk: {own} }} }} }}");
        let legacy = backoff::AwsSdk::new(backoff::AwsMode::Legacy);
        assert_eq!(
            spec(&policy).retry.backoff,
            Backoff::AwsSdk(legacy),
            "{own}"
        );
    }
    let kept = spec(
        "  p: { preset: aws-standard, retry: { backoff: { aws_sdk: { service: dynamodb } } } }",
    );
    let expected = backoff::AwsSdk {
        service: backoff::AwsService::DynamoDb,
        ..backoff::AwsSdk::new(backoff::AwsMode::Standard21)
    };
    assert_eq!(kept.retry.backoff, Backoff::AwsSdk(expected));
    // Through a policy that is extended as well.
    let inherited = spec(
        "  base: { preset: envoy }\n  p: { extends: base, retry: { backoff: { envoy: { base: 40ms } } } }",
    );
    let Backoff::Envoy(inherited) = inherited.retry.backoff else {
        panic!("still Envoy's");
    };
    assert_eq!(inherited.max, Span::millis(400));
}

#[test]
fn policies_that_extend_others_merge_the_same_member_and_inherit_a_preset() {
    let merged = spec(
        "  base: { preset: envoy, retry: { max_attempts: 5, backoff: { exponential: { base: 1ms, max: 9ms, jitter: full } } } }
  p: { extends: base, retry: { backoff: { exponential: { max: 7ms } } } }",
    );
    let expected = Spec {
        retry: seawall::Retry {
            max_attempts: 5,
            backoff: seawall::Backoff::Exponential {
                base: seawall::Span::millis(1),
                multiplier: 2.0,
                max: seawall::Span::millis(7),
                jitter: seawall::Jitter::Full,
            },
            ..Preset::Envoy.spec().retry
        },
        ..Preset::Envoy.spec()
    };
    assert_eq!(merged, expected);
    let ratio = spec(
        "  base: { budget: { ratio: { percent: 10%, burst: 5 } } }
  p: { extends: base, budget: { ratio: { ratio: 0.3 } } }",
    );
    let expected = seawall::Budget::Ratio {
        of: seawall::BudgetEvent::Calls,
        ratio: 0.3,
        burst: 5.0,
    };
    assert_eq!(ratio.budget, expected);
}

#[test]
fn each_value_says_where_it_comes_from() {
    let text = world(
        "  base: { preset: grpc }\n  p:\n    extends: base\n    retry:\n      max_attempts: 6",
    );
    let overrides = [Override::parse("policies.p.attempt_timeout=2s").unwrap()];
    let all = settings_of(&text, Format::Yaml, &overrides);
    let p = all.iter().find(|settings| settings.policy == "p").unwrap();
    let value = |path: &str| {
        let setting = p
            .values
            .iter()
            .find(|setting| setting.path == path)
            .unwrap();
        (setting.value.as_str(), setting.origin.clone())
    };
    assert_eq!(value("retry.max_attempts"), ("6", Origin::Line(10)));
    assert_eq!(
        value("retry.backoff.grpc.initial"),
        ("100ms", Origin::Preset("grpc"))
    );
    assert_eq!(
        value("budget.grpc.max_tokens"),
        ("10", Origin::Preset("grpc"))
    );
    assert_eq!(value("retry.reserve"), ("0s", Origin::Default));
    assert_eq!(value("breaker"), ("none", Origin::Default));
    let set = Origin::Override("--set policies.p.attempt_timeout=2s".into());
    assert_eq!(value("attempt_timeout"), ("2s", set));
}

/// Each policy of the samples, by name.
fn samples() -> Vec<(String, Json)> {
    let mut found = Vec::new();
    for sample in [POLICIES, DIALECTS] {
        let source = Source {
            name: "sample.yaml",
            text: sample,
            format: Format::Yaml,
        };
        let json = to_json(&source).unwrap();
        let policies = json["policies"].as_object().unwrap();
        for (name, policy) in policies {
            if policy.get("extends").is_none() {
                found.push((name.clone(), policy.clone()));
            }
        }
    }
    assert!(found.len() > 30);
    found
}

#[test]
fn the_values_in_effect_are_all_there_is_to_a_policy() {
    for (name, policy) in samples() {
        let text = world(&format!("  p: {policy}"));
        let shown = settings_of(&text, Format::Yaml, &[]);
        let again: Vec<_> = shown[0]
            .values
            .iter()
            .map(|setting| {
                let path = format!("policies.p.{}", setting.path);
                Override::new(path, setting.value.clone())
            })
            .collect();
        let plain = world("  p: {}");
        let source = Source {
            name: "again",
            text: &plain,
            format: Format::Yaml,
        };
        let rebuilt = load(&source, &again, &mut |_| Err(String::new()))
            .unwrap_or_else(|problems| panic!("{name}: {problems}"));
        let written = yaml(&text);
        assert_eq!(rebuilt.policies, written.policies, "{name}");
    }
}

/// A rough time: overload, errors of every kind that policies tell apart, an outage, slowness, a service
/// that asks for patience, an operation that is not idempotent, callers with deadlines.
fn rough(policy: &Json) -> Json {
    json!({
        "version": 1,
        "run": { "duration": "60s", "seed": 3 },
        "clients": {
            "web": { "instances": 2, "arrivals": { "poisson": "40/s" }, "calls": [ { "to": "front", "policy": "outer" } ] },
            "app": { "arrivals": { "poisson": "20/s" }, "calls": [ { "to": "front", "policy": "outer" } ] },
            "jobs": { "arrivals": { "poisson": "5/s" }, "calls": [ { "to": "s", "operation": "write", "policy": "p" }, { "to": "s", "operation": "read", "policy": "p" } ] },
        },
        "services": {
            "front": { "concurrency": 10000, "program": [ { "call": { "to": "s", "operation": "read", "policy": "p" } } ] },
            "s": { "replicas": 2, "concurrency": 2, "queue": { "capacity": 15, "discipline": "deadline_drop" }, "operations": {
                "read": { "work": { "exponential": "40ms" } },
                "write": { "work": { "exponential": "40ms" }, "idempotent": false },
            } },
        },
        "links": { "default": { "delay": { "exponential": "2ms" }, "lose_response": 0.002 } },
        "policies": { "outer": { "deadline": "4s" }, "p": policy },
        "faults": [
            { "at": "6s", "for": "4s", "errors": { "service": "s", "share": 0.3, "fail": { "kind": "overloaded", "retry_after": "2s" } } },
            { "at": "12s", "for": "6s", "errors": { "service": "s", "share": 0.6, "fail": "unavailable" } },
            { "at": "20s", "for": "2s", "outage": "s" },
            { "at": "26s", "for": "3s", "bad_replicas": { "service": "s", "errors": 0.8, "fail": { "kind": "dns", "phase": "dns" } } },
            { "at": "30s", "for": "3s", "errors": { "service": "s", "share": 0.4, "fail": "invalid" } },
            { "at": "35s", "for": "6s", "slow": { "service": "s", "factor": 5 } },
            { "at": "45s", "for": "5s", "load": { "client": "web", "factor": 3 } },
        ],
    })
}

/// What becomes of the rough time, as far as any output tells; `None` if it is refused.
fn fate(policy: &Json) -> Option<(u64, String)> {
    let text = rough(policy).to_string();
    let source = Source {
        name: "rough.json",
        text: &text,
        format: Format::Json,
    };
    let scenario = load(&source, &[], &mut |_| Err(String::new())).ok()?;
    let outcome = sim::run(&Arc::new(scenario), 3);
    Some((outcome.trajectory, format!("{:?}", outcome.windows)))
}

/// The ways to all keys below `json`.
fn ways(json: &Json, way: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    for (key, below) in json.as_object().into_iter().flatten() {
        way.push(key.clone());
        found.push(way.clone());
        ways(below, way, found);
        way.pop();
    }
}

#[test]
fn every_key_of_every_member_changes_what_happens() {
    let pointed = Source {
        name: "pointed.yaml",
        text: POINTED,
        format: Format::Yaml,
    };
    let pointed = to_json(&pointed).unwrap();
    let pointed = pointed.as_array().unwrap().iter().cloned();
    let samples = samples().into_iter().map(|(_, policy)| policy);
    let (mut all, mut works) = (BTreeSet::new(), BTreeSet::new());
    for policy in samples.chain(pointed) {
        let fated = fate(&policy).unwrap_or_else(|| panic!("{policy} is refused"));
        let mut found = Vec::new();
        ways(&policy, &mut Vec::new(), &mut found);
        for way in found {
            let path = way.join(".");
            all.insert(path.clone());
            if works.contains(&path) {
                continue;
            }
            let mut without = policy.clone();
            let (key, above) = way.split_last().unwrap();
            let map = above.iter().fold(&mut without, |at, step| &mut at[step]);
            map.as_object_mut().unwrap().remove(key);
            if fate(&without).as_ref() != Some(&fated) {
                works.insert(path);
            }
        }
    }
    assert!(all.len() > 150, "{}", all.len());
    let idle: Vec<_> = all.difference(&works).collect();
    assert!(idle.is_empty(), "no effect: {idle:#?}");
}
