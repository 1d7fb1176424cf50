//! A map over two variables: verdicts in flat colours, numbers on a scale.

use super::font::text_width;
use super::picture::{Anchor, Picture, Stroke, Text};
use super::sheet::{FALLBACK, Heading, Space, sheet, shortened, wrapped};
use super::theme::{self, Colour};

/// Height of the letters in a cell, the largest that fits of these.
const CELL_SIZES: [f64; 3] = [17.0, 15.0, 12.5];
/// Names of rows take no more than this.
const NAMES_MAX: f64 = 260.0;
/// Room for the legend.
const LEGEND: f64 = 208.0;
/// Steps of a colour scale that the eye cannot tell apart.
const SHADES: usize = 96;

/// What is drawn.
#[derive(Clone, Debug)]
pub struct HeatMap {
    /// What is written around it.
    pub heading: Heading,
    /// What goes to the right, and the name of each column.
    pub x: (String, Vec<String>),
    /// Whether columns have names and not numbers.
    pub columns_named: bool,
    /// What goes up, and the name of each row from the bottom.
    pub y: (String, Vec<String>),
    /// Row by row from the bottom.
    pub cells: Vec<Vec<Cell>>,
    /// What the colours mean.
    pub legend: Legend,
}

/// One place of the map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// Its colour; `None`: nothing is known there.
    pub colour: Option<Colour>,
    /// What stands in it, if it fits.
    pub label: String,
    /// On which side of the border it is; borders are drawn between sides.
    pub side: Option<bool>,
}

/// What the colours mean.
#[derive(Clone, Debug)]
pub enum Legend {
    /// Each colour has a name, and a word on what that is.
    Flat {
        /// Colour, name, word.
        classes: Vec<(Colour, String, String)>,
        /// What stands in the cells.
        cells: String,
    },
    /// A scale.
    Scale {
        /// What is measured.
        title: String,
        /// Where on the scale, 0 at the bottom, 1 on top, and what stands there.
        ticks: Vec<(f64, String)>,
        /// What stands in the cells beside numbers on the scale.
        cells: String,
    },
}

struct Grid {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    rows: usize,
}

impl HeatMap {
    /// The picture.
    #[must_use]
    pub fn draw(&self) -> Picture {
        let (mut picture, space) = sheet(&self.heading);
        let names = self
            .y
            .1
            .iter()
            .map(|name| text_width(name, theme::TICK, false));
        let left = space.left + (names.fold(30.0, f64::max) * 1.08).min(NAMES_MAX) + 16.0;
        let (top, bottom) = (space.top + 30.0, space.bottom - 54.0);
        let right = space.right - LEGEND - 30.0;
        let (columns, rows) = (self.x.1.len().max(1), self.y.1.len().max(1));
        let grid = Grid {
            left,
            top,
            width: (right - left) / columns as f64,
            height: (bottom - top) / rows as f64,
            rows,
        };
        self.cells(&grid, &mut picture);
        self.borders(&grid, &mut picture);
        self.names(&grid, &mut picture);
        let legend = Space {
            left: right + 34.0,
            top,
            bottom,
            ..space
        };
        self.legend.draw(legend, &mut picture);
        picture
    }

    fn cells(&self, grid: &Grid, picture: &mut Picture) {
        let labels = || self.cells.iter().flatten().map(|cell| cell.label.as_str());
        let fits = |label: &str, size: f64| {
            let width = text_width(label, size, true) * 1.1;
            width + 6.0 <= grid.width && size * 1.3 <= grid.height
        };
        let all_fit = |size: &f64| labels().all(|label| fits(label, *size));
        let [.., smallest] = CELL_SIZES;
        let size = CELL_SIZES.into_iter().find(all_fit).unwrap_or(smallest);
        for (row, cells) in self.cells.iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                let (x, y) = grid.corner(column, row);
                let far = (x + grid.width, y + grid.height);
                match cell.colour {
                    Some(colour) => picture.rect(colour, (x, y), far),
                    None => grid.hatch(picture, (x, y), far),
                }
                if !cell.label.is_empty() && fits(&cell.label, size) {
                    let at = ((x + far.0) / 2.0, (y + far.1) / 2.0 + 0.36 * size);
                    let ink = cell.colour.map_or(theme::MUTED, Colour::readable_on);
                    let text = Text::new(at, size, &cell.label).anchored(Anchor::Middle);
                    picture.text(text.bold().coloured(ink));
                }
            }
        }
        // A hair of paper between cells, so that they can be counted.
        let (width, height) = (grid.width, grid.height);
        if width.min(height) >= 14.0 {
            let hair = Stroke::solid(theme::PAPER, 1.5);
            let (columns, rows) = (self.x.1.len(), self.y.1.len());
            let (right, bottom) = (
                grid.left + columns as f64 * width,
                grid.top + rows as f64 * height,
            );
            for i in 1..columns {
                let x = grid.left + i as f64 * width;
                picture.line(hair, [(x, grid.top), (x, bottom)]);
            }
            for i in 1..rows {
                let y = grid.top + i as f64 * height;
                picture.line(hair, [(grid.left, y), (right, y)]);
            }
        }
    }

    /// Lines where one side ends and the other begins.
    fn borders(&self, grid: &Grid, picture: &mut Picture) {
        let border = Stroke::solid(theme::INK, 3.5);
        let side = |column: usize, row: usize| self.cells.get(row)?.get(column)?.side;
        let differ = |a: Option<bool>, b: Option<bool>| a.is_some() && b.is_some() && a != b;
        for row in 0..self.cells.len() {
            for column in 0..self.cells[row].len() {
                let (x, y) = grid.corner(column, row);
                // Half a line more at each end closes the corners.
                if differ(side(column, row), side(column + 1, row)) {
                    let x = x + grid.width;
                    picture.line(border, [(x, y - 1.75), (x, y + grid.height + 1.75)]);
                }
                if differ(side(column, row), side(column, row + 1)) {
                    picture.line(border, [(x - 1.75, y), (x + grid.width + 1.75, y)]);
                }
            }
        }
    }

    fn names(&self, grid: &Grid, picture: &mut Picture) {
        let muted = |text: Text| text.coloured(theme::MUTED);
        let bottom = grid.top + grid.rows as f64 * grid.height;
        let mut free_from = f64::NEG_INFINITY;
        for (column, name) in self.x.1.iter().enumerate() {
            let at = (
                grid.left + (column as f64 + 0.5) * grid.width,
                bottom + 8.0 + theme::TICK,
            );
            // A number is left out rather than cut.
            let room = match self.columns_named {
                true => (grid.width - 12.0) * FALLBACK,
                false => f64::INFINITY,
            };
            let name = shortened(name, room, theme::TICK, false);
            let text = Text::new(at, theme::TICK, name).anchored(Anchor::Middle);
            let (left, right, ..) = text.bounds();
            if left >= free_from {
                free_from = right + 10.0;
                picture.text(muted(text));
            }
        }
        for (row, name) in self.y.1.iter().enumerate() {
            let (_, y) = grid.corner(0, row);
            let at = (grid.left - 10.0, y + grid.height / 2.0 + 0.36 * theme::TICK);
            if grid.height >= theme::TICK || row % 2 == 0 {
                let name = shortened(name, grid.left - 24.0, theme::TICK, false);
                picture.text(muted(
                    Text::new(at, theme::TICK, name).anchored(Anchor::End),
                ));
            }
        }
        let middle = grid.left + self.x.1.len() as f64 * grid.width / 2.0;
        let at = (middle, bottom + 18.0 + 2.0 * theme::TICK);
        picture.text(muted(
            Text::new(at, theme::TICK, &self.x.0).anchored(Anchor::Middle),
        ));
        let at = (grid.left - 6.0, grid.top - 12.0);
        picture.text(muted(Text::new(at, theme::TICK, &self.y.0)));
    }
}

