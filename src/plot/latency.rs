//! Latency by percentile, on the axis 1/(1−p) where each further nine takes the same length.

use hdrhistogram::Histogram;
use sim::metrics::EdgeLatency;

use super::axis::Axis;
use super::material::Material;
use super::over_time::{largest, spread};
use super::panel::{Panel, Series, Spread};
use super::picture::Picture;
use super::sheet::sheet;
use super::theme::{self, Colour};
use crate::figure::calls::merge;
use crate::figure::top_edges;
use crate::number;

/// Points per decade of 1/(1−p).
const POINTS: u32 = 24;

type Pick = fn(&EdgeLatency) -> &Histogram<u64>;

/// Calls however they ended, calls that ended well, and attempts, all at the top.
#[must_use]
pub fn latency(material: &Material<'_>) -> Picture {
    let subjects: [(&str, Colour, bool, Pick); 3] = [
        ("all calls", theme::OFFERED, false, |l| &l.calls),
        ("successful calls", theme::GOODPUT, true, |l| &l.ok),
        ("attempts", theme::ATTEMPTS, false, |l| &l.attempts),
    ];
    let (lines, counts): (Vec<Series>, Vec<u64>) = subjects
        .into_iter()
        .map(|(name, colour, dashed, pick)| {
            let histograms: Vec<Histogram<u64>> = material
                .outcomes
                .iter()
                .map(|o| {
                    merge(
                        top_edges(material.scenario)
                            .iter()
                            .map(|&e| pick(&o.latency[e])),
                    )
                })
                .collect();
            let fewest = histograms.iter().map(|h| h.len()).min().unwrap_or(0);
            let points = curve(&histograms, fewest);
            (
                Series {
                    name: name.into(),
                    note: note(&histograms),
                    colour,
                    dashed,
                    points,
                },
                fewest,
            )
        })
        .unzip();
    let (mut picture, space) = sheet(&material.heading(title(material)));
    let values = || {
        lines
            .iter()
            .flat_map(|s| &s.points)
            .filter(|p| p.mean.is_some())
    };
    let (min, max) = (
        values().map(|p| p.low).fold(f64::INFINITY, f64::min),
        largest(lines.iter().map(|s| &s.points)),
    );
    let empty = max == 0.0;
    let (min, max) = if empty {
        (1e-3, 1.0)
    } else {
        (min.max(max * 1e-6), max)
    };
    let nines = libm::log10(counts.into_iter().max().unwrap_or(0).max(10) as f64).floor() as usize;
    let panel = Panel {
        left: space.left + 62.0,
        right: space.right - 190.0,
        top: space.top + 34.0,
        bottom: space.bottom - 52.0,
        x: Axis::percentiles(nines),
        y: Axis::durations("latency (log)", min, max),
    };
    panel.axes(&mut picture);
    if empty {
        panel.no_data(&mut picture, "no call ended");
    }
    for line in &lines {
        panel.series(&mut picture, line);
    }
    panel.names(&mut picture, &lines.iter().collect::<Vec<_>>());
    picture
}

/// A percentile is shown only as far out as there are observations: beyond 1 − 1/n it would repeat
/// the largest.
fn curve(histograms: &[Histogram<u64>], fewest: u64) -> Vec<Spread> {
    if fewest == 0 {
        return Vec::new();
    }
    let decades = libm::log10(fewest as f64);
    let last = (decades * f64::from(POINTS)) as u32;
    (0..=last)
        .map(|i| {
            let x = libm::exp10(f64::from(i) / f64::from(POINTS));
            let at = |h: &Histogram<u64>| h.value_at_quantile(1.0 - 1.0 / x) as f64 / 1e9;
            let values: Vec<f64> = histograms.iter().map(at).collect();
            spread(x, &values)
        })
        .collect()
}

fn note(histograms: &[Histogram<u64>]) -> String {
    let all = merge(histograms.iter());
    if all.is_empty() {
        return "none".into();
    }
    format!(
        "p99 {}",
        number::duration(all.value_at_quantile(0.99) as f64 / 1e9)
    )
}

fn title(material: &Material<'_>) -> String {
    let top = top_edges(material.scenario);
    let latencies = || {
        material
            .outcomes
            .iter()
            .flat_map(|o| top.iter().map(|&e| &o.latency[e]))
    };
    let all = merge(latencies().map(|l| &l.calls));
    if all.is_empty() {
        return "No call ended, so none has a latency".into();
    }
    let ok = latencies().map(|l| l.ok.len()).sum::<u64>() as f64 / all.len() as f64;
    let at = |q| number::duration(all.value_at_quantile(q) as f64 / 1e9);
    let (median, tail) = (at(0.5), at(0.99));
    if ok > 0.999 {
        format!("Half of the calls took {median} or less, 1 % longer than {tail}")
    } else {
        let failed = number::share(1.0 - ok);
        format!("Half of the calls took {median} or less, 1 % longer than {tail}; {failed} failed")
    }
}
