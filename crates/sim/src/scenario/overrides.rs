//! Changing single values of a scenario by their path: `services.api.concurrency=20`.

use serde_json::Value as Json;

use super::problem::Problems;
use super::tree::{At, Format, Node, Position, Value, read};
use super::written::mend;

/// One value put in place of what the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// Keys and list indices from the top, with dots between: `faults.0.for`.
    pub path: String,
    /// The value, as it would be written in YAML: `10s`, `{ poisson: 900/s }`.
    pub value: String,
    /// Where it is written, if it is written in a file; problems with it are shown there.
    pub place: Option<Place>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What problems call the file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub col: u32,
}

impl Override {
    /// One that is written in no file.
    pub fn new(path: impl Into<String>, value: impl Into<String>) -> Override {
        Override {
            path: path.into(),
            value: value.into(),
            place: None,
        }
    }

    /// From `path=value`.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    pub fn parse(text: &str) -> Result<Override, String> {
        match text.split_once('=') {
            Some((path, value)) if !path.trim().is_empty() => {
                Ok(Override::new(path.trim(), value.trim()))
            }
            _ => Err(format!(
                "expected path=value, such as services.api.concurrency=20, got {text:?}"
            )),
        }
    }
}

/// Puts the overrides into the tree, one after the other; `schema` says which keys there can be.
pub(super) fn apply(
    root: &mut Node,
    overrides: &[Override],
    schema: &Json,
    problems: &mut Problems,
) {
    for Override {
        path,
        value,
        place: written,
    } in overrides
    {
        let typed = || format!("--set {path}={value}");
        let source = problems.source(written.as_ref().map_or_else(typed, |p| p.file.clone()));
        let (line, col) = written.as_ref().map_or((0, 0), |p| (p.line, p.col));
        let at = Position { source, line, col };
        let Some(mut value) = read(value, Format::Yaml, source, problems) else {
            continue;
        };
        value.stand(at);
        let keys: Vec<&str> = path.split('.').collect();
        let mut walk = Walk {
            schema,
            at,
            done: Vec::new(),
        };
        if let Err(message) = walk.put(root, &keys, value, vec![schema]) {
            problems.report(at, message);
        }
    }
}

/// A way down a tree, beside the schema of what may be there.
struct Walk<'s> {
    schema: &'s Json,
    at: Position,
    done: Vec<String>,
}

impl<'s> Walk<'s> {
    fn put(
        &mut self,
        node: &mut Node,
        keys: &[&str],
        value: Node,
        schemas: Vec<&'s Json>,
    ) -> Result<(), String> {
        let Some((&key, rest)) = keys.split_first() else {
            *node = value;
            return Ok(());
        };
        let here = if self.done.is_empty() {
            "the scenario".into()
        } else {
            self.done.join(".")
        };
        self.done.push(key.into());
        let schemas = self.alternatives(schemas);
        if node.value == Value::Null {
            node.value = Value::Map(Vec::new());
        }
        match &mut node.value {
            Value::Seq(items) => {
                let count = items.len();
                let index = key
                    .parse()
                    .ok()
                    .filter(|&i: &usize| i < count || (i == count && rest.is_empty()));
                let Some(index) = index else {
                    return Err(format!(
                        "`{here}` is a list of {count}; `{key}` is none of its indices, which count from 0"
                    ));
                };
                if index == count {
                    items.push(value);
                    return Ok(());
                }
                let below = schemas
                    .iter()
                    .flat_map(|schema| schema.get("items"))
                    .collect();
                self.put(&mut items[index], rest, value, below)
            }
            Value::Map(entries) => {
                let (below, fixed) = self.below(&schemas, key);
                let index = match entries.iter().position(|(known, _)| known.value == key) {
                    Some(index) => index,
                    None => {
                        self.check_new(entries, key, rest, fixed, &schemas, &here)?;
                        let nothing = Node {
                            value: Value::Null,
                            at: self.at,
                        };
                        entries.push((
                            At {
                                value: key.into(),
                                at: self.at,
                            },
                            nothing,
                        ));
                        entries.len() - 1
                    }
                };
                self.put(&mut entries[index].1, rest, value, below)
            }
            _ => Err(format!("`{here}` is {}; it has no keys", node.describe())),
        }
    }

