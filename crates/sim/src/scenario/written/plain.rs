//! Text, lists, tables of names, and what may be left out.

use seawall::{FailureKind, FailureSet};
use serde_json::{Value as Json, json};

use super::{Defs, Written, mend};
use crate::scenario::problem::Problems;
use crate::scenario::tree::{At, Node, Value};

/// Something written that may not have been readable: reading goes on without it to find other problems,
/// and knows not to complain that it is missing.
#[derive(Clone, Debug)]
pub(crate) struct Tried<T>(pub(crate) Option<T>);

/// A list of at least one.
#[derive(Clone, Debug)]
pub(crate) struct Several<T>(pub(crate) Vec<T>);

/// A map from names that the file chooses, in the order written.
#[derive(Clone, Debug)]
pub(crate) struct Table<T>(pub(crate) Vec<Entry<T>>);

/// One named thing; its name is known even if the rest could not be read.
#[derive(Clone, Debug)]
pub(crate) struct Entry<T> {
    pub(crate) name: At<String>,
    pub(crate) value: Option<T>,
}

/// Kinds of failure, in words, HTTP statuses or gRPC status names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Kinds(pub(crate) FailureSet);

impl<T: Written> Written for Option<T> {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        T::decode(node, problems).map(Some)
    }

    fn schema(defs: &mut Defs) -> Json {
        T::schema(defs)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Written> Written for Tried<T> {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        Some(Tried(T::decode(node, problems)))
    }

    fn schema(defs: &mut Defs) -> Json {
        T::schema(defs)
    }

    fn fallback() -> Option<Self> {
        Some(Tried(None))
    }
}

impl<T: Written> Written for Box<T> {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        T::decode(node, problems).map(Box::new)
    }

    fn schema(defs: &mut Defs) -> Json {
        T::schema(defs)
    }
}

impl<T: Written> Written for At<T> {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        T::decode(node, problems).map(|value| At { value, at: node.at })
    }

    fn schema(defs: &mut Defs) -> Json {
        T::schema(defs)
    }

    fn absent() -> Option<Self> {
        None
    }
}

impl<T: Written> Written for Vec<T> {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let Value::Seq(items) = &node.value else {
            problems.report(node.at, format!("expected a list, got {}", node.describe()));
            return None;
        };
        let mut read = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            read.extend(problems.within(&i.to_string(), |problems| T::decode(item, problems)));
        }
        Some(read)
    }

    fn schema(defs: &mut Defs) -> Json {
        json!({ "type": "array", "items": T::schema(defs) })
    }

    fn absent() -> Option<Self> {
        Some(Vec::new())
    }
}

impl<T: Written> Written for Several<T> {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::Seq(items) if items.is_empty() => {
                problems.report(node.at, "an empty list; at least one is needed");
                None
            }
            _ => Vec::decode(node, problems).map(Several),
        }
    }

    fn schema(defs: &mut Defs) -> Json {
        json!({ "type": "array", "items": T::schema(defs), "minItems": 1 })
    }
}

impl<A: Written, B: Written> Written for (A, B) {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let Value::Seq(items) = &node.value else {
            problems.report(
                node.at,
                format!("expected a pair [a, b], got {}", node.describe()),
            );
            return None;
        };
        let [a, b] = items.as_slice() else {
            problems.report(
                node.at,
                format!("expected a pair [a, b], got {}", node.describe()),
            );
            return None;
        };
        let a = problems.within("0", |problems| A::decode(a, problems));
        let b = problems.within("1", |problems| B::decode(b, problems));
        Some((a?, b?))
    }

    fn schema(defs: &mut Defs) -> Json {
        json!({
            "type": "array",
            "prefixItems": [A::schema(defs), B::schema(defs)],
            "minItems": 2,
            "maxItems": 2,
        })
    }
}

impl<T: Written> Written for Table<T> {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let Value::Map(entries) = &node.value else {
            problems.report(
                node.at,
                format!("expected a map of names, got {}", node.describe()),
            );
            return None;
        };
        let read = |(name, node): &(At<String>, Node)| Entry {
            name: name.clone(),
            value: problems.within(&name.value, |problems| T::decode(node, problems)),
        };
        Some(Table(entries.iter().map(read).collect()))
    }

    fn schema(defs: &mut Defs) -> Json {
        json!({ "type": "object", "additionalProperties": T::schema(defs) })
    }

    fn absent() -> Option<Self> {
        Some(Table(Vec::new()))
    }
}

