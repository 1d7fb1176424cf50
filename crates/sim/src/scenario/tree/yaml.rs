//! YAML, from the events of saphyr-parser.

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use super::node::insert;
use super::{At, DEPTH_MAX, NODES_MAX, Node, Position, Value};
use crate::scenario::problem::Problems;

/// A list or map whose end has not come yet.
struct Open {
    at: Position,
    anchor: usize,
    content: Content,
}

enum Content {
    Seq(Vec<Node>),
    Map {
        entries: Vec<(At<String>, Node)>,
        key: Option<At<String>>,
        /// Values of `<<`, in the order written.
        merged: Vec<Node>,
    },
}

struct Reader<'p> {
    source: u32,
    problems: &'p mut Problems,
    open: Vec<Open>,
    /// Finished anchored nodes by anchor id.
    anchors: Vec<Option<Node>>,
    root: Option<Node>,
    nodes: usize,
}

pub(super) fn read(text: &str, source: u32, problems: &mut Problems) -> Option<Node> {
    let mut reader = Reader {
        source,
        problems,
        open: Vec::new(),
        anchors: Vec::new(),
        root: None,
        nodes: 0,
    };
    let mut parser = Parser::new_from_str(text);
    let mut documents = 0;
    while let Some(next) = parser.next_event() {
        match next {
            Ok((Event::DocumentStart(_), span)) => {
                documents += 1;
                if documents > 1 {
                    let at = reader.position(span.start);
                    reader
                        .problems
                        .report(at, "a second YAML document; a file holds one");
                    return None;
                }
            }
            Ok((event, span)) => {
                let at = reader.position(span.start);
                reader.take(event, at)?;
            }
            Err(error) => {
                let at = reader.position(*error.marker());
                reader
                    .problems
                    .report(at, format!("not valid YAML: {}", error.info()));
                return None;
            }
        }
    }
    let start = Position {
        source,
        line: 1,
        col: 1,
    };
    Some(reader.root.unwrap_or(Node {
        value: Value::Null,
        at: start,
    }))
}

impl Reader<'_> {
    fn position(&self, mark: saphyr_parser::Marker) -> Position {
        Position {
            source: self.source,
            line: mark.line() as u32,
            col: mark.col() as u32 + 1,
        }
    }

    /// `None`: no use to go on; the reason has been reported.
    fn take(&mut self, event: Event<'_>, at: Position) -> Option<()> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let value = self.scalar(&text, style, tag.as_deref(), at);
                self.finish(Node { value, at }, anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), at);
                self.begin(Open {
                    at,
                    anchor,
                    content: Content::Seq(Vec::new()),
                })
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), at);
                let content = Content::Map {
                    entries: Vec::new(),
                    key: None,
                    merged: Vec::new(),
                };
                self.begin(Open {
                    at,
                    anchor,
                    content,
                })
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Open {
                    at,
                    anchor,
                    content,
                } = self.open.pop()?;
                let value = match content {
                    Content::Seq(items) => Value::Seq(items),
                    Content::Map {
                        entries, merged, ..
                    } => Value::Map(self.merge(entries, merged)),
                };
                self.finish(Node { value, at }, anchor)
            }
            Event::Alias(anchor) => match self.anchors.get(anchor).cloned().flatten() {
                Some(node) => {
                    self.nodes += size(&node);
                    self.finish(node, 0)
                }
                None => {
                    self.problems
                        .report(at, "an alias inside of what it stands for");
                    None
                }
            },
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Some(()),
        }
    }

    fn begin(&mut self, open: Open) -> Option<()> {
        if let Some(Open {
            content: Content::Map { key: None, .. },
            ..
        }) = self.open.last()
        {
            self.problems
                .report(open.at, "a key must be text, not a list or map");
            return None;
        }
        if self.open.len() == DEPTH_MAX {
            let message = format!("nested more than {DEPTH_MAX} deep");
            self.problems.report(open.at, message);
            return None;
        }
        self.open.push(open);
        Some(())
    }

    /// Hands a finished node to what it belongs to.
    fn finish(&mut self, node: Node, anchor: usize) -> Option<()> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            self.problems
                .report(node.at, format!("more than {NODES_MAX} values"));
            return None;
        }
        if anchor > 0 {
            if self.anchors.len() <= anchor {
                self.anchors.resize(anchor + 1, None);
            }
            self.anchors[anchor] = Some(node.clone());
        }
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(node),
            Some(Content::Seq(items)) => items.push(node),
            Some(Content::Map {
                key: slot @ None, ..
            }) => match node.scalar() {
                Some(text) => {
                    *slot = Some(At {
                        value: text.into(),
                        at: node.at,
                    })
                }
                None => {
                    self.problems.report(node.at, "a key must be text");
                    return None;
                }
            },
            Some(Content::Map {
                entries,
                key,
                merged,
            }) => {
                let key = key.take()?;
                if key.value == "<<" {
                    merged.push(node);
                } else if let Err(first) = insert(entries, key.clone(), node) {
                    self.problems.doubled(&key, first);
                }
            }
        }
        Some(())
    }

    /// `<<` brings the keys of other maps, in their order, where the map itself does not have them.
    fn merge(
        &mut self,
        mut entries: Vec<(At<String>, Node)>,
        merged: Vec<Node>,
    ) -> Vec<(At<String>, Node)> {
        let flat = merged.into_iter().flat_map(|node| match node.value {
            Value::Seq(items) => items,
            _ => vec![node],
        });
        for node in flat {
            match node.value {
                Value::Map(others) => {
                    for (key, value) in others {
                        // The map's own key, or an earlier one, wins: that is what merging means.
                        let _ = insert(&mut entries, key, value);
                    }
                }
                _ => {
                    let message = format!("`<<` takes a map, got {}", node.describe());
                    self.problems.report(node.at, message);
                }
            }
        }
        entries
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, at: Position) -> Value {
        let text_wanted = tag.is_some_and(|t| t.is_yaml_core_schema() && t.suffix == "str");
        if !text_wanted {
            self.refuse_tag(tag, at);
        }
        if text_wanted || style != ScalarStyle::Plain {
            return Value::String(text.into());
        }
        match text {
            "" | "~" | "null" | "Null" | "NULL" => Value::Null,
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            _ if is_number(text) => Value::Number(text.into()),
            _ => Value::String(text.into()),
        }
    }

    fn refuse_tag(&mut self, tag: Option<&Tag>, at: Position) {
        if let Some(tag) = tag {
            self.problems
                .report(at, format!("the tag `{tag}` has no meaning here"));
        }
    }
}

