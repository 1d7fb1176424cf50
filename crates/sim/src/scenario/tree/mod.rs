//! From text to one tree: YAML, TOML and JSON look the same from here on.

mod json;
mod node;
mod toml;
mod yaml;

pub(crate) use node::{Node, Value};

pub(crate) use super::position::{At, Position};
use super::problem::Problems;

/// The text formats a scenario may be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// YAML 1.2 core schema, with anchors, aliases and `<<` merge keys.
    Yaml,
    /// TOML 1.1.
    Toml,
    /// JSON, strictly (RFC 8259).
    Json,
}

impl Format {
    /// The format a file name ends in: `.yaml`, `.yml`, `.toml` or `.json`.
    #[must_use]
    pub fn by_suffix(name: &str) -> Option<Format> {
        match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "yaml" | "yml" => Some(Format::Yaml),
            "toml" => Some(Format::Toml),
            "json" => Some(Format::Json),
            _ => None,
        }
    }
}

/// Deeper nesting is refused; nothing sensible comes near it.
const DEPTH_MAX: usize = 64;

/// More nodes are refused: a few lines of YAML aliases can otherwise ask for billions.
const NODES_MAX: usize = 1 << 20;

/// Reads `text` as `format`; `source` marks the positions. Problems of syntax, doubled keys and
/// nesting are reported; `None` means that there is no tree to go on with.
pub(crate) fn read(
    text: &str,
    format: Format,
    source: u32,
    problems: &mut Problems,
) -> Option<Node> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match format {
        Format::Yaml => yaml::read(text, source, problems),
        Format::Toml => toml::read(text, source, problems),
        Format::Json => json::read(text, source, problems),
    }
}

/// Finds line and column of byte offsets.
struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    source: u32,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str, source: u32) -> Self {
        let ends = text.match_indices('\n').map(|(i, _)| i + 1);
        Lines {
            text,
            starts: std::iter::once(0).chain(ends).collect(),
            source,
        }
    }

    /// The position of byte `offset`; past the end, or inside a character, the nearest before it.
    fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|&start| start <= offset);
        let col = 1 + self.text[self.starts[line - 1]..offset].chars().count();
        Position {
            source: self.source,
            line: line as u32,
            col: col as u32,
        }
    }
}
