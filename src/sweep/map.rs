//! The heat maps of an experiment.

use sim::expect::Metric;
use sim::experiment::{Axis as Varied, Heatmap as Asked};
use sim::verdict::Verdict;

use super::picture::{Drawing, shares};
use super::results::{Finding, unit};
use super::step::step_name;
use super::wording::{VERDICTS, rank, short_share, short_time, titled, unsaid};
use crate::figure::column;
use crate::number;
use crate::plot::axis::{Axis, Scale};
use crate::plot::heatmap::{Cell, HeatMap, Legend};
use crate::plot::theme;

/// A number scale is logarithmic from this ratio between its ends on.
const LOG_FROM: f64 = 40.0;
/// What an endless recovery is called.
const NEVER: &str = "never";
/// What hatching means where no number stands.
const NOT_RUN: &str = "hatched and empty: not run";

impl Drawing<'_> {
    /// A map over two axes.
    pub(super) fn map(self, asked: &Asked) -> HeatMap {
        let axes = self.plan.axes();
        let (x, y) = (&axes[asked.x], &axes[asked.y]);
        let columns = 0..x.steps.len();
        let found: Vec<Vec<Option<Finding>>> = (0..y.steps.len())
            .map(|row| {
                let at = |column| self.spot(&[(asked.x, column), (asked.y, row)]);
                let found = |column| self.results.finding(self.plan, at(column), asked.value);
                columns.clone().map(found).collect()
            })
            .collect();
        let metric = self.plan.measures[asked.value].metric;
        let not_run = found.iter().flatten().any(Option::is_none);
        let runs = |row, column| {
            let spot = self.spot(&[(asked.x, column), (asked.y, row)]);
            self.results.ended(spot).count()
        };
        let (cells, legend) = match unit(metric) {
            None => {
                let cells = self.verdicts(&found, asked);
                let legend = verdict_legend(&found, &cells, not_run);
                (cells, legend)
            }
            Some(unit) => {
                let label = self.plan.experiment.measure_labels().nth(asked.value);
                let scale = ColourScale::over(&found, metric, unit);
                let cells: Vec<Vec<Cell>> = (found.iter().enumerate())
                    .map(|(row, cells)| {
                        let cells = cells.iter().enumerate();
                        let cell = |(column, found)| scale.cell(found, runs(row, column));
                        cells.map(cell).collect()
                    })
                    .collect();
                let partly = cells.iter().flatten().any(|c| c.label.contains('/'));
                let legend = scale.legend(label.unwrap_or_default(), partly, not_run);
                (cells, legend)
            }
        };
        let names = |axis: &Varied| (0..axis.steps.len()).map(|i| step_name(axis, i)).collect();
        let note = match (unit(metric), self.plan.replications) {
            (_, 1) => String::new(),
            (None, _) => " · colour: the verdict most of them got".into(),
            (Some(_), _) => " · colour: their mean".into(),
        };
        HeatMap {
            heading: self.heading(asked.title.as_ref(), &note),
            x: (titled(&x.label, x.unit.and_then(unsaid)), names(x)),
            columns_named: x.unit.is_none(),
            y: (titled(&y.label, y.unit.and_then(unsaid)), names(y)),
            cells,
            legend,
        }
    }

    /// Cells of verdicts say how long recovery took, if that is measured too, or how many of the
    /// replications agree, if not all do.
    fn verdicts(self, found: &[Vec<Option<Finding>>], asked: &Asked) -> Vec<Vec<Cell>> {
        let recovery = self
            .plan
            .measures
            .iter()
            .position(|m| m.metric == Metric::RecoveryTime);
        let cell = |row: usize, column: usize, found: &Option<Finding>| {
            let Some(Finding::Verdict(tally)) = found else {
                return Cell::default();
            };
            let spot = self.spot(&[(asked.x, column), (asked.y, row)]);
            let runs = self.results.ended(spot).count();
            let recovered = (Verdict::NAMES[tally.verdict] == "recovered").then_some(recovery);
            let label = match recovered
                .flatten()
                .map(|m| self.results.finding(self.plan, spot, m))
            {
                _ if tally.votes < runs => format!("{}/{runs}", tally.votes),
                Some(Some(Finding::Number(time))) => time.mean.map_or_else(String::new, short_time),
                _ => String::new(),
            };
            Cell {
                colour: Some(VERDICTS[rank(*tally)].1),
                label,
                side: Some(rank(*tally) >= 2),
            }
        };
        let rows = found.iter().enumerate();
        rows.map(|(row, cells)| {
            let cells = cells.iter().enumerate();
            cells
                .map(|(column, found)| cell(row, column, found))
                .collect()
        })
        .collect()
    }
}