/// Refuses names that could not be used in paths, expectations and columns.
pub(crate) fn check_name(name: &At<String>, problems: &mut Problems) {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.value.is_empty() || !name.value.chars().all(fits) {
        let message = format!(
            "the name {:?} may only have letters, digits, `-` and `_`",
            name.value
        );
        problems.report(name.at, message);
    }
}

impl Written for String {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let text = node.scalar().map(str::to_owned);
        if text.is_none() {
            problems.report(node.at, format!("expected text, got {}", node.describe()));
        }
        text
    }

    fn schema(_: &mut Defs) -> Json {
        json!({ "type": "string" })
    }
}

impl Written for bool {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        match node.value {
            Value::Bool(yes) => Some(yes),
            _ => {
                let message = format!("expected true or false, got {}", node.describe());
                problems.report(node.at, message);
                None
            }
        }
    }

    fn schema(_: &mut Defs) -> Json {
        json!({ "type": "boolean" })
    }
}

fn kind_names() -> impl Iterator<Item = &'static str> + Clone {
    FailureKind::ALL.iter().map(|kind| kind.name())
}

/// Every gRPC status that is a failure.
const GRPC: [&str; 16] = [
    "ABORTED",
    "ALREADY_EXISTS",
    "CANCELLED",
    "DATA_LOSS",
    "DEADLINE_EXCEEDED",
    "FAILED_PRECONDITION",
    "INTERNAL",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "OUT_OF_RANGE",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNIMPLEMENTED",
    "UNKNOWN",
];

/// The kinds that one word stands for: our name, a gRPC status, an HTTP status, `4xx` or `5xx`.
fn kinds_named(word: &str) -> Option<FailureSet> {
    let all = || FailureKind::ALL.iter().copied();
    let of = |fits: &dyn Fn(FailureKind) -> bool| {
        all()
            .filter(|&kind| fits(kind))
            .fold(FailureSet::NONE, FailureSet::with)
    };
    let class = |hundreds| of(&|kind| kind.http().is_some_and(|status| status / 100 == hundreds));
    let set = match word {
        "4xx" => class(4),
        "5xx" => class(5),
        _ => of(&|kind| {
            kind.name() == word
                || FailureKind::from_grpc(word) == Some(kind)
                || kind.http().is_some_and(|status| status.to_string() == word)
        }),
    };
    (!set.is_empty()).then_some(set)
}

fn decode_kinds(node: &Node, problems: &mut Problems) -> Option<FailureSet> {
    let set = node.scalar().and_then(kinds_named);
    if set.is_none() {
        let hint = mend(node.scalar().unwrap_or_default(), kind_names());
        let or = "an HTTP status such as 503, `5xx`, or a gRPC status such as `UNAVAILABLE`";
        let message = format!("{} is no kind of failure: {hint}, {or}", node.describe());
        problems.report(node.at, message);
    }
    set
}

impl Written for Kinds {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let Value::Seq(items) = &node.value else {
            return decode_kinds(node, problems).map(Kinds);
        };
        let sets = items.iter().filter_map(|item| decode_kinds(item, problems));
        let kinds = sets
            .flat_map(FailureSet::iter)
            .fold(FailureSet::NONE, FailureSet::with);
        Some(Kinds(kinds))
    }

    fn schema(defs: &mut Defs) -> Json {
        let kind = FailureKind::schema(defs);
        json!({ "anyOf": [{ "type": "array", "items": kind }, kind] })
    }
}

impl Written for FailureKind {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let set = decode_kinds(node, problems)?;
        let mut kinds = set.iter();
        match (kinds.next(), kinds.next()) {
            (Some(kind), None) => Some(kind),
            _ => {
                let message = format!("{} is several kinds; one is needed", node.describe());
                problems.report(node.at, message);
                None
            }
        }
    }

    fn schema(defs: &mut Defs) -> Json {
        defs.define::<Self>("FailureKind", |_| {
            let words: Vec<_> = kind_names().chain(GRPC).chain(["4xx", "5xx"]).collect();
            let http: Vec<_> = FailureKind::ALL.iter().filter_map(|kind| kind.http()).collect();
            json!({
                "description": "A kind of failure: in words, as an HTTP status, or as a gRPC status.",
                "anyOf": [{ "enum": words }, { "enum": http }],
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_grpc_status_is_one_kind_of_failure() {
        for status in GRPC {
            let kinds = kinds_named(status).unwrap_or_else(|| panic!("{status}"));
            assert_eq!(kinds.iter().count(), 1, "{status}");
        }
        assert_eq!(kinds_named("OK"), None);
        assert_eq!(kinds_named("UNKNOWN"), kinds_named("500"));
    }
}
