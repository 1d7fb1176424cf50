//! The sheet every plot is drawn on: the finding on top, the set-up below it, the origin at the foot.

use super::font::text_width;
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
pub(super) const FALLBACK: f64 = 1.17;
/// Sizes of titles, the largest that needs no more than two lines of these.
const TITLES: [f64; 3] = [theme::TITLE, 24.0, 21.0];
/// A last line that takes less of the width than this looks lost.
const ORPHAN: f64 = 0.35;

/// A picture with its heading, and the space below it.
#[must_use]
pub fn sheet(heading: &Heading) -> (Picture, Space) {
    let mut picture = Picture {
        alt: format!("{}. {}", heading.title, heading.subtitle),
        ..Picture::default()
    };
    let width = theme::WIDTH - 2.0 * MARGIN;
    let mut y = 26.0;
    // A finding ends with its numbers, so a long one is written smaller rather than cut.
    let in_two = |size: &f64| wrapped(&heading.title, width, *size, true, 99).len() <= 2;
    let size = TITLES.into_iter().find(in_two);
    let [.., smallest] = TITLES;
    let (size, lines) = size.map_or((smallest, 3), |size| (size, 2));
    for line in balanced(&heading.title, width, size, true, lines) {
        y += size * 1.22;
        picture.text(Text::new((MARGIN, y), size, line).bold());
    }
    y += 6.0;
    for line in balanced(&heading.subtitle, width, theme::SUBTITLE, false, 2) {
        y += theme::SUBTITLE * 1.35;
        picture.text(Text::new((MARGIN, y), theme::SUBTITLE, line).coloured(theme::MUTED));
    }
    let foot = theme::HEIGHT - 18.0;
    let footer = shortened(&heading.footer, width, theme::FOOTER, false);
    picture.text(Text::new((MARGIN, foot), theme::FOOTER, footer).coloured(theme::MUTED));
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
    let cut = out.len() > lines;
    out.truncate(lines);
    if let Some(last) = out.last_mut()
        && cut
    {
        *last = cut_off(last, width, size, bold);
    }
    // A word may be wider than a line.
    out.iter()
        .map(|line| shortened(line, width, size, bold))
        .collect()
}

/// The same without a last line of a word or two: then all lines are about as long.
fn balanced(text: &str, width: f64, size: f64, bold: bool, lines: usize) -> Vec<String> {
    let full = wrapped(text, width, size, bold, lines);
    let short = |line: &String| text_width(line, size, bold) * FALLBACK < ORPHAN * width;
    if full.len() < 2 || !full.last().is_some_and(short) {
        return full;
    }
    let narrower = (0..20).map(|i| width * (1.0 - 0.025 * f64::from(i)));
    let same = |narrow: f64| {
        let tried = wrapped(text, narrow, size, bold, 99);
        (tried.len() == full.len()).then_some(tried)
    };
    narrower.map_while(same).last().unwrap_or(full)
}

/// `text`, or as much of it as fits into `width` with `…` at its end.
#[must_use]
pub fn shortened(text: &str, width: f64, size: f64, bold: bool) -> String {
    match text_width(text, size, bold) * FALLBACK <= width {
        true => text.into(),
        false => cut_off(text, width, size, bold),
    }
}

/// As much of `text` as fits into `width` with `…` after it.
fn cut_off(text: &str, width: f64, size: f64, bold: bool) -> String {
    let fits = |text: &str| text_width(text, size, bold) * FALLBACK <= width;
    let mut kept = text.to_string();
    while !kept.is_empty() && !fits(&format!("{kept}…")) {
        kept.pop();
    }
    format!("{}…", kept.trim_end())
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
        assert_eq!(picture.texts().count(), 6);
        assert!(space.bottom - space.top > 400.0);
    }

    #[test]
    fn a_long_finding_keeps_its_last_number() {
        let title = "Metastable: two minutes after the trigger has ended, goodput is still 11.3 % of the load, and \
                     payment-authorisation gets 17.4 attempts for each call";
        let heading = Heading {
            title: title.into(),
            ..Heading::default()
        };
        let (picture, _) = sheet(&heading);
        let lines: Vec<&str> = picture.texts().map(|t| t.text.as_str()).collect();
        assert!(lines.join(" ").contains(title), "{lines:?}");
    }

    #[test]
    fn no_word_stands_alone_on_the_last_line() {
        let text = "How much do retries amplify the load when the service is slower by a factor of three for a while?";
        for width in [500.0, 700.0, 900.0, 1100.0, 1192.0, 1400.0] {
            let lines = balanced(text, width, theme::TITLE, true, 9);
            let widths: Vec<f64> = lines
                .iter()
                .map(|line| text_width(line, theme::TITLE, true))
                .collect();
            assert_eq!(lines.join(" "), text);
            let all = wrapped(text, width, theme::TITLE, true, 9).len();
            assert_eq!(lines.len(), all, "no more lines than are needed");
            if let [.., before, last] = widths[..] {
                assert!(last > 0.3 * before, "{lines:?}");
            }
        }
    }

    #[test]
    fn what_is_cut_ends_in_an_ellipsis() {
        assert_eq!(shortened("api", 100.0, 17.0, true), "api");
        let cut = shortened("payment-authorisation-gateway", 100.0, 17.0, true);
        assert!(cut.starts_with("pay") && cut.ends_with('…'), "{cut}");
        let line = wrapped(&"x".repeat(200), 300.0, 17.0, false, 2);
        assert!(line[0].ends_with('…'), "{line:?}");
    }
}