impl Grid {
    /// The upper left corner of a cell; rows count from the bottom.
    fn corner(&self, column: usize, row: usize) -> (f64, f64) {
        (
            self.left + column as f64 * self.width,
            self.top + (self.rows - 1 - row) as f64 * self.height,
        )
    }

    /// Where nothing is known.
    fn hatch(&self, picture: &mut Picture, (x0, y0): (f64, f64), (x1, y1): (f64, f64)) {
        picture.rect(theme::GRID.mixed(theme::PAPER, 0.5), (x0, y0), (x1, y1));
        let stroke = Stroke::solid(theme::GRID.mixed(theme::MUTED, 0.25), 1.0);
        let (width, height) = (x1 - x0, y1 - y0);
        let mut offset = 8.0;
        while offset < width + height {
            let from = (x0 + (offset - height).max(0.0), y0 + offset.min(height));
            let to = (x0 + offset.min(width), y0 + (offset - width).max(0.0));
            picture.line(stroke, [from, to]);
            offset += 12.0;
        }
    }
}

impl Legend {
    fn draw(&self, space: Space, picture: &mut Picture) {
        match self {
            Legend::Flat { classes, cells } => {
                let mut y = space.top + 4.0;
                for (colour, name, note) in classes {
                    picture.rect(*colour, (space.left, y), (space.left + 18.0, y + 18.0));
                    let at = (space.left + 28.0, y + 15.0);
                    picture.text(Text::new(at, theme::LABEL, name).bold());
                    let at = (space.left + 28.0, y + 36.0);
                    let note = Text::new(at, theme::FOOTER, note);
                    picture.text(note.coloured(theme::MUTED));
                    y += 60.0;
                }
                for line in wrapped(cells, LEGEND - 6.0, theme::FOOTER, false, 6) {
                    y += theme::FOOTER * 1.45;
                    let text = Text::new((space.left, y), theme::FOOTER, line);
                    picture.text(text.coloured(theme::MUTED));
                }
            }
            Legend::Scale {
                title,
                ticks,
                cells,
            } => {
                let mut y = space.top - 4.0;
                for line in wrapped(title, LEGEND - 6.0, theme::TICK, false, 4) {
                    y += theme::TICK * 1.3;
                    let text = Text::new((space.left, y), theme::TICK, line);
                    picture.text(text.coloured(theme::MUTED));
                }
                let (top, bottom) = (y + 18.0, (y + 330.0).min(space.bottom));
                let step = (bottom - top) / SHADES as f64;
                for i in 0..SHADES {
                    let share = 1.0 - (i as f64 + 0.5) / SHADES as f64;
                    let y = top + i as f64 * step;
                    let (from, to) = ((space.left, y), (space.left + 24.0, y + step));
                    picture.rect(theme::viridis(share), from, to);
                }
                for (share, name) in ticks {
                    let y = bottom - share * (bottom - top);
                    let tick = Stroke::solid(theme::MUTED, 1.0);
                    picture.line(tick, [(space.left + 24.0, y), (space.left + 29.0, y)]);
                    let at = (space.left + 35.0, y + 0.36 * theme::TICK);
                    picture.text(Text::new(at, theme::TICK, name).coloured(theme::MUTED));
                }
                y = bottom + 24.0;
                for line in wrapped(cells, LEGEND - 6.0, theme::FOOTER, false, 5) {
                    y += theme::FOOTER * 1.45;
                    let text = Text::new((space.left, y), theme::FOOTER, line);
                    picture.text(text.coloured(theme::MUTED));
                }
            }
        }
    }
}
