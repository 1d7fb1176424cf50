//! One of several: a one-key map `{ tag: … }`, or a plain word.

use serde_json::{Map, Value as Json, json};

use super::{described, mend};
use crate::scenario::problem::Problems;
use crate::scenario::tree::{Node, Value};

/// One alternative of a choice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    /// Whether something is written under it; without, it is a plain word.
    pub(crate) payload: bool,
}

/// What was written, as an index into the tags.
pub(crate) enum Chosen<'n> {
    Word(usize),
    Payload(usize, &'n Node),
    /// Not one of the tags: the value stands for itself.
    Bare(&'n Node),
}

/// Declares a choice: an enum with one variant per tag.
///
/// `tag => Variant(Type)` is written `{ tag: … }`, `tag => Variant` as the plain word `tag`.
/// `enum Name (Variant)` lets what is neither stand for that variant's payload.
macro_rules! choice {
    (
        $(#[doc = $doc:literal])*
        $vis:vis enum $name:ident $(($bare:ident($bare_ty:ty)))? {
            $($(#[doc = $tag_doc:literal])* $tag:ident => $variant:ident $(($ty:ty))?,)*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug)]
        $vis enum $name {
            $($(#[doc = $tag_doc])* $variant $(($ty))?,)*
        }

        impl $name {
            pub(crate) const TAGS: &'static [$crate::scenario::written::Tag] = &[
                $($crate::scenario::written::Tag {
                    name: $crate::scenario::written::Key::of(stringify!($tag)).name(),
                    doc: concat!($($tag_doc, "\n"),*),
                    payload: false $(|| !stringify!($ty).is_empty())?,
                },)*
            ];

            /// The schema of what is written under each tag, by tag.
            pub(crate) fn schema_of_tags(defs: &mut $crate::scenario::written::Defs) -> serde_json::Value {
                let mut tags = serde_json::Map::new();
                $(
                    #[allow(unused_mut, unused_assignments)]
                    let mut payload: Option<serde_json::Value> = None;
                    $(payload = Some(<$ty as $crate::scenario::written::Written>::schema(defs));)?
                    let tag = $crate::scenario::written::Key::of(stringify!($tag)).name();
                    if let Some(schema) = payload {
                        let doc = concat!($($tag_doc, "\n"),*);
                        tags.insert(tag.into(), $crate::scenario::written::described(doc, schema));
                    }
                )*
                tags.into()
            }
        }

        impl $crate::scenario::written::Written for $name {
            fn decode(
                node: &$crate::scenario::tree::Node,
                problems: &mut $crate::scenario::problem::Problems,
            ) -> Option<Self> {
                use $crate::scenario::written::{Chosen, Written};
                let bare = false $(|| !stringify!($bare).is_empty())?;
                let chosen = $crate::scenario::written::open_choice(node, Self::TAGS, bare, problems)?;
                let mut tags = Self::TAGS.iter().enumerate();
                $(
                    let (index, tag) = tags.next()?;
                    match &chosen {
                        #[allow(unused_variables)]
                        Chosen::Payload(chosen, inner) if *chosen == index => {
                            return problems.within(tag.name, |problems| {
                                Some(Self::$variant $((<$ty as Written>::decode(inner, problems)?))?)
                            });
                        }
                        Chosen::Word(chosen) if *chosen == index => {
                            return $crate::scenario::written::choice!(@word $name $variant $($ty)?);
                        }
                        _ => {}
                    }
                )*
                match chosen {
                    $(Chosen::Bare(node) => {
                        Some(Self::$bare(<$bare_ty as Written>::decode(node, problems)?))
                    })?
                    _ => None,
                }
            }

            fn schema(defs: &mut $crate::scenario::written::Defs) -> serde_json::Value {
                defs.define::<Self>(stringify!($name), |defs| {
                    let payloads = Self::schema_of_tags(defs);
                    #[allow(unused_mut, unused_assignments)]
                    let mut bare: Option<serde_json::Value> = None;
                    $(bare = Some(<$bare_ty as $crate::scenario::written::Written>::schema(defs));)?
                    $crate::scenario::written::schema_of_choice(
                        concat!($($doc, "\n"),*), Self::TAGS, payloads, bare,
                    )
                })
            }
        }
    };
    (@word $name:ident $variant:ident) => { Some($name::$variant) };
    // A tag that takes something is never a word.
    (@word $name:ident $variant:ident $ty:ty) => { None };
}
pub(crate) use choice;

/// Declares how the values of an existing enum are written: as plain words.
macro_rules! words {
    ($(#[doc = $doc:literal])* $ty:ty, $name:literal { $($word:literal => $value:expr, $word_doc:literal;)* }) => {
        impl $crate::scenario::written::Written for $ty {
            fn decode(
                node: &$crate::scenario::tree::Node,
                problems: &mut $crate::scenario::problem::Problems,
            ) -> Option<Self> {
                use $crate::scenario::written::{Chosen, Tag, open_choice};
                const TAGS: &[Tag] = &[$(Tag { name: $word, doc: $word_doc, payload: false },)*];
                match open_choice(node, TAGS, false, problems)? {
                    Chosen::Word(index) => [$($value),*].get(index).copied(),
                    _ => None,
                }
            }

            fn schema(defs: &mut $crate::scenario::written::Defs) -> serde_json::Value {
                use $crate::scenario::written::{Tag, schema_of_choice};
                const TAGS: &[Tag] = &[$(Tag { name: $word, doc: $word_doc, payload: false },)*];
                defs.define::<Self>($name, |_| {
                    schema_of_choice(concat!($($doc, "\n"),*), TAGS, serde_json::json!({}), None)
                })
            }
        }

        impl $crate::scenario::written::Layered for $ty {
            fn write(&self) -> $crate::scenario::tree::Value {
                let words = [$(($value, $word)),*];
                let word = words.iter().find(|(value, _)| value == self).map(|(_, word)| *word);
                $crate::scenario::tree::Value::String(word.unwrap_or_default().into())
            }
        }

        $crate::scenario::written::itself!($ty);
    };
}
pub(crate) use words;

/// Which of `tags` is written; with `bare`, anything that is no one-key map and no word is let through.
pub(crate) fn open_choice<'n>(
    node: &'n Node,
    tags: &'static [Tag],
    bare: bool,
    problems: &mut Problems,
) -> Option<Chosen<'n>> {
    let names = tags.iter().map(|tag| tag.name);
    match &node.value {
        Value::Map(entries) => match entries.as_slice() {
            [(key, inner)] => match tags.iter().position(|tag| tag.name == key.value) {
                Some(index) if tags[index].payload => Some(Chosen::Payload(index, inner)),
                Some(_) => {
                    let message = format!("`{0}` takes nothing; write just `{0}`", key.value);
                    problems.report(key.at, message);
                    None
                }
                None => {
                    let hint = mend(&key.value, names);
                    problems.report(key.at, format!("unknown key `{}`: {hint}", key.value));
                    None
                }
            },
            [] => {
                let allowed = super::alternatives(names);
                problems.report(node.at, format!("an empty map; one of {allowed} is needed"));
                None
            }
            [_, (second, _), ..] => {
                let allowed = super::alternatives(names);
                let message = format!("`{}` is one too many: only one of {allowed}", second.value);
                problems.report(second.at, message);
                None
            }
        },
        Value::String(word) if tags.iter().any(|tag| tag.name == word) => {
            let index = tags.iter().position(|tag| tag.name == word)?;
            if tags[index].payload {
                problems.report(
                    node.at,
                    format!("`{word}` needs something: {{ {word}: … }}"),
                );
                return None;
            }
            Some(Chosen::Word(index))
        }
        _ if bare => Some(Chosen::Bare(node)),
        Value::String(word) => {
            let hint = mend(word, names);
            problems.report(node.at, format!("{:?} is not known here: {hint}", word));
            None
        }
        _ => {
            let allowed = super::alternatives(names);
            problems.report(
                node.at,
                format!("expected {allowed}, got {}", node.describe()),
            );
            None
        }
    }
}

/// The schema of a choice: its words, its one-key maps, and what may stand for itself.
pub(crate) fn schema_of_choice(
    doc: &str,
    tags: &[Tag],
    payloads: Json,
    bare: Option<Json>,
) -> Json {
    let mut any_of: Vec<Json> = bare.into_iter().collect();
    for tag in tags.iter().filter(|tag| !tag.payload) {
        any_of.push(described(tag.doc, json!({ "const": tag.name })));
    }
    if let Json::Object(properties) = payloads
        && !properties.is_empty()
    {
        let mut map = Map::new();
        map.insert("type".into(), "object".into());
        map.insert("additionalProperties".into(), false.into());
        map.insert("minProperties".into(), 1.into());
        map.insert("maxProperties".into(), 1.into());
        map.insert("properties".into(), Json::Object(properties));
        any_of.push(Json::Object(map));
    }
    described(doc, json!({ "anyOf": any_of }))
}
