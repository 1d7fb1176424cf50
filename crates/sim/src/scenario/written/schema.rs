//! Collecting JSON Schema definitions.

use serde_json::{Map, Value as Json, json};

/// Named parts of a schema; each is built once and referred to by name.
#[derive(Debug, Default)]
pub(crate) struct Defs(Map<String, Json>);

impl Defs {
    /// A reference to the definition `name`, which `build` makes if it is not there yet.
    pub(crate) fn define(&mut self, name: &str, build: impl FnOnce(&mut Defs) -> Json) -> Json {
        if !self.0.contains_key(name) {
            // Holds the place, so that a definition may refer to itself.
            self.0.insert(name.into(), Json::Null);
            let schema = build(self);
            self.0.insert(name.into(), schema);
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    pub(crate) fn into_json(self) -> Json {
        Json::Object(self.0)
    }
}

/// `schema` with a description in front; lines of a doc comment are joined.
pub(crate) fn described(doc: &str, schema: Json) -> Json {
    let mut described = Map::new();
    described.insert("description".into(), Json::String(prose(doc)));
    if let Json::Object(schema) = schema {
        described.extend(schema);
    }
    Json::Object(described)
}

/// The text of a doc comment as one line.
pub(crate) fn prose(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}
