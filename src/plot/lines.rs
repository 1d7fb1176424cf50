//! Lines over a variable: one figure of an experiment, a line for each policy or size.

use super::axis::Axis;
use super::font::text_width;
use super::panel::{Panel, Series, Spread};
use super::picture::{Picture, Stroke, Text};
use super::sheet::{Heading, sheet, shortened};
use super::theme;

/// With more points than this, a mark at each is noise.
const MARKED_MAX: usize = 24;
/// Names at the right take no more than this.
const NAMES_MAX: f64 = 330.0;

/// What is drawn.
#[derive(Clone, Debug)]
pub struct Lines {
    /// What is written around it.
    pub heading: Heading,
    /// What is varied.
    pub x: Axis,
    /// What is measured.
    pub y: Axis,
    /// The lines, with their names.
    pub lines: Vec<Series>,
    /// Whether what is between two values of x means anything; names have nothing between them.
    pub connected: bool,
    /// Where lines have no end: marked at the top edge.
    pub never: Vec<Never>,
}

/// A point at which what is measured did not come about.
#[derive(Clone, Debug, PartialEq)]
pub struct Never {
    /// Which of the lines.
    pub line: usize,
    /// Where.
    pub x: f64,
    /// Whether it is so in all replications; if not, the mark is hollow.
    pub always: bool,
}

impl Lines {
    /// The picture.
    #[must_use]
    pub fn draw(&self) -> Picture {
        let (mut picture, space) = sheet(&self.heading);
        let widest = |texts: &mut dyn Iterator<Item = f64>| texts.fold(0.0, f64::max);
        let names = widest(&mut self.lines.iter().map(|line| {
            let name = text_width(&line.name, theme::LABEL, true);
            name.max(text_width(&line.note, theme::TICK, false))
        }));
        let ticks = widest(
            &mut self
                .y
                .ticks
                .iter()
                .map(|(_, t)| text_width(t, theme::TICK, false)),
        );
        let panel = Panel {
            left: space.left + ticks.max(32.0) + 16.0,
            right: space.right - (names * 1.08 + 26.0).clamp(20.0, NAMES_MAX) - 16.0,
            top: space.top + 34.0,
            bottom: space.bottom - 52.0,
            x: self.x.clone(),
            y: self.y.clone(),
        };
        panel.axes(&mut picture);
        let ended: Vec<Series> = (0..self.lines.len()).map(|line| self.ended(line)).collect();
        let shown: Vec<&Series> = ended
            .iter()
            .filter(|line| line.points.iter().any(|p| p.mean.is_some()))
            .collect();
        if shown.is_empty() {
            panel.no_data(&mut picture, "nothing could be measured at any point");
        }
        for line in &self.lines {
            if self.connected {
                panel.series(&mut picture, line);
            }
            self.mark(&panel, &mut picture, line);
        }
        for never in &self.never {
            self.mark_never(&panel, &mut picture, never);
        }
        if ends_apart(&panel, &shown) {
            panel.names(&mut picture, &shown);
        } else {
            list(&panel, &mut picture, &shown);
        }
        picture
    }

    /// A dot at each point; where lines are not connected, a whisker for the spread.
    fn mark(&self, panel: &Panel, picture: &mut Picture, line: &Series) {
        if self.connected && line.points.len() > MARKED_MAX {
            return;
        }
        for point in &line.points {
            let Some(mean) = point.mean else { continue };
            let (x, y) = panel.at((point.x, mean));
            let (_, low) = panel.at((point.x, point.low));
            let (_, high) = panel.at((point.x, point.high));
            if !self.connected && low - high > 2.0 {
                let stroke = Stroke::solid(line.colour, 1.6);
                picture.line(stroke, [(x, low), (x, high)]);
                for end in [low, high] {
                    picture.line(stroke, [(x - 6.0, end), (x + 6.0, end)]);
                }
            }
            picture.dot(line.colour, (x, y), if self.connected { 3.6 } else { 6.0 });
        }
    }
}

impl Lines {
    /// A line with its last point where its name belongs: at the top edge if nothing came about there.
    fn ended(&self, line: usize) -> Series {
        let mut series = self.lines[line].clone();
        let of_line = self.never.iter().filter(|n| n.line == line && n.always);
        let last = of_line.map(|n| n.x).reduce(f64::max);
        let known = series.points.iter().filter(|p| p.mean.is_some());
        let known = known.map(|p| p.x).reduce(f64::max);
        if let Some(x) = last
            && known.is_none_or(|known| known < x)
        {
            let top = self.y.to;
            series.points.push(Spread {
                x,
                mean: Some(top),
                low: top,
                high: top,
            });
        }
        series
    }

    /// A triangle at the top edge; those of several lines stand side by side.
    fn mark_never(&self, panel: &Panel, picture: &mut Picture, never: &Never) {
        const HALF: f64 = 6.0;
        let Some(line) = self.lines.get(never.line) else {
            return;
        };
        let here = || self.never.iter().filter(|other| other.x == never.x);
        let before = here().filter(|other| other.line < never.line).count() as f64;
        let aside = (before - (here().count() - 1) as f64 / 2.0) * (2.0 * HALF + 2.0);
        let (x, y) = panel.at((never.x, panel.y.to));
        let x = (x + aside).clamp(HALF, theme::WIDTH - HALF);
        let corners = vec![(x - HALF, y + HALF), (x + HALF, y + HALF), (x, y - HALF)];
        if never.always {
            picture.area(line.colour, 1.0, corners);
        } else {
            picture.area(theme::PAPER, 1.0, corners.clone());
            let mut closed = corners;
            closed.extend_from_within(..2);
            picture.line(Stroke::solid(line.colour, 1.8), closed);
        }
    }
}

/// Whether the ends of the lines are so far apart that names beside them can be told to belong there.
fn ends_apart(panel: &Panel, lines: &[&Series]) -> bool {
    let last = |line: &&Series| line.points.iter().rev().find_map(|p| Some((p.x, p.mean?)));
    let mut ends: Vec<f64> = lines
        .iter()
        .filter_map(last)
        .map(|end| panel.at(end).1)
        .collect();
    ends.sort_by(f64::total_cmp);
    let together = ends.windows(2).filter(|pair| pair[1] - pair[0] < 4.0);
    together.count() < 3
}

/// The names below each other, the line that is highest on average first.
fn list(panel: &Panel, picture: &mut Picture, lines: &[&Series]) {
    let height = |line: &&&Series| {
        let places = line.points.iter().filter_map(|p| Some((p.x, p.mean?)));
        let places: Vec<f64> = places.map(|place| panel.at(place).1).collect();
        places.iter().sum::<f64>() / places.len() as f64
    };
    let mut lines: Vec<&&Series> = lines.iter().collect();
    lines.sort_by(|a, b| height(a).total_cmp(&height(b)));
    for (i, line) in lines.into_iter().enumerate() {
        let (left, y) = (panel.right + 14.0, panel.top + 8.0 + 30.0 * i as f64);
        picture.line(
            Stroke::solid(line.colour, 3.0),
            [(left, y), (left + 18.0, y)],
        );
        let at = (left + 26.0, y + 0.36 * theme::LABEL);
        let shown = shortened(&line.name, theme::WIDTH - at.0 - 8.0, theme::LABEL, true);
        let name = Text::new(at, theme::LABEL, shown).bold();
        picture.text(name.coloured(line.colour.mixed(theme::INK, 0.25)));
    }
}
