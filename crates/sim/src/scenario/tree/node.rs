//! The tree that every format is read into.

use serde_json::Value as Json;

use crate::scenario::position::{At, Position};

/// One node of the tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    /// What is there.
    pub value: Value,
    /// Where it begins.
    pub at: Position,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// Nothing (an empty value in YAML, `null`).
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A decimal number, as written.
    Number(String),
    /// Text.
    String(String),
    /// A list.
    Seq(Vec<Node>),
    /// Keys and values in the order written; no key twice.
    Map(Vec<(At<String>, Node)>),
}

impl Node {
    /// The value of `key`, if this is a map that has it.
    #[must_use]
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|(k, _)| k.value == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The value of `key` to change, if this is a map that has it.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        match &mut self.value {
            Value::Map(entries) => entries
                .iter_mut()
                .find(|(k, _)| k.value == key)
                .map(|(_, v)| v),
            _ => None,
        }
    }

    /// The text of a scalar, whatever its type.
    #[must_use]
    pub(crate) fn scalar(&self) -> Option<&str> {
        match &self.value {
            Value::Bool(true) => Some("true"),
            Value::Bool(false) => Some("false"),
            Value::Number(text) | Value::String(text) => Some(text),
            Value::Null | Value::Seq(_) | Value::Map(_) => None,
        }
    }

    /// Gives this node and all below it one place.
    pub(crate) fn stand(&mut self, at: Position) {
        self.at = at;
        match &mut self.value {
            Value::Seq(items) => items.iter_mut().for_each(|item| item.stand(at)),
            Value::Map(entries) => entries.iter_mut().for_each(|(key, value)| {
                key.at = at;
                value.stand(at);
            }),
            _ => {}
        }
    }

    /// The same as plain JSON; a number that JSON cannot hold becomes text.
    #[must_use]
    pub(crate) fn to_json(&self) -> Json {
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(yes) => Json::Bool(*yes),
            Value::String(text) => Json::String(text.clone()),
            Value::Number(text) => {
                let whole = text.parse::<u64>().map(Json::from);
                let number = whole.or_else(|_| text.parse::<f64>().map(Json::from));
                // JSON knows no infinity, which serde_json turns into null.
                number
                    .ok()
                    .filter(|n| !n.is_null())
                    .unwrap_or_else(|| Json::String(text.clone()))
            }
            Value::Seq(items) => items.iter().map(Node::to_json).collect(),
            Value::Map(entries) => {
                let entry = |(key, node): &(At<String>, Node)| (key.value.clone(), node.to_json());
                Json::Object(entries.iter().map(entry).collect())
            }
        }
    }

    /// What is there, in words, for "…, got …".
    #[must_use]
    pub(crate) fn describe(&self) -> String {
        match &self.value {
            Value::Null => "nothing".into(),
            Value::Bool(yes) => format!("{yes}"),
            Value::Number(text) => format!("the number {text}"),
            Value::String(text) => format!("{:?}", shorten(text)),
            Value::Seq(items) => format!("a list of {}", items.len()),
            Value::Map(entries) if entries.is_empty() => "an empty map".into(),
            Value::Map(entries) => {
                let keys: Vec<_> = entries
                    .iter()
                    .map(|(k, _)| format!("`{}`", k.value))
                    .collect();
                format!("a map with {}", shorten(&keys.join(", ")))
            }
        }
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.into(),
    }
}

/// Puts an entry into a map being read, unless the key is there already; says where in that case.
pub(super) fn insert(
    entries: &mut Vec<(At<String>, Node)>,
    key: At<String>,
    value: Node,
) -> Result<(), Position> {
    match entries.iter().find(|(k, _)| k.value == key.value) {
        Some((first, _)) => Err(first.at),
        None => {
            entries.push((key, value));
            Ok(())
        }
    }
}
