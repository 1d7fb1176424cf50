//! TOML, from the spanned values of the `toml` crate.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::node::insert;
use super::{At, DEPTH_MAX, Lines, Node, Value};
use crate::scenario::problem::Problems;

pub(super) fn read(text: &str, source: u32, problems: &mut Problems) -> Option<Node> {
    let lines = Lines::of(text, source);
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let at = lines.position(error.span().map_or(0, |span| span.start));
        problems.report(at, format!("not valid TOML: {}", error.message()));
    }
    // What was recovered from broken text would bring problems that nobody wrote.
    if !errors.is_empty() {
        return None;
    }
    let mut reader = Reader { lines, problems };
    let start = table.span().start;
    reader.table(table.into_inner(), start, 0)
}

struct Reader<'a> {
    lines: Lines<'a>,
    problems: &'a mut Problems,
}

impl Reader<'_> {
    fn table(&mut self, table: DeTable<'_>, start: usize, depth: usize) -> Option<Node> {
        let at = self.lines.position(start);
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            let key_at = self.lines.position(key.span().start);
            let key = At {
                value: key.into_inner().into_owned(),
                at: key_at,
            };
            let value = self.value(value, depth + 1)?;
            if let Err(first) = insert(&mut entries, key.clone(), value) {
                self.problems.doubled(&key, first);
            }
        }
        Some(Node {
            value: Value::Map(entries),
            at,
        })
    }

    fn value(&mut self, value: Spanned<DeValue<'_>>, depth: usize) -> Option<Node> {
        let start = value.span().start;
        let at = self.lines.position(start);
        if depth > DEPTH_MAX {
            self.problems
                .report(at, format!("nested more than {DEPTH_MAX} deep"));
            return None;
        }
        let value = match value.into_inner() {
            DeValue::String(text) => Value::String(text.into_owned()),
            DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix())
            {
                Ok(decimal) => Value::Number(decimal.to_string()),
                Err(_) => Value::Number(number.to_string()),
            },
            DeValue::Float(number) => Value::Number(number.to_string()),
            DeValue::Boolean(yes) => Value::Bool(yes),
            DeValue::Datetime(when) => Value::String(when.to_string()),
            DeValue::Array(items) => {
                let mut nodes = Vec::with_capacity(items.len());
                for item in items {
                    nodes.push(self.value(item, depth + 1)?);
                }
                Value::Seq(nodes)
            }
            DeValue::Table(table) => return self.table(table, start, depth),
        };
        Some(Node { value, at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_places_are_those_of_the_file() {
        let text = "z = 1\n[b.x]\nk = \"v\"\n[a]\nlist = [ 0x10,\n  2.5 ]\n[[faults]]\nat = 1\n[[faults]]\nat = 2\n";
        let mut problems = Problems::of("x.toml");
        let node = read(text, 0, &mut problems).unwrap();
        let Value::Map(entries) = &node.value else {
            panic!()
        };
        let keys: Vec<_> = entries
            .iter()
            .map(|(k, _)| format!("{}@{}:{}", k.value, k.at.line, k.at.col))
            .collect();
        assert_eq!(keys, ["z@1:1", "b@2:2", "a@4:2", "faults@7:3"]);
        let k = node
            .get("b")
            .and_then(|b| b.get("x"))
            .and_then(|x| x.get("k"))
            .unwrap();
        assert_eq!((k.at.line, k.at.col, k.scalar()), (3, 5, Some("v")));
        let Value::Seq(list) = &node.get("a").unwrap().get("list").unwrap().value else {
            panic!()
        };
        assert_eq!(
            (list[0].scalar(), list[1].scalar()),
            (Some("16"), Some("2.5"))
        );
        let Value::Seq(faults) = &node.get("faults").unwrap().value else {
            panic!()
        };
        assert_eq!(faults[1].get("at").unwrap().at.line, 10);
    }

    #[test]
    fn every_error_of_syntax_is_reported_with_its_place() {
        let mut problems = Problems::of("x.toml");
        assert!(read("a = 1\na = 2\nb = \nc = 3\n", 0, &mut problems).is_none());
        let text = problems.to_string();
        assert!(text.contains("x.toml:2:1: not valid TOML: "), "{text}");
        assert!(text.contains("x.toml:3:"), "{text}");
    }
}
