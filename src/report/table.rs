//! Tables for a terminal: columns aligned on the decimal point, unit in the header.

use super::style::Style;

/// How a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Names.
    Left,
    /// Numbers: their decimal points (or ends) below each other.
    Point,
}

/// A table of text. Names of columns may have several lines.
#[derive(Clone, Debug, Default)]
pub struct Table {
    header: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// With a header.
    #[must_use]
    pub fn new<'h>(header: impl IntoIterator<Item = (&'h str, Align)>) -> Table {
        let header = header
            .into_iter()
            .map(|(name, align)| (name.to_string(), align))
            .collect();
        Table {
            header,
            rows: Vec::new(),
        }
    }

    /// With one more row; what it lacks at the end is empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Without the columns of numbers in which every row says `nothing`.
    #[must_use]
    pub fn without_columns_of(mut self, nothing: &[&str]) -> Table {
        let keep: Vec<bool> = (0..self.header.len())
            .map(|i| {
                self.header[i].1 == Align::Left
                    || self
                        .rows
                        .iter()
                        .any(|row| !nothing.contains(&row[i].as_str()))
            })
            .collect();
        let mut kept = keep.iter().copied();
        self.header.retain(|_| kept.next() == Some(true));
        for row in &mut self.rows {
            let mut kept = keep.iter().copied();
            row.retain(|_| kept.next() == Some(true));
        }
        self
    }

    /// With names of columns broken into lines of at most `columns` characters, where there is a blank.
    #[must_use]
    pub fn with_narrow_names(mut self, columns: usize) -> Table {
        for (name, _) in &mut self.header {
            *name = wrapped(name, columns).join("\n");
        }
        self
    }

    /// How many of its lines are names of columns.
    #[must_use]
    pub fn header_height(&self) -> usize {
        let heights = self.header.iter().map(|(name, _)| name.lines().count());
        heights.max().unwrap_or(0).max(1)
    }

    /// [`Table::lines`] for the terminal: moved in a little, names of columns dimmed.
    #[must_use]
    pub fn dressed(&self, style: Style) -> Vec<String> {
        let mut lines = self.lines();
        for name in &mut lines[..self.header_height()] {
            *name = style.dim(name);
        }
        lines.iter().map(|line| format!("  {line}")).collect()
    }

    /// Header and rows as lines, without trailing blanks.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let columns: Vec<Vec<String>> = (0..self.header.len()).map(|i| self.column(i)).collect();
        let line = |row: usize| {
            let cells: Vec<&str> = columns.iter().map(|column| column[row].as_str()).collect();
            cells.join("  ").trim_end().to_string()
        };
        (0..self.header_height() + self.rows.len())
            .map(line)
            .collect()
    }

    /// Header and cells of column `i`, equally wide.
    fn column(&self, i: usize) -> Vec<String> {
        let (name, align) = &self.header[i];
        let cells: Vec<&str> = self
            .rows
            .iter()
            .map(|row| row.get(i).map_or("", |c| c.as_str()))
            .collect();
        // What stands before the point, and what stands from it on.
        let split: Vec<(&str, &str)> = cells
            .iter()
            .map(|cell| match align {
                Align::Left => ("", *cell),
                Align::Point => cell.split_at(point(cell)),
            })
            .collect();
        let before = split.iter().map(|(b, _)| width(b)).max().unwrap_or(0);
        let after = split.iter().map(|(_, a)| width(a)).max().unwrap_or(0);
        let names: Vec<&str> = name.lines().collect();
        let widest = names.iter().map(|line| width(line)).max().unwrap_or(0);
        let all = (before + after).max(widest);
        let body = split.iter().map(|(b, a)| {
            let cell = format!(
                "{}{b}{a}{}",
                blanks(before - width(b)),
                blanks(after - width(a))
            );
            justified(&cell, all, *align)
        });
        let above = self.header_height() - names.len();
        let names = std::iter::repeat_n("", above).chain(names);
        names
            .map(|name| justified(name, all, *align))
            .chain(body)
            .collect()
    }
}

/// Where the whole part of a number ends.
fn point(cell: &str) -> usize {
    let whole = |c: char| c.is_ascii_digit() || matches!(c, '+' | '−' | '<' | '>' | '\u{202f}');
    let end = cell
        .char_indices()
        .find(|(i, c)| !(whole(*c) || *c == ' ' && cell[..*i].ends_with(['<', '>'])));
    end.map_or(cell.len(), |(i, _)| i)
}

fn justified(text: &str, to: usize, align: Align) -> String {
    let fill = blanks(to.saturating_sub(width(text)));
    if align == Align::Left {
        format!("{text}{fill}")
    } else {
        format!("{fill}{text}")
    }
}

/// `text` in lines of at most `columns` characters, cut between words.
#[must_use]
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

fn blanks(n: usize) -> String {
    " ".repeat(n)
}

/// Columns of a terminal that `text` takes; nothing we write is wide or combining.
#[must_use]
pub fn width(text: &str) -> usize {
    text.chars().count()
}

/// `name` in at most `to` characters.
#[must_use]
pub fn cut(name: &str, to: usize) -> String {
    if width(name) <= to {
        return name.into();
    }
    name.chars().take(to - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_with_their_points_below_each_other() {
        let mut table = Table::new([("name", Align::Left), ("calls/s", Align::Point)]);
        table.row(["web".into(), "900".into()]);
        table.row(["batch".into(), "1.25 k".into()]);
        table.row(["cron".into(), "0.5".into()]);
        assert_eq!(
            table.lines(),
            [
                "name    calls/s",
                "web    900",
                "batch    1.25 k",
                "cron     0.5"
            ]
        );
    }

    #[test]
    fn long_names_stand_in_several_lines() {
        let mut table = Table::new([("name", Align::Left), ("calls that end well", Align::Point)]);
        table.row(["web".into(), "9.5".into()]);
        let table = table.with_narrow_names(10);
        assert_eq!(
            table.lines(),
            ["      calls that", "name    end well", "web          9.5"]
        );
        assert_eq!(table.header_height(), 2);
    }

    #[test]
    fn a_column_that_says_nothing_goes() {
        let mut table = Table::new([
            ("name", Align::Left),
            ("shed", Align::Point),
            ("late", Align::Point),
        ]);
        table.row(["a".into(), "0".into(), "1".into()]);
        table.row(["b".into(), "–".into(), "0".into()]);
        assert_eq!(
            table.without_columns_of(&["0", "–"]).lines(),
            ["name  late", "a        1", "b        0"]
        );
    }
}
