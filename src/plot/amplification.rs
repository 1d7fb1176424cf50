//! Attempts per logical call at each service, first attempts and retries apart.

use super::axis::Axis;
use super::material::Material;
use super::panel::Panel;
use super::picture::{Anchor, Picture, Stroke, Text};
use super::sheet::sheet;
use super::theme;
use crate::figure::top_calls;
use crate::number;
use crate::stats::Estimate;

/// More bars than this cannot be read.
const BARS_MAX: usize = 12;

struct Bar<'a> {
    name: &'a str,
    /// Attempts per logical call.
    all: Estimate,
    /// First attempts per logical call.
    first: f64,
}

/// One bar per service on a scale of doublings: up to the first attempts in one colour, beyond them the
/// retries of the hop that leads there.
#[must_use]
pub fn amplification(material: &Material<'_>) -> Picture {
    let bars = bars(material);
    let title = match bars
        .iter()
        .max_by(|a, b| a.all.mean.partial_cmp(&b.all.mean).expect("finite"))
    {
        Some(Bar {
            name,
            all: Estimate {
                mean: Some(mean), ..
            },
            ..
        }) if *mean > 1.005 => {
            format!(
                "{name} gets {} attempts for each call at the top",
                number::plain(*mean)
            )
        }
        Some(Bar {
            name,
            all: Estimate {
                mean: Some(mean), ..
            },
            ..
        }) => {
            format!(
                "No amplification: at most {} attempts per call, at {name}",
                number::plain(*mean)
            )
        }
        _ => "No service was called".into(),
    };
    let mut heading = material.heading(title);
    heading.subtitle = format!(
        "{} · {}",
        material.setup,
        interval_words(material.outcomes.len())
    );
    let (mut picture, space) = sheet(&heading);
    let values = || {
        bars.iter()
            .flat_map(|b| [Some(b.first), b.all.mean])
            .flatten()
            .filter(|x| *x > 0.0)
    };
    let (min, max) = (values().fold(1.0, f64::min), values().fold(1.0, f64::max));
    let room = space.bottom - 52.0 - (space.top + 40.0);
    let step = (room / bars.len().max(1) as f64).min(150.0);
    let panel = Panel {
        left: space.left + 190.0,
        right: space.right - 110.0,
        top: space.top + 40.0,
        bottom: space.top + 40.0 + (step * bars.len() as f64).max(160.0),
        x: Axis::doublings("attempts per logical call at the top (doublings)", min, max),
        y: Axis::between("", 0.0, 1.0, 1),
    };
    grid(&panel, &mut picture);
    legend(&panel, &mut picture);
    if bars.is_empty() {
        panel.no_data(&mut picture, "no attempt reached a service");
    }
    for (i, bar) in bars.iter().enumerate() {
        bar.draw(
            &panel,
            &mut picture,
            panel.top + step * (i as f64 + 0.5),
            (step * 0.5).min(64.0),
        );
    }
    picture
}

fn bars<'a>(material: &Material<'a>) -> Vec<Bar<'a>> {
    let scenario = material.scenario;
    let mut bars: Vec<Bar<'a>> = Vec::new();
    for (i, service) in scenario.services.iter().enumerate() {
        let per_call = |n: fn(&sim::metrics::ServiceCount) -> u64| {
            Estimate::of(material.outcomes.iter().map(|o| {
                let calls = top_calls(scenario, &o.drained.edges);
                (calls > 0).then(|| n(&o.drained.services[i]) as f64 / calls as f64)
            }))
        };
        let (all, first) = (per_call(|c| c.arrived), per_call(|c| c.arrived_first));
        if all.mean.is_some_and(|mean| mean > 0.0) {
            bars.push(Bar {
                name: &service.name,
                all,
                first: first.mean.unwrap_or(0.0),
            });
        }
    }
    if bars.len() > BARS_MAX {
        bars.sort_by(|a, b| b.all.mean.partial_cmp(&a.all.mean).expect("finite"));
        bars.truncate(BARS_MAX);
    }
    bars
}

impl Bar<'_> {
    fn draw(&self, panel: &Panel, picture: &mut Picture, y: f64, height: f64) {
        let all = self.all.mean.unwrap_or(0.0);
        let x = |value: f64| panel.at((value, 0.0)).0;
        let one = x(1.0);
        // Bars begin at 1×: one attempt per call. Fewer go to the left.
        let (first, end) = (x(self.first.max(panel.x.from)), x(all.max(panel.x.from)));
        let rect = |picture: &mut Picture, colour, from: f64, to: f64| {
            picture.rect(colour, (from, y - height / 2.0), (to, y + height / 2.0));
        };
        rect(picture, theme::OFFERED, one.min(first), one.max(first));
        rect(picture, theme::ATTEMPTS, first, end);
        // A bar of no length still is one.
        if (end - one).abs() < 2.0 {
            rect(picture, theme::OFFERED, one - 1.5, one + 1.5);
        }
        let mut label_from = end.max(one);
        if let Some((low, high)) = self.all.interval {
            let (low, high) = (x(low), x(high));
            if high - low > 3.0 {
                let whisker = Stroke::solid(theme::INK, 1.6);
                picture.line(whisker, [(low, y), (high, y)]);
                for end in [low, high] {
                    picture.line(whisker, [(end, y - 7.0), (end, y + 7.0)]);
                }
                label_from = label_from.max(high);
            }
        }
        let baseline = y + 0.36 * theme::LABEL;
        let name = Text::new((panel.left - 14.0, baseline), theme::LABEL, self.name);
        picture.text(name.bold().anchored(Anchor::End));
        let value = Text::new(
            (label_from + 10.0, y + 0.36 * 21.0),
            21.0,
            number::times(all),
        );
        picture.text(value.bold());
    }
}

fn grid(panel: &Panel, picture: &mut Picture) {
    for (value, _) in &panel.x.ticks {
        let (x, _) = panel.at((*value, 0.0));
        let colour = if *value == 1.0 {
            theme::MUTED
        } else {
            theme::GRID
        };
        picture.line(
            Stroke::solid(colour, 1.0),
            [(x, panel.top), (x, panel.bottom)],
        );
    }
    panel.x_axis(picture);
}

fn legend(panel: &Panel, picture: &mut Picture) {
    let y = panel.top - 18.0;
    let mut x = panel.left;
    for (colour, words) in [
        (theme::OFFERED, "first attempts of each call"),
        (theme::ATTEMPTS, "retries by the caller of this service"),
    ] {
        picture.rect(colour, (x, y - 11.0), (x + 14.0, y + 3.0));
        let text = Text::new((x + 21.0, y + 1.5), theme::TICK, words).coloured(theme::MUTED);
        x = text.bounds().1 * 1.0 + 40.0;
        picture.text(text);
    }
}

fn interval_words(replications: usize) -> String {
    match replications {
        0 | 1 => "one replication".into(),
        n => format!("whiskers: 95 % interval over {n} replications"),
    }
}
