//! A panel: two axes and what is drawn between them.

use super::axis::{Axis, Scale};
use super::picture::{Anchor, Picture, Point, Stroke, Text};
use super::sheet::{FALLBACK, shortened};
use super::theme::{self, Colour};

/// A rectangle of the picture with an axis in each direction.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Left edge of the plane.
    pub left: f64,
    /// Right edge of the plane.
    pub right: f64,
    /// Top edge of the plane.
    pub top: f64,
    /// Bottom edge of the plane.
    pub bottom: f64,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
}

/// A line with its spread.
#[derive(Clone, Debug)]
pub struct Series {
    /// What it is, as written at its end.
    pub name: String,
    /// What stands below its name.
    pub note: String,
    /// Its colour.
    pub colour: Colour,
    /// Whether it is dashed.
    pub dashed: bool,
    /// Its points, by rising x; a gap in y is a gap in the line.
    pub points: Vec<Spread>,
}

/// A point of a series over replications.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Where.
    pub x: f64,
    /// The mean; `None` when nothing was observed.
    pub mean: Option<f64>,
    /// Lower end of the band.
    pub low: f64,
    /// Upper end of the band.
    pub high: f64,
}

impl Panel {
    /// Where a pair of values stands.
    #[must_use]
    pub fn at(&self, (x, y): (f64, f64)) -> Point {
        (
            self.left + self.x.position(x) * (self.right - self.left),
            self.bottom - self.y.position(y) * (self.bottom - self.top),
        )
    }

    /// Grid lines, ticks and titles. The x title stands below, the y title above the panel.
    pub fn axes(&self, picture: &mut Picture) {
        self.y_axis(picture);
        self.x_axis(picture);
    }

    /// Grid lines and names in the y direction.
    pub fn y_axis(&self, picture: &mut Picture) {
        for (value, label) in &self.y.ticks {
            let (_, y) = self.at((self.x.from, *value));
            let colour = if *value == self.y.from {
                theme::MUTED
            } else {
                theme::GRID
            };
            picture.line(
                Stroke::solid(colour, 1.0),
                [(self.left, y), (self.right, y)],
            );
            let text = Text::new(
                (self.left - 10.0, y + 0.36 * theme::TICK),
                theme::TICK,
                label,
            );
            picture.text(text.coloured(theme::MUTED).anchored(Anchor::End));
        }
        let title = Text::new(
            (self.left - 6.0, self.top - 14.0),
            theme::TICK,
            &self.y.title,
        );
        picture.text(title.coloured(theme::MUTED));
    }

    /// Ticks, names and the title in the x direction.
    pub fn x_axis(&self, picture: &mut Picture) {
        let mut free_from = f64::NEG_INFINITY;
        // Names have as much room as there is between two of them; a number is left out rather than cut.
        let room = match self.x.scale {
            Scale::Names => {
                let between = (self.right - self.left) / self.x.ticks.len().max(1) as f64;
                (between - 8.0) * FALLBACK
            }
            Scale::Linear | Scale::Log => f64::INFINITY,
        };
        for (value, label) in &self.x.ticks {
            let (x, _) = self.at((*value, self.y.from));
            picture.line(
                Stroke::solid(theme::MUTED, 1.0),
                [(x, self.bottom), (x, self.bottom + 5.0)],
            );
            let at = (x, self.bottom + 8.0 + theme::TICK);
            let label = shortened(label, room, theme::TICK, false);
            let text = Text::new(at, theme::TICK, label)
                .coloured(theme::MUTED)
                .anchored(Anchor::Middle);
            let (left, right, ..) = text.bounds();
            if left >= free_from {
                free_from = right + 8.0;
                picture.text(text);
            }
        }
        let at = (
            (self.left + self.right) / 2.0,
            self.bottom + 18.0 + 2.0 * theme::TICK,
        );
        let title = Text::new(at, theme::TICK, &self.x.title);
        picture.text(title.coloured(theme::MUTED).anchored(Anchor::Middle));
    }

    /// Band and line of a series, without its name.
    pub fn series(&self, picture: &mut Picture, series: &Series) {
        for run in series.points.split(|point| point.mean.is_none()) {
            if run.iter().any(|p| p.high > p.low) {
                let upper = run.iter().map(|p| self.at((p.x, p.high)));
                let lower = run.iter().rev().map(|p| self.at((p.x, p.low)));
                picture.area(series.colour, 0.18, upper.chain(lower).collect());
            }
        }
        let stroke = if series.dashed {
            Stroke::dashed
        } else {
            Stroke::solid
        }(series.colour, 2.6);
        for run in series.points.split(|point| point.mean.is_none()) {
            let line: Vec<Point> = run
                .iter()
                .filter_map(|p| Some(self.at((p.x, p.mean?))))
                .collect();
            match line[..] {
                [] => {}
                [only] => picture.dot(series.colour, only, 3.0),
                _ => picture.line(stroke, line),
            }
        }
    }

