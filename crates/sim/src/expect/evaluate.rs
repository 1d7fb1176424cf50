//! Whether a run kept a promise.

use hdrhistogram::Histogram;
use seawall::Time;

use super::{Expectation, Kind, Measure, Metric, Of, Target, messages, sessions, ways};
use crate::metrics::{
    AnswerCount, Counts, EdgeCount, EffectCount, KeyCount, Outcome, ServiceCount, Window,
};
use crate::scenario::model::{Caller, Scenario};
use crate::verdict::judge;

/// Whether a run kept a promise.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// Whether it did. What cannot be said to hold does not.
    pub holds: bool,
    /// What was measured, in the unit of the metric; `None`: nothing to measure.
    pub actual: Option<f64>,
    /// The same for people.
    pub shown: String,
}

/// Checks a promise of `scenario` against one of its runs.
#[must_use]
pub fn evaluate(promise: &Expectation, scenario: &Scenario, outcome: &Outcome) -> Checked {
    let actual = measured(&promise.measure, scenario, outcome);
    let shown = match (promise.measure.metric, actual) {
        (Metric::Verdict, _) => judge(scenario, outcome).verdict.to_string(),
        (Metric::RecoveryTime, None) => "never".into(),
        (_, None) => "no data".into(),
        (metric, Some(actual)) => metric.unit().show(actual),
    };
    let holds = actual.is_some_and(|actual| promise.comparison.holds(actual, promise.value));
    Checked {
        holds,
        actual,
        shown,
    }
}

/// What was measured in `outcome`, in the unit of the metric; a verdict as its index. `None`: nothing to
/// measure.
#[must_use]
pub fn measured(measure: &Measure, scenario: &Scenario, outcome: &Outcome) -> Option<f64> {
    Measured::new(measure, scenario, outcome).actual()
}

/// What a measure is taken from.
struct Measured<'a> {
    measure: &'a Measure,
    scenario: &'a Scenario,
    outcome: &'a Outcome,
    /// The windows between `from` and `to`; `None`: the whole measured time.
    windows: Option<Vec<&'a Window>>,
    /// For shares of calls and for counts.
    counts: Counts,
    /// For rates and shares of time, over `seconds`.
    timed: Counts,
    seconds: f64,
}

impl<'a> Measured<'a> {
    fn new(measure: &'a Measure, scenario: &'a Scenario, outcome: &'a Outcome) -> Self {
        if measure.from.is_none() && measure.to.is_none() {
            let seconds = outcome
                .measured_to
                .since(outcome.measured_from)
                .as_secs_f64();
            let (counts, timed) = (outcome.drained.clone(), outcome.totals.clone());
            return Measured {
                measure,
                scenario,
                outcome,
                windows: None,
                counts,
                timed,
                seconds,
            };
        }
        let (from, to) = (
            measure.from.unwrap_or_default(),
            measure.to.unwrap_or(Time::MAX),
        );
        let between = |window: &&Window| window.start >= from && window.end <= to;
        let windows: Vec<&Window> = outcome.windows.iter().filter(between).collect();
        let mut counts = Counts::zero(scenario);
        windows.iter().for_each(|window| counts.add(&window.counts));
        let seconds = windows
            .iter()
            .map(|w| w.end.since(w.start).as_secs_f64())
            .sum();
        let timed = counts.clone();
        Measured {
            measure,
            scenario,
            outcome,
            windows: Some(windows),
            counts,
            timed,
            seconds,
        }
    }

    fn actual(&self) -> Option<f64> {
        match (self.measure.metric, self.measure.target) {
            (Metric::Verdict, _) => Some(judge(self.scenario, self.outcome).verdict.index() as f64),
            (Metric::RecoveryTime, _) => {
                let recovery = judge(self.scenario, self.outcome).verdict.recovery()?;
                Some(recovery.as_secs_f64())
            }
            (metric, target) if metric.of() == Of::Effects => Some(self.of_effects(target)),
            (metric, Target::Service(service)) if metric.of() == Of::Keys => {
                Some(self.of_keys(service))
            }
            (metric, target) if metric.of() == Of::Programs => self.of_programs(target),
            (_, Target::Service(service)) => self.of_service(service as usize),
            _ => self.of_calls(),
        }
    }

    fn answers(&self, edges: &[usize]) -> AnswerCount {
        let used = self.scenario.fallbacks.iter().flat_map(|used| &used.edges);
        let mut sum = AnswerCount::default();
        for (edge, count) in used.zip(&self.counts.answers) {
            if edges.contains(&(*edge as usize)) {
                sum.add(count);
            }
        }
        sum
    }

