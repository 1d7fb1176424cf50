//! Where the world writes down what happens, and how that becomes an [`Outcome`].

use hdrhistogram::Histogram;
use seawall::{Span, Time, Verdict};

use super::log::Log;
use super::outcome::{
    Counts, EdgeGauge, EdgeLatency, Ended, Outcome, ServiceGauge, Window, WindowLatency,
};
use crate::scenario::model::Scenario;

/// Significant digits of histograms over the whole run: values are exact to one part in a thousand.
const DIGITS: u8 = 3;
/// Of those over one window, which are cleared again and again.
const WINDOW_DIGITS: u8 = 2;
/// Calls with this many attempts or more share the last count.
const ATTEMPTS_MAX: usize = 128;

/// Counts as the run goes along. Counts only grow; windows and totals are differences.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    /// Since the start of the run.
    pub(crate) counts: Counts,
    /// When measuring began, and what had been counted then.
    measured_from: Time,
    at_warmup: Counts,
    measured_to: Time,
    at_end: Option<Counts>,
    /// When the open window began, and what had been counted then.
    window_from: Time,
    at_window: Counts,
    windows: Vec<Window>,
    window_latency: Vec<Histogram<u64>>,
    latency: Vec<EdgeLatency>,
    sojourn: Vec<Histogram<u64>>,
    /// Single calls and jobs, for those who asked.
    pub(crate) log: Option<Log>,
}

const GROWS: &str = "a histogram made by `new` grows as needed";

fn histogram(digits: u8) -> Histogram<u64> {
    Histogram::new(digits).expect("a valid number of digits")
}

impl EdgeLatency {
    fn new() -> Self {
        EdgeLatency {
            calls: histogram(DIGITS),
            ok: histogram(DIGITS),
            attempts: histogram(DIGITS),
            attempts_per_call: vec![0; ATTEMPTS_MAX + 1],
        }
    }
}

impl Recorder {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let edges = scenario.edges.len();
        let counts = Counts {
            clients: vec![Default::default(); scenario.clients.len()],
            services: vec![Default::default(); scenario.services.len()],
            edges: vec![Default::default(); edges],
        };
        Recorder {
            at_warmup: counts.clone(),
            at_window: counts.clone(),
            at_end: None,
            counts,
            measured_from: Time::ZERO,
            measured_to: Time::ZERO,
            window_from: Time::ZERO,
            windows: Vec::new(),
            window_latency: vec![histogram(WINDOW_DIGITS); edges],
            latency: (0..edges).map(|_| EdgeLatency::new()).collect(),
            sojourn: vec![histogram(DIGITS); scenario.services.len()],
            log: None,
        }
    }

    /// Totals start here: what was seen before does not count.
    pub(crate) fn begin_measuring(&mut self, now: Time) {
        self.measured_from = now;
        self.at_warmup = self.counts.clone();
        for latency in &mut self.latency {
            latency.calls.reset();
            latency.ok.reset();
            latency.attempts.reset();
            latency.attempts_per_call.fill(0);
        }
        for sojourn in &mut self.sojourn {
            sojourn.reset();
        }
    }

    /// Totals per time end here; what ends later still ends up in `drained`.
    pub(crate) fn end_measuring(&mut self, now: Time) {
        self.measured_to = now;
        self.at_end = Some(self.counts.clone());
    }

    #[inline]
    pub(crate) fn attempt_ended(&mut self, edge: usize, took: Span) {
        self.latency[edge].attempts.record(took.0).expect(GROWS);
    }

    #[inline]
    pub(crate) fn call_ended(&mut self, edge: usize, took: Span, verdict: &Verdict) {
        let count = &mut self.counts.edges[edge];
        count.latency_ns += u128::from(took.0);
        let latency = &mut self.latency[edge];
        match verdict.stopped {
            None => {
                count.ok += 1;
                latency.ok.record(took.0).expect(GROWS);
            }
            Some(reason) => {
                count.stopped[reason.index()] += 1;
                if let Some(kind) = verdict.last {
                    count.failed[kind as usize] += 1;
                }
            }
        }
        latency.calls.record(took.0).expect(GROWS);
        latency.attempts_per_call[(verdict.attempts as usize).min(ATTEMPTS_MAX)] += 1;
        self.window_latency[edge].record(took.0).expect(GROWS);
    }

    /// A job was answered after this long in the service.
    #[inline]
    pub(crate) fn answered(&mut self, service: usize, inside: Span) {
        self.sojourn[service].record(inside.0).expect(GROWS);
    }

    pub(crate) fn close_window(
        &mut self,
        now: Time,
        edges: Vec<EdgeGauge>,
        services: Vec<ServiceGauge>,
    ) {
        let latency = self
            .window_latency
            .iter_mut()
            .map(|h| {
                let seen = (!h.is_empty()).then(|| WindowLatency {
                    p50: h.value_at_quantile(0.5),
                    p99: h.value_at_quantile(0.99),
                    max: h.max(),
                });
                h.reset();
                seen
            })
            .collect();
        self.windows.push(Window {
            start: self.window_from,
            end: now,
            counts: self.counts.since(&self.at_window),
            latency,
            edges,
            services,
        });
        self.window_from = now;
        self.at_window.clone_from(&self.counts);
    }

    pub(crate) fn into_outcome(self, seed: u64, ended: Ended) -> Outcome {
        let at_end = self.at_end.as_ref().unwrap_or(&self.counts);
        Outcome {
            seed,
            ended,
            measured_from: self.measured_from,
            measured_to: self.measured_to,
            totals: at_end.since(&self.at_warmup),
            drained: self.counts.since(&self.at_warmup),
            windows: self.windows,
            latency: self.latency,
            sojourn: self.sojourn,
            log: self.log,
            open: Vec::new(),
            events: 0,
            trajectory: 0,
            calls_in_flight_max: 0,
        }
    }
}
