//! Goodput over time, and below it the state of each edge's circuit breakers.

use sim::metrics::EdgeGauge;

use super::axis::Axis;
use super::material::Material;
use super::over_time::{largest, over_time};
use super::panel::{Panel, Series, Spread};
use super::picture::{Anchor, Picture, Text};
use super::sheet::{sheet, shortened};
use super::theme::{self, Colour};
use crate::figure::{top_calls, top_edges};
use crate::number;
use crate::wording;

/// More bars than this cannot be read.
const BARS_MAX: usize = 6;

const OPEN: Colour = theme::ATTEMPTS;
const HALF_OPEN: Colour = theme::QUEUE;
const CLOSED: Colour = Colour(0xCD_E8DF);

/// Goodput above; one bar per edge with breakers below, filled with the share of calling processes
/// whose breaker is open, half-open and closed.
#[must_use]
pub fn breakers(material: &Material<'_>) -> Picture {
    let edges = chosen(material);
    let mut heading = material.heading(title(material, &edges));
    if material.outcomes.len() > 1 {
        heading.subtitle += "; states: mean over replications";
    }
    let (mut picture, space) = sheet(&heading);
    let mut panel = Panel {
        left: space.left + 200.0,
        right: space.right - 130.0,
        top: space.top + 34.0,
        bottom: space.bottom - 52.0,
        x: Axis::time(material.duration(), 6),
        y: Axis::from_zero("calls per second", 1.0, 3),
    };
    if edges.is_empty() {
        panel.no_data(&mut picture, "no caller has a circuit breaker");
        return picture;
    }
    let step = 52.0;
    let bars_top = panel.bottom - step * edges.len() as f64;
    let lowest = panel.bottom;
    panel.bottom = bars_top - 46.0;
    goodput(material, &mut panel, &mut picture);
    legend(&mut picture, panel.left, bars_top - 10.0);
    for (i, &edge) in edges.iter().enumerate() {
        let top = bars_top + step * i as f64 + 6.0;
        bar(
            material,
            &panel,
            &mut picture,
            edge,
            (top, top + step - 16.0),
        );
    }
    let below = Panel {
        top: bars_top,
        bottom: lowest,
        ..panel
    };
    below.x_axis(&mut picture);
    material.mark_faults(&mut picture, &below, false);
    picture
}

/// Whether any caller had a breaker; without one there is nothing to show.
#[must_use]
pub fn are_there(material: &Material<'_>) -> bool {
    !chosen(material).is_empty()
}

/// Edges with breakers, those that were open most first.
fn chosen(material: &Material<'_>) -> Vec<usize> {
    let has = |edge: &usize| {
        material
            .outcomes
            .iter()
            .flat_map(|o| &o.windows)
            .any(|w| w.edges[*edge].breakers > 0)
    };
    let mut edges: Vec<usize> = (0..material.scenario.edges.len()).filter(has).collect();
    edges.sort_by(|&a, &b| open_share(material, b).total_cmp(&open_share(material, a)));
    edges.truncate(BARS_MAX);
    edges
}

/// Share of calling processes whose breaker was open, mean over windows and replications.
fn open_share(material: &Material<'_>, edge: usize) -> f64 {
    let gauges = || {
        material
            .outcomes
            .iter()
            .flat_map(|o| &o.windows)
            .map(|w| w.edges[edge])
    };
    let all: f64 = gauges().map(|g| f64::from(g.breakers)).sum();
    gauges().map(|g| f64::from(g.breakers_open)).sum::<f64>() / all.max(1.0)
}

fn title(material: &Material<'_>, edges: &[usize]) -> String {
    let Some(&worst) = edges.first() else {
        return "No circuit breaker in this scenario".into();
    };
    let name = arrow(material, worst);
    match open_share(material, worst) {
        0.0 => "No circuit breaker opened".into(),
        share => format!(
            "The breakers of {name} were open {} of the time",
            number::share(share)
        ),
    }
}

fn arrow(material: &Material<'_>, edge: usize) -> String {
    wording::arrow(material.scenario, &material.scenario.edges[edge])
}