    fn of_programs(&self, target: Target) -> Option<f64> {
        let clients = (0..).zip(&self.counts.clients);
        let meant = clients.filter(|(index, _)| match target {
            Target::Client(client) => client == *index,
            _ => true,
        });
        let (ok, failed) = meant.fold((0, 0), |(ok, failed), (_, count)| {
            (ok + count.iterations_ok, failed + count.iterations_failed)
        });
        match self.measure.metric {
            Metric::Iterations => Some((ok + failed) as f64),
            _ => ratio(ok as f64, (ok + failed) as f64),
        }
    }

    fn of_effects(&self, target: Target) -> f64 {
        let effects = self.scenario.effects.iter().flat_map(|used| &used.effects);
        let meant = |index: u32, service: u32| match (self.measure.kind, target) {
            (Some(Kind::Effect(effect)), _) => effect == index,
            (_, Target::Service(meant)) => meant == service,
            _ => true,
        };
        let mut sum = EffectCount::default();
        for ((index, effect), count) in (0..).zip(effects).zip(&self.counts.effects) {
            if meant(index, effect.service) {
                sum.add(count);
            }
        }
        (match self.measure.metric {
            Metric::DuplicateEffects => sum.duplicates,
            Metric::LostEffects => sum.lost,
            Metric::UnknownEffects => sum.unknown,
            Metric::HiddenEffects => sum.hidden,
            Metric::HalfDoneEffects => sum.half_done,
            Metric::SkippedEffects => sum.skipped,
            _ => sum.committed,
        }) as f64
    }

    fn of_keys(&self, service: u32) -> f64 {
        let rules = self
            .scenario
            .effects
            .iter()
            .flat_map(|used| &used.rules[service as usize]);
        let mut stores: Vec<u32> = rules.filter_map(|rules| rules.store).collect();
        stores.sort_unstable();
        stores.dedup();
        let mut sum = KeyCount::default();
        stores
            .iter()
            .for_each(|&store| sum.add(&self.counts.keys[store as usize]));
        (match self.measure.metric {
            Metric::Replayed => sum.replayed,
            Metric::KeyConflicts => sum.conflicts,
            _ => sum.in_progress,
        }) as f64
    }

    /// The edges whose calls are meant.
    fn edges(&self) -> Vec<usize> {
        let meant = |index: &usize| {
            let edge = self.scenario.edges[*index];
            match self.measure.target {
                Target::Run => self.scenario.is_top(*index),
                Target::Client(client) => {
                    edge.caller == Caller::Client(client) && self.scenario.is_top(*index)
                }
                Target::Edge(caller, service) => edge.caller == caller && edge.service == service,
                Target::Service(_) => false,
            }
        };
        (0..self.scenario.edges.len()).filter(meant).collect()
    }

    fn of_calls(&self) -> Option<f64> {
        let edges = self.edges();
        if self.measure.metric == Metric::Coalesced {
            return ways::coalesced(self.scenario, &self.counts, &edges);
        }
        if self.measure.metric.of_ways() {
            let Measure { metric, kind, .. } = *self.measure;
            return ways::measured(metric, kind, self.scenario, &self.counts, &edges);
        }
        let sum = |counts: &Counts| {
            let mut sum = EdgeCount::default();
            edges.iter().for_each(|&edge| sum.add(&counts.edges[edge]));
            sum
        };
        let count = sum(&self.counts);
        let ended = count.ok + count.failed_calls();
        let per_second = |n: u64| ratio(n as f64, self.seconds);
        match self.measure.metric {
            Metric::Calls => Some(count.calls as f64),
            Metric::SuccessRate => ratio(count.ok as f64, ended as f64),
            Metric::Goodput => per_second(sum(&self.timed).ok),
            Metric::Load => per_second(sum(&self.timed).calls),
            Metric::Stopped => Some(match self.measure.kind {
                Some(Kind::Stopped(reason)) => count.stopped[reason],
                _ => count.failed_calls(),
            } as f64),
            Metric::Failures => Some(match self.measure.kind {
                Some(Kind::Failed(kind)) => count.failed[kind as usize],
                _ => count.failed.iter().sum(),
            } as f64),
            Metric::Open => Some(edges.iter().map(|&e| self.outcome.open[e]).sum::<u64>() as f64),
            Metric::Attempts => Some(count.attempts as f64),
            Metric::Retries => Some(count.retries as f64),
            Metric::Hedges => Some(count.hedges as f64),
            Metric::RefusalsRetried => Some(count.refusals_retried as f64),
            Metric::Openings => Some(count.openings as f64),
            Metric::BeyondCap => Some(count.beyond_cap as f64),
            Metric::AttemptsPerCall => ratio(count.attempts as f64, count.calls as f64),
            Metric::Mean => ratio(count.latency_ns as f64 / 1e9, ended as f64),
            Metric::BreakerOpen => self.breaker_open(&edges),
            Metric::Answers => Some(match self.measure.kind {
                Some(Kind::Source(source)) => self.answers(&edges).of(source),
                _ => self.answers(&edges).answered(),
            } as f64),
            Metric::DataAge => {
                let answers = self.answers(&edges);
                ratio(answers.age_ns as f64 / 1e9, answers.snapshot as f64)
            }
            metric => self.duration(metric, &edges),
        }
    }

