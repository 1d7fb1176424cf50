//! The JSON Schema says what is read, and every key it has means something.

use std::collections::BTreeSet;

use serde_json::Value as Json;
use sim::scenario::{Format, Source, load, schema, to_json};

use crate::samples::{SAMPLES, fetch};

/// What is written under one key, for the key's definition in the schema.
type Place = (String, String);

/// As much of a validator as the schema needs. Notes the place of each key that it meets.
struct Validator<'s> {
    root: &'s Json,
    met: BTreeSet<Place>,
}

impl Validator<'_> {
    /// `name` is the definition that `schema` is in.
    fn check(&mut self, value: &Json, schema: &Json, name: &str) -> Result<(), String> {
        if let Some(target) = schema["$ref"].as_str() {
            let name = target
                .strip_prefix("#/$defs/")
                .ok_or("a reference to elsewhere")?;
            return self.check(value, &self.root["$defs"][name].clone(), name);
        }
        if let Some(any_of) = schema["anyOf"].as_array() {
            let mut reasons = Vec::new();
            for one in any_of {
                let met = self.met.clone();
                match self.check(value, one, name) {
                    Ok(()) => return Ok(()),
                    Err(reason) => reasons.push(reason),
                }
                self.met = met;
            }
            return Err(format!("{value}: none of: {}", reasons.join("; ")));
        }
        if let Some(constant) = schema.get("const") {
            return if value == constant {
                Ok(())
            } else {
                Err(format!("{value} is not {constant}"))
            };
        }
        if let Some(words) = schema["enum"].as_array() {
            return if words.contains(value) {
                Ok(())
            } else {
                Err(format!("{value} is no word"))
            };
        }
        match schema["type"].as_str() {
            Some("object") => self.check_object(value, schema, name),
            Some("array") => self.check_array(value, schema, name),
            Some("string") => {
                let text = value.as_str().ok_or(format!("{value} is no text"))?;
                let Some(pattern) = schema["pattern"].as_str() else {
                    return Ok(());
                };
                let pattern = regex_lite::Regex::new(pattern).map_err(|e| e.to_string())?;
                if pattern.is_match(text) {
                    Ok(())
                } else {
                    Err(format!("{value} against {pattern}"))
                }
            }
            Some("integer") if !(value.is_u64() || value.is_i64()) => {
                Err(format!("{value}: not whole"))
            }
            Some("number" | "integer") => {
                let number = value.as_f64().ok_or(format!("{value} is no number"))?;
                let above = schema["minimum"].as_f64().is_none_or(|min| number >= min);
                let below = schema["maximum"].as_f64().is_none_or(|max| number <= max);
                let strictly = schema["exclusiveMinimum"]
                    .as_f64()
                    .is_none_or(|min| number > min);
                if above && below && strictly {
                    Ok(())
                } else {
                    Err(format!("{value} out of range"))
                }
            }
            Some("boolean") => value
                .as_bool()
                .map(drop)
                .ok_or(format!("{value} is no boolean")),
            other => Err(format!(
                "the schema says nothing a validator knows: {other:?} in {name}"
            )),
        }
    }

    fn check_object(&mut self, value: &Json, schema: &Json, name: &str) -> Result<(), String> {
        let map = value.as_object().ok_or(format!("{value} is no map"))?;
        for key in schema["required"].as_array().into_iter().flatten() {
            let key = key.as_str().unwrap_or_default();
            if !map.contains_key(key) {
                return Err(format!("{key} is missing"));
            }
        }
        let size = |bound: &str| schema[bound].as_u64();
        if size("minProperties").is_some_and(|min| (map.len() as u64) < min)
            || size("maxProperties").is_some_and(|max| (map.len() as u64) > max)
        {
            return Err(format!("{value} has {} keys", map.len()));
        }
        if let Some(one_of) = schema["oneOf"].as_array() {
            let has = |one: &&Json| {
                one["required"][0]
                    .as_str()
                    .is_some_and(|k| map.contains_key(k))
            };
            if one_of.iter().filter(has).count() != 1 {
                return Err(format!("{value} has not one of the tags"));
            }
        }
        for (key, value) in map {
            if let Some(schema) = schema["properties"].get(key) {
                self.met.insert((name.into(), key.clone()));
                self.check(value, &schema.clone(), &format!("{name}.{key}"))?;
            } else if schema["additionalProperties"].is_object() {
                self.check(value, &schema["additionalProperties"].clone(), name)?;
            } else {
                return Err(format!("{key} is unknown in {name}"));
            }
        }
        Ok(())
    }

    fn check_array(&mut self, value: &Json, schema: &Json, name: &str) -> Result<(), String> {
        let items = value.as_array().ok_or(format!("{value} is no list"))?;
        if schema["minItems"]
            .as_u64()
            .is_some_and(|min| (items.len() as u64) < min)
            || schema["maxItems"]
                .as_u64()
                .is_some_and(|max| (items.len() as u64) > max)
        {
            return Err(format!("{} items", items.len()));
        }
        for (i, item) in items.iter().enumerate() {
            let schema = schema["prefixItems"]
                .get(i)
                .unwrap_or(&schema["items"])
                .clone();
            self.check(item, &schema, name)?;
        }
        Ok(())
    }
}

