//! What the engine is told: read straight into its own types, written back in full, laid over one another.
//!
//! [`mirror!`] declares how a struct of the engine is written, [`members!`] how an enum is. Neither has a
//! second type of its own: what is declared here is all that the language says about it.

use seawall::{FailureSet, Span};
use serde_json::{Value as Json, json};

use super::{Defs, Key, KeySchema, Kinds, Limit, Percent, Rate, Ratio, Share, Whole, Written};
use crate::scenario::problem::Problems;
use crate::scenario::tree::{At, Node, Position, Value};

/// Something that can be written back, and laid over something that says more.
pub(crate) trait Layered: Written {
    /// As it would be written, with every key it has.
    fn write(&self) -> Value;

    /// Adds to `own` what `base` says and `own` does not. What has no keys is not mixed.
    fn lay(_own: &mut Node, _base: &Node) {}
}

/// How a `T` is written: with this unit, within this range.
pub(crate) trait Form<T>: Layered {
    /// What is meant by it.
    fn mean(self) -> T;

    /// How that is written.
    fn of(value: &T) -> Self;
}

/// Something, or the word `none`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Opt<F>(pub(crate) Option<F>);

/// A length of time, or the word `unlimited`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound(pub(crate) Span);

/// Declares how a struct of the engine is written, key by key: `field: Form`.
///
/// `= literal` is the default as it would be written; `=> expression` computes it from the keys above.
/// `[key]` lets what is not a map stand for `{ key: … }`. Keys under `also` are read by others.
macro_rules! mirror {
    (
        $(#[doc = $doc:literal])*
        $ty:ty as $name:literal $([$short:ident])? {
            $(
                $(#[doc = $key_doc:literal])*
                $key:ident: $form:ty $(= $default:literal)? $(=> $computed:expr)?,
            )*
        }
        $(also {
            $(
                $(#[doc = $also_doc:literal])*
                $also:ident: $also_ty:ty,
            )*
        })?
    ) => {
        impl $crate::scenario::written::Written for $ty {
            fn decode(
                node: &$crate::scenario::tree::Node,
                problems: &mut $crate::scenario::problem::Problems,
            ) -> Option<Self> {
                use $crate::scenario::written::{Fields, Keyed, Literal};
                #[allow(unused_mut, unused_assignments)]
                let mut short: Option<&str> = None;
                $(short = Some(stringify!($short));)?
                let mut fields = Fields::open(node, Self::KEYS, &[], short, problems)?;
                $(
                    #[allow(unused_mut, unused_assignments)]
                    let mut default: Option<Literal> = None;
                    $(default = Some($default.into());)?
                    let $key: Option<$crate::scenario::written::mirror!(@read $form $(, $computed)?)> =
                        fields.take(default);
                )*
                $($(let _: Option<Option<$also_ty>> = fields.take(None);)*)?
                $(let $key = $crate::scenario::written::mirror!(@mean $form, $key $(, $computed)?);)*
                Some(Self { $($key,)* })
            }

            fn absent() -> Option<Self> {
                $crate::scenario::written::all_defaults()
            }

            fn schema(defs: &mut $crate::scenario::written::Defs) -> serde_json::Value {
                use $crate::scenario::written::Keyed;
                defs.define::<Self>($name, |defs| {
                    #[allow(unused_mut, unused_assignments)]
                    let mut short: Option<&str> = None;
                    $(short = Some(stringify!($short));)?
                    $crate::scenario::written::schema_of_record(
                        concat!($($doc, "\n"),*), Self::keys(defs), None, short,
                    )
                })
            }
        }

        impl $crate::scenario::written::Keyed for $ty {
            const KEYS: &'static [$crate::scenario::written::Key] = &[
                $($crate::scenario::written::Key::of(stringify!($key)),)*
                $($($crate::scenario::written::Key::of(stringify!($also)),)*)?
            ];

            fn keys(
                defs: &mut $crate::scenario::written::Defs,
            ) -> Vec<$crate::scenario::written::KeySchema> {
                use $crate::scenario::written::{KeySchema, Literal, Written, described};
                let mut keys: Vec<KeySchema> = Vec::new();
                $(
                    #[allow(unused_mut, unused_assignments)]
                    let mut default: Option<Literal> = None;
                    $(default = Some($default.into());)?
                    let schema = <$form as Written>::schema(defs);
                    let schema = described(concat!($($key_doc, "\n"),*), schema);
                    let required = default.is_none()
                        && <$crate::scenario::written::mirror!(@read $form $(, $computed)?) as Written>::absent().is_none();
                    keys.push((stringify!($key), required, default, schema));
                )*
                $($(
                    let schema = <$also_ty as Written>::schema(defs);
                    keys.push((stringify!($also), false, None, described(concat!($($also_doc, "\n"),*), schema)));
                )*)?
                keys
            }
        }

        impl $crate::scenario::written::Layered for $ty {
            fn write(&self) -> $crate::scenario::tree::Value {
                use $crate::scenario::written::{Form, Layered};
                $crate::scenario::written::written_map([$((
                    stringify!($key),
                    <$form as Layered>::write(&<$form as Form<_>>::of(&self.$key)),
                ),)*])
            }

            fn lay(own: &mut $crate::scenario::tree::Node, base: &$crate::scenario::tree::Node) {
                use $crate::scenario::written::{Layered, lay_key, unfold};
                #[allow(unused_mut, unused_assignments)]
                let mut short: Option<&str> = None;
                $(short = Some(stringify!($short));)?
                let mut base = base.clone();
                unfold(own, short);
                unfold(&mut base, short);
                $(lay_key(own, &base, stringify!($key), <$form as Layered>::lay);)*
                $($(lay_key(own, &base, stringify!($also), |_, _| {});)*)?
            }
        }

        $crate::scenario::written::itself!($ty);
    };
    (@read $form:ty) => { $form };
    (@read $form:ty, $computed:expr) => { Option<$form> };
    (@mean $form:ty, $key:ident) => {
        <$form as $crate::scenario::written::Form<_>>::mean($key?)
    };
    (@mean $form:ty, $key:ident, $computed:expr) => {
        match $key? {
            Some(form) => <$form as $crate::scenario::written::Form<_>>::mean(form),
            None => $computed,
        }
    };
}
pub(crate) use mirror;

/// Declares how an enum of the engine is written: as a plain word, `tag [Variant]`, or as a one-key map,
/// `tag: Form [Variant(it)] [it]`. What is in brackets is both how a member is taken apart and how it is
/// made.
macro_rules! members {
    (
        $(#[doc = $doc:literal])*
        $ty:ty as $name:literal {
            $(
                $(#[doc = $tag_doc:literal])*
                $tag:ident $(: $form:ty)? [$($member:tt)*] $([$($inner:tt)*])?,
            )*
        }
    ) => {
        impl $crate::scenario::written::Written for $ty {
            fn decode(
                node: &$crate::scenario::tree::Node,
                problems: &mut $crate::scenario::problem::Problems,
            ) -> Option<Self> {
                use $crate::scenario::written::{Chosen, members, open_choice};
                let tags = <Self as $crate::scenario::written::Tagged>::TAGS;
                let chosen = open_choice(node, tags, false, problems)?;
                let mut names = tags.iter().enumerate();
                $(
                    let (index, tag) = names.next()?;
                    match &chosen {
                        #[allow(unused_variables)]
                        Chosen::Payload(chosen, below) if *chosen == index => {
                            return problems.within(tag.name, |problems| {
                                members!(@payload below, problems, [$($member)*] $(, $form, [$($inner)*])?)
                            });
                        }
                        Chosen::Word(chosen) if *chosen == index => {
                            return members!(@word [$($member)*] $(, $form)?);
                        }
                        _ => {}
                    }
                )*
                None
            }

            fn schema(defs: &mut $crate::scenario::written::Defs) -> serde_json::Value {
                use $crate::scenario::written::{Tagged, schema_of_choice};
                defs.define::<Self>($name, |defs| {
                    let payloads = <Self as Tagged>::schema_of_tags(defs);
                    schema_of_choice(concat!($($doc, "\n"),*), <Self as Tagged>::TAGS, payloads, None)
                })
            }
        }

        impl $crate::scenario::written::Tagged for $ty {
            const TAGS: &'static [$crate::scenario::written::Tag] = &[
                $($crate::scenario::written::Tag {
                    name: stringify!($tag),
                    doc: concat!($($tag_doc, "\n"),*),
                    payload: false $(|| !stringify!($form).is_empty())?,
                },)*
            ];

            fn schema_of_tags(defs: &mut $crate::scenario::written::Defs) -> serde_json::Value {
                #[allow(unused_mut)]
                let mut tags = serde_json::Map::new();
                $(
                    #[allow(unused_variables)]
                    let doc = concat!($($tag_doc, "\n"),*);
                    $(
                        let schema = <$form as $crate::scenario::written::Written>::schema(defs);
                        tags.insert(stringify!($tag).into(), $crate::scenario::written::described(doc, schema));
                    )?
                )*
                tags.into()
            }
        }

        impl $crate::scenario::written::Layered for $ty {
            fn write(&self) -> $crate::scenario::tree::Value {
                match self.clone() {
                    $($($member)* => $crate::scenario::written::members!(
                        @write $tag $(, $form, [$($inner)*])?
                    ),)*
                }
            }

            fn lay(own: &mut $crate::scenario::tree::Node, base: &$crate::scenario::tree::Node) {
                use $crate::scenario::written::{Layered, same_tag};
                let Some((tag, own, base)) = same_tag(own, base) else {
                    return;
                };
                match tag.as_str() {
                    $($(stringify!($tag) => <$form as Layered>::lay(own, base),)?)*
                    _ => {}
                }
            }
        }

        $crate::scenario::written::itself!($ty);
    };
    (@payload $below:ident, $problems:ident, [$($member:tt)*]) => { None };
    (@payload $below:ident, $problems:ident, [$($member:tt)*], $form:ty, [$($inner:tt)*]) => {{
        let form = <$form as $crate::scenario::written::Written>::decode($below, $problems)?;
        let $($inner)* = <$form as $crate::scenario::written::Form<_>>::mean(form);
        Some($($member)*)
    }};
    (@word [$($member:tt)*]) => { Some($($member)*) };
    (@word [$($member:tt)*], $form:ty) => { None };
    (@write $tag:ident) => { $crate::scenario::tree::Value::String(stringify!($tag).into()) };
    (@write $tag:ident, $form:ty, [$($inner:tt)*]) => {{
        let form = <$form as $crate::scenario::written::Form<_>>::of(&$($inner)*);
        let value = $crate::scenario::written::Layered::write(&form);
        $crate::scenario::written::written_map([(stringify!($tag), value)])
    }};
}
pub(crate) use members;

/// A type that is written as itself.
macro_rules! itself {
    ($($ty:ty),*) => {$(
        impl $crate::scenario::written::Form<$ty> for $ty {
            fn mean(self) -> $ty {
                self
            }

            fn of(value: &$ty) -> $ty {
                value.clone()
            }
        }
    )*};
}
pub(crate) use itself;

/// A struct whose keys may also stand among others.
pub(crate) trait Keyed {
    const KEYS: &'static [Key];

    /// Each key with what the schema says of it.
    fn keys(defs: &mut Defs) -> Vec<KeySchema>;
}

/// An enum whose alternatives may also stand as keys among others.
pub(crate) trait Tagged {
    const TAGS: &'static [super::Tag];

    /// The schema of what is written under each tag, by tag.
    fn schema_of_tags(defs: &mut Defs) -> Json;
}

/// A map of what was written back.
pub(crate) fn written_map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let at = Position::default();
    let entry = |(key, value): (&str, Value)| {
        (
            At {
                value: key.into(),
                at,
            },
            Node { value, at },
        )
    };
    Value::Map(entries.into_iter().map(entry).collect())
}

/// Puts the short form of a record into a map of its own, and nothing at all into an empty one.
pub(crate) fn unfold(node: &mut Node, short: Option<&str>) {
    let entries = match (&node.value, short) {
        (Value::Map(_), _) => return,
        (Value::Null, _) => Vec::new(),
        (_, Some(key)) => {
            let at = node.at;
            vec![(
                At {
                    value: key.into(),
                    at,
                },
                node.clone(),
            )]
        }
        // No record; what is wrong with it is said when it is read.
        (_, None) => return,
    };
    node.value = Value::Map(entries);
}

/// Lays one key of a record.
pub(crate) fn lay_key(own: &mut Node, base: &Node, key: &str, lay: impl FnOnce(&mut Node, &Node)) {
    let (Value::Map(entries), Value::Map(base)) = (&mut own.value, &base.value) else {
        return;
    };
    let Some((name, below)) = base.iter().find(|(name, _)| name.value == key) else {
        return;
    };
    match entries.iter_mut().find(|(name, _)| name.value == key) {
        None => entries.push((name.clone(), below.clone())),
        Some((_, node)) if node.value == Value::Null => *node = below.clone(),
        Some((_, node)) => lay(node, below),
    }
}

/// What is under the tag, if both are one-key maps with the same.
pub(crate) fn same_tag<'o, 'b>(
    own: &'o mut Node,
    base: &'b Node,
) -> Option<(String, &'o mut Node, &'b Node)> {
    let (Value::Map(own), Value::Map(base)) = (&mut own.value, &base.value) else {
        return None;
    };
    match (own.as_mut_slice(), base.as_slice()) {
        ([(tag, own)], [(other, base)]) if tag.value == other.value => {
            Some((tag.value.clone(), own, base))
        }
        _ => None,
    }
}

impl<F: Written> Written for Opt<F> {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::String(word) if word == "none" => Some(Opt(None)),
            _ => F::decode(node, problems).map(|form| Opt(Some(form))),
        }
    }

    fn schema(defs: &mut Defs) -> Json {
        let none = super::described("There is none.", json!({ "const": "none" }));
        json!({ "anyOf": [none, F::schema(defs)] })
    }
}

