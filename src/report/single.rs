//! Intervals of one long replication: its windows in batches.

use seawall::Span;
use sim::arrivals::Arrivals;
use sim::metrics::{Counts, Ended, Outcome, Window};
use sim::scenario::Scenario;
use sim::scenario::model::Source;

use crate::figure::column::Unit;
use crate::figure::{self, Declared, Subject};
use crate::stats::batch::{BATCHES, Batches};
use crate::stats::{Basis, Estimate};

/// Figures of a window that are states or extremes: neither adds up nor averages over batches.
const NOT_MEANS: [&str; 6] = [
    "breaker_open_share",
    "breaker_half_open_share",
    "call_p50_ms",
    "call_p99_ms",
    "call_max_ms",
    "queue_max",
];

/// The only replication of a scenario, in batches.
#[derive(Clone, Debug)]
pub struct Single<'a> {
    scenario: &'a Scenario,
    batches: Result<Vec<Window>, Basis>,
}

impl<'a> Single<'a> {
    /// Of `outcome`: its measured windows in [`BATCHES`] batches of as many whole windows, those left over at
    /// the start left out. A world that is not steady has none.
    #[must_use]
    pub fn of(scenario: &'a Scenario, outcome: &Outcome) -> Single<'a> {
        let batches = if steady(scenario) && outcome.ended == Ended::Completed {
            batches(scenario, outcome).ok_or(Basis::TooShort)
        } else {
            Err(Basis::NotSteady)
        };
        Single { scenario, batches }
    }

    /// The figures of `subject`, whose values over the whole replication are `whole`.
    #[must_use]
    pub fn estimates(&self, subject: &Subject, whole: &[Option<f64>]) -> Vec<Estimate> {
        let by_window = subject.scope.window();
        let values: Vec<Vec<Option<f64>>> = match &self.batches {
            Ok(batches) => batches
                .iter()
                .map(|batch| figure::in_window(self.scenario, batch, subject))
                .collect(),
            Err(_) => Vec::new(),
        };
        let declared = subject.scope.whole().into_iter().zip(whole);
        declared
            .map(|(figure, whole)| {
                let place = by_window.iter().position(|w| w.name == figure.name);
                let place = place.filter(|_| !NOT_MEANS.contains(&figure.name));
                let column = place.map(|i| values.iter().map(|of_batch| of_batch[i]).collect());
                self.estimate(figure, *whole, column)
            })
            .collect()
    }

    fn estimate(
        &self,
        figure: Declared,
        whole: Option<f64>,
        batches: Option<Vec<Option<f64>>>,
    ) -> Estimate {
        let Some(whole) = whole else {
            return Estimate::default();
        };
        if let Err(why) = self.batches {
            return Estimate::single(whole, why);
        }
        let Some(values) = batches else {
            return Estimate::single(whole, Basis::NotAMean);
        };
        let values: Option<Vec<f64>> = values.into_iter().collect();
        match values.as_deref().and_then(Batches::of) {
            None => Estimate::single(whole, Basis::TooShort),
            Some(batches) => {
                // What is counted adds up over batches; everything else is averaged.
                let scale = match figure.unit {
                    Unit::Count => BATCHES as f64,
                    _ => 1.0,
                };
                Estimate::of_batches(whole, batches, scale)
            }
        }
    }
}

/// Whether nothing but chance tells one part of what is measured from another. Without a warm-up the start from
/// empty is measured as well.
fn steady(scenario: &Scenario) -> bool {
    let even = |source: &Source| match source {
        Source::Open(arrivals) => {
            !matches!(arrivals, Arrivals::Profile { .. } | Arrivals::Trace(_))
        }
        Source::Loop { .. } => true,
    };
    let run = &scenario.run;
    run.warmup > Span::ZERO
        && run.trigger.is_none()
        && scenario.faults.is_empty()
        && scenario.clients.iter().all(|client| even(&client.source))
}

fn batches(scenario: &Scenario, outcome: &Outcome) -> Option<Vec<Window>> {
    let whole = |w: &&Window| {
        w.start >= outcome.measured_from && w.end.since(w.start) == scenario.run.window
    };
    let windows: Vec<&Window> = outcome.windows.iter().filter(whole).collect();
    let size = windows.len() / BATCHES;
    if size == 0 {
        return None;
    }
    let kept = &windows[windows.len() - size * BATCHES..];
    Some(kept.chunks(size).map(merged).collect())
}

/// What was counted in adjoining windows; states are those at the end, durations of single calls are not kept.
fn merged(windows: &[&Window]) -> Window {
    let (first, last) = (windows[0], windows[windows.len() - 1]);
    let mut counts: Counts = first.counts.clone();
    windows[1..]
        .iter()
        .for_each(|window| counts.add(&window.counts));
    Window {
        start: first.start,
        counts,
        latency: vec![None; last.latency.len()],
        ..last.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::figure::Scope;
    use crate::input::Input;
    use crate::report::summary::Summary;
    use crate::shipped::Folder;
    use sim::scenario::Override;

    fn scenario(model: &str, overrides: &[&str]) -> Arc<Scenario> {
        let input = Input::open(Path::new(model), Folder::Models).expect("shipped");
        let overrides = overrides
            .iter()
            .map(|o| Override::parse(o).expect("well written"));
        let loaded = input.load(&overrides.collect::<Vec<_>>());
        Arc::new(loaded.expect("right").scenario)
    }

    fn of_service(scenario: &Arc<Scenario>, seed: u64, figure: &str) -> Estimate {
        let outcomes = [sim::run(scenario, seed)];
        let summary = Summary::of(scenario, &outcomes);
        let mut services = summary.of_scope(Scope::Service);
        *services.next().expect("one service").get(figure)
    }

    /// An M/M/1 queue at half load, 4000 customers in 20 batches: the mean wait is 10 ms. 99.9 % of a
    /// binomial(100, 0.95) lie in 87..=100; what is called correlated counts by the interval it would have had.
    #[test]
    fn batch_means_of_the_kernel_cover_the_truth_as_often_as_they_say() {
        let half = [
            "clients.source.arrivals.poisson=50/s",
            "run.duration=90s",
            "run.window=1s",
            "run.warmup=10s",
            "expect=[]",
        ];
        let scenario = scenario("mm1", &half);
        let (mut covered, mut given) = (0, 0);
        for seed in 0..100 {
            let estimate = of_service(&scenario, seed, "wait_mean_ms");
            let mean = estimate.mean.expect("somebody waited");
            covered +=
                usize::from((mean - 10.0).abs() <= estimate.half_width_at(0.95).expect("batches"));
            given += usize::from(estimate.interval.is_some());
        }
        assert!((87..=100).contains(&covered), "{covered}");
        assert!(given > 85, "{given} of 100 have an interval");
    }

    #[test]
    fn a_run_that_is_too_short_has_no_interval_and_says_why() {
        let long = scenario("mm1", &["run.duration=10min", "expect=[]"]);
        // Nine minutes in windows of ten seconds: 54 windows, two in each batch.
        let estimate = of_service(&long, 1, "arrived");
        assert_eq!(estimate.basis, Basis::BatchMeans);
        // 43 200 Poisson arrivals have a standard deviation of 208, so the width is about 2 · 2.09 · 208.
        let (low, high) = estimate.interval.expect("twenty batches");
        assert!((400.0..1600.0).contains(&(high - low)), "{low} to {high}");
        assert_eq!(
            of_service(&long, 1, "sojourn_p99_ms").basis,
            Basis::NotAMean
        );
        assert_eq!(of_service(&long, 1, "queue_max").basis, Basis::NotAMean);
        let short = scenario("mm1", &["run.duration=4min", "expect=[]"]);
        assert_eq!(of_service(&short, 1, "arrived").basis, Basis::TooShort);
    }

    /// Batches of two seconds at 95 % load, where the queue takes some twenty seconds to forget.
    #[test]
    fn batches_that_are_too_short_are_noticed() {
        let busy = [
            "clients.source.arrivals.poisson=95/s",
            "run.duration=42s",
            "run.warmup=2s",
            "run.window=2s",
            "expect=[]",
        ];
        let scenario = scenario("mm1", &busy);
        let noticed = (0..40)
            .filter(|&seed| of_service(&scenario, seed, "wait_mean_ms").basis == Basis::Correlated)
            .count();
        // Independent batches would be called so in two of forty; in nine or more not once in 1000 times.
        assert!(noticed > 20, "{noticed} of 40");
    }

    #[test]
    fn a_run_that_is_disturbed_or_measured_from_empty_has_no_interval_of_its_own() {
        let disturbed = scenario("metastable", &["run.duration=100s", "expect=[]"]);
        let from_empty = scenario("mm1", &["run.duration=10min", "run.warmup=0s", "expect=[]"]);
        for world in [disturbed, from_empty] {
            assert_eq!(of_service(&world, 1, "arrived").basis, Basis::NotSteady);
        }
    }
}
