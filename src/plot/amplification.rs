//! Attempts per logical call at each service, first attempts and retries apart.

use super::axis::Axis;
use super::material::Material;
use super::panel::Panel;
use super::picture::{Anchor, Picture, Stroke, Text};
use super::sheet::{sheet, shortened};
use super::theme;
use crate::figure::top_calls;
use crate::number;
use crate::stats::Estimate;

/// More bars than this cannot be read.
const BARS_MAX: usize = 12;
/// Room for the names at the left.
const NAMES: f64 = 210.0;

struct Bar<'a> {
    name: &'a str,
    /// Attempts per logical call.
    all: Estimate,
    /// First attempts per logical call.
    first: f64,
}

/// One bar per service from zero: the first attempts in one colour, after them the retries of the hop that leads
/// there, so that lengths can be compared. A line marks one attempt per call.
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
    let ends = |bar: &Bar<'_>| [bar.all.mean, bar.all.interval.map(|i| i.1)];
    let max = bars.iter().flat_map(ends).flatten().fold(1.0, f64::max);
    let room = space.bottom - 52.0 - (space.top + 40.0);
    let step = (room / bars.len().max(1) as f64).min(150.0);
    let panel = Panel {
        left: space.left + NAMES,
        right: space.right - 110.0,
        top: space.top + 40.0,
        bottom: space.top + 40.0 + (step * bars.len() as f64).max(160.0),
        x: Axis::from_zero("attempts per logical call at the top", max, 8).named(factor),
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
        let rect = |picture: &mut Picture, colour, from: f64, to: f64| {
            picture.rect(colour, (from, y - height / 2.0), (to, y + height / 2.0));
        };
        let (zero, first, end) = (x(0.0), x(self.first), x(all));
        rect(picture, theme::OFFERED, zero, first);
        rect(picture, theme::ATTEMPTS, first, end.max(first));
        // A bar of no length still is one.
        if end - zero < 1.5 {
            rect(picture, theme::OFFERED, zero, zero + 1.5);
        }
        let mut label_from = end;
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
        let shown = shortened(self.name, panel.left - 30.0, theme::LABEL, true);
        let name = Text::new((panel.left - 14.0, baseline), theme::LABEL, shown);
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
        let colour = if *value == 0.0 {
            theme::MUTED
        } else {
            theme::GRID
        };
        upright(panel, picture, Stroke::solid(colour, 1.0), *value);
    }
    upright(panel, picture, ONE, 1.0);
    panel.x_axis(picture);
}

/// The mark at one attempt per call.
const ONE: Stroke = Stroke::dashed(theme::MUTED, 1.6);

fn upright(panel: &Panel, picture: &mut Picture, stroke: Stroke, value: f64) {
    let (x, _) = panel.at((value, 0.0));
    picture.line(stroke, [(x, panel.top), (x, panel.bottom)]);
}

fn factor(x: f64) -> String {
    match x {
        0.0 => "0".into(),
        x => number::times(x),
    }
}

fn legend(panel: &Panel, picture: &mut Picture) {
    let y = panel.top - 18.0;
    let mut x = panel.left;
    let mut said = |picture: &mut Picture, words: &str| {
        let text = Text::new((x + 21.0, y + 1.5), theme::TICK, words).coloured(theme::MUTED);
        x = text.bounds().1 + 36.0;
        picture.text(text);
        x
    };
    let mut left = panel.left;
    for (colour, words) in [
        (theme::OFFERED, "first attempts of each call"),
        (theme::ATTEMPTS, "retries by the caller of this service"),
    ] {
        picture.rect(colour, (left, y - 11.0), (left + 14.0, y + 3.0));
        left = said(picture, words);
    }
    picture.line(ONE, [(left + 7.0, y - 13.0), (left + 7.0, y + 5.0)]);
    said(picture, "one attempt per call");
}

fn interval_words(replications: usize) -> String {
    match replications {
        0 | 1 => "one replication".into(),
        n => format!("whiskers: 95 % interval over {n} replications"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::picture::Mark;
    use crate::sample;

    fn drawn(name: &str, attempts: u64) -> Picture {
        let mut scenario = sample::scenario();
        scenario.services[1].name = name.into();
        amplification(&Material {
            scenario: &scenario,
            outcomes: &[sample::outcome(1, attempts)],
            finding: "",
            setup: "",
            origin: "",
        })
    }

    /// Left and right ends of the bars of a colour, from the top.
    fn ends(picture: &Picture, wanted: theme::Colour) -> Vec<(f64, f64)> {
        let bars = picture.marks.iter().filter_map(|mark| match mark {
            Mark::Area { points, colour, .. } if *colour == wanted => {
                Some((points[0].0, points[1].0))
            }
            _ => None,
        });
        // The first of each colour belongs to the legend.
        bars.skip(1).collect()
    }

    #[test]
    fn lengths_are_attempts_and_first_attempts_come_first() {
        for attempts in [4, 64] {
            let picture = drawn("db", attempts);
            let (first, retries) = (
                ends(&picture, theme::OFFERED),
                ends(&picture, theme::ATTEMPTS),
            );
            let one = picture.marks.iter().find_map(|mark| match mark {
                Mark::Line(stroke, points) if *stroke == ONE => Some(points[0].0),
                _ => None,
            });
            let zero = first[0].0;
            let unit = one.expect("there is a mark at one") - zero;
            assert!(unit >= 8.0, "one attempt can be seen beside {attempts}");
            for (first, retries) in first.iter().zip(&retries) {
                assert_eq!(first.0, zero, "all begin at zero");
                assert_eq!(first.1, retries.0, "retries come after first attempts");
                assert!(retries.1 >= retries.0, "no bar grows to the left");
            }
            let all = (retries[1].1 - zero) / unit;
            assert!((all / attempts as f64 - 1.0).abs() < 0.15, "{all}");
        }
    }

    #[test]
    fn a_long_name_is_shortened_and_its_number_is_not() {
        let picture = drawn("payment-authorisation-and-settlement-gateway", 4);
        let short = picture.texts().find(|t| t.text.starts_with("payment"));
        let short = short.expect("the name is there");
        assert!(short.text.ends_with('…') && short.bounds().0 >= 20.0);
        assert!(picture.texts().any(|t| t.text.ends_with('×') && t.bold));
    }
}
