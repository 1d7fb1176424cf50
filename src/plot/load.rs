//! Load, goodput and attempts over time: the picture of a retry storm.

use sim::metrics::Window;

use super::axis::Axis;
use super::material::Material;
use super::over_time::{largest, over_time};
use super::panel::{Panel, Series, Spread};
use super::picture::Picture;
use super::sheet::{Space, sheet};
use super::theme::{self, Colour};
use crate::figure::{busiest_service, top_calls, top_edges};
use crate::number;

/// Above this ratio of attempts to calls, one scale would press the calls flat.
pub const ONE_SCALE: f64 = 6.0;
/// Room for the names at the right.
const NAMES: f64 = 220.0;

/// Calls offered, calls answered in time, and attempts at the service that gets most of them.
#[must_use]
pub fn load(material: &Material<'_>) -> Picture {
    let (scenario, outcomes) = (material.scenario, material.outcomes);
    let (mut picture, space) = sheet(&material.heading(material.finding));
    let top = top_edges(scenario);
    let offered = over_time(outcomes, |_, w| {
        per_second(top_calls(scenario, &w.counts.edges), w)
    });
    let goodput = over_time(outcomes, |_, w| {
        per_second(top.iter().map(|&e| w.counts.edges[e].ok).sum(), w)
    });
    let mut calls = vec![
        series("offered load", theme::OFFERED, offered),
        series("goodput", theme::GOODPUT, goodput),
    ];
    calls[0].dashed = true;
    let attempts = busiest_service(scenario, outcomes).map(|service| {
        let name = format!("attempts at {}", scenario.services[service].name);
        let arrived = over_time(outcomes, |_, w| {
            per_second(w.counts.services[service].arrived, w)
        });
        series(&name, theme::ATTEMPTS, arrived)
    });
    let calls_max = largest(calls.iter().map(|s| &s.points));
    let attempts_max = largest(attempts.iter().map(|s| &s.points));
    if calls_max > 0.0 && attempts_max > ONE_SCALE * calls_max {
        let middle = (space.top + space.bottom) / 2.0;
        let above = Space {
            bottom: middle + 8.0,
            ..space
        };
        let below = Space {
            top: middle + 6.0,
            ..space
        };
        let attempts: Vec<Series> = attempts.into_iter().collect();
        panel(material, above, "attempts per second", attempts_max).draw(
            &mut picture,
            &attempts,
            false,
        );
        panel(material, below, "calls per second", calls_max).draw(&mut picture, &calls, true);
    } else {
        let all: Vec<Series> = attempts.into_iter().chain(calls).collect();
        let max = calls_max.max(attempts_max);
        panel(material, space, "per second", max).draw(&mut picture, &all, true);
    }
    picture
}

fn per_second(n: u64, window: &Window) -> Option<f64> {
    let seconds = window.end.since(window.start).as_secs_f64();
    (seconds > 0.0).then(|| n as f64 / seconds)
}

/// A series with the mean of its last tenth below its name.
fn series(name: &str, colour: Colour, points: Vec<Spread>) -> Series {
    let last = &points[points.len() - points.len().div_ceil(10)..];
    let values: Vec<f64> = last.iter().filter_map(|p| p.mean).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let note = if mean.is_finite() {
        format!("{} at the end", number::rate(mean))
    } else {
        String::new()
    };
    Series {
        name: name.into(),
        note,
        colour,
        dashed: false,
        points,
    }
}

struct Timeline<'a> {
    material: &'a Material<'a>,
    panel: Panel,
}

fn panel<'a>(material: &'a Material<'a>, space: Space, title: &str, max: f64) -> Timeline<'a> {
    let ticks = if space.bottom - space.top > 350.0 {
        5
    } else {
        3
    };
    let panel = Panel {
        left: space.left + 62.0,
        right: space.right - NAMES,
        top: space.top + 34.0,
        bottom: space.bottom - 52.0,
        x: Axis::time(material.duration(), 6),
        y: Axis::from_zero(title, max, ticks),
    };
    Timeline { material, panel }
}

impl Timeline<'_> {
    fn draw(&self, picture: &mut Picture, series: &[Series], lowest: bool) {
        let (material, panel) = (self.material, &self.panel);
        material.shade_trigger(picture, panel);
        panel.y_axis(picture);
        if lowest {
            panel.x_axis(picture);
        }
        if largest(series.iter().map(|s| &s.points)) == 0.0 {
            panel.no_data(picture, "no call was made");
        }
        for line in series {
            panel.series(picture, line);
        }
        // Faults are named once, where there is most room: in the panel that shows the storm.
        material.mark_faults(picture, panel, series[0].colour == theme::ATTEMPTS);
        panel.names(picture, &series.iter().collect::<Vec<_>>());
    }
}