    /// Over windows, the largest percentile of any window and edge: that of all of them is no larger.
    fn duration(&self, metric: Metric, edges: &[usize]) -> Option<f64> {
        let Some(windows) = &self.windows else {
            let mut all = self.outcome.latency[*edges.first()?].calls.clone();
            for &edge in &edges[1..] {
                // Both grow as needed and have the same digits.
                let _ = all.add(&self.outcome.latency[edge].calls);
            }
            return quantile(metric, &all);
        };
        let seen = windows
            .iter()
            .flat_map(|w| edges.iter().filter_map(|&edge| w.latency[edge]));
        let longest = seen.map(|latency| match metric {
            Metric::P50 => latency.p50,
            Metric::P99 => latency.p99,
            _ => latency.max,
        });
        Some(longest.max()? as f64 / 1e9)
    }

    fn breaker_open(&self, edges: &[usize]) -> Option<f64> {
        let measured: Vec<&Window> = match &self.windows {
            Some(windows) => windows.clone(),
            None => {
                let from = self.outcome.measured_from;
                self.outcome
                    .windows
                    .iter()
                    .filter(|w| w.start >= from)
                    .collect()
            }
        };
        let gauges = || {
            measured
                .iter()
                .flat_map(|w| edges.iter().map(|&edge| w.edges[edge]))
        };
        let open: f64 = gauges().map(|gauge| f64::from(gauge.breakers_open)).sum();
        ratio(open, gauges().map(|gauge| f64::from(gauge.breakers)).sum())
    }

    fn of_service(&self, index: usize) -> Option<f64> {
        let count: &ServiceCount = &self.counts.services[index];
        let timed = &self.timed.services[index];
        let nanos = self.seconds * 1e9;
        match self.measure.metric {
            Metric::Attempts => Some(count.arrived as f64),
            Metric::Retries => Some((count.arrived - count.arrived_first) as f64),
            Metric::Amplification => {
                let top = self.counts.edges.iter().enumerate();
                let top = top.filter(|(edge, _)| self.scenario.is_top(*edge));
                let calls: u64 = top.map(|(_, count)| count.calls).sum();
                ratio(count.arrived as f64, calls as f64)
            }
            Metric::Utilisation => timed.utilisation(),
            Metric::Wasted => timed.wasted_share(),
            Metric::Served => Some(count.served as f64),
            Metric::Shed => Some((count.shed_full + count.shed_expired + count.shed_waited) as f64),
            Metric::RateLimited => Some(count.rate_limited as f64),
            Metric::Unreachable => Some(count.unreachable as f64),
            Metric::Restarts => Some(count.restarts as f64),
            Metric::ProbesFailed => Some(count.probes_failed as f64),
            Metric::Lost => Some(count.lost as f64),
            Metric::Replicas => ratio(timed.replicas_ns as f64, nanos),
            Metric::Late => Some(count.late as f64),
            Metric::Cancelled => Some(count.cancelled as f64),
            Metric::QueueMean => ratio(timed.queue_ns as f64, nanos),
            Metric::QueueMax => {
                let from = self.outcome.measured_from;
                let all = || self.outcome.windows.iter().filter(move |w| w.end > from);
                let seen: Vec<&Window> = self.windows.clone().unwrap_or_else(|| all().collect());
                seen.iter()
                    .map(|w| w.services[index].queue_max)
                    .max()
                    .map(|max| max as f64)
            }
            metric if metric.of_sessions() => {
                let (counts, timed) = (&self.counts, &self.timed);
                sessions::measured(metric, self.scenario, counts, timed, index as u32)
            }
            metric if metric.of_messages() => {
                let (counts, timed) = (&self.counts, &self.timed);
                messages::measured(metric, self.scenario, counts, timed, index as u32)
            }
            metric if metric.of_caches() => {
                ways::of_caches(metric, self.scenario, &self.counts, index as u32)
            }
            metric => quantile(metric, &self.outcome.sojourn[index]),
        }
    }
}

/// In seconds.
fn quantile(metric: Metric, histogram: &Histogram<u64>) -> Option<f64> {
    if histogram.is_empty() {
        return None;
    }
    let nanos = match metric {
        Metric::Mean => return Some(histogram.mean() / 1e9),
        Metric::P50 => histogram.value_at_quantile(0.5),
        Metric::P90 => histogram.value_at_quantile(0.9),
        Metric::P99 => histogram.value_at_quantile(0.99),
        Metric::P999 => histogram.value_at_quantile(0.999),
        _ => histogram.max(),
    };
    Some(nanos as f64 / 1e9)
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}
