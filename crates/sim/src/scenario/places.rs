//! Where things are written: the file, line and column of a key, found again after the scenario has lost
//! them on its way to what it means.

use std::fmt;

use super::load::{Source, tree};
use super::names::NO_POLICY;
use super::overrides::Override;
use super::problem::Problems;
use super::tree::{Node, Position, Value};

/// A scenario's text as a tree whose keys know where they stand, overrides and extended policies included.
#[derive(Clone, Debug)]
pub struct Places {
    root: Node,
    problems: Problems,
}

/// Where something is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The file, or the override as it was given: `--set path=value`.
    pub source: String,
    /// Line and column in characters, both from 1; `None` in an override, which has none.
    pub line_and_column: Option<(u32, u32)>,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line_and_column {
            Some((line, col)) => write!(f, "{}:{line}:{col}", self.source),
            None => f.write_str(&self.source),
        }
    }
}

impl Places {
    /// Those of a scenario.
    ///
    /// # Errors
    /// What is wrong with its syntax or the overrides. What is wrong with its meaning is left to
    /// [`load`](super::load).
    pub fn of(source: &Source<'_>, overrides: &[Override]) -> Result<Places, Problems> {
        let (root, problems) = tree(source, overrides)?;
        if problems.is_empty() {
            Ok(Places { root, problems })
        } else {
            Err(problems.sorted())
        }
    }

    /// Where the last of `keys` is written, a way down from the top (an item of a list by its index). What
    /// is not written stands where the last key on the way does that is.
    #[must_use]
    pub fn find(&self, keys: &[&str]) -> Location {
        let (mut node, mut at) = (&self.root, self.root.at);
        for key in keys {
            let Some((found, below)) = step(node, key) else {
                break;
            };
            (node, at) = (below, found);
        }
        self.place(at)
    }

    /// Whether all of `keys` are written, each below the one before.
    #[must_use]
    pub fn has(&self, keys: &[&str]) -> bool {
        let below = |node, key: &&str| step(node, key).map(|(_, below)| below);
        keys.iter().try_fold(&self.root, below).is_some()
    }

    /// Where below `keys` a call to `service` under `policy` is written; without one, as [`Places::find`].
    #[must_use]
    pub fn call(&self, keys: &[&str], service: &str, policy: &str) -> Location {
        let below = |node, key: &&str| step(node, key).map(|(_, below)| below);
        let block = keys.iter().try_fold(&self.root, below);
        match block.and_then(|block| call(block, service, policy)) {
            Some(at) => self.place(at),
            None => self.find(keys),
        }
    }

    fn place(&self, at: Position) -> Location {
        Location {
            source: self.problems.name_of(at.source).into(),
            line_and_column: (at.line > 0).then_some((at.line, at.col)),
        }
    }
}

/// One key or index down: where it is written, and what is there.
fn step<'n>(node: &'n Node, key: &str) -> Option<(Position, &'n Node)> {
    match &node.value {
        Value::Map(entries) => {
            let (written, below) = entries.iter().find(|(known, _)| known.value == key)?;
            // A value that an override put there stands in the override, though its key is in the file.
            let overridden = below.at.source != written.at.source;
            Some((if overridden { below.at } else { written.at }, below))
        }
        Value::Seq(items) => {
            let item = items.get(key.parse::<usize>().ok()?)?;
            Some((item.at, item))
        }
        _ => None,
    }
}

/// The first call to `service` under `policy` below `node`: `{ to: service, policy: policy }`, or under no
/// policy a bare `call: service`.
fn call(node: &Node, service: &str, policy: &str) -> Option<Position> {
    let says = |node: Option<&Node>, word| node.and_then(Node::scalar) == Some(word);
    match &node.value {
        Value::Map(entries) => {
            if let Some(to) = node.get("to")
                && says(Some(to), service)
                && (says(node.get("policy"), policy)
                    || (policy == NO_POLICY && node.get("policy").is_none()))
            {
                return Some(to.at);
            }
            entries.iter().find_map(|(key, below)| {
                let bare = matches!(key.value.as_str(), "call" | "calls") && policy == NO_POLICY;
                if bare && says(Some(below), service) {
                    return Some(below.at);
                }
                call(below, service, policy)
            })
        }
        Value::Seq(items) => items.iter().find_map(|item| call(item, service, policy)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Format;

    const FILE: &str = "\
clients:
  web: { calls: [ { to: api, policy: sdk } ] }
services:
  api: { program: [ { call: db } ] }
policies:
  base: { retry: { max_attempts: 3 } }
  sdk:
    extends: base
    deadline: 1s
";

    fn places(overrides: &[&str]) -> Places {
        let source = Source {
            name: "x.yaml",
            text: FILE,
            format: Format::Yaml,
        };
        let overrides: Vec<Override> = overrides
            .iter()
            .map(|text| Override::parse(text).unwrap())
            .collect();
        Places::of(&source, &overrides).unwrap()
    }

    #[test]
    fn a_key_is_found_where_it_stands_and_what_is_not_written_where_it_would() {
        let places = places(&[]);
        for (keys, place) in [
            (&["policies", "sdk", "deadline"][..], "x.yaml:9:5"),
            (&["policies", "sdk", "budget"], "x.yaml:7:3"),
            // A policy that extends another points at what it takes from there.
            (&["policies", "sdk", "retry", "max_attempts"], "x.yaml:6:20"),
            (&["clients", "web", "calls", "0"], "x.yaml:2:19"),
            (&["clients", "nobody"], "x.yaml:1:1"),
        ] {
            assert_eq!(places.find(keys).to_string(), place, "{keys:?}");
        }
        assert!(places.has(&["policies", "sdk", "retry"]));
        assert!(!places.has(&["policies", "sdk", "budget"]));
    }

    #[test]
    fn what_an_override_says_stands_in_the_override() {
        let places = places(&["policies.sdk.deadline=2s"]);
        let place = places.find(&["policies", "sdk", "deadline"]);
        assert_eq!(place.to_string(), "--set policies.sdk.deadline=2s");
    }

    #[test]
    fn a_call_is_found_by_whom_it_calls_under_which_policy() {
        let places = places(&[]);
        let at = |keys: &[&str], service, policy| places.call(keys, service, policy).to_string();
        assert_eq!(at(&["clients", "web"], "api", "sdk"), "x.yaml:2:25");
        assert_eq!(at(&["services", "api"], "db", "none"), "x.yaml:4:29");
        assert_eq!(at(&["services", "api"], "db", "sdk"), "x.yaml:4:3");
    }
}