    /// The names of all series at the right ends of their lines, moved apart where they would meet.
    pub fn names(&self, picture: &mut Picture, series: &[&Series]) {
        let mut ends: Vec<(Point, &Series)> = series
            .iter()
            .filter_map(|s| {
                let last = s.points.iter().rev().find(|p| p.mean.is_some())?;
                Some((self.at((last.x, last.mean?)), *s))
            })
            .collect();
        ends.sort_by(|a, b| a.0.1.total_cmp(&b.0.1));
        let wanted: Vec<f64> = ends.iter().map(|(at, _)| at.1).collect();
        let noted = series.iter().any(|s| !s.note.is_empty());
        let height = theme::LABEL * 1.3 + if noted { theme::TICK * 1.35 } else { 0.0 };
        let lowest = self.bottom - if noted { 21.0 } else { 0.0 };
        let placed = apart(&wanted, height, self.top - 6.0, lowest);
        for (((x, y), series), place) in ends.into_iter().zip(placed) {
            let left = self.right + 14.0;
            let moved = (place - y).abs() > 3.0 || x < self.right - 20.0;
            if moved {
                let (colour, knee) = (
                    series.colour.mixed(theme::PAPER, 0.4),
                    x.max(self.right) + 2.0,
                );
                picture.line(Stroke::solid(colour, 1.0), [(knee, y), (left - 3.0, place)]);
            }
            let at = (left, place + 0.36 * theme::LABEL);
            let ink = series.colour.mixed(theme::INK, 0.25);
            let room = theme::WIDTH - left - 8.0;
            picture.text(
                Text::new(
                    at,
                    theme::LABEL,
                    shortened(&series.name, room, theme::LABEL, true),
                )
                .bold()
                .coloured(ink),
            );
            let at = (left, at.1 + theme::TICK * 1.35);
            picture.text(Text::new(at, theme::TICK, &series.note).coloured(theme::MUTED));
        }
    }

    /// Says that there is nothing to show.
    pub fn no_data(&self, picture: &mut Picture, why: &str) {
        let middle = (
            (self.left + self.right) / 2.0,
            (self.top + self.bottom) / 2.0,
        );
        let text = Text::new(middle, theme::SUBTITLE, format!("no data: {why}"));
        picture.text(text.coloured(theme::MUTED).anchored(Anchor::Middle));
    }
}

/// Places for labels that want to stand at `wanted` (rising), at least `gap` apart and inside
/// `low..=high`, moved as little as a single pass allows.
#[must_use]
pub fn apart(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    // Labels that would meet form a block that stands at the mean of what its members want.
    let mut blocks: Vec<(f64, usize)> = Vec::new(); // (middle, members)
    let half = |members: usize| members as f64 * gap / 2.0;
    let inside = |middle: f64, members: usize| {
        middle
            .min(high - half(members) + gap / 2.0)
            .max(low + half(members) - gap / 2.0)
    };
    for &want in wanted {
        let mut block = (inside(want, 1), 1);
        while let Some(&(middle, members)) = blocks.last() {
            if middle + half(members) <= block.0 - half(block.1) + 1e-9 {
                break;
            }
            blocks.pop();
            let all = members + block.1;
            let mean = (middle * members as f64 + block.0 * block.1 as f64) / all as f64;
            block = (inside(mean, all), all);
        }
        blocks.push(block);
    }
    let mut places = Vec::with_capacity(wanted.len());
    for (middle, members) in blocks {
        let first = middle - half(members) + gap / 2.0;
        places.extend((0..members).map(|i| first + i as f64 * gap));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_with_room_stay_where_they_belong() {
        assert_eq!(
            apart(&[10.0, 40.0, 90.0], 20.0, 0.0, 100.0),
            [10.0, 40.0, 90.0]
        );
    }

    #[test]
    fn labels_that_meet_are_moved_apart_evenly() {
        assert_eq!(apart(&[50.0, 52.0], 20.0, 0.0, 100.0), [41.0, 61.0]);
        assert_eq!(
            apart(&[99.0, 100.0, 100.0], 20.0, 0.0, 100.0),
            [60.0, 80.0, 100.0]
        );
    }

    #[test]
    fn labels_never_meet_and_keep_their_order() {
        for a in 0..12 {
            for b in a..12 {
                for c in b..12 {
                    let wanted = [a, b, c].map(|v| f64::from(v) * 10.0);
                    let placed = apart(&wanted, 20.0, 0.0, 110.0);
                    for pair in placed.windows(2) {
                        assert!(pair[1] - pair[0] >= 20.0 - 1e-6, "{wanted:?} {placed:?}");
                    }
                    assert!(
                        placed[0] >= -1e-6 && placed[2] <= 110.0 + 1e-6,
                        "{wanted:?} {placed:?}"
                    );
                }
            }
        }
    }
}
