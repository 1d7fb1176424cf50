//! Plots: from outcomes to pictures to files.

pub mod amplification;
pub mod axis;
pub mod breakers;
pub mod font;
pub mod heatmap;
pub mod latency;
pub mod lines;
pub mod load;
pub mod material;
pub mod over_time;
pub mod paint;
pub mod panel;
pub mod picture;
pub mod queues;
pub mod sheet;
pub mod theme;

#[cfg(test)]
mod tests {
    use sim::metrics::Outcome;
    use sim::scenario::Scenario;

    use super::material::Material;
    use super::picture::{Mark, Picture};
    use super::theme;
    use crate::report::folder::PLOTS;
    use crate::sample;

    fn pictures(scenario: &Scenario, outcomes: &[Outcome]) -> Vec<(&'static str, Picture)> {
        let material = Material {
            scenario,
            outcomes,
            finding: "Retries keep the API down: goodput is 11 % of the load four minutes after",
            setup: "a sample · 5 min simulated · seed 7",
            origin: "retrystorm · models/sample.yaml",
        };
        PLOTS
            .iter()
            .map(|plot| (plot.name, (plot.draw)(&material)))
            .collect()
    }

    fn check(scenario: &Scenario, outcomes: &[Outcome]) {
        for (name, picture) in pictures(scenario, outcomes) {
            let bounds: Vec<_> = picture.texts().map(|t| (t.bounds(), &t.text)).collect();
            for (i, ((left, right, top, bottom), text)) in bounds.iter().enumerate() {
                let inside = *left >= 0.0
                    && *right <= theme::WIDTH
                    && *top >= 0.0
                    && *bottom <= theme::HEIGHT;
                assert!(inside, "{name}: {text:?} leaves the sheet");
                for ((l, r, t, b), other) in &bounds[..i] {
                    let apart = right <= l || r <= left || bottom <= t || b <= top;
                    assert!(apart, "{name}: {text:?} and {other:?} overlap");
                }
            }
            for mark in &picture.marks {
                let points = match mark {
                    Mark::Line(_, points) | Mark::Area { points, .. } => points.as_slice(),
                    Mark::Dot { at, .. } => std::slice::from_ref(at),
                    Mark::Text(_) => &[],
                };
                for (x, y) in points {
                    let inside =
                        (0.0..=theme::WIDTH).contains(x) && (0.0..=theme::HEIGHT).contains(y);
                    assert!(inside, "{name}: a mark at {x}, {y}");
                }
            }
        }
    }

    #[test]
    fn nothing_overlaps_or_leaves_the_sheet() {
        let scenario = sample::scenario();
        for amplification in [1, 4, 48] {
            for replications in [1, 3] {
                let outcomes: Vec<_> = (0..replications)
                    .map(|seed| sample::outcome(seed, amplification))
                    .collect();
                check(&scenario, &outcomes);
            }
        }
    }

    #[test]
    fn no_data_is_said_and_not_drawn() {
        let mut scenario = sample::scenario();
        scenario.faults.clear();
        let mut outcome = sample::outcome(1, 4);
        outcome.drained = outcome.drained.since(&outcome.drained);
        for window in &mut outcome.windows {
            window.counts = window.counts.since(&window.counts);
            window
                .edges
                .iter_mut()
                .for_each(|gauge| *gauge = Default::default());
            window
                .services
                .iter_mut()
                .for_each(|gauge| *gauge = Default::default());
        }
        for latency in &mut outcome.latency {
            latency.calls.reset();
            latency.ok.reset();
            latency.attempts.reset();
        }
        let outcomes = [outcome];
        check(&scenario, &outcomes);
        for (name, picture) in pictures(&scenario, &outcomes) {
            let said = picture
                .texts()
                .any(|t| t.text.contains("no data") || t.text.contains("Nobody"));
            assert!(said, "{name} says nothing about having nothing to show");
        }
    }

    #[test]
    fn the_same_outcome_makes_the_same_picture() {
        let scenario = sample::scenario();
        let outcomes = [sample::outcome(1, 4)];
        let bytes = || -> Vec<_> {
            pictures(&scenario, &outcomes)
                .into_iter()
                .map(|(_, picture)| super::paint::svg(&picture))
                .collect()
        };
        assert_eq!(bytes(), bytes());
    }
}
