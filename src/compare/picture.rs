//! All worlds in one picture: goodput above, attempts below.

use sim::metrics::{Outcome, Window};

use super::difference::Difference;
use super::finding;
use super::run::{Comparison, Ran};
use crate::figure::{top_calls, top_edges};
use crate::number;
use crate::plot::axis::Axis;
use crate::plot::material::Material;
use crate::plot::over_time::{largest, over_time};
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
    let mut files: Vec<&str> = comparison.worlds.iter().map(|w| w.file.as_str()).collect();
    files.dedup();
    let version = env!("CARGO_PKG_VERSION");
    let origin = format!("retrystorm {version} · {}", files.join(" · "));
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
    let service = busiest(comparison).unwrap_or_default();
    draw(
        &material,
        &mut picture,
        below,
        &format!("attempts per second at {service}"),
        &lines(comparison, |world| attempts(world, service)),
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

/// The name of the service whose attempts are shown of every world: of those that all worlds have, the one with
/// most attempts over all of them, the last one written of equals; any, if no service is in all.
#[must_use]
pub fn busiest(comparison: &Comparison) -> Option<&str> {
    let worlds = || comparison.worlds.iter();
    let named = |w: &Ran, name: &str| w.scenario.services.iter().position(|s| s.name == name);
    let attempts = |name: &str| -> u64 {
        let of = |w: &Ran| {
            let service = named(w, name)?;
            let arrived = w
                .outcomes
                .iter()
                .map(|o| o.drained.services[service].arrived);
            Some(arrived.sum::<u64>())
        };
        worlds().filter_map(of).sum()
    };
    let names = || worlds().flat_map(|w| w.scenario.services.iter().map(|s| s.name.as_str()));
    let everywhere = |name: &&str| worlds().all(|w| named(w, name).is_some());
    let in_all = names().filter(everywhere).max_by_key(|name| attempts(name));
    in_all.or_else(|| names().max_by_key(|name| attempts(name)))
}

/// Calls of clients answered well and in time, per second.
#[must_use]
pub fn goodput(world: &Ran) -> Vec<Spread> {
    let top = top_edges(&world.scenario);
    over_time(&world.outcomes, |_: &Outcome, w| {
        rate(top.iter().map(|&e| w.counts.edges[e].ok).sum(), w)
    })
}

/// Attempts at a service per second; nothing in a world without it.
#[must_use]
pub fn attempts(world: &Ran, service: &str) -> Vec<Spread> {
    let mut services = world.scenario.services.iter();
    let Some(service) = services.position(|s| s.name == service) else {
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

fn lines(comparison: &Comparison, of: impl Fn(&Ran) -> Vec<Spread>) -> Vec<Series> {
    let worlds = comparison.worlds.iter().zip(theme::SERIES);
    worlds
        .map(|(world, colour)| series(&world.name, colour, false, of(world)))
        .collect()
}

fn series(name: &str, colour: theme::Colour, dashed: bool, points: Vec<Spread>) -> Series {
    Series {
        name: name.into(),
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::report::summary::Summary;
    use crate::sample;
    use crate::story::Story;
    use crate::warmup::Warmup;

    fn world(name: &str, services: [&str; 2], attempts: u64) -> Ran {
        let mut scenario = sample::scenario();
        for (service, name) in scenario.services.iter_mut().zip(services) {
            service.name = name.into();
        }
        let outcomes = vec![sample::outcome(1, attempts)];
        let summary = Summary::of(&scenario, &outcomes);
        Ran {
            name: name.into(),
            file: format!("models/{name}.yaml"),
            hash: String::new(),
            story: Story::of(&scenario, &outcomes, &summary),
            scenario: Arc::new(scenario),
            outcomes,
        }
    }

    fn comparison(worlds: Vec<Ran>) -> Comparison {
        Comparison {
            worlds,
            seeds: vec![1],
            asked: 1,
            warmup: Warmup::Given,
        }
    }

    #[test]
    fn one_service_is_shown_of_all_worlds_and_named() {
        // `db` is the busiest in the first world and `api` in the second, but over both it is `db`.
        let both = comparison(vec![
            world("a", ["api", "db"], 48),
            world("b", ["db", "api"], 4),
        ]);
        assert_eq!(busiest(&both), Some("db"));
        assert!(both.worlds.iter().all(|w| !attempts(w, "db").is_empty()));
        // What only one world has is not compared.
        let other = comparison(vec![
            world("a", ["api", "db"], 48),
            world("b", ["api", "store"], 48),
        ]);
        assert_eq!(busiest(&other), Some("api"));
        let picture = picture(&other, &[Vec::new()]);
        let said = |words: &str| picture.texts().any(|t| t.text.contains(words));
        assert!(said("attempts per second at api"));
        assert!(said("models/a.yaml · models/b.yaml"));
        let apart = comparison(vec![
            world("a", ["api", "db"], 48),
            world("b", ["gate", "store"], 4),
        ]);
        assert_eq!(busiest(&apart), Some("db"));
        assert!(attempts(&apart.worlds[1], "db").is_empty());
    }
}
