//! What an experiment varies: a list of values, a range, or named sets of values.

use serde_json::{Value as Json, json};

use crate::expect::Unit;
use crate::scenario::problem::Problems;
use crate::scenario::tree::{At, Format, Node, Position, Value, read};
use crate::scenario::written::{
    Defs, Entry, Table, Tried, Whole, Written, parse_percent, parse_rate, parse_span, parse_times,
    record,
};
use crate::scenario::{Override, Place};

/// Names of the columns that rows of results have besides the axes; no axis can be called so.
pub const COLUMNS: [&str; 12] = [
    "replication",
    "seed",
    "ended",
    "measure",
    "unit",
    "value",
    "word",
    "mean",
    "low",
    "high",
    "replications",
    "runs",
];

/// One direction of the grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The path that is varied, or a name for what is.
    pub name: String,
    /// What it is called in pictures and tables; by default the name.
    pub label: String,
    /// Its values, in order.
    pub steps: Vec<Step>,
    /// What its numbers are; `None`: the values are names.
    pub unit: Option<Unit>,
}

/// One value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// As written.
    pub label: String,
    /// The same as a number, if every value of the axis is one: seconds, shares, per second, factors.
    pub number: Option<f64>,
    /// What it puts in place of what the scenario says.
    pub overrides: Vec<Override>,
}

/// Anything, kept as it is.
#[derive(Clone, Debug)]
pub(crate) struct Raw(pub(super) Node);

/// The values of an axis, as written.
#[derive(Clone, Debug)]
pub(crate) enum AxisFile {
    /// One after the other.
    List(Vec<Raw>),
    /// Evenly from here to there.
    Range(RangeFile),
    /// Several values at once, under a name.
    Variants(VariantsFile),
}

record! {
    /// Values at even distances.
    pub(crate) struct RangeFile {
        /// The first value.
        from: Tried<At<String>>,
        /// The last value, with the same unit.
        to: Tried<At<String>>,
        /// How many values, both ends included.
        steps: Tried<At<Whole<2>>>,
        /// Whether ratios are even rather than differences.
        log: bool = false,
    }
}

record! {
    /// Named sets of values.
    pub(crate) struct VariantsFile {
        /// By name: values by their path in the scenario.
        variants: Tried<Table<Table<Raw>>>,
    }
}

impl Written for Raw {
    fn decode(node: &Node, _: &mut Problems) -> Option<Self> {
        Some(Raw(node.clone()))
    }

    fn schema(_: &mut Defs) -> Json {
        json!({ "description": "A value as it may stand in the scenario." })
    }
}

impl Written for AxisFile {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::Seq(items) if items.is_empty() => {
                problems.report(node.at, "an empty list; at least one value is needed");
                None
            }
            Value::Seq(_) => Vec::decode(node, problems).map(AxisFile::List),
            Value::Map(_) if node.get("variants").is_some() => {
                VariantsFile::decode(node, problems).map(AxisFile::Variants)
            }
            Value::Map(_) => RangeFile::decode(node, problems).map(AxisFile::Range),
            _ => {
                let message = format!(
                    "expected a list of values, a range {{ from, to, steps }} or {{ variants }}, got {}",
                    node.describe()
                );
                problems.report(node.at, message);
                None
            }
        }
    }

    fn schema(defs: &mut Defs) -> Json {
        let list = json!({ "type": "array", "items": Raw::schema(defs), "minItems": 1 });
        json!({ "anyOf": [list, RangeFile::schema(defs), VariantsFile::schema(defs)] })
    }
}

/// More values are a slip of the finger: each is run, several times.
const STEPS_MAX: u32 = 10_000;

impl AxisFile {
    /// What it means; `file` is where it is written.
    pub(super) fn mean(
        self,
        name: &At<String>,
        file: &str,
        problems: &mut Problems,
    ) -> Option<Axis> {
        let path = &name.value;
        let steps = match self {
            AxisFile::List(values) => values
                .iter()
                .map(|Raw(node)| {
                    let value = text(node);
                    let label = node.scalar().unwrap_or(&value).to_string();
                    one(path, label, value, place(file, node.at))
                })
                .collect(),
            AxisFile::Range(range) => {
                let at = place(file, range.position);
                let values = range.values(problems)?.into_iter();
                values
                    .map(|value| one(path, value.clone(), value, at.clone()))
                    .collect()
            }
            AxisFile::Variants(variants) => {
                let table = variants.variants.0?;
                if table.0.is_empty() {
                    problems.report(variants.position, "no variant is written");
                }
                let variants = table.0.into_iter();
                variants.filter_map(|entry| variant(entry, file)).collect()
            }
        };
        let axis = numbered(path, steps);
        axis.check(name, problems);
        Some(axis)
    }
}

