//! A picture as data: marks in a plane of 1280 × 720 units, y downwards.
//!
//! Plots build pictures; `paint` turns them into files. So a plot can be tested without pixels.

use super::theme::{self, Colour};

/// A point of the plane.
pub type Point = (f64, f64);

/// Marks in the order they are painted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// What it shows, for readers who cannot see it.
    pub alt: String,
    /// First one at the back.
    pub marks: Vec<Mark>,
}

/// One thing to paint.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A line through points.
    Line(Stroke, Vec<Point>),
    /// A filled polygon.
    Area {
        /// Its corners.
        points: Vec<Point>,
        /// What it is filled with.
        colour: Colour,
        /// 0 (nothing) to 1.
        opacity: f64,
    },
    /// A filled circle.
    Dot {
        /// Its middle.
        at: Point,
        /// Its radius.
        radius: f64,
        /// What it is filled with.
        colour: Colour,
    },
    /// One line of text.
    Text(Text),
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// Its width in units.
    pub width: f64,
    /// Lengths of dash and gap; none is solid.
    pub dash: Option<(f64, f64)>,
}

/// One line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Where its baseline begins, is centred or ends.
    pub at: Point,
    /// Which of these.
    pub anchor: Anchor,
    /// Height of an em, in units.
    pub size: f64,
    /// Whether it is the heavier cut.
    pub bold: bool,
    /// Its colour.
    pub colour: Colour,
    /// What it says.
    pub text: String,
}

/// Which part of a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

impl Stroke {
    /// A solid line.
    #[must_use]
    pub const fn solid(colour: Colour, width: f64) -> Stroke {
        Stroke {
            colour,
            width,
            dash: None,
        }
    }

    /// A dashed line.
    #[must_use]
    pub const fn dashed(colour: Colour, width: f64) -> Stroke {
        Stroke {
            colour,
            width,
            dash: Some((7.0, 5.0)),
        }
    }
}

impl Text {
    /// Ink on paper, left aligned.
    #[must_use]
    pub fn new(at: Point, size: f64, text: impl Into<String>) -> Text {
        Text {
            at,
            anchor: Anchor::Start,
            size,
            bold: false,
            colour: theme::INK,
            text: text.into(),
        }
    }

    /// With another colour.
    #[must_use]
    pub fn coloured(mut self, colour: Colour) -> Text {
        self.colour = colour;
        self
    }

    /// With another anchor.
    #[must_use]
    pub fn anchored(mut self, anchor: Anchor) -> Text {
        self.anchor = anchor;
        self
    }

    /// In the heavier cut.
    #[must_use]
    pub fn bold(mut self) -> Text {
        self.bold = true;
        self
    }

    /// Left end, right end, highest and lowest point.
    #[must_use]
    pub fn bounds(&self) -> (f64, f64, f64, f64) {
        let width = super::font::text_width(&self.text, self.size, self.bold);
        let left = match self.anchor {
            Anchor::Start => self.at.0,
            Anchor::Middle => self.at.0 - width / 2.0,
            Anchor::End => self.at.0 - width,
        };
        (
            left,
            left + width,
            self.at.1 - 0.78 * self.size,
            self.at.1 + 0.22 * self.size,
        )
    }
}

impl Picture {
    /// Paints a line.
    pub fn line(&mut self, stroke: Stroke, points: impl Into<Vec<Point>>) {
        self.marks.push(Mark::Line(stroke, points.into()));
    }

    /// Fills a polygon.
    pub fn area(&mut self, colour: Colour, opacity: f64, points: Vec<Point>) {
        self.marks.push(Mark::Area {
            points,
            colour,
            opacity,
        });
    }

    /// Fills a rectangle given by two opposite corners.
    pub fn rect(&mut self, colour: Colour, (x0, y0): Point, (x1, y1): Point) {
        self.area(colour, 1.0, vec![(x0, y0), (x1, y0), (x1, y1), (x0, y1)]);
    }

    /// Fills a circle.
    pub fn dot(&mut self, colour: Colour, at: Point, radius: f64) {
        self.marks.push(Mark::Dot { at, radius, colour });
    }

    /// Writes.
    pub fn text(&mut self, text: Text) {
        self.marks.push(Mark::Text(text));
    }

    /// All its texts.
    pub fn texts(&self) -> impl Iterator<Item = &Text> {
        self.marks.iter().filter_map(|mark| match mark {
            Mark::Text(text) => Some(text),
            _ => None,
        })
    }
}

/// Cuts a line into the dashes of a dashed one.
#[must_use]
pub fn dashes(points: &[Point], (on, off): (f64, f64)) -> Vec<Vec<Point>> {
    let mut dashes = Vec::new();
    let (mut drawing, mut left) = (true, on);
    let mut current: Vec<Point> = points.first().copied().into_iter().collect();
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let length = f64::hypot(to.0 - from.0, to.1 - from.1);
            if length < left || length == 0.0 {
                left -= length;
                if drawing {
                    current.push(to);
                }
                break;
            }
            let t = left / length;
            from = (from.0 + (to.0 - from.0) * t, from.1 + (to.1 - from.1) * t);
            if drawing {
                current.push(from);
                dashes.push(std::mem::take(&mut current));
            } else {
                current.push(from);
            }
            drawing = !drawing;
            left = if drawing { on } else { off };
        }
    }
    if drawing && current.len() > 1 {
        dashes.push(current);
    }
    dashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_cover_their_share_and_turn_corners() {
        let cut = dashes(&[(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)], (6.0, 2.0));
        assert_eq!(
            cut,
            [
                vec![(0.0, 0.0), (6.0, 0.0)],
                vec![(8.0, 0.0), (10.0, 0.0), (10.0, 4.0)],
                vec![(10.0, 6.0), (10.0, 10.0)],
            ]
        );
    }

    #[test]
    fn a_text_ends_where_its_anchor_says() {
        let text = Text::new((100.0, 50.0), 20.0, "64×").anchored(Anchor::End);
        let (left, right, top, bottom) = text.bounds();
        assert_eq!(right, 100.0);
        assert!(left < 80.0 && left > 40.0, "{left}");
        assert!(top < 50.0 && bottom > 50.0);
    }
}
