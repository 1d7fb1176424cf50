//! The table of a definition, from the schema, with the snippets that the page has.

use std::fmt::Write as _;

use serde_json::Value as Json;

use super::page::Table;
use super::ways;

/// So many places of a definition are named.
const PLACES: usize = 4;

/// Heading, meaning, places, words and keys of a definition.
pub(super) fn of(schema: &Json, table: &Table) -> String {
    let name = &table.definition;
    let definition = &schema["$defs"][name];
    assert!(
        definition.is_object(),
        "the schema has no definition {name}"
    );
    let mut text = format!("### {name}\n\n{}\n", said(definition));
    let mut words = Vec::new();
    let mut keys = Vec::new();
    gather(definition, &mut words, &mut keys);
    let ways = ways::of(schema).remove(name).unwrap_or_default();
    // Lengths of time stand everywhere.
    if !ways.is_empty() && (!keys.is_empty() || ways.len() <= PLACES) {
        let named = ways.iter().take(PLACES).map(|way| format!("`{way}`"));
        let more = (ways.len() > PLACES).then(|| "…".to_string());
        let places: Vec<String> = named.chain(more).collect();
        writeln!(text, "\nStands at {}.", places.join(", ")).expect("writing");
    }
    if !words.is_empty() {
        text.push('\n');
    }
    for (word, meaning) in words {
        writeln!(text, "- `{word}`: {meaning}").expect("writing");
    }
    let forms = definition["anyOf"].as_array().into_iter().flatten();
    let plain: Vec<String> = forms
        .filter(|form| form["enum"].is_array())
        .map(value)
        .collect();
    if !plain.is_empty() {
        writeln!(text, "\n{}.", plain.join(" or ")).expect("writing");
    }
    if keys.is_empty() {
        return text;
    }
    text += "\n| key | value | default | meaning | try |\n|---|---|---|---|---|\n";
    for (key, below, needed) in keys {
        let row = table.rows.iter().find(|row| row.key == key);
        let snippet = row.map_or(String::new(), |row| {
            let parts: Vec<String> = row.snippet.iter().map(|part| format!("`{part}`")).collect();
            parts.join(" ") + row.shown.words()
        });
        let default = match below.get("default") {
            None if needed => "needed".into(),
            None => String::new(),
            Some(Json::String(word)) => format!("`{word}`"),
            Some(other) => format!("`{other}`"),
        };
        let (value, meaning) = (value(below), said(below).replace('|', "\\|"));
        writeln!(
            text,
            "| `{key}` | {value} | {default} | {meaning} | {snippet} |"
        )
        .expect("writing");
    }
    text
}

fn said(schema: &Json) -> &str {
    schema["description"].as_str().unwrap_or_default()
}

/// Words and keys of a definition, in all its forms, each once; of keys, whether they are needed there.
fn gather<'s>(
    schema: &'s Json,
    words: &mut Vec<(&'s str, &'s str)>,
    keys: &mut Vec<(&'s str, &'s Json, bool)>,
) {
    if let Some(word) = schema["const"].as_str() {
        words.push((word, said(schema)));
    }
    for (key, below) in schema["properties"].as_object().into_iter().flatten() {
        // The schema's own key is not read.
        if key != "$schema" && !keys.iter().any(|(known, ..)| known == key) {
            let needed = schema["required"].as_array().into_iter().flatten();
            let needed = needed.into_iter().any(|one| one == key.as_str());
            keys.push((key, below, needed));
        }
    }
    for form in schema["anyOf"].as_array().into_iter().flatten() {
        gather(form, words, keys);
    }
}

/// What may be written, in words.
fn value(schema: &Json) -> String {
    if let Some(name) = schema["$ref"]
        .as_str()
        .and_then(|to| to.strip_prefix("#/$defs/"))
    {
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(word) = schema["const"].as_str() {
        return format!("`{word}`");
    }
    let listed = |list: &Json, word: fn(&Json) -> String| {
        let words: Vec<String> = list.as_array().into_iter().flatten().map(word).collect();
        words.join(" or ")
    };
    if schema["anyOf"].is_array() {
        return listed(&schema["anyOf"], value);
    }
    if schema["enum"].is_array() {
        return listed(&schema["enum"], |word| match word.as_str() {
            Some(text) => format!("`{text}`"),
            None => format!("`{word}`"),
        });
    }
    match schema["type"].as_str() {
        Some("array") if schema["prefixItems"].is_array() => {
            let items = schema["prefixItems"].as_array().into_iter().flatten();
            format!(
                "pair of {}",
                items.map(value).collect::<Vec<_>>().join(" and ")
            )
        }
        Some("array") => format!("list of {}", value(&schema["items"])),
        Some("object") => format!(
            "map from names to {}",
            value(&schema["additionalProperties"])
        ),
        Some("boolean") => "`true` or `false`".into(),
        Some("string") => "text".into(),
        Some("number") => "number".into(),
        Some("integer") => {
            let most = schema["maximum"]
                .as_u64()
                .filter(|&most| most < u64::from(u32::MAX));
            match (schema["minimum"].as_u64().unwrap_or(0), most) {
                (least, Some(most)) => format!("whole number, {least} to {most}"),
                (least, None) => format!("whole number from {least}"),
            }
        }
        other => panic!("a value that has no words: {other:?}"),
    }
}
