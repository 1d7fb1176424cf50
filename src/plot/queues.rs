//! Jobs waiting and workers in use over time, one column of small panels per service.

use super::axis::Axis;
use super::material::Material;
use super::over_time::{largest, over_time};
use super::panel::{Panel, Series};
use super::picture::{Anchor, Picture, Stroke, Text};
use super::sheet::{Space, sheet, shortened};
use super::theme;
use crate::number;

/// As many services as fit side by side.
const COLUMNS_MAX: usize = 4;

/// For the services with the longest queues: jobs waiting above, workers in use below.
#[must_use]
pub fn queues(material: &Material<'_>) -> Picture {
    let services = chosen(material);
    let (mut picture, space) = sheet(&material.heading(title(material, &services)));
    if services.is_empty() {
        column(material, space, 0.0, 1)
            .0
            .no_data(&mut picture, "the scenario has no service");
        return picture;
    }
    for (i, &service) in services.iter().enumerate() {
        draw(
            material,
            &mut picture,
            space,
            i as f64,
            services.len(),
            service,
        );
    }
    picture
}

/// The services with the longest queues, in the order of the scenario.
fn chosen(material: &Material<'_>) -> Vec<usize> {
    let mut services: Vec<usize> = (0..material.scenario.services.len()).collect();
    services.sort_by_key(|&s| std::cmp::Reverse(longest(material, s)));
    services.truncate(COLUMNS_MAX);
    services.sort_unstable();
    services
}

fn longest(material: &Material<'_>, service: usize) -> u64 {
    let windows = material.outcomes.iter().flat_map(|o| &o.windows);
    windows
        .map(|w| w.services[service].queue_max)
        .max()
        .unwrap_or(0)
}

fn title(material: &Material<'_>, services: &[usize]) -> String {
    let Some(&worst) = services.iter().max_by_key(|&&s| longest(material, s)) else {
        return "No queue to look at".into();
    };
    let (name, most) = (
        &material.scenario.services[worst].name,
        longest(material, worst),
    );
    let at_end = material
        .outcomes
        .iter()
        .filter_map(|o| o.windows.last())
        .map(|w| w.services[worst].queue)
        .max()
        .unwrap_or(0);
    match (most, at_end) {
        (0, _) => "Nobody had to wait at any service".into(),
        (most, 0) => format!(
            "Up to {} jobs waited at {name}; at the end none did",
            number::count(most)
        ),
        (most, end) => {
            let (most, end) = (number::count(most), number::count(end));
            format!("Up to {most} jobs waited at {name}, {end} still at the end")
        }
    }
}

/// The two panels of column `i` of `n`, without axes.
fn column(material: &Material<'_>, space: Space, i: f64, n: usize) -> (Panel, Panel) {
    let width = (space.right - space.left + 30.0) / n as f64;
    let (left, right) = (
        space.left + i * width + 58.0,
        space.left + (i + 1.0) * width - 34.0,
    );
    let top = space.top + 58.0;
    let bottom = space.bottom - 52.0;
    let middle = top + (bottom - top) * 0.56;
    let x = Axis::time(material.duration(), if n > 1 { 3 } else { 6 });
    let y = Axis::from_zero("", 1.0, 2);
    let upper = Panel {
        left,
        right,
        top,
        bottom: middle - 26.0,
        x: x.clone(),
        y: y.clone(),
    };
    let lower = Panel {
        left,
        right,
        top: middle + 26.0,
        bottom,
        x,
        y,
    };
    (upper, lower)
}

fn draw(
    material: &Material<'_>,
    picture: &mut Picture,
    space: Space,
    i: f64,
    n: usize,
    service: usize,
) {
    let model = &material.scenario.services[service];
    let (mut upper, mut lower) = column(material, space, i, n);
    let name = Text::new(
        (upper.left - 6.0, upper.top - 38.0),
        theme::LABEL,
        shortened(
            &model.name,
            upper.right - upper.left + 20.0,
            theme::LABEL,
            true,
        ),
    );
    picture.text(name.bold());

    let line = |colour, dashed, points| Series {
        name: String::new(),
        note: String::new(),
        colour,
        dashed,
        points,
    };
    let waiting = line(
        theme::QUEUE,
        false,
        over_time(material.outcomes, |_, w| {
            Some(w.services[service].queue as f64)
        }),
    );
    upper.y = Axis::from_zero("jobs waiting", largest([&waiting.points]), 4);
    material.shade_trigger(picture, &upper);
    upper.y_axis(picture);
    upper.series(picture, &waiting);
    material.mark_faults(picture, &upper, false);

    let busy = line(
        theme::NEUTRAL.mixed(theme::INK, 0.15),
        false,
        over_time(material.outcomes, |_, w| {
            Some(w.services[service].workers_busy as f64)
        }),
    );
    let limited = model.concurrency.is_some();
    let there = line(
        theme::MUTED,
        true,
        over_time(material.outcomes, |_, w| {
            w.services[service].workers.map(|workers| workers as f64)
        }),
    );
    let title = if limited {
        "workers in use (dashed: all)"
    } else {
        "jobs in service (no limit)"
    };
    lower.y = Axis::from_zero(title, largest([&busy.points, &there.points]), 3);
    material.shade_trigger(picture, &lower);
    lower.axes(picture);
    lower.series(picture, &busy);
    lower.series(picture, &there);
    material.mark_faults(picture, &lower, false);
    if let Some(capacity) = model.queue.capacity {
        let all = f64::from(capacity) * f64::from(model.replicas);
        if all <= upper.y.to {
            let (_, y) = upper.at((0.0, all));
            picture.line(
                Stroke::dashed(theme::MUTED, 1.6),
                [(upper.left, y), (upper.right, y)],
            );
            let text =
                Text::new((upper.right, y - 6.0), theme::FOOTER, "full").coloured(theme::MUTED);
            picture.text(text.anchored(Anchor::End));
        }
    }
}
