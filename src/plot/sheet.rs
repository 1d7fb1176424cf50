//! The sheet every plot is drawn on: the finding on top, the set-up below it, the origin at the foot.

use super::paint::text_width;
use super::picture::{Picture, Text};
use super::theme;

/// What is written around a plot.
#[derive(Clone, Debug, Default)]
pub struct Heading {
    /// The finding or the question, one sentence.
    pub title: String,
    /// The set-up: scenario, load, policy, seed, replications, what a band means.
    pub subtitle: String,
    /// Left foot: where it comes from.
    pub footer: String,
}

/// Space left for the plot: left, right, top, bottom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Space {
    /// Left edge.
    pub left: f64,
    /// Right edge.
    pub right: f64,
    /// Top edge.
    pub top: f64,
    /// Bottom edge.
    pub bottom: f64,
}

const MARGIN: f64 = 44.0;
/// A viewer of the SVG that lacks the font may use one this much wider.
const FALLBACK: f64 = 1.17;

/// A picture with its heading, and the space below it.
#[must_use]
pub fn sheet(heading: &Heading) -> (Picture, Space) {
    let mut picture = Picture {
        alt: format!("{}. {}", heading.title, heading.subtitle),
        ..Picture::default()
    };
    let width = theme::WIDTH - 2.0 * MARGIN;
    let mut y = 26.0;
    for line in wrapped(&heading.title, width, theme::TITLE, true, 2) {
        y += theme::TITLE * 1.22;
        picture.text(Text::new((MARGIN, y), theme::TITLE, line).bold());
    }
    y += 6.0;
    for line in wrapped(&heading.subtitle, width, theme::SUBTITLE, false, 2) {
        y += theme::SUBTITLE * 1.35;
        picture.text(Text::new((MARGIN, y), theme::SUBTITLE, line).coloured(theme::MUTED));
    }
    let foot = theme::HEIGHT - 18.0;
    picture.text(Text::new((MARGIN, foot), theme::FOOTER, &heading.footer).coloured(theme::MUTED));
    let space = Space {
        left: MARGIN,
        right: theme::WIDTH - MARGIN,
        top: y + 24.0,
        bottom: foot - theme::FOOTER - 10.0,
    };
    (picture, space)
}

/// `text` in lines no wider than `width`; what does not fit into `lines` of them ends in `…`.
pub(super) fn wrapped(text: &str, width: f64, size: f64, bold: bool, lines: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let fits = |line: &str| text_width(line, size, bold) * FALLBACK <= width;
    for word in text.split_whitespace() {
        match out.last_mut() {
            Some(line) if fits(&format!("{line} {word}")) => {
                line.push(' ');
                line.push_str(word);
            }
            _ => out.push(word.to_string()),
        }
    }
    if out.len() > lines {
        out.truncate(lines);
        if let Some(last) = out.last_mut() {
            while !last.is_empty() && !fits(&format!("{last}…")) {
                last.pop();
            }
            last.push('…');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_beyond_the_margins() {
        let long =
            "a finding that goes on and on and says more than anybody wanted to know ".repeat(9);
        let heading = Heading {
            title: long.clone(),
            subtitle: long,
            footer: "retrystorm".into(),
        };
        let (picture, space) = sheet(&heading);
        for text in picture.texts() {
            let (left, right, top, bottom) = text.bounds();
            assert!(
                left >= 0.0 && right <= theme::WIDTH - MARGIN + 1.0,
                "{}",
                text.text
            );
            assert!(top >= 0.0 && bottom <= theme::HEIGHT, "{}", text.text);
        }
        assert_eq!(picture.texts().count(), 5);
        assert!(space.bottom - space.top > 400.0);
    }
}
