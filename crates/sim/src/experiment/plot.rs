//! What an experiment draws.

use super::axis::Axis;
use crate::scenario::problem::Problems;
use crate::scenario::tree::At;
use crate::scenario::written::{Tried, choice, mend, record};

/// A picture of the grid; axes and measures are named by their index.
#[derive(Clone, Debug, PartialEq)]
pub enum Plot {
    /// Lines over one axis.
    Line(Line),
    /// A map over two.
    Heatmap(Heatmap),
}

/// Lines over one axis, one for each value of the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The finding, if it is known; otherwise the question is the title.
    pub title: Option<String>,
    /// The axis to the right.
    pub x: usize,
    /// The measure upwards.
    pub y: usize,
    /// The axis each of whose values is a line.
    pub series: Option<usize>,
    /// Whether equal ratios of x take equal lengths.
    pub log_x: bool,
    /// The same for y.
    pub log_y: bool,
}

/// A map over two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Heatmap {
    /// The finding, if it is known; otherwise the question is the title.
    pub title: Option<String>,
    /// The axis to the right.
    pub x: usize,
    /// The axis upwards.
    pub y: usize,
    /// The measure that colours.
    pub value: usize,
}

choice! {
    /// A picture of the grid.
    pub(crate) enum PlotFile {
        /// Lines over one axis.
        line => Line(LineFile),
        /// A map over two axes: verdicts in flat colours, numbers on a scale.
        heatmap => Heatmap(HeatmapFile),
    }
}

record! {
    /// Lines over one axis.
    pub(crate) struct LineFile {
        /// The finding, if it is known. By default the question.
        title: Option<String>,
        /// The axis to the right, as named in `vary`.
        x: Tried<At<String>>,
        /// What goes upwards, as written in `measure`.
        y: Tried<At<String>>,
        /// The axis each of whose values is a line.
        series: Option<At<String>>,
        /// Whether equal ratios of x take equal lengths.
        log_x: bool = false,
        /// Whether equal ratios of y take equal lengths.
        log_y: bool = false,
    }
}

record! {
    /// A map over two axes.
    pub(crate) struct HeatmapFile {
        /// The finding, if it is known. By default the question.
        title: Option<String>,
        /// The axis to the right, as named in `vary`.
        x: Tried<At<String>>,
        /// The axis upwards.
        y: Tried<At<String>>,
        /// What colours, as written in `measure`.
        value: Tried<At<String>>,
    }
}

/// What is written means this; the wrong ones are left out and reported.
pub(super) fn mean(
    plots: &[PlotFile],
    axes: &[Axis],
    measures: &[&str],
    problems: &mut Problems,
) -> Vec<Plot> {
    let mut meant = Vec::new();
    for (i, plot) in plots.iter().enumerate() {
        let plot = problems.within(&format!("plots.{i}"), |problems| {
            let mut names = Names {
                axes,
                measures,
                problems,
            };
            match plot {
                PlotFile::Line(line) => names.line(line).map(Plot::Line),
                PlotFile::Heatmap(map) => names.heatmap(map).map(Plot::Heatmap),
            }
        });
        meant.extend(plot);
    }
    meant
}

struct Names<'a> {
    axes: &'a [Axis],
    measures: &'a [&'a str],
    problems: &'a mut Problems,
}

impl Names<'_> {
    fn axis(&mut self, name: &At<String>) -> Option<usize> {
        let known = self.axes.iter().map(|axis| axis.name.as_str());
        find(self.problems, "nothing is varied under", name, known)
    }

    fn measure(&mut self, name: &At<String>) -> Option<usize> {
        find(
            self.problems,
            "nothing is measured as",
            name,
            self.measures.iter().copied(),
        )
    }

    fn line(&mut self, line: &LineFile) -> Option<Line> {
        let (x, y) = (line.x.0.as_ref()?, line.y.0.as_ref()?);
        let (x_axis, y) = (self.axis(x), self.measure(y));
        let series = line.series.as_ref().map(|name| self.axis(name));
        let shown = [x_axis, series.flatten()];
        self.all_shown(x, &shown, "`x` or `series`");
        Some(Line {
            title: line.title.clone(),
            x: x_axis?,
            y: y?,
            series: match series {
                Some(series) => Some(series?),
                None => None,
            },
            log_x: line.log_x,
            log_y: line.log_y,
        })
    }

    fn heatmap(&mut self, map: &HeatmapFile) -> Option<Heatmap> {
        let (x, y, value) = (map.x.0.as_ref()?, map.y.0.as_ref()?, map.value.0.as_ref()?);
        let (x_axis, y_axis, value) = (self.axis(x), self.axis(y), self.measure(value));
        self.all_shown(x, &[x_axis, y_axis], "`x` or `y`");
        Some(Heatmap {
            title: map.title.clone(),
            x: x_axis?,
            y: y_axis?,
            value: value?,
        })
    }

    /// A picture of some axes alone would mix worlds that differ in the others.
    fn all_shown(&mut self, x: &At<String>, shown: &[Option<usize>], where_to: &str) {
        if shown.contains(&None) && shown.first() == Some(&None) {
            return;
        }
        for (i, axis) in self.axes.iter().enumerate() {
            if !shown.contains(&Some(i)) {
                let message = format!("`{}` is varied too; show it as {where_to}", axis.name);
                self.problems.report(x.at, message);
            }
        }
    }
}

pub(super) fn find<'n>(
    problems: &mut Problems,
    what: &str,
    name: &At<String>,
    known: impl Iterator<Item = &'n str> + Clone,
) -> Option<usize> {
    let found = known.clone().position(|known| known == name.value);
    if found.is_none() {
        problems.report(
            name.at,
            format!("{what} `{}`: {}", name.value, mend(&name.value, known)),
        );
    }
    found
}

/// The first thing measured over one or two axes; a map if it is the verdict over two axes of numbers.
pub(super) fn by_default(axes: &[Axis], measures: &[&str]) -> Vec<Plot> {
    let numbers = |axis: &usize| axes[*axis].unit.is_some();
    let verdict = measures.iter().position(|measure| *measure == "verdict");
    match (axes.len(), verdict) {
        (2, Some(value)) if numbers(&0) && numbers(&1) => {
            vec![Plot::Heatmap(Heatmap {
                title: None,
                x: 0,
                y: 1,
                value,
            })]
        }
        (1 | 2, _) => {
            let x = (0..axes.len()).find(numbers).unwrap_or(0);
            let series = (0..axes.len()).find(|axis| *axis != x);
            let y = measures
                .iter()
                .position(|measure| *measure != "verdict")
                .unwrap_or(0);
            vec![Plot::Line(Line {
                title: None,
                x,
                y,
                series,
                log_x: false,
                log_y: false,
            })]
        }
        _ => Vec::new(),
    }
}