fn goodput(material: &Material<'_>, panel: &mut Panel, picture: &mut Picture) {
    let (scenario, outcomes) = (material.scenario, material.outcomes);
    let top = top_edges(scenario);
    let line = |name: &str, colour, dashed, points: Vec<Spread>| Series {
        name: name.into(),
        note: String::new(),
        colour,
        dashed,
        points,
    };
    let per_second = |n: u64, w: &sim::metrics::Window| {
        let seconds = w.end.since(w.start).as_secs_f64();
        (seconds > 0.0).then(|| n as f64 / seconds)
    };
    let offered = line(
        "offered load",
        theme::OFFERED,
        true,
        over_time(outcomes, |_, w| {
            per_second(top_calls(scenario, &w.counts.edges), w)
        }),
    );
    let good = line(
        "goodput",
        theme::GOODPUT,
        false,
        over_time(outcomes, |_, w| {
            per_second(top.iter().map(|&e| w.counts.edges[e].ok).sum(), w)
        }),
    );
    panel.y = Axis::from_zero(
        "calls per second",
        largest([&offered.points, &good.points]),
        3,
    );
    material.shade_trigger(picture, panel);
    panel.y_axis(picture);
    panel.series(picture, &offered);
    panel.series(picture, &good);
    material.mark_faults(picture, panel, true);
    panel.names(picture, &[&offered, &good]);
}

fn bar(
    material: &Material<'_>,
    panel: &Panel,
    picture: &mut Picture,
    edge: usize,
    (top, bottom): (f64, f64),
) {
    let share = |pick: fn(&EdgeGauge) -> u32| {
        over_time(material.outcomes, |_, w| {
            let gauge = &w.edges[edge];
            (gauge.breakers > 0).then(|| f64::from(pick(gauge)) / f64::from(gauge.breakers))
        })
    };
    let (open, half_open) = (share(|g| g.breakers_open), share(|g| g.breakers_half_open));
    picture.rect(CLOSED, (panel.left, top), (panel.right, bottom));
    let x = |x: f64| panel.at((x, 0.0)).0;
    let y = |share: f64| top + (bottom - top) * share;
    let step = open
        .get(1)
        .map_or(panel.x.to, |second| second.x - open[0].x);
    for (open, half_open) in open.iter().zip(&half_open) {
        let (from, to) = (x(open.x - step / 2.0), x(open.x + step / 2.0));
        let (a, b) = (open.mean.unwrap_or(0.0), half_open.mean.unwrap_or(0.0));
        if a > 0.0 {
            picture.rect(OPEN, (from, y(0.0)), (to, y(a)));
        }
        if b > 0.0 {
            picture.rect(HALF_OPEN, (from, y(a)), (to, y(a + b)));
        }
    }
    let middle = (top + bottom) / 2.0;
    let name = Text::new(
        (panel.left - 12.0, middle + 0.36 * theme::TICK),
        theme::TICK,
        shortened(&arrow(material, edge), panel.left - 20.0, theme::TICK, true),
    );
    picture.text(name.bold().anchored(Anchor::End));
    let words = format!("open {}", number::share(open_share(material, edge)));
    let value = Text::new(
        (panel.right + 12.0, middle + 0.36 * theme::TICK),
        theme::TICK,
        words,
    );
    picture.text(value.coloured(OPEN.mixed(theme::INK, 0.25)).bold());
}

fn legend(picture: &mut Picture, left: f64, y: f64) {
    let mut x = left;
    let title =
        Text::new((x, y), theme::TICK, "breakers of calling processes:").coloured(theme::MUTED);
    x = title.bounds().1 + 14.0;
    picture.text(title);
    for (colour, words) in [(OPEN, "open"), (HALF_OPEN, "half-open"), (CLOSED, "closed")] {
        picture.rect(colour, (x, y - 11.0), (x + 14.0, y + 2.0));
        let text = Text::new((x + 20.0, y), theme::TICK, words).coloured(theme::MUTED);
        x = text.bounds().1 + 20.0;
        picture.text(text);
    }
}
