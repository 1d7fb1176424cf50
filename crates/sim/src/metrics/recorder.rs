//! How counts that only grow become windows and totals.

use seawall::Time;

use super::counts::Counts;
use super::log::Log;
use super::traffic::{ClientCount, EdgeCount, ServiceCount};
use super::window::{EdgeGauge, ServiceGauge, Window, WindowLatency};

/// Remembers what had been counted at the instants that matter; everything reported is a difference.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    /// When measuring began, and what had been counted then.
    pub(crate) measured_from: Time,
    at_warmup: Counts,
    pub(crate) measured_to: Time,
    at_end: Option<Counts>,
    /// When the open window began, and what had been counted then.
    window_from: Time,
    at_window: Counts,
    pub(crate) windows: Vec<Window>,
    /// Single calls and jobs, for those who asked.
    pub(crate) log: Option<Log>,
}

/// What there is to say about a window beyond its counts.
pub(crate) struct WindowState {
    pub(crate) latency: Vec<Option<WindowLatency>>,
    pub(crate) edges: Vec<EdgeGauge>,
    pub(crate) services: Vec<ServiceGauge>,
}

impl Recorder {
    /// `counts`: everything at zero.
    pub(crate) fn new(counts: Counts) -> Self {
        Recorder {
            measured_from: Time::ZERO,
            at_warmup: counts.clone(),
            measured_to: Time::ZERO,
            at_end: None,
            window_from: Time::ZERO,
            at_window: counts,
            windows: Vec::new(),
            log: None,
        }
    }

    /// What the windows take.
    pub(crate) fn bytes(&self) -> usize {
        let Some(window) = self.windows.last() else {
            return 0;
        };
        let of_edge = size_of::<EdgeCount>() + size_of::<EdgeGauge>();
        let of_edge = of_edge + size_of::<Option<WindowLatency>>();
        let of_service = size_of::<ServiceCount>() + size_of::<ServiceGauge>();
        let counts = &window.counts;
        let one = size_of::<Window>()
            + counts.edges.len() * of_edge
            + counts.services.len() * of_service
            + counts.clients.len() * size_of::<ClientCount>();
        self.windows.len() * one
    }

    /// Totals start here: what was seen before does not count.
    pub(crate) fn begin_measuring(&mut self, now: Time, counts: Counts) {
        self.measured_from = now;
        self.at_warmup = counts;
    }

    /// Totals per time end here; what ends later still ends up in what was counted `drained`.
    pub(crate) fn end_measuring(&mut self, now: Time, counts: Counts) {
        self.measured_to = now;
        self.at_end = Some(counts);
    }

    pub(crate) fn close_window(&mut self, now: Time, counts: Counts, state: WindowState) {
        self.windows.push(Window {
            start: self.window_from,
            end: now,
            counts: counts.since(&self.at_window),
            latency: state.latency,
            edges: state.edges,
            services: state.services,
        });
        self.window_from = now;
        self.at_window = counts;
    }

    /// Counted while measuring, and counted until the calls begun meanwhile had ended.
    pub(crate) fn totals(&self, counts: &Counts) -> (Counts, Counts) {
        let at_end = self.at_end.as_ref().unwrap_or(counts);
        (at_end.since(&self.at_warmup), counts.since(&self.at_warmup))
    }
}
