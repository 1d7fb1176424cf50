//! Numbers as scenarios write them, each with its unit and range.

use seawall::Span;
use serde_json::{Value as Json, json};

use super::units::{parse_bytes, parse_percent, parse_rate, parse_span, parse_times};
use super::{Defs, Written};
use crate::scenario::context::Context;
use crate::scenario::problem::Problems;
use crate::scenario::tree::{Node, Position, Value};

/// A whole number of at least `MIN`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Whole<const MIN: u32>(pub(crate) u32);

/// A whole number of at least 1, or `unlimited`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit<const MIN: u32>(pub(crate) Option<u32>);

/// Things per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate(pub(crate) f64);

/// So much memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) u64);

/// A part of a whole, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

/// So much per unit, at least 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio(pub(crate) f64);

/// A number of percent, at least 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Percent(pub(crate) f64);

/// A multiple, at least 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Factor(pub(crate) f64);

/// More is a slip of the finger.
const FACTOR_MAX: f64 = 1e6;

/// A share of several that belong together: percents of a whole, or plain weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Weight {
    pub(crate) value: f64,
    /// Whether it was written in percent; all of them must then sum to 100 %.
    pub(crate) percent: bool,
}

impl Weight {
    /// Each weight's part of all of them; percents must sum to 100 %.
    pub(crate) fn parts(weights: &[Weight], at: Position, context: &mut Context<'_>) -> Vec<f64> {
        let sum: f64 = weights.iter().map(|weight| weight.value).sum();
        let percents = weights.iter().filter(|weight| weight.percent).count();
        if percents > 0 && percents < weights.len() {
            context.report(at, "weights: write all of them in percent, or none");
        } else if percents > 0 && (sum - 1.0).abs() > 1e-9 {
            let message = format!("weights: they must sum to 100%, got {}%", sum * 100.0);
            context.report(at, message);
        }
        weights.iter().map(|weight| weight.value / sum).collect()
    }
}

/// Reads a number or text with `number` and `text`; either says `None` when it is not its kind.
fn decode<T>(
    node: &Node,
    problems: &mut Problems,
    expected: &str,
    number: impl FnOnce(f64) -> Option<T>,
    text: impl FnOnce(&str) -> Option<T>,
) -> Option<T> {
    let read = match &node.value {
        Value::Number(written) => written
            .parse()
            .ok()
            .filter(|n: &f64| n.is_finite())
            .and_then(number),
        Value::String(written) => text(written),
        _ => None,
    };
    if read.is_none() {
        problems.report(
            node.at,
            format!("expected {expected}, got {}", node.describe()),
        );
    }
    read
}

/// Reads text with a parser that says itself what is wrong.
fn decode_text<T>(
    node: &Node,
    problems: &mut Problems,
    expected: &str,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Option<T> {
    let read = match &node.value {
        Value::Number(written) | Value::String(written) => parse(written),
        _ => Err(format!("expected {expected}, got {}", node.describe())),
    };
    read.map_err(|message| problems.report(node.at, message))
        .ok()
}

fn at_least_zero(number: f64) -> Option<f64> {
    (number >= 0.0).then_some(number)
}

impl Written for Span {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        decode_text(
            node,
            problems,
            "a length of time such as \"250ms\"",
            parse_span,
        )
    }

    fn schema(defs: &mut Defs) -> Json {
        defs.define::<Self>("Span", |_| {
            json!({
                "description": "A length of time with its unit: \"5ns\", \"100us\", \"250ms\", \"1.5s\", \"10min\", \"2h\", \"1d\", \"1m30s\".",
                "type": "string",
                "pattern": r"^(\s*(\d+(\.\d*)?|\.\d+)\s*(ns|us|µs|μs|ms|s|m|min|h|d))+$",
            })
        })
    }
}

impl Written for Rate {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let expected = "a rate such as \"500/s\" or \"40/min\"";
        decode_text(node, problems, expected, parse_rate).map(Rate)
    }

    fn schema(defs: &mut Defs) -> Json {
        defs.define::<Self>("Rate", |_| {
            json!({
                "description": "So many per time: \"500/s\", \"40/min\", \"3.2/s\", \"40 rpm\", \"7 rps\".",
                "type": "string",
                "pattern": r"^(\d+(\.\d*)?|\.\d+)\s*(/\s*(ns|us|µs|μs|ms|s|m|min|h|d)|rps|qps|rpm)$",
            })
        })
    }
}

impl Written for Bytes {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let expected = "an amount of memory such as \"512MiB\" or \"4GB\"";
        decode_text(node, problems, expected, parse_bytes).map(Bytes)
    }

    fn schema(defs: &mut Defs) -> Json {
        defs.define::<Self>("Bytes", |_| {
            json!({
                "description": "An amount of memory with its unit: \"64KiB\", \"512MiB\", \"4GB\".",
                "type": "string",
                "pattern": r"^(\d+(\.\d*)?|\.\d+)\s*(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)$",
            })
        })
    }
}

const PERCENT: &str = r"^(\d+(\.\d*)?|\.\d+)\s*%$";

