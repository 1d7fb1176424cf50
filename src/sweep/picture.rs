//! The plots of an experiment.

use ordered_float::OrderedFloat;
use sim::expect::Metric;
use sim::experiment::{Axis as Varied, Line as LineAsked, Plot};
use sim::verdict::Verdict;

use super::plan::Plan;
use super::results::{Finding, Results, unit};
use super::step::{axis_value, step_name};
use super::wording::{VERDICTS, model_name, rank, setup, titled, unsaid};
use crate::figure::column;
use crate::number;
use crate::plot::axis::Axis;
use crate::plot::lines::{Lines, Never};
use crate::plot::panel::{Series, Spread};
use crate::plot::picture::Picture;
use crate::plot::sheet::Heading;
use crate::plot::theme::{self, Colour};
use crate::report::file::slug;

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
pub(super) struct Drawing<'a> {
    pub(super) plan: &'a Plan,
    pub(super) results: &'a Results,
}

impl Drawing<'_> {
    pub(super) fn heading(self, title: Option<&String>, note: &str) -> Heading {
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
    pub(super) fn spot(self, at: &[(usize, usize)]) -> usize {
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
        let never = match metric {
            Metric::RecoveryTime => self.never(asked, &names),
            _ => Vec::new(),
        };
        let mut y = vertical(title, unit(metric), min, max, asked.log_y);
        if !never.is_empty() {
            y = y.beyond("never");
        }
        let hollow = match never.iter().any(|never| !never.always) {
            true => " · hollow triangle: never in some replications",
            false => "",
        };
        Lines {
            heading: self.heading(asked.title.as_ref(), &format!("{note}{hollow}")),
            x: horizontal(x, asked.log_x),
            y,
            lines,
            connected: x.unit.is_some(),
            never,
        }
    }

    /// Where replications have no value, and whether none of them has one.
    fn never(self, asked: &LineAsked, series: &[Option<usize>]) -> Vec<Never> {
        let x = &self.plan.axes()[asked.x];
        let mut never = Vec::new();
        for (line, series) in series.iter().enumerate() {
            for step in 0..x.steps.len() {
                let spot = self.place(asked, *series, step);
                let Some(Finding::Number(found)) = self.results.finding(self.plan, spot, asked.y)
                else {
                    continue;
                };
                if found.replications < self.results.ended(spot).count() {
                    never.push(Never {
                        line,
                        x: x.steps[step].number.unwrap_or(step as f64),
                        always: found.replications == 0,
                    });
                }
            }
        }
        never
    }

    /// The point of a step of a line.
    fn place(self, asked: &LineAsked, series: Option<usize>, step: usize) -> usize {
        let mut at = vec![(asked.x, step)];
        at.extend(asked.series.zip(series));
        self.spot(&at)
    }

    fn line(self, asked: &LineAsked, series: Option<usize>, colour: Colour) -> Series {
        let axes = self.plan.axes();
        let x = &axes[asked.x];
        let mut points: Vec<Spread> = (0..x.steps.len())
            .map(|step| {
                let spot = self.place(asked, series, step);
                let (mean, low, high) = self.spread(spot, asked.y);
                let x = x.steps[step].number.unwrap_or(step as f64);
                Spread { x, mean, low, high }
            })
            .collect();
        points.sort_by_key(|point| OrderedFloat(point.x));
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
}

fn horizontal(axis: &Varied, log: bool) -> Axis {
    let title = titled(&axis.label, axis.unit.and_then(unsaid));
    let Some(unit) = axis.unit else {
        return Axis::names(title, axis.steps.iter().map(|step| step.label.as_str()));
    };
    let values = || axis.steps.iter().filter_map(|step| step.number);
    let min = values().fold(f64::INFINITY, f64::min);
    let max = values().fold(f64::NEG_INFINITY, f64::max);
    let plain = if log && min > 0.0 {
        Axis::decades(title + " (log)", min, max)
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
        Some(column::Unit::Factor) if log => Axis::doublings(title, min, max).named(factor),
        Some(column::Unit::Share) if !log => shares(title, max),
        Some(unit) => {
            let axis = match unit {
                _ if log => Axis::decades(title + " (log)", min, max),
                _ => Axis::from_zero(title, max, 5),
            };
            axis.named(|y| match unit {
                column::Unit::PerSecond | column::Unit::Count => number::prefixed(y),
                unit => unit.human(y),
            })
        }
    }
}

/// Shares from zero. No interval goes beyond everything, and more than half is seen best against everything.
pub(super) fn shares(title: impl Into<String>, max: f64) -> Axis {
    let axis = if max > 0.5 {
        Axis::between(title, 0.0, 1.0, 5)
    } else {
        Axis::from_zero(title, max, 5)
    };
    axis.named(number::share)
}

/// `8×` and `1/8×`.
fn factor(x: f64) -> String {
    if x < 1.0 {
        format!("1/{}", number::times(1.0 / x))
    } else {
        number::times(x)
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::Became::{Healthy, Metastable, Recovered};
    use super::super::sample::{plan, results};
    use super::*;

    #[test]
    fn what_never_came_about_is_marked_and_what_was_not_run_is_not() {
        let plan = plan();
        let found = results(
            &plan,
            &[
                [Healthy, Healthy],
                [Recovered(3.0), Metastable],
                [Metastable, Metastable],
                [Recovered(8.0), Recovered(9.0)],
            ],
        );
        let drawing = Drawing {
            plan: &plan,
            results: &found,
        };
        let Plot::Line(asked) = &plan.experiment.plots[0] else {
            panic!("the first plot is of lines");
        };
        let lines = drawing.lines(asked);
        let never = |line, x, always| Never { line, x, always };
        assert_eq!(lines.never, [never(0, 200.0, true), never(1, 100.0, false)]);
        assert!(lines.heading.subtitle.contains("hollow triangle"));
        let words = |plot: usize| -> Vec<String> {
            let picture = draw(&plan, &found, &plan.experiment.plots[plot]);
            picture.texts().map(|t| t.text.clone()).collect()
        };
        assert!(words(0).contains(&"never".to_string()));
        let map = words(1);
        assert_eq!(map.iter().filter(|w| *w == "never").count(), 1, "{map:?}");
        assert!(map.contains(&"3 s 1/2".to_string()), "{map:?}");
        for words in [map, words(2)] {
            assert!(words.join(" ").contains("not run"), "{words:?}");
        }
    }
}
