//! Every value of a policy in effect, and where it comes from.

use seawall::{Preset, Spec};

use crate::scenario::problem::Problems;
use crate::scenario::tree::{Node, Position, Value};
use crate::scenario::written::{Layered, Written};

/// The values of one policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What the policy is called.
    pub policy: String,
    /// Each value, in the order of the language.
    pub values: Vec<Setting>,
    /// The layers a call passes, outermost first, whether written or not.
    pub order: Option<Setting>,
}

/// One value in effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its keys below the policy, with dots between.
    pub path: String,
    /// The value, as it is or would be written.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is written in this line of the scenario.
    Line(u32),
    /// It was put in place of what the scenario says, by this.
    Override(String),
    /// A library's defaults that the policy names.
    Preset(&'static str),
    /// Nobody says anything about it.
    Default,
}

/// The values of the policy called `name`, merged with what it extends and its preset as `node`.
pub(crate) fn of(name: &str, node: &Node, problems: &Problems) -> Settings {
    let (mut values, mut order) = (Vec::new(), None);
    // What cannot be read has no values; the reason has been reported.
    if let Some(spec) = Spec::decode(node, &mut Problems::default()) {
        let written = Node {
            value: spec.write(),
            at: Position::default(),
        };
        let mut full = node.clone();
        Spec::lay(&mut full, &written);
        let preset = full.get("preset").and_then(|named| {
            let preset = Preset::decode(named, &mut Problems::default())?;
            Some((named.at, preset.name()))
        });
        let mut walk = Walk {
            preset,
            problems,
            values: &mut values,
        };
        walk.down(&full, Some(&written), &mut Vec::new());
        order = order_in_effect(&spec, &values);
    }
    Settings {
        policy: name.into(),
        values,
        order,
    }
}

/// Which order is in effect, and who made it so; `None` where a call passes nothing but an attempt.
fn order_in_effect(spec: &Spec, values: &[Setting]) -> Option<Setting> {
    let order = spec.effective_order();
    let layers: Vec<&str> = order.layers().iter().map(|layer| layer.name()).collect();
    let by = |path: &str, value: &str| {
        let moving = |setting: &&Setting| setting.path == path && setting.value == value;
        values
            .iter()
            .find(moving)
            .map(|setting| setting.origin.clone())
    };
    let written = values.iter().find(|setting| setting.path == "order");
    let origin = match spec.order {
        Some(_) => written.map(|setting| setting.origin.clone()),
        None => by("breaker.counts", "calls").or(by("bulkhead.hold_during_backoff", "true")),
    };
    (!layers.is_empty()).then(|| Setting {
        path: "order in effect".into(),
        value: layers.join(" > "),
        origin: origin.unwrap_or(Origin::Default),
    })
}

struct Walk<'a> {
    preset: Option<(Position, &'static str)>,
    problems: &'a Problems,
    values: &'a mut Vec<Setting>,
}

impl Walk<'_> {
    /// `order` has the keys in the order of the language.
    fn down(&mut self, node: &Node, order: Option<&Node>, path: &mut Vec<String>) {
        let Value::Map(entries) = &node.value else {
            self.values.push(Setting {
                path: path.join("."),
                value: shown(node),
                origin: self.origin(node.at),
            });
            return;
        };
        let mut entries: Vec<_> = entries.iter().collect();
        let rank = |key: &str| match order.map(|order| &order.value) {
            Some(Value::Map(ordered)) => ordered.iter().position(|(name, _)| name.value == key),
            _ => None,
        };
        entries.sort_by_key(|(key, _)| rank(&key.value).unwrap_or(usize::MAX));
        for (key, below) in entries {
            // They say where values come from; they are none themselves.
            if path.is_empty() && matches!(key.value.as_str(), "preset" | "extends") {
                continue;
            }
            path.push(key.value.clone());
            self.down(below, order.and_then(|order| order.get(&key.value)), path);
            path.pop();
        }
    }

    fn origin(&self, at: Position) -> Origin {
        match self.preset {
            _ if at == Position::default() => Origin::Default,
            Some((place, name)) if place == at => Origin::Preset(name),
            _ if at.source == 0 => Origin::Line(at.line),
            _ => Origin::Override(self.problems.name_of(at.source).into()),
        }
    }
}

fn shown(node: &Node) -> String {
    match &node.value {
        Value::Seq(items) => {
            let items: Vec<_> = items.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
        _ => node.scalar().unwrap_or("none").into(),
    }
}