impl<F: Layered> Layered for Opt<F> {
    fn write(&self) -> Value {
        self.0
            .as_ref()
            .map_or(Value::String("none".into()), F::write)
    }

    fn lay(own: &mut Node, base: &Node) {
        if own.scalar() != Some("none") && base.scalar() != Some("none") {
            F::lay(own, base);
        }
    }
}

impl<T, F: Form<T>> Form<Option<T>> for Opt<F> {
    fn mean(self) -> Option<T> {
        self.0.map(F::mean)
    }

    fn of(value: &Option<T>) -> Self {
        Opt(value.as_ref().map(F::of))
    }
}

impl Written for Bound {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::String(word) if word == "unlimited" => Some(Bound(Span::MAX)),
            _ => Span::decode(node, problems).map(Bound),
        }
    }

    fn schema(defs: &mut Defs) -> Json {
        json!({ "anyOf": [Span::schema(defs), { "const": "unlimited" }] })
    }
}

impl<T: Layered> Layered for Box<T> {
    fn write(&self) -> Value {
        T::write(self)
    }

    fn lay(own: &mut Node, base: &Node) {
        T::lay(own, base);
    }
}

impl<T: Layered + Clone> Form<Box<T>> for Box<T> {
    fn mean(self) -> Box<T> {
        self
    }

