//! Rows of comma-separated values with their line numbers.

use super::Problems;

/// One row.
pub(super) struct Row {
    /// From 1.
    pub(super) line: u64,
    fields: csv::StringRecord,
}

impl Row {
    /// The field in a column, from 0; empty if the row is too short.
    pub(super) fn field(&self, column: usize) -> &str {
        self.fields.get(column).unwrap_or("")
    }

    /// The column whose field is `name`, for a row of headings.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field == name)
    }

    /// All fields.
    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        self.fields.iter()
    }
}

/// All rows of a file, fields trimmed; blank lines and lines that begin with `#` left out.
pub(super) fn rows(text: &str, problems: &mut Problems) -> Vec<Row> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut rows = Vec::new();
    for record in reader.records() {
        match record {
            Ok(fields) => {
                if fields.iter().any(|field| !field.is_empty()) {
                    let line = fields
                        .position()
                        .map_or(1, |position| first_line(text, position));
                    rows.push(Row { line, fields });
                }
            }
            Err(error) => {
                let line = error.position().map_or(1, csv::Position::line);
                problems.add(line, format!("this is not comma-separated text: {error}"));
            }
        }
    }
    rows
}

/// The line a record begins in. The reader's own position is where it started to look, before the
/// lines that it leaves out.
fn first_line(text: &str, position: &csv::Position) -> u64 {
    let rest = usize::try_from(position.byte())
        .ok()
        .and_then(|start| text.get(start..));
    let left_out = rest
        .unwrap_or("")
        .split('\n')
        .take_while(|line| line.trim_end_matches('\r').is_empty() || line.starts_with('#'))
        .count();
    position.line() + left_out as u64
}
