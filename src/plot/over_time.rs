//! Values of windows as series over simulated time, with their spread over replications.

use sim::metrics::{Outcome, Window};

use super::panel::Spread;

/// More points than this say nothing more on a picture this wide.
const POINTS_MAX: usize = 400;

/// One point per window, or per group of windows when there are many: the mean over replications of the
/// mean over the group, between the smallest and the largest of these means.
#[must_use]
pub fn over_time(
    outcomes: &[Outcome],
    value: impl Fn(&Outcome, &Window) -> Option<f64>,
) -> Vec<Spread> {
    let longest = outcomes.iter().map(|o| o.windows.len()).max().unwrap_or(0);
    let group = longest.div_ceil(POINTS_MAX).max(1);
    (0..longest)
        .step_by(group)
        .filter_map(|from| {
            let part = |o: &Outcome| from..(from + group).min(o.windows.len());
            let means = outcomes
                .iter()
                .filter(|o| from < o.windows.len())
                .filter_map(|o| mean(o.windows[part(o)].iter().filter_map(|w| value(o, w))));
            let means: Vec<f64> = means.collect();
            let windows = &outcomes.iter().find(|o| from < o.windows.len())?.windows;
            let last = (from + group).min(windows.len()) - 1;
            let x = (windows[from].start.0 as f64 + windows[last].end.0 as f64) / 2e9;
            Some(spread(x, &means))
        })
        .collect()
}

/// Mean, smallest and largest of `values` at `x`.
#[must_use]
pub fn spread(x: f64, values: &[f64]) -> Spread {
    Spread {
        x,
        mean: mean(values.iter().copied()),
        low: values.iter().copied().fold(f64::INFINITY, f64::min),
        high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0u32), |(sum, n), x| (sum + x, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}

/// The largest value of some series, bands included.
#[must_use]
pub fn largest<'a>(series: impl IntoIterator<Item = &'a Vec<Spread>>) -> f64 {
    let points = series.into_iter().flatten().filter(|p| p.mean.is_some());
    points.map(|p| p.high).fold(0.0, f64::max)
}
