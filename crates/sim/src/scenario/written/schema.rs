//! Collecting JSON Schema definitions.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

/// Named parts of a schema; each is built once and referred to by name.
#[derive(Debug, Default)]
pub(crate) struct Defs {
    parts: Map<String, Json>,
    /// Which Rust type each name stands for.
    owners: BTreeMap<String, &'static str>,
}

impl Defs {
    /// A reference to the definition of `T`, which `build` makes if it is not there yet. Its name is that of
    /// the Rust type without `File`, which two types must not share.
    pub(crate) fn define<T>(&mut self, name: &str, build: impl FnOnce(&mut Defs) -> Json) -> Json {
        let name = name.strip_suffix("File").unwrap_or(name);
        let owner = self
            .owners
            .entry(name.into())
            .or_insert(std::any::type_name::<T>());
        assert_eq!(
            *owner,
            std::any::type_name::<T>(),
            "two types called {name} in the schema"
        );
        if !self.parts.contains_key(name) {
            // Holds the place, so that a definition may refer to itself.
            self.parts.insert(name.into(), Json::Null);
            let schema = build(self);
            self.parts.insert(name.into(), schema);
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    pub(crate) fn into_json(self) -> Json {
        Json::Object(self.parts)
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
