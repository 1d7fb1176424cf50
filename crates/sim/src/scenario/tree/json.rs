//! JSON: serde_json judges the text, a small reader then walks it again for the positions.

use serde::de::IgnoredAny;

use super::node::insert;
use super::{At, DEPTH_MAX, Lines, Node, Value};
use crate::scenario::problem::Problems;

pub(super) fn read(text: &str, source: u32, problems: &mut Problems) -> Option<Node> {
    let lines = Lines::of(text, source);
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        let line_start = lines
            .starts
            .get(error.line().saturating_sub(1))
            .copied()
            .unwrap_or(0);
        let at = lines.position(line_start + error.column().saturating_sub(1));
        // serde_json appends its own position, which ours replaces.
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        problems.report(at, format!("not valid JSON: {message}"));
        return None;
    }
    let mut reader = Reader {
        text,
        at: 0,
        lines,
        problems,
    };
    reader.value(0)
}

/// Walks text that is known to be valid JSON; `None` means that it was not after all, or too deep.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    lines: Lines<'a>,
    problems: &'a mut Problems,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Option<Node> {
        let first = self.peek()?;
        let at = self.lines.position(self.at);
        if depth > DEPTH_MAX {
            self.problems
                .report(at, format!("nested more than {DEPTH_MAX} deep"));
            return None;
        }
        let value = match first {
            b'{' => self.map(depth)?,
            b'[' => self.seq(depth)?,
            b'"' => Value::String(self.string()?),
            _ => match self.word() {
                "null" => Value::Null,
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                number => Value::Number(number.into()),
            },
        };
        Some(Node { value, at })
    }

    fn map(&mut self, depth: usize) -> Option<Value> {
        let mut entries = Vec::new();
        self.at += 1;
        while self.peek()? != b'}' {
            let at = self.lines.position(self.at);
            let key = At {
                value: self.string()?,
                at,
            };
            self.skip(b':');
            let value = self.value(depth + 1)?;
            if let Err(first) = insert(&mut entries, key.clone(), value) {
                self.problems.doubled(&key, first);
            }
            self.skip(b',');
        }
        self.at += 1;
        Some(Value::Map(entries))
    }

    fn seq(&mut self, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        self.at += 1;
        while self.peek()? != b']' {
            items.push(self.value(depth + 1)?);
            self.skip(b',');
        }
        self.at += 1;
        Some(Value::Seq(items))
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        self.at += 1;
        while *bytes.get(self.at)? != b'"' {
            self.at += if bytes[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        match serde_json::from_str(&self.text[start..self.at]) {
            Ok(text) => Some(text),
            Err(error) => {
                let at = self.lines.position(start);
                self.problems.report(at, format!("not valid JSON: {error}"));
                None
            }
        }
    }

    fn word(&mut self) -> &str {
        let start = self.at;
        let rest = &self.text[start..];
        let end = rest
            .find([',', ']', '}', ' ', '\t', '\n', '\r'])
            .unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, byte: u8) {
        if self.peek() == Some(byte) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_places_are_those_of_the_file() {
        let text = "{\n\t\"ä\\n\": [ 1.50, \"x\\u00e9\", null, {} ],\n \"b\" :true}";
        let mut problems = Problems::of("x.json");
        let node = read(text, 0, &mut problems).unwrap();
        let Value::Map(entries) = &node.value else {
            panic!()
        };
        assert_eq!(
            (entries[0].0.value.as_str(), entries[0].0.at.col),
            ("ä\n", 2)
        );
        let Value::Seq(items) = &entries[0].1.value else {
            panic!()
        };
        let words: Vec<_> = items.iter().map(Node::describe).collect();
        assert_eq!(
            words,
            ["the number 1.50", "\"xé\"", "nothing", "an empty map"]
        );
        assert_eq!((items[1].at.line, items[1].at.col), (2, 17));
        assert_eq!((entries[1].1.at.line, entries[1].1.at.col), (3, 7));
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_place() {
        let refused = |text: &str| {
            let mut problems = Problems::of("x.json");
            read(text, 0, &mut problems);
            problems.to_string()
        };
        assert_eq!(
            refused("{\n \"a\": 1,\n}"),
            "x.json:3:1: not valid JSON: key must be a string"
        );
        assert_eq!(
            refused("{\"a\":1,\"a\":2}"),
            "x.json:1:8: the key `a` is written twice (first at 1:2)"
        );
        assert!(refused("").starts_with("x.json:1:1: not valid JSON: EOF"));
        assert!(refused("[\"\\ud800\"]").contains("not valid JSON"));
        assert!(
            refused(&("[".repeat(100) + &"]".repeat(100))).contains("nested more than 64 deep")
        );
    }
}