/// All keys that a schema has, by the definition they are in.
fn keys(schema: &Json, name: &str, found: &mut BTreeSet<Place>) {
    for (key, below) in schema["properties"].as_object().into_iter().flatten() {
        found.insert((name.into(), key.clone()));
        keys(below, &format!("{name}.{key}"), found);
    }
    for one in schema["anyOf"].as_array().into_iter().flatten() {
        keys(one, name, found);
    }
}

fn all_keys() -> BTreeSet<Place> {
    let schema = schema();
    let mut found = BTreeSet::new();
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        keys(definition, name, &mut found);
    }
    found
}

fn json(sample: &str) -> Json {
    let source = Source {
        name: "sample.yaml",
        text: sample,
        format: Format::Yaml,
    };
    to_json(&source).unwrap_or_else(|problems| panic!("{problems}"))
}

/// What a scenario written in JSON means, in full; `None` if it is refused.
fn meaning(json: &Json) -> Result<String, String> {
    let text = json.to_string();
    let source = Source {
        name: "sample.json",
        text: &text,
        format: Format::Json,
    };
    match load(&source, &[], &mut fetch) {
        Ok(scenario) => Ok(format!("{scenario:?}")),
        Err(problems) => Err(problems.to_string()),
    }
}

#[test]
fn the_schema_allows_what_is_read() {
    let schema = schema();
    for sample in SAMPLES.iter().chain([&crate::examples::SMALL]) {
        let mut validator = Validator {
            root: &schema,
            met: BTreeSet::new(),
        };
        validator.check(&json(sample), &schema, "").unwrap();
        meaning(&json(sample)).unwrap();
    }
}

#[test]
fn every_key_is_in_a_sample() {
    let schema = schema();
    let mut validator = Validator {
        root: &schema,
        met: BTreeSet::new(),
    };
    for sample in SAMPLES {
        validator.check(&json(sample), &schema, "").unwrap();
    }
    let missing: Vec<_> = all_keys().difference(&validator.met).cloned().collect();
    assert!(missing.is_empty(), "no sample has {missing:?}");
}

/// Every map in `json`, as the way there.
fn maps(json: &Json, way: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    match json {
        Json::Object(entries) => {
            for (key, value) in entries {
                way.push(key.clone());
                found.push(way.clone());
                maps(value, way, found);
                way.pop();
            }
        }
        Json::Array(items) => {
            for (i, value) in items.iter().enumerate() {
                way.push(i.to_string());
                maps(value, way, found);
                way.pop();
            }
        }
        _ => {}
    }
}

/// The samples hold no key at its default, so taking one away must change what the file means, or make it
/// one that is refused.
#[test]
fn every_key_of_every_sample_means_something() {
    for sample in SAMPLES {
        let whole = json(sample);
        let meant = meaning(&whole).unwrap();
        let mut ways = Vec::new();
        maps(&whole, &mut Vec::new(), &mut ways);
        for way in ways {
            let mut without = whole.clone();
            let (key, above) = way.split_last().unwrap();
            let mut at = &mut without;
            for step in above {
                at = match at {
                    Json::Array(items) => &mut items[step.parse::<usize>().unwrap()],
                    other => &mut other[step],
                };
            }
            at.as_object_mut().unwrap().remove(key);
            let same = meaning(&without).is_ok_and(|meaning| meaning == meant);
            assert!(!same || key == "$schema", "{way:?} means nothing");
        }
    }
}

#[test]
fn every_key_and_definition_is_described() {
    let schema = schema();
    fn check(schema: &Json, name: &str) {
        for (key, below) in schema["properties"].as_object().into_iter().flatten() {
            let text = below["description"].as_str().unwrap_or_default();
            assert!(
                text.ends_with('.') && text.len() > 7,
                "{name}.{key}: {text:?}"
            );
            check(below, &format!("{name}.{key}"));
        }
        for one in schema["anyOf"].as_array().into_iter().flatten() {
            check(one, name);
        }
    }
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        let text = definition["description"].as_str().unwrap_or_default();
        assert!(text.ends_with('.') && text.len() > 7, "{name}: {text:?}");
        check(definition, name);
    }
}

#[test]
fn defaults_are_allowed_by_the_schema_they_stand_in() {
    let schema = schema();
    fn check(root: &Json, schema: &Json, count: &mut usize) {
        // A map of properties may have a key of that name.
        if let (Some(default), true) = (schema.get("default"), schema["description"].is_string()) {
            let mut validator = Validator {
                root,
                met: BTreeSet::new(),
            };
            validator.check(default, schema, "").unwrap();
            *count += 1;
        }
        match schema {
            Json::Object(map) => map.values().for_each(|below| check(root, below, count)),
            Json::Array(items) => items.iter().for_each(|below| check(root, below, count)),
            _ => {}
        }
    }
    let mut count = 0;
    check(&schema, &schema["$defs"], &mut count);
    assert!(count > 40, "{count} defaults");
}
