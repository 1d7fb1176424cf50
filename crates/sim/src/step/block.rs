//! A list of steps.

use serde_json::{Value as Json, json};

use super::Step;
use crate::scenario::problem::Problems;
use crate::scenario::tree::{Node, Value};
use crate::scenario::written::{Defs, Written};

/// Steps that follow each other; at least one. A single step may be written without the list.
#[derive(Clone, Debug)]
pub(crate) struct Block(pub(crate) Vec<Step>);

impl Block {
    /// The schema where only a list is a block.
    pub(crate) fn list_schema(defs: &mut Defs) -> Json {
        json!({ "type": "array", "items": Step::schema(defs), "minItems": 1 })
    }
}

impl Written for Block {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::Seq(items) if items.is_empty() => {
                let message =
                    "an empty program; a list of steps such as [ { work: 10ms } ] is needed";
                problems.report(node.at, message);
                None
            }
            Value::Seq(_) => Vec::decode(node, problems).map(Block),
            Value::Map(_) => Step::decode(node, problems).map(|step| Block(vec![step])),
            _ => {
                let expected = "a list of steps such as [ { work: 10ms } ]";
                problems.report(
                    node.at,
                    format!("expected {expected}, got {}", node.describe()),
                );
                None
            }
        }
    }

    fn schema(defs: &mut Defs) -> Json {
        json!({ "anyOf": [Self::list_schema(defs), Step::schema(defs)] })
    }
}