    fn of(value: &Box<T>) -> Self {
        value.clone()
    }
}

/// Declares how plain values are written back.
macro_rules! plain {
    ($($form:ty => $ty:ty: $this:ident $write:expr, $mean:expr, $value:ident $of:expr;)*) => {$(
        impl Form<$ty> for $form {
            fn mean(self) -> $ty {
                let $this = self;
                $mean
            }

            fn of($value: &$ty) -> Self {
                $of
            }
        }
        impl Layered for $form {
            fn write(&self) -> Value {
                let $this = self;
                $write
            }
        }
    )*};
}

plain! {
    Span => Span: it Value::String(it.to_string()), it, value *value;
    bool => bool: it Value::Bool(*it), it, value *value;
    f64 => f64: it Value::Number(it.to_string()), it, value *value;
    Rate => f64: it Value::String(format!("{}/s", it.0)), it.0, value Rate(*value);
    Share => f64: it Value::Number(it.0.to_string()), it.0, value Share(*value);
    Percent => f64: it Value::String(format!("{}%", it.0)), it.0, value Percent(*value);
    Ratio => f64: it Value::Number(it.0.to_string()), it.0, value Ratio(*value);
    Bound => Span: it unlimited_or((it.0 != Span::MAX).then_some(it.0.to_string()), Value::String),
        it.0, value Bound(*value);
    Limit<1> => u32: it unlimited_or(it.0.map(|n| n.to_string()), Value::Number),
        it.0.unwrap_or(u32::MAX), value Limit((*value != u32::MAX).then_some(*value));
    Kinds => FailureSet: it Value::Seq(it.0.iter().map(|kind| Node {
        value: Value::String(kind.name().into()),
        at: Position::default(),
    }).collect()), it.0, value Kinds(*value);
}

fn unlimited_or(text: Option<String>, value: impl FnOnce(String) -> Value) -> Value {
    text.map_or(Value::String("unlimited".into()), value)
}

impl<const MIN: u32> Layered for Whole<MIN> {
    fn write(&self) -> Value {
        Value::Number(self.0.to_string())
    }
}

impl<const MIN: u32> Form<u32> for Whole<MIN> {
    fn mean(self) -> u32 {
        self.0
    }

    fn of(value: &u32) -> Self {
        Whole(*value)
    }
}

/// As precise as the engine is: what is written back reads as the same number again.
impl Form<f32> for Ratio {
    fn mean(self) -> f32 {
        self.0 as f32
    }

    fn of(value: &f32) -> Self {
        Ratio(shortest(*value))
    }
}

impl Form<f32> for Percent {
    fn mean(self) -> f32 {
        self.0 as f32
    }

    fn of(value: &f32) -> Self {
        Percent(shortest(*value))
    }
}

/// The number with the fewest digits that is this one to 32 bits.
fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}