impl Written for Share {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let within = |share: f64| (0.0..=1.0).contains(&share).then_some(Share(share));
        let expected = "a share from 0 to 1 or from \"0%\" to \"100%\"";
        decode(node, problems, expected, within, |text| {
            within(parse_percent(text)?)
        })
    }

    fn schema(defs: &mut Defs) -> Json {
        defs.define::<Self>("Share", |_| {
            json!({
                "description": "A part of a whole: 0 to 1, or \"0%\" to \"100%\".",
                "anyOf": [
                    { "type": "number", "minimum": 0, "maximum": 1 },
                    { "type": "string", "pattern": PERCENT },
                ],
            })
        })
    }
}

impl Written for Ratio {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let expected = "a ratio such as 0.2 or \"20%\"";
        decode(node, problems, expected, at_least_zero, parse_percent).map(Ratio)
    }

    fn schema(defs: &mut Defs) -> Json {
        defs.define::<Self>("Ratio", |_| {
            json!({
                "description": "So much per unit: 0.2 or \"20%\".",
                "anyOf": [{ "type": "number", "minimum": 0 }, { "type": "string", "pattern": PERCENT }],
            })
        })
    }
}

impl Written for Percent {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let expected = "percent such as \"20%\" or 20";
        decode(node, problems, expected, at_least_zero, |text| {
            parse_percent(text)?;
            text.strip_suffix('%')?.trim_end().parse().ok()
        })
        .map(Percent)
    }

    fn schema(defs: &mut Defs) -> Json {
        defs.define::<Self>("Percent", |_| {
            json!({
                "description": "Percent, with or without the sign: \"20%\" or 20.",
                "anyOf": [{ "type": "number", "minimum": 0 }, { "type": "string", "pattern": PERCENT }],
            })
        })
    }
}

impl Written for Factor {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let expected = "a factor from 0 to 1000000 such as 3, \"3x\" or 0.5";
        let sensible = |factor: f64| (0.0..=FACTOR_MAX).contains(&factor).then_some(factor);
        decode(node, problems, expected, sensible, |text| {
            sensible(parse_times(text)?)
        })
        .map(Factor)
    }

    fn schema(defs: &mut Defs) -> Json {
        defs.define::<Self>("Factor", |_| {
            json!({
                "description": "A multiple: 3, \"3x\" or 0.5.",
                "anyOf": [
                    { "type": "number", "minimum": 0, "maximum": FACTOR_MAX },
                    { "type": "string", "pattern": r"^(\d+(\.\d*)?|\.\d+)\s*[x×]$" },
                ],
            })
        })
    }
}

impl Written for Weight {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let weight = |percent| move |value: f64| (value > 0.0).then_some(Weight { value, percent });
        let expected = "a weight above 0, such as 3 or \"30%\"";
        decode(node, problems, expected, weight(false), |text| {
            weight(true)(parse_percent(text)?)
        })
    }

    fn schema(defs: &mut Defs) -> Json {
        defs.define::<Self>("Weight", |_| {
            json!({
                "description": "A share of several that belong together: percents that sum to \"100%\", or plain weights above 0.",
                "anyOf": [
                    { "type": "number", "exclusiveMinimum": 0 },
                    { "type": "string", "pattern": PERCENT },
                ],
            })
        })
    }
}

impl Written for f64 {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        decode(node, problems, "a number", Some, |_| None)
    }

    fn schema(_: &mut Defs) -> Json {
        json!({ "type": "number" })
    }
}

/// Reads a whole number from `min` to `max`.
fn whole(node: &Node, problems: &mut Problems, min: u64, max: u64, or: &str) -> Option<u64> {
    let expected = || format!("a whole number from {min} to {max}{or}");
    let read = match &node.value {
        Value::Number(text) => text.parse::<u64>().ok().filter(|n| (min..=max).contains(n)),
        _ => None,
    };
    if read.is_none() {
        problems.report(
            node.at,
            format!("expected {}, got {}", expected(), node.describe()),
        );
    }
    read
}

impl Written for u64 {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        whole(node, problems, 0, u64::MAX, "")
    }

    fn schema(_: &mut Defs) -> Json {
        json!({ "type": "integer", "minimum": 0 })
    }
}

impl<const MIN: u32> Written for Whole<MIN> {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let number = whole(node, problems, MIN.into(), u32::MAX.into(), "")?;
        u32::try_from(number).ok().map(Whole)
    }

    /// No range but its own can be hurt by it.
    fn fallback() -> Option<Self> {
        Some(Whole(MIN))
    }

    fn schema(_: &mut Defs) -> Json {
        json!({ "type": "integer", "minimum": MIN, "maximum": u32::MAX })
    }
}

impl<const MIN: u32> Written for Limit<MIN> {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        if node.value == Value::String("unlimited".into()) {
            return Some(Limit(None));
        }
        let number = whole(
            node,
            problems,
            MIN.into(),
            u32::MAX.into(),
            " or `unlimited`",
        )?;
        u32::try_from(number).ok().map(|number| Limit(Some(number)))
    }

    fn fallback() -> Option<Self> {
        Some(Limit(None))
    }

    fn schema(_: &mut Defs) -> Json {
        json!({ "anyOf": [
            { "type": "integer", "minimum": MIN, "maximum": u32::MAX },
            { "const": "unlimited" },
        ] })
    }
}
