//! Maps with fixed keys.

use serde_json::{Map, Value as Json, json};

use super::choice::Tag;
use super::{Literal, Written, described, mend, nearest};
use crate::scenario::problem::Problems;
use crate::scenario::tree::{At, Node, Position, Value};

/// Declares a record: a struct whose fields are the keys of a map.
///
/// * `key: Type` must be written unless the type has a value when absent (`Option`, a table, a list);
/// * `key: Type = default` takes the default as it would be written;
/// * `struct Name [key]` lets anything that is not a map stand for `{ key: … }`;
/// * a last `..kind: Choice` takes the one other key, which is one of the choice's tags.
///
/// A record none of whose keys must be written may itself be left out.
macro_rules! record {
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $name:ident $([$short:ident])? {
            $(
                $(#[doc = $key_doc:literal])* $(#[allow($allow:ident)])?
                $key:ident: $ty:ty $(= $default:literal)?,
            )*
            $(..$rest:ident: $rest_ty:ty,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug)]
        $vis struct $name {
            /// Where the map begins. Not every record is judged as a whole.
            #[allow(dead_code)]
            pub(crate) position: $crate::scenario::tree::Position,
            $($(#[doc = $key_doc])* $(#[allow($allow)])? pub(crate) $key: $ty,)*
            $(
                /// The one key that says which.
                pub(crate) $rest: $rest_ty,
            )?
        }

        impl $name {
            const KEYS: &'static [$crate::scenario::written::Key] = &[
                $($crate::scenario::written::Key::of(stringify!($key)),)*
            ];
        }

        impl $crate::scenario::written::Written for $name {
            fn decode(
                node: &$crate::scenario::tree::Node,
                problems: &mut $crate::scenario::problem::Problems,
            ) -> Option<Self> {
                #[allow(unused_mut, unused_assignments)]
                let mut short: Option<&str> = None;
                $(short = Some(stringify!($short));)?
                #[allow(unused_mut, unused_assignments)]
                let mut tags: &[$crate::scenario::written::Tag] = &[];
                $(tags = <$rest_ty>::TAGS;)?
                let mut fields = $crate::scenario::written::Fields::open(
                    node, Self::KEYS, tags, short, problems,
                )?;
                $(
                    #[allow(unused_mut, unused_assignments)]
                    let mut default: Option<$crate::scenario::written::Literal> = None;
                    $(default = Some($default.into());)?
                    let $key: Option<$ty> = fields.take(default);
                )*
                $(let $rest: Option<$rest_ty> = fields.rest();)?
                Some($name { position: node.at, $($key: $key?,)* $($rest: $rest?,)? })
            }

            fn absent() -> Option<Self> {
                $crate::scenario::written::all_defaults()
            }

            fn schema(defs: &mut $crate::scenario::written::Defs) -> serde_json::Value {
                defs.define::<Self>(stringify!($name), |defs| {
                    #[allow(unused_mut)]
                    let mut keys: Vec<(&str, bool, Option<$crate::scenario::written::Literal>, serde_json::Value)> = Vec::new();
                    $(
                        #[allow(unused_mut, unused_assignments)]
                        let mut default: Option<$crate::scenario::written::Literal> = None;
                        $(default = Some($default.into());)?
                        let schema = <$ty as $crate::scenario::written::Written>::schema(defs);
                        let schema = $crate::scenario::written::described(concat!($($key_doc, "\n"),*), schema);
                        let required = default.is_none()
                            && <$ty as $crate::scenario::written::Written>::absent().is_none();
                        keys.push((stringify!($key), required, default, schema));
                    )*
                    #[allow(unused_mut, unused_assignments)]
                    let mut rest: Option<serde_json::Value> = None;
                    $(rest = Some(<$rest_ty>::schema_of_tags(defs));)?
                    #[allow(unused_mut, unused_assignments)]
                    let mut short: Option<&str> = None;
                    $(short = Some(stringify!($short));)?
                    $crate::scenario::written::schema_of_record(
                        concat!($($doc, "\n"),*), keys, rest, short,
                    )
                })
            }
        }
    };
}
pub(crate) use record;

/// A key of a record; Rust's own words carry an `r#` in front there, which files do not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key(&'static str);

impl Key {
    pub(crate) const fn of(field: &'static str) -> Key {
        match field.as_bytes() {
            [b'r', b'#', ..] => Key(field.split_at(2).1),
            _ => Key(field),
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        self.0
    }
}

/// The keys of one written map while a record is read from it, in the order of the record.
pub(crate) struct Fields<'n, 'p> {
    at: Position,
    keys: &'static [Key],
    next: usize,
    /// What was written, by index in `keys`.
    found: Vec<Option<&'n Node>>,
    /// What was written under a tag of the rest.
    rest: Vec<(At<String>, &'n Node)>,
    tags: &'static [Tag],
    problems: &'p mut Problems,
}

impl<'n, 'p> Fields<'n, 'p> {
    pub(crate) fn open(
        node: &'n Node,
        keys: &'static [Key],
        tags: &'static [Tag],
        short: Option<&str>,
        problems: &'p mut Problems,
    ) -> Option<Self> {
        let mut fields = Fields {
            at: node.at,
            keys,
            next: 0,
            found: vec![None; keys.len()],
            rest: Vec::new(),
            tags,
            problems,
        };
        match (&node.value, short) {
            (Value::Map(entries), _) => fields.sort(entries),
            (Value::Null, _) => {}
            (_, Some(short)) => {
                let index = keys.iter().position(|key| key.0 == Key::of_str(short))?;
                fields.found[index] = Some(node);
            }
            (_, None) => {
                let names = fields.names().collect::<Vec<_>>().join("`, `");
                let message = format!("expected a map with `{names}`, got {}", node.describe());
                fields.problems.report(node.at, message);
                return None;
            }
        }
        Some(fields)
    }

    fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.keys
            .iter()
            .map(|key| key.0)
            .chain(self.tags.iter().map(|tag| tag.name))
    }

    fn sort(&mut self, entries: &'n [(At<String>, Node)]) {
        let mut unknown = Vec::new();
        for (key, node) in entries {
            if let Some(index) = self.keys.iter().position(|k| k.0 == key.value) {
                self.found[index] = Some(node);
            } else if self.tags.iter().any(|tag| tag.name == key.value) {
                self.rest.push((key.clone(), node));
            } else {
                unknown.push((key, node));
            }
        }
        for (key, node) in unknown {
            let message = format!(
                "unknown key `{}`: {}",
                key.value,
                mend(&key.value, self.names())
            );
            self.problems.report(key.at, message);
            // Read it as what was meant, so that one slip is not also a missing key.
            let meant = nearest(&key.value, self.names());
            if let Some(index) = self.keys.iter().position(|k| Some(k.0) == meant) {
                self.found[index].get_or_insert(node);
            } else if let Some(tag) = self.tags.iter().find(|tag| Some(tag.name) == meant) {
                self.rest.push((
                    At {
                        value: tag.name.into(),
                        at: key.at,
                    },
                    node,
                ));
            }
        }
    }

    /// Reads the next key of the record.
    pub(crate) fn take<T: Written>(&mut self, default: Option<Literal>) -> Option<T> {
        let (key, node) = (self.keys[self.next].0, self.found[self.next]);
        self.next += 1;
        let at = self.at;
        let or_default = |problems: &mut Problems| match default {
            Some(literal) => T::decode(&literal.node(at), problems),
            None => T::fallback(),
        };
        self.problems.within(key, |problems| match node {
            Some(node) if node.value != Value::Null => {
                T::decode(node, problems).or_else(|| or_default(problems))
            }
            _ if default.is_some() => or_default(problems),
            _ => T::absent().or_else(|| {
                let what = if node.is_some() {
                    "nothing is written here"
                } else {
                    "missing"
                };
                problems.report(
                    node.map_or(at, |n| n.at),
                    format!("{what}, but it is needed"),
                );
                T::fallback()
            }),
        })
    }

    /// Reads the one key that is a tag of `T`.
    pub(crate) fn rest<T: Written>(&mut self) -> Option<T> {
        let allowed = || super::alternatives(self.tags.iter().map(|tag| tag.name));
        match self.rest.as_slice() {
            [(key, node)] => {
                let value = Value::Map(vec![(key.clone(), (*node).clone())]);
                T::decode(&Node { value, at: key.at }, self.problems)
            }
            [] => {
                let message = format!("one of {} is needed", allowed());
                self.problems.report(self.at, message);
                None
            }
            [_, (second, _), ..] => {
                let message = format!(
                    "`{}` is one too many: only one of {}",
                    second.value,
                    allowed()
                );
                self.problems.report(second.at, message);
                None
            }
        }
    }
}

/// A record that nothing was written of; `None` if something has to be.
pub(crate) fn all_defaults<T: Written>() -> Option<T> {
    let nothing = Node {
        value: Value::Null,
        at: Position::default(),
    };
    let mut problems = Problems::default();
    T::decode(&nothing, &mut problems).filter(|_| problems.is_empty())
}

impl Key {
    fn of_str(field: &str) -> &str {
        field.strip_prefix("r#").unwrap_or(field)
    }
}

/// Key, whether it is required, its default, its schema.
pub(crate) type KeySchema = (&'static str, bool, Option<Literal>, Json);

/// The schema of a record; `rest` is the schema of each further key of which there must be one.
pub(crate) fn schema_of_record(
    doc: &str,
    keys: Vec<KeySchema>,
    rest: Option<Json>,
    short: Option<&str>,
) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut short_schema = None;
    for (field, needed, default, mut schema) in keys {
        let key = Key::of_str(field);
        if short.map(Key::of_str) == Some(key) {
            short_schema = Some(schema.clone());
        }
        if let (Some(literal), Json::Object(schema)) = (default, &mut schema) {
            schema.insert("default".into(), literal.json());
        }
        if needed {
            required.push(key);
        }
        properties.insert(key.into(), schema);
    }
    let mut schema = json!({ "type": "object", "additionalProperties": false });
    if let Some(Json::Object(tags)) = rest {
        let one_of: Vec<Json> = tags
            .keys()
            .map(|tag| json!({ "required": [tag] }))
            .collect();
        properties.extend(tags);
        schema["oneOf"] = one_of.into();
    }
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema["properties"] = Json::Object(properties);
    match short_schema {
        None => described(doc, schema),
        Some(short) => described(doc, json!({ "anyOf": [schema, short] })),
    }
}
