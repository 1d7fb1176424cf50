//! The plots of an experiment.

use sim::expect::{Metric, Unit};
use sim::experiment::{Axis as Varied, Heatmap as MapAsked, Line as LineAsked, Plot, Step};
use sim::verdict::Verdict;

use super::plan::Plan;
use super::results::{Finding, Results, Tally, unit};
use crate::figure::column;
use crate::number;
use crate::plot::axis::{Axis, Scale};
use crate::plot::heatmap::{Cell, HeatMap, Legend};
use crate::plot::lines::Lines;
use crate::plot::panel::{Series, Spread};
use crate::plot::picture::Picture;
use crate::plot::sheet::Heading;
use crate::plot::theme::{self, Colour};
use crate::report::file::slug;

/// Verdicts from best to worst: index in [`Verdict::NAMES`], colour, what it means.
pub const VERDICTS: [(usize, Colour, &str); 4] = [
    (
        Verdict::Healthy.index(),
        Colour(0x4D_B89A),
        "goodput never dips",
    ),
    (2, theme::NEUTRAL, "comes back by itself"),
    (
        Verdict::Degraded.index(),
        theme::QUEUE,
        "not well, no trigger to blame",
    ),
    (
        Verdict::Metastable.index(),
        theme::ATTEMPTS,
        "down for good, trigger gone",
    ),
];

/// A number scale is logarithmic from this ratio between its ends on.
const LOG_FROM: f64 = 40.0;

/// The plots with the names of their files.
#[must_use]
pub fn names(plan: &Plan) -> Vec<String> {
    let measured: Vec<&str> = plan.experiment.measured().collect();
    let mut names: Vec<String> = Vec::new();
    for plot in &plan.experiment.plots {
        let measure = match plot {
            Plot::Line(line) => line.y,
            Plot::Heatmap(map) => map.value,
        };
        let name = slug(measured[measure]);
        let same = |n: &&String| **n == name || n.rsplit_once('.').is_some_and(|(n, _)| n == name);
        let before = names.iter().filter(same).count();
        names.push(match before {
            0 => name,
            n => format!("{name}.{}", n + 1),
        });
    }
    names
}

/// Draws one of the plots.
#[must_use]
pub fn draw(plan: &Plan, results: &Results, plot: &Plot) -> Picture {
    let drawing = Drawing { plan, results };
    match plot {
        Plot::Line(line) => drawing.lines(line).draw(),
        Plot::Heatmap(map) => drawing.map(map).draw(),
    }
}

#[derive(Clone, Copy)]
struct Drawing<'a> {
    plan: &'a Plan,
    results: &'a Results,
}