impl Axis {
    fn check(&self, name: &At<String>, problems: &mut Problems) {
        if COLUMNS.contains(&self.name.as_str()) {
            let message = "this is the name of another column of the results; call it otherwise";
            problems.report(name.at, message);
        }
        for (i, step) in self.steps.iter().enumerate() {
            if self.steps[..i]
                .iter()
                .any(|other| other.label == step.label)
            {
                problems.report(
                    name.at,
                    format!("the value `{}` is there twice", step.label),
                );
            }
        }
    }
}

fn one(path: &str, label: String, value: String, place: Place) -> Step {
    let place = Some(place);
    Step {
        label,
        number: None,
        overrides: vec![Override {
            place,
            ..Override::new(path, value)
        }],
    }
}

fn place(file: &str, at: Position) -> Place {
    Place {
        file: file.into(),
        line: at.line,
        col: at.col,
    }
}

fn variant(entry: Entry<Table<Raw>>, file: &str) -> Option<Step> {
    let settings = entry.value?.0.into_iter();
    let overrides = settings.filter_map(|entry| setting(entry, file)).collect();
    Some(Step {
        label: entry.name.value,
        number: None,
        overrides,
    })
}

/// A value by its path, written in `file`.
pub(super) fn setting(entry: Entry<Raw>, file: &str) -> Option<Override> {
    let Raw(node) = entry.value?;
    Some(Override {
        place: Some(place(file, node.at)),
        ..Override::new(entry.name.value, text(&node))
    })
}

/// An axis whose steps are numbers if all of them are, of the same unit.
fn numbered(name: &str, mut steps: Vec<Step>) -> Axis {
    let numbers: Option<Vec<(Unit, f64)>> = steps.iter().map(|step| number(&step.label)).collect();
    let unit = numbers.and_then(|numbers| {
        let unit = numbers.first()?.0;
        if numbers.iter().any(|(other, _)| *other != unit) {
            return None;
        }
        for (step, (_, number)) in steps.iter_mut().zip(numbers) {
            step.number = Some(number);
        }
        Some(unit)
    });
    Axis {
        name: name.into(),
        label: name.into(),
        steps,
        unit,
    }
}

fn number(label: &str) -> Option<(Unit, f64)> {
    let plain = label.parse::<f64>().ok().filter(|x| x.is_finite());
    plain
        .or_else(|| parse_times(label))
        .map(|x| (Unit::Factor, x))
        .or_else(|| Some((Unit::Share, parse_percent(label)?)))
        .or_else(|| Some((Unit::Time, parse_span(label).ok()?.as_secs_f64())))
        .or_else(|| Some((Unit::Rate, parse_rate(label).ok()?)))
}

impl RangeFile {
    fn values(self, problems: &mut Problems) -> Option<Vec<String>> {
        let (from, to) = (self.from.0?, self.to.0?);
        let (first, last) = (
            number_and_unit(&from, problems),
            number_and_unit(&to, problems),
        );
        let ((first, unit), (last, other)) = (first?, last?);
        let At { value: steps, at } = self.steps.0?;
        let steps = steps.0;
        if steps > STEPS_MAX {
            let message = format!("steps: at most {STEPS_MAX} values on one axis, got {steps}");
            problems.report(at, message);
            return None;
        }
        if unit != other {
            let message = format!(
                "`from` and `to` need the same unit, got {:?} and {:?}",
                from.value, to.value
            );
            problems.report(to.at, message);
            return None;
        }
        if self.log && (first <= 0.0 || last <= 0.0) {
            problems.report(from.at, "with `log`, both ends must be above 0");
            return None;
        }
        let between = |i: u32| {
            let share = f64::from(i) / f64::from(steps - 1);
            if self.log {
                first * libm::pow(last / first, share)
            } else {
                first + (last - first) * share
            }
        };
        let value = |i| match i {
            0 => from.value.clone(),
            i if i == steps - 1 => to.value.clone(),
            i => format!("{}{unit}", digits(between(i))),
        };
        Some((0..steps).map(value).collect())
    }
}

fn number_and_unit<'t>(end: &'t At<String>, problems: &mut Problems) -> Option<(f64, &'t str)> {
    let split = split_unit(&end.value);
    if split.is_none() {
        let got = &end.value;
        let message = format!("expected a number, with or without a unit, got {got:?}");
        problems.report(end.at, message);
    }
    split
}

/// A number and what follows it.
fn split_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok().filter(|x: &f64| x.is_finite())?, unit))
}

/// Six significant digits at most, without trailing zeros, never with an exponent.
fn digits(x: f64) -> String {
    let rounded: f64 = format!("{x:.5e}").parse().unwrap_or(x);
    rounded.to_string()
}

/// A value as YAML that reads as the same value.
fn text(node: &Node) -> String {
    let plain = node.scalar().unwrap_or_default();
    let same = |read: Option<Node>| read.is_some_and(|read| read.value == node.value);
    if !plain.is_empty() && same(read(plain, Format::Yaml, 0, &mut Problems::default())) {
        return plain.into();
    }
    node.to_json().to_string()
}
