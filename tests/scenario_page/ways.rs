//! Where in a scenario each definition of the schema stands.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value as Json;

/// Paths as `--set` takes them, the shortest way to each key that holds the definition; `NAME` is any name.
pub(super) fn of(schema: &Json) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut open = VecDeque::from([("Scenario".to_string(), String::new())]);
    while let Some((name, above)) = open.pop_front() {
        let mut held = Vec::new();
        keys(&schema["$defs"][name], &above, &mut held);
        // Most of what clients and services have in common is written below services.
        held.sort_by_key(|(_, path)| !path.starts_with("services"));
        for (below, path) in held {
            let paths = found.entry(below.clone()).or_default();
            if paths.is_empty() {
                open.push_back((below, format!("{path}.")));
            }
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    found
}

/// The definitions that the keys of a schema hold, with the path of each.
fn keys(schema: &Json, above: &str, held: &mut Vec<(String, String)>) {
    for (key, below) in schema["properties"].as_object().into_iter().flatten() {
        inside(below, &format!("{above}{key}"), held);
    }
    if schema["items"].is_object() {
        inside(&schema["items"], &format!("{above}0"), held);
    }
    for form in schema["anyOf"].as_array().into_iter().flatten() {
        keys(form, above, held);
    }
}

/// The definitions that one value may be made of.
fn inside(schema: &Json, path: &str, held: &mut Vec<(String, String)>) {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.trim_start_matches("#/$defs/");
        held.push((name.into(), path.into()));
    }
    for form in schema["anyOf"].as_array().into_iter().flatten() {
        inside(form, path, held);
    }
    if schema["items"].is_object() {
        inside(&schema["items"], &format!("{path}.0"), held);
    }
    if schema["additionalProperties"].is_object() {
        inside(
            &schema["additionalProperties"],
            &format!("{path}.NAME"),
            held,
        );
    }
}
