//! All worlds in one picture: goodput above, attempts below.

use sim::metrics::{Outcome, Window};

use super::difference::Difference;
use super::finding;
use super::run::{Comparison, Ran};
use crate::figure::{busiest_service, top_calls, top_edges};
use crate::number;
use crate::plot::axis::Axis;
use crate::plot::material::Material;
use crate::plot::over_time::{largest, over_time};
use crate::plot::paint::text_width;
use crate::plot::panel::{Panel, Series, Spread};
use crate::plot::picture::Picture;
use crate::plot::sheet::{Space, sheet};
use crate::plot::theme;

/// Room for the names at the right.
const NAMES: f64 = 230.0;

/// Goodput and attempts of every world over time, a colour for each; what is offered to the first one is dashed.
#[must_use]
pub fn picture(comparison: &Comparison, differences: &[Vec<Difference>]) -> Picture {
    let base = comparison.base();
    let title = match (&comparison.worlds[..], differences) {
        ([base, other], [only]) => finding::sentence(base, other, only),
        (worlds, _) => {
            let each = worlds.iter();
            let each = each.map(|w| format!("{}: {}", w.name, w.story.verdict().name()));
            each.collect::<Vec<_>>().join(" · ")
        }
    };
    let setup = setup(comparison);
    let origin = format!("retrystorm {}", env!("CARGO_PKG_VERSION"));
    let material = Material {
        scenario: &base.scenario,
        outcomes: &base.outcomes,
        finding: &title,
        setup: &setup,
        origin: &origin,
    };
    let (mut picture, space) = sheet(&material.heading(title.as_str()));
    let middle = (space.top + space.bottom) / 2.0;
    let above = Space {
        bottom: middle + 8.0,
        ..space
    };
    let below = Space {
        top: middle + 6.0,
        ..space
    };
    let mut goodput = lines(comparison, goodput);
    let load = over_time(&base.outcomes, |_, w| {
        rate(top_calls(&base.scenario, &w.counts.edges), w)
    });
    goodput.insert(0, series("offered", theme::MUTED, true, load));
    draw(
        &material,
        &mut picture,
        above,
        "goodput, calls per second",
        &goodput,
        false,
    );
    let title = format!("attempts per second at {}", busiest(comparison));
    draw(
        &material,
        &mut picture,
        below,
        &title,
        &lines(comparison, attempts),
        true,
    );
    picture
}

/// Duration, seeds and replications in a few words.
#[must_use]
pub fn setup(comparison: &Comparison) -> String {
    let run = &comparison.base().scenario.run;
    let duration = number::duration(run.duration.as_secs_f64());
    let seeds = &comparison.seeds;
    match (seeds.first(), seeds.last()) {
        (Some(first), Some(last)) if first != last => format!(
            "{duration} simulated · {} replications, seeds {first} to {last}",
            seeds.len()
        ),
        (Some(seed), _) => format!("{duration} simulated · seed {seed}"),
        _ => duration,
    }
}

/// The name of the service that gets most attempts; in words where it is not the same in all worlds.
#[must_use]
pub fn busiest(comparison: &Comparison) -> String {
    let name = |w: &Ran| {
        let busiest = busiest_service(&w.scenario, &w.outcomes)?;
        Some(w.scenario.services[busiest].name.clone())
    };
    let first = name(comparison.base());
    match first {
        Some(first)
            if comparison
                .worlds
                .iter()
                .all(|w| name(w).as_ref() == Some(&first)) =>
        {
            first
        }
        _ => "the busiest service".into(),
    }
}

/// Calls of clients answered well and in time, per second.
#[must_use]
pub fn goodput(world: &Ran) -> Vec<Spread> {
    let top = top_edges(&world.scenario);
    over_time(&world.outcomes, |_: &Outcome, w| {
        rate(top.iter().map(|&e| w.counts.edges[e].ok).sum(), w)
    })
}

/// Attempts at the service that gets most of them, per second.
#[must_use]
pub fn attempts(world: &Ran) -> Vec<Spread> {
    let Some(service) = busiest_service(&world.scenario, &world.outcomes) else {
        return Vec::new();
    };
    over_time(&world.outcomes, |_: &Outcome, w| {
        rate(w.counts.services[service].arrived, w)
    })
}

fn rate(n: u64, window: &Window) -> Option<f64> {
    let seconds = window.end.since(window.start).as_secs_f64();
    (seconds > 0.0).then(|| n as f64 / seconds)
}

fn lines(comparison: &Comparison, of: fn(&Ran) -> Vec<Spread>) -> Vec<Series> {
    let worlds = comparison.worlds.iter().zip(theme::SERIES);
    worlds
        .map(|(world, colour)| series(&world.name, colour, false, of(world)))
        .collect()
}

fn series(name: &str, colour: theme::Colour, dashed: bool, points: Vec<Spread>) -> Series {
    let mut shown = name.to_string();
    while text_width(&shown, theme::LABEL, true) * 1.1 > NAMES - 14.0 {
        shown.pop();
        shown.pop();
        shown.push('…');
    }
    Series {
        name: shown,
        note: String::new(),
        colour,
        dashed,
        points,
    }
}

fn draw(
    material: &Material<'_>,
    picture: &mut Picture,
    space: Space,
    title: &str,
    series: &[Series],
    lowest: bool,
) {
    let max = largest(series.iter().map(|s| &s.points));
    let panel = Panel {
        left: space.left + 62.0,
        right: space.right - NAMES,
        top: space.top + 34.0,
        bottom: space.bottom - 52.0,
        x: Axis::time(material.duration(), 6),
        y: Axis::from_zero(title, max, 3),
    };
    material.shade_trigger(picture, &panel);
    panel.y_axis(picture);
    if lowest {
        panel.x_axis(picture);
    }
    if max == 0.0 {
        panel.no_data(picture, "no call was made");
    }
    for line in series {
        panel.series(picture, line);
    }
    material.mark_faults(picture, &panel, lowest);
    panel.names(picture, &series.iter().collect::<Vec<_>>());
}