    /// A key that is not written yet must be one that could be; a name must be given a whole value.
    fn check_new(
        &self,
        entries: &[(At<String>, Node)],
        key: &str,
        rest: &[&str],
        fixed: bool,
        schemas: &[&'s Json],
        here: &str,
    ) -> Result<(), String> {
        let named = schemas
            .iter()
            .any(|schema| schema["additionalProperties"].is_object());
        if fixed || (named && rest.is_empty()) {
            return Ok(());
        }
        let written = entries.iter().map(|(key, _)| key.value.as_str());
        let possible = schemas
            .iter()
            .flat_map(|schema| schema["properties"].as_object().into_iter().flatten())
            .map(|(key, _)| key.as_str())
            .filter(|key| {
                *key != "$schema" && !entries.iter().any(|(known, _)| known.value == *key)
            });
        let what = if named { "no name" } else { "no key" };
        Err(format!(
            "`{here}` has {what} `{key}`: {}",
            mend(key, written.chain(possible))
        ))
    }

    /// The schemas of `key`, and whether it is a key of the language rather than a name of the file.
    fn below(&self, schemas: &[&'s Json], key: &str) -> (Vec<&'s Json>, bool) {
        let fixed: Vec<&Json> = schemas
            .iter()
            .filter_map(|schema| schema["properties"].get(key))
            .collect();
        if !fixed.is_empty() {
            return (fixed, true);
        }
        let named = schemas
            .iter()
            .filter_map(|schema| schema.get("additionalProperties"));
        (named.filter(|schema| schema.is_object()).collect(), false)
    }

    /// References followed and alternatives spread out.
    fn alternatives(&self, schemas: Vec<&'s Json>) -> Vec<&'s Json> {
        let mut open = schemas;
        let mut flat = Vec::new();
        while let Some(schema) = open.pop() {
            if let Some(name) = schema["$ref"]
                .as_str()
                .and_then(|r| r.strip_prefix("#/$defs/"))
            {
                open.push(&self.schema["$defs"][name]);
            }
            open.extend(schema["anyOf"].as_array().into_iter().flatten());
            flat.push(schema);
        }
        flat
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::schema;

    const FILE: &str = "
services: { api: { queue: 100 }, db: {} }
policies: { sdk: { retry: { max_attempts: 3, backoff: none } } }
faults: [ { at: 1s } ]
";

    fn with(text: &str) -> Result<Node, String> {
        let mut problems = Problems::of("x.yaml");
        let mut root = read(FILE, Format::Yaml, 0, &mut problems).unwrap();
        apply(
            &mut root,
            &[Override::parse(text).unwrap()],
            &schema(),
            &mut problems,
        );
        if problems.is_empty() {
            Ok(root)
        } else {
            Err(problems.to_string())
        }
    }

    fn at<'n>(node: &'n Node, path: &str) -> Option<&'n Node> {
        path.split('.')
            .try_fold(node, |node, key| match &node.value {
                Value::Seq(items) => items.get(key.parse::<usize>().ok()?),
                _ => node.get(key),
            })
    }

    #[test]
    fn a_value_is_replaced_or_created_where_the_language_knows_its_key() {
        for (text, path, value) in [
            ("faults.0.at=10s", "faults.0.at", "10s"),
            (
                "policies.sdk.retry.max_attempts = 1",
                "policies.sdk.retry.max_attempts",
                "1",
            ),
            (
                "services.api.concurrency=20",
                "services.api.concurrency",
                "20",
            ),
            (
                "services.api.work.exponential.mean=5ms",
                "services.api.work.exponential.mean",
                "5ms",
            ),
            ("run.limits.calls=7", "run.limits.calls", "7"),
            ("faults.1={ at: 2s, outage: db }", "faults.1.outage", "db"),
            ("links.default={ delay: 5ms }", "links.default.delay", "5ms"),
            (
                "policies.sdk.budget.ratio={ burst: 3 }",
                "policies.sdk.budget.ratio.burst",
                "3",
            ),
        ] {
            let root = with(text).unwrap();
            assert_eq!(
                at(&root, path).and_then(Node::scalar),
                Some(value),
                "{text}"
            );
        }
    }

    #[test]
    fn what_leads_nowhere_is_refused_with_the_nearest() {
        for (text, message) in [
            (
                "services.apo.concurrency=20",
                "--set services.apo.concurrency=20: `services` has no name `apo`: did you mean `api`? \
                 Allowed: `api` or `db`",
            ),
            (
                "services.api.queue.discipline=lifo",
                "`services.api.queue` is the number 100; it has no keys",
            ),
            (
                "services.api.concurency=20",
                "`services.api` has no key `concurency`: did you mean `concurrency`?",
            ),
            (
                "faults.2.for=1s",
                "`faults` is a list of 1; `2` is none of its indices",
            ),
            (
                "faults.x=1",
                "`faults` is a list of 1; `x` is none of its indices",
            ),
            (
                "srvices.api=1",
                "`the scenario` has no key `srvices`: did you mean `services`?",
            ),
            ("run.seed=[", "not valid YAML"),
            ("links.slow.delay=1s", "`links` has no name `slow`"),
        ] {
            let problem = with(text).unwrap_err();
            assert!(problem.contains(message), "{problem}\nis not\n{message}");
        }
    }

    #[test]
    fn an_override_needs_a_path_and_a_value() {
        assert!(Override::parse("services.api").is_err());
        assert!(Override::parse("=3").is_err());
        let with_equals = Override::parse("expect.0=a >= 1").unwrap();
        assert_eq!(with_equals.value, "a >= 1");
    }
}
