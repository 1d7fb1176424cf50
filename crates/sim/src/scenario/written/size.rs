//! Amounts of memory.

use serde_json::{Value as Json, json};

use super::units::split_number;
use super::{Defs, Written};
use crate::scenario::problem::Problems;
use crate::scenario::tree::{Node, Value};

/// An amount of memory in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

const UNITS: [(&str, f64); 9] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];

fn parse(text: &str) -> Result<u64, String> {
    let wrong =
        || format!("expected an amount of memory such as \"512MB\" or \"2GiB\", got {text:?}");
    let (number, unit) = split_number(text).ok_or_else(wrong)?;
    let unit = unit.trim();
    if unit.is_empty() {
        return Err(format!(
            "{text:?} has no unit: write \"{text}MB\" or \"{text}kB\""
        ));
    }
    let (_, bytes) = UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or_else(wrong)?;
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let size = number * bytes;
    // Beyond 2^63 bytes nothing is meant any more.
    match size < 9.2e18 {
        true => Ok(size as u64),
        false => Err(wrong()),
    }
}

impl Written for Size {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let read = match &node.value {
            Value::Number(written) | Value::String(written) => parse(written),
            _ => Err(format!(
                "expected an amount of memory such as \"512MB\", got {}",
                node.describe()
            )),
        };
        read.map_err(|message| problems.report(node.at, message))
            .ok()
            .map(Size)
    }

    fn schema(defs: &mut Defs) -> Json {
        defs.define::<Self>("Size", |_| {
            json!({
                "description": "An amount of memory with its unit: \"64kB\", \"512MB\", \"2GiB\".",
                "type": "string",
                "pattern": r"^(\d+(\.\d*)?|\.\d+)\s*([kMGT]?B|[KMGT]iB)$",
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_and_binary_units() {
        assert_eq!(parse("512MB"), Ok(512_000_000));
        assert_eq!(parse("1.5 KiB"), Ok(1536));
        assert!(parse("5").unwrap_err().contains("has no unit"));
        assert!(parse("5mb").is_err() && parse("-5MB").is_err() && parse("1e30TB").is_err());
    }
}