impl Drawing<'_> {
    fn heading(self, title: Option<&String>, note: &str) -> Heading {
        let plan = self.plan;
        let version = env!("CARGO_PKG_VERSION");
        let setup = setup(plan, self.results);
        Heading {
            title: title.unwrap_or(&plan.experiment.question).clone(),
            subtitle: format!("{} · {setup}{note}", model_name(plan)),
            footer: format!("retrystorm {version} · {}", plan.files[0].0),
        }
    }

    /// The point at these steps of two axes; there are no others, or each has one step.
    fn spot(self, at: &[(usize, usize)]) -> usize {
        let mut index = 0;
        for (i, axis) in self.plan.axes().iter().enumerate() {
            let step = at
                .iter()
                .find(|(axis, _)| *axis == i)
                .map_or(0, |(_, step)| *step);
            index = index * axis.steps.len() + step;
        }
        index
    }

    fn lines(self, asked: &LineAsked) -> Lines {
        let axes = self.plan.axes();
        let x = &axes[asked.x];
        let names: Vec<Option<usize>> = match asked.series {
            None => vec![None],
            Some(series) => (0..axes[series].steps.len()).map(Some).collect(),
        };
        let lines: Vec<Series> = names
            .iter()
            .enumerate()
            .map(|(i, step)| self.line(asked, *step, theme::SERIES[i % theme::SERIES.len()]))
            .collect();
        let metric = self.plan.measures[asked.y].metric;
        let label = self.plan.experiment.measure_labels().nth(asked.y);
        let title = titled(label.unwrap_or_default(), unit(metric));
        let shown = || {
            lines
                .iter()
                .flat_map(|l| &l.points)
                .filter(|p| p.mean.is_some())
        };
        let max = shown().map(|p| p.high).fold(0.0, f64::max);
        let positive = shown().filter_map(|p| p.mean).filter(|y| *y > 0.0);
        let min = positive.fold(max, f64::min);
        let replications = self.plan.replications;
        let note = match replications {
            1 => String::new(),
            _ if x.unit.is_some() => " · bands: 95 % interval of the mean".into(),
            _ => " · whiskers: 95 % interval of the mean".into(),
        };
        Lines {
            heading: self.heading(asked.title.as_ref(), &note),
            x: horizontal(x, asked.log_x),
            y: vertical(title, unit(metric), min, max, asked.log_y),
            lines,
            connected: x.unit.is_some(),
        }
    }

    fn line(self, asked: &LineAsked, series: Option<usize>, colour: Colour) -> Series {
        let axes = self.plan.axes();
        let x = &axes[asked.x];
        let mut points: Vec<Spread> = (0..x.steps.len())
            .map(|step| {
                let mut at = vec![(asked.x, step)];
                at.extend(asked.series.zip(series));
                let (mean, low, high) = self.spread(self.spot(&at), asked.y);
                let x = x.steps[step].number.unwrap_or(step as f64);
                Spread { x, mean, low, high }
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let name = asked
            .series
            .zip(series)
            .map(|(axis, step)| step_name(&axes[axis], step));
        Series {
            name: name.unwrap_or_default(),
            note: String::new(),
            colour,
            dashed: false,
            points,
        }
    }

    fn spread(self, spot: usize, measure: usize) -> (Option<f64>, f64, f64) {
        match self.results.finding(self.plan, spot, measure) {
            None => (None, 0.0, 0.0),
            Some(Finding::Verdict(tally)) => {
                let place = rank(tally) as f64;
                (Some(place), place, place)
            }
            Some(Finding::Number(found)) => {
                let mean = found.mean.unwrap_or(0.0);
                let (low, high) = found.interval.unwrap_or((mean, mean));
                (found.mean, low, high)
            }
        }
    }

    fn map(self, asked: &MapAsked) -> HeatMap {
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
        let (cells, legend) = match unit(metric) {
            None => (self.verdicts(&found, asked), verdict_legend(&found)),
            Some(unit) => {
                let label = self.plan.experiment.measure_labels().nth(asked.value);
                let scale = ColourScale::over(&found, unit);
                let cells = found
                    .iter()
                    .map(|row| row.iter().map(|f| scale.cell(f)).collect());
                (cells.collect(), scale.legend(label.unwrap_or_default()))
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
            x: (titled(&x.label, x.unit.and_then(shown_as)), names(x)),
            y: (titled(&y.label, y.unit.and_then(shown_as)), names(y)),
            cells,
            legend,
        }
    }

    /// Cells of verdicts say how long recovery took, if that is measured too, or how many of the
    /// replications agree, if not all do.
    fn verdicts(self, found: &[Vec<Option<Finding>>], asked: &MapAsked) -> Vec<Vec<Cell>> {
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

/// Points, replications, seeds and time in a few words.
#[must_use]
pub fn setup(plan: &Plan, results: &Results) -> String {
    let mut words = vec![match (plan.spots.len(), plan.replications) {
        (1, n) => format!("1 point × {n}"),
        (points, 1) => format!("{points} points"),
        (points, n) => format!("{points} points × {n} replications"),
    }];
    let first = plan.spots.first().map_or(0, |spot| spot.seed);
    if plan.spots.iter().all(|spot| spot.seed == first) {
        words.push(match plan.replications {
            1 => format!("seed {first}"),
            n => format!("seeds {first} to {}", first.wrapping_add(u64::from(n) - 1)),
        });
    }
    if let Some(duration) = plan.duration {
        words.push(format!("{} simulated each", number::duration(duration)));
    }
    if !results.complete() {
        let (done, all) = (results.count(), plan.runs().count());
        words.push(format!("INCOMPLETE: {done} of {all} runs"));
    }
    words.join(" · ")
}

/// The name of the model without folder and suffix.
#[must_use]
pub fn model_name(plan: &Plan) -> &str {
    let file = plan.model().rsplit(['/', '\\']).next().unwrap_or_default();
    file.rsplit_once('.').map_or(file, |(name, _)| name)
}

/// A step as people read it: numbers without their unit's spelling in the language.
#[must_use]
pub fn step_name(axis: &Varied, step: usize) -> String {
    let Step { label, number, .. } = &axis.steps[step];
    match (axis.unit, number) {
        (Some(unit), Some(value)) => axis_value(unit, *value),
        _ => label.clone(),
    }
}

/// The place of a verdict from best to worst.
#[must_use]
pub fn rank(tally: Tally) -> usize {
    let known = VERDICTS
        .iter()
        .position(|(index, ..)| *index == tally.verdict);
    known.unwrap_or(VERDICTS.len() - 1)
}

fn axis_value(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Share => number::share(value),
        Unit::Time => number::duration(value),
        Unit::Rate | Unit::Count | Unit::Factor | Unit::Verdict => number::prefixed(value),
    }
}

const fn shown_as(unit: Unit) -> Option<column::Unit> {
    match unit {
        Unit::Rate => Some(column::Unit::PerSecond),
        _ => None,
    }
}

/// A label with its unit, where the numbers beside it do not say it themselves.
fn titled(label: &str, unit: Option<column::Unit>) -> String {
    match unit {
        Some(column::Unit::PerSecond) if !label.contains("per second") => {
            format!("{label} (per second)")
        }
        _ => label.into(),
    }
}

fn horizontal(axis: &Varied, log: bool) -> Axis {
    let title = titled(&axis.label, axis.unit.and_then(shown_as));
    let Some(unit) = axis.unit else {
        return Axis::names(title, axis.steps.iter().map(|step| step.label.as_str()));
    };
    let values = || axis.steps.iter().filter_map(|step| step.number);
    let min = values().fold(f64::INFINITY, f64::min);
    let max = values().fold(f64::NEG_INFINITY, f64::max);
    let plain = if log && min > 0.0 {
        Axis::decades(title, min, max)
    } else {
        let from = if min > 0.0 && min < max / 5.0 {
            0.0
        } else {
            min
        };
        Axis::between(title, from, max, 8)
    };
    plain.named(|x| axis_value(unit, x))
}

fn vertical(title: String, unit: Option<column::Unit>, min: f64, max: f64, log: bool) -> Axis {
    let log = log && max > 0.0;
    match unit {
        None => Axis::names(title, VERDICTS.map(|(index, ..)| Verdict::NAMES[index])),
        Some(column::Unit::Factor) if log => Axis::doublings(title, min, max),
        Some(unit) => {
            let axis = match unit {
                _ if log => Axis::decades(title + " (log)", min, max),
                // Half of everything and more is seen best against everything.
                column::Unit::Share if max > 0.5 && max <= 1.0 => Axis::between(title, 0.0, 1.0, 5),
                _ => Axis::from_zero(title, max, 5),
            };
            axis.named(|y| match unit {
                column::Unit::PerSecond | column::Unit::Count => number::prefixed(y),
                unit => unit.human(y),
            })
        }
    }
}

/// Colours for numbers.
struct ColourScale {
    axis: Axis,
    unit: column::Unit,
}

impl ColourScale {
    fn over(found: &[Vec<Option<Finding>>], unit: column::Unit) -> ColourScale {
        let means = || found.iter().flatten().filter_map(mean);
        let max = means().fold(0.0, f64::max);
        let min = means().fold(max, f64::min);
        let axis = if min > 0.0 && max / min >= LOG_FROM {
            match unit {
                column::Unit::Factor => Axis::doublings("", min, max),
                _ => Axis::decades("", min, max),
            }
        } else {
            Axis::from_zero("", max, 5)
        };
        ColourScale { axis, unit }
    }

    fn cell(&self, found: &Option<Finding>) -> Cell {
        match found.as_ref().and_then(|found| mean(&Some(*found))) {
            None => Cell {
                label: "–".into(),
                ..Cell::default()
            },
            Some(value) => Cell {
                colour: Some(theme::viridis(self.axis.position(value))),
                label: self.words(value),
                side: None,
            },
        }
    }

    fn words(&self, value: f64) -> String {
        match self.unit {
            column::Unit::PerSecond | column::Unit::Count => number::prefixed(value),
            column::Unit::Seconds => short_time(value),
            unit => unit.human(value),
        }
    }

    fn legend(&self, label: &str) -> Legend {
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
        }
    }
}

fn mean(found: &Option<Finding>) -> Option<f64> {
    match found {
        Some(Finding::Number(estimate)) => estimate.mean,
        _ => None,
    }
}

/// A duration in so few characters that it fits into a cell.
fn short_time(seconds: f64) -> String {
    match seconds {
        0.0 => "0 s".into(),
        s if s >= 9.95 && s < 119.5 => format!("{s:.0} s"),
        s if s >= 119.5 && s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s >= 0.095 && s < 9.95 => format!("{} s", number::plain((s * 10.0).round() / 10.0)),
        s => number::duration(s),
    }
}

/// The verdicts that occur, with the share of points that got them.
fn verdict_legend(found: &[Vec<Option<Finding>>]) -> Legend {
    let classes = VERDICTS
        .iter()
        .enumerate()
        .map(|(place, (index, colour, note))| {
            let got =
                |f: &&Option<Finding>| matches!(f, Some(Finding::Verdict(t)) if rank(*t) == place);
            let points = found.iter().flatten().filter(got).count();
            let name = Verdict::NAMES[*index].to_string();
            (points, (*colour, name, (*note).to_string()))
        });
    Legend::Flat(
        classes
            .filter(|(points, _)| *points > 0)
            .map(|(_, c)| c)
            .collect(),
    )
}