/// Colours for numbers.
struct ColourScale {
    axis: Axis,
    unit: column::Unit,
    /// What stands where there was nothing to measure.
    nothing: &'static str,
}

impl ColourScale {
    fn over(found: &[Vec<Option<Finding>>], metric: Metric, unit: column::Unit) -> ColourScale {
        let means = || found.iter().flatten().filter_map(mean);
        let max = means().fold(0.0, f64::max);
        let min = means().fold(max, f64::min);
        let axis = if min > 0.0 && max / min >= LOG_FROM {
            match unit {
                column::Unit::Factor => Axis::doublings("", min, max),
                _ => Axis::decades("", min, max),
            }
        } else if unit == column::Unit::Share {
            shares("", max)
        } else {
            Axis::from_zero("", max, 5)
        };
        let nothing = match metric {
            Metric::RecoveryTime => NEVER,
            _ => "–",
        };
        ColourScale {
            axis,
            unit,
            nothing,
        }
    }

    /// What stands where `runs` replications came to `found`; nothing where there is none.
    fn cell(&self, found: &Option<Finding>, runs: usize) -> Cell {
        let Some(Finding::Number(found)) = found else {
            return Cell::default();
        };
        let Some(mean) = found.mean else {
            return Cell {
                label: self.nothing.into(),
                ..Cell::default()
            };
        };
        let label = match found.replications {
            n if n < runs => format!("{} {n}/{runs}", self.words(mean)),
            _ => self.words(mean),
        };
        Cell {
            colour: Some(theme::viridis(self.axis.position(mean))),
            label,
            side: None,
        }
    }

    fn words(&self, value: f64) -> String {
        match self.unit {
            column::Unit::PerSecond | column::Unit::Count => number::prefixed(value),
            column::Unit::Seconds => short_time(value),
            column::Unit::Share => short_share(value),
            unit => unit.human(value),
        }
    }

    fn legend(&self, label: &str, partly: bool, not_run: bool) -> Legend {
        let log = if self.axis.scale == Scale::Log {
            " (log)"
        } else {
            ""
        };
        let ticks = self.axis.ticks.iter();
        let ticks = ticks.map(|(value, _)| (self.axis.position(*value), self.words(*value)));
        Legend::Scale {
            title: titled(label, Some(self.unit)) + log,
            ticks: ticks.collect(),
            cells: [
                partly.then_some(match self.nothing {
                    NEVER => "2/3: the mean of so many replications; the others never",
                    _ => "2/3: the mean of so many replications; the others have none",
                }),
                not_run.then_some(NOT_RUN),
            ]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("; "),
        }
    }
}

fn mean(found: &Option<Finding>) -> Option<f64> {
    match found {
        Some(Finding::Number(estimate)) => estimate.mean,
        _ => None,
    }
}

/// The verdicts that occur, and what stands in their cells.
fn verdict_legend(found: &[Vec<Option<Finding>>], cells: &[Vec<Cell>], not_run: bool) -> Legend {
    let place = |found: &Option<Finding>| match found {
        Some(Finding::Verdict(tally)) => Some(rank(*tally)),
        _ => None,
    };
    let occurs = |wanted: usize| found.iter().flatten().any(|f| place(f) == Some(wanted));
    let classes = VERDICTS.iter().enumerate();
    let classes = classes.filter(|(place, _)| occurs(*place));
    let classes = classes.map(|(_, (index, colour, note))| {
        let name = Verdict::NAMES[*index].to_string();
        (*colour, name, (*note).to_string())
    });
    let labels = || cells.iter().flatten().map(|cell| cell.label.as_str());
    let mut said = Vec::new();
    if labels().any(|label| label.ends_with('s') || label.ends_with("min")) {
        said.push("time: until well again after the trigger");
    }
    if labels().any(|label| label.contains('/')) {
        said.push("2/3: so many replications agree");
    }
    said.extend(not_run.then_some(NOT_RUN));
    Legend::Flat {
        classes: classes.collect(),
        cells: said.join("; "),
    }
}
