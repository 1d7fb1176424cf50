//! Which keys of the schema a scenario writes, and where.

use serde_json::Value as Json;

/// The definition that a key is in, and the key.
pub(crate) type Place = (String, String);

/// Keys and indices from the top.
pub(crate) type Path = Vec<String>;

/// Every key that `tree` writes, by walking tree and schema together.
pub(crate) fn of(tree: &Json, schema: &Json) -> Vec<(Place, Path)> {
    let mut walk = Walk {
        root: schema,
        found: Vec::new(),
    };
    walk.down(tree, schema, "", &mut Vec::new());
    walk.found
}

struct Walk<'s> {
    root: &'s Json,
    found: Vec<(Place, Path)>,
}

impl Walk<'_> {
    fn down(&mut self, tree: &Json, schema: &Json, name: &str, way: &mut Path) {
        let root = self.root;
        if let Some(name) = schema["$ref"]
            .as_str()
            .and_then(|to| to.strip_prefix("#/$defs/"))
        {
            return self.down(tree, &root["$defs"][name], name, way);
        }
        for form in schema["anyOf"].as_array().into_iter().flatten() {
            if self.fits(tree, form) {
                self.down(tree, form, name, way);
            }
        }
        match tree {
            Json::Object(entries) => {
                for (key, below) in entries {
                    way.push(key.clone());
                    if let Some(schema) = schema["properties"].get(key) {
                        self.found.push(((name.into(), key.clone()), way.clone()));
                        self.down(below, schema, &format!("{name}.{key}"), way);
                    } else if schema["additionalProperties"].is_object() {
                        self.down(below, &schema["additionalProperties"], name, way);
                    }
                    way.pop();
                }
            }
            Json::Array(items) if schema["items"].is_object() => {
                for (index, below) in items.iter().enumerate() {
                    way.push(index.to_string());
                    self.down(below, &schema["items"], name, way);
                    way.pop();
                }
            }
            _ => {}
        }
    }

    /// Whether a form may be the one that is meant: by kind, and a map by its keys as well.
    fn fits(&self, tree: &Json, form: &Json) -> bool {
        if let Some(name) = form["$ref"]
            .as_str()
            .and_then(|to| to.strip_prefix("#/$defs/"))
        {
            return self.fits(tree, &self.root["$defs"][name]);
        }
        if let Some(forms) = form["anyOf"].as_array() {
            return forms.iter().any(|form| self.fits(tree, form));
        }
        match (tree, form["type"].as_str()) {
            (Json::Object(entries), Some("object")) => {
                let known = |key: &String| form["properties"].get(key).is_some();
                form["additionalProperties"].is_object() || entries.keys().all(known)
            }
            (Json::Array(_), Some("array")) => true,
            _ => false,
        }
    }
}

/// Writes `value` at `path` as `--set` does.
///
/// # Errors
/// What is in the way.
pub(crate) fn put(tree: &mut Json, path: &str, value: Json) -> Result<(), String> {
    let mut at = tree;
    for step in path.split('.') {
        if at.is_null() {
            *at = Json::Object(serde_json::Map::new());
        }
        at = match at {
            Json::Object(entries) => entries.entry(step).or_insert(Json::Null),
            Json::Array(items) => {
                let index: usize = step.parse().map_err(|_| format!("{step} is no index"))?;
                if index == items.len() {
                    items.push(Json::Null);
                }
                items
                    .get_mut(index)
                    .ok_or(format!("{path}: no item {index}"))?
            }
            other => return Err(format!("{path}: {step} is below {other}")),
        };
    }
    *at = value;
    Ok(())
}

/// Takes away the key at the end of `way`.
pub(crate) fn take(tree: &mut Json, way: &[String]) {
    let Some((key, above)) = way.split_last() else {
        return;
    };
    let map = above.iter().fold(tree, |at, step| match at {
        Json::Array(items) => &mut items[step.parse::<usize>().expect("an index")],
        other => &mut other[step],
    });
    if let Json::Object(entries) = map {
        entries.remove(key);
    }
}