fn size(node: &Node) -> usize {
    match &node.value {
        Value::Seq(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Map(entries) => 1 + entries.iter().map(|(_, value)| size(value)).sum::<usize>(),
        _ => 1,
    }
}

/// `[-+]? ( digits [. digits?] | . digits ) [eE [-+]? digits]`: the decimal numbers of the core schema.
fn is_number(text: &str) -> bool {
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((m, e)) => (m, Some(e.strip_prefix(['-', '+']).unwrap_or(e))),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    digits(whole)
        && digits(fraction)
        && whole.len() + fraction.len() > 0
        && exponent.is_none_or(|e| !e.is_empty() && digits(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_ok(text: &str) -> Node {
        let mut problems = Problems::of("x.yaml");
        let node = read(text, 0, &mut problems);
        assert!(problems.is_empty(), "{problems}");
        node.unwrap()
    }

    fn refused(text: &str) -> String {
        let mut problems = Problems::of("x.yaml");
        read(text, 0, &mut problems);
        problems.to_string()
    }

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        let node = read_ok("[ 1, -2.5, .5, 5., 1e3, ., 1.5s, 0x10, ~, null, true, no, '7', on ]");
        let Value::Seq(items) = node.value else {
            panic!()
        };
        let kinds: Vec<String> = items.iter().map(Node::describe).collect();
        assert_eq!(
            kinds.join(" | "),
            "the number 1 | the number -2.5 | the number .5 | the number 5. | the number 1e3 | \".\" | \
             \"1.5s\" | \"0x10\" | nothing | nothing | true | \"no\" | \"7\" | \"on\""
        );
    }

    #[test]
    fn keys_and_values_know_their_place_in_characters() {
        let node = read_ok("ä: 1\nb:\n  - é: [ x, yy ]\n");
        let Value::Map(entries) = &node.value else {
            panic!()
        };
        assert_eq!((entries[1].0.at.line, entries[1].0.at.col), (2, 1));
        let Value::Seq(items) = &entries[1].1.value else {
            panic!()
        };
        let inner = items[0].get("é").unwrap();
        assert_eq!((inner.at.line, inner.at.col), (3, 8));
        let Value::Seq(pair) = &inner.value else {
            panic!()
        };
        assert_eq!((pair[1].at.line, pair[1].at.col), (3, 13));
    }

    #[test]
    fn aliases_repeat_and_merge_keys_fill_in_what_is_missing() {
        let node = read_ok("a: &a { x: 1, y: 2 }\nb: { <<: *a, y: 3 }\nc: *a\n");
        let b = node.get("b").unwrap();
        assert_eq!(b.get("x").unwrap().scalar(), Some("1"));
        assert_eq!(b.get("y").unwrap().scalar(), Some("3"));
        assert_eq!(node.get("c"), node.get("a"));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_its_place() {
        assert_eq!(
            refused("a: 1\nb: 2\na: 3\n"),
            "x.yaml:3:1: the key `a` is written twice (first at 1:1)"
        );
        assert_eq!(
            refused("a: &x [ *x ]"),
            "x.yaml:1:9: an alias inside of what it stands for"
        );
        assert!(refused("[ a: 1\n").starts_with("x.yaml:2:1: not valid YAML: "));
        assert_eq!(
            refused("a: !money 3"),
            "x.yaml:1:4: the tag `!money` has no meaning here"
        );
        assert!(refused("a: 1\n---\nb: 2\n").contains("a second YAML document"));
        assert!(refused("? [ a ]\n: 1\n").contains("a key must be text"));
        assert!(refused(&"[".repeat(100)).contains("nested more than 64 deep"));
    }

    #[test]
    fn a_few_lines_of_aliases_cannot_ask_for_the_memory_of_the_machine() {
        let mut text = String::from("a0: &a0 [ x, x, x, x, x, x, x, x, x, x ]\n");
        for i in 1..10 {
            let parts = format!("*a{}, ", i - 1).repeat(10);
            text += &format!("a{i}: &a{i} [ {parts} ]\n");
        }
        assert!(refused(&text).contains("more than 1048576 values"));
    }
}
