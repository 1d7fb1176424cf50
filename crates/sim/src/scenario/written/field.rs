//! Defaults, written as they would be in a file.

use serde_json::Value as Json;

use crate::scenario::tree::{Node, Position, Value};

/// A default, as it would be written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Literal {
    Text(&'static str),
    Count(u64),
    Decimal(f64),
    Flag(bool),
}

impl Literal {
    /// The node that reading the default from a file would give.
    pub(crate) fn node(self, at: Position) -> Node {
        let value = match self {
            Literal::Text(text) => Value::String(text.into()),
            Literal::Count(count) => Value::Number(count.to_string()),
            Literal::Decimal(number) => Value::Number(number.to_string()),
            Literal::Flag(flag) => Value::Bool(flag),
        };
        Node { value, at }
    }

    pub(crate) fn json(self) -> Json {
        match self {
            Literal::Text(text) => text.into(),
            Literal::Count(count) => count.into(),
            Literal::Decimal(number) => number.into(),
            Literal::Flag(flag) => flag.into(),
        }
    }
}

impl From<&'static str> for Literal {
    fn from(text: &'static str) -> Self {
        Literal::Text(text)
    }
}

impl From<u64> for Literal {
    fn from(count: u64) -> Self {
        Literal::Count(count)
    }
}

impl From<f64> for Literal {
    fn from(number: f64) -> Self {
        Literal::Decimal(number)
    }
}

impl From<bool> for Literal {
    fn from(flag: bool) -> Self {
        Literal::Flag(flag)
    }
}
