//! Measuring: windows, the end of the warm-up, the end of arrivals, and what is left behind.

use seawall::Time;

use super::World;
use super::effects::EffectsState;
use super::service::ServiceState;
use crate::event::{Occasion, Rare};
use crate::metrics::{Counts, EdgeCount, Ended, Outcome, ServiceGauge, WindowState};
use crate::queue::Rank;

impl World {
    /// Brings every time integral up to now.
    pub(super) fn settle(&mut self) {
        for service in &mut self.services {
            service.settle(self.now);
        }
        for edge in &mut self.edges {
            edge.settle(&self.engines);
        }
    }

    /// Everything counted so far.
    pub(super) fn counts(&mut self) -> Counts {
        self.settle();
        let effects = self.effects.as_deref();
        let (effects, keys) = effects.map(EffectsState::counts).unwrap_or_default();
        let answers = self.fallbacks.as_ref().map(|state| state.count.clone());
        let answers = answers.unwrap_or_default();
        let now = self.now;
        let passages = self.passages.as_deref_mut();
        let (passages, pools) = passages.map(|state| state.counts(now)).unwrap_or_default();
        let credentials = self.credentials.as_ref().map(|state| state.counts());
        Counts {
            clients: self.clients.iter().map(|c| c.count.clone()).collect(),
            services: self
                .services
                .iter()
                .map(|s| s.meter.count.clone())
                .collect(),
            edges: self.edges.iter().map(|e| e.meter.count.clone()).collect(),
            effects,
            keys,
            answers,
            passages,
            pools,
            credentials: credentials.unwrap_or_default(),
            caches: self
                .caches
                .as_ref()
                .map_or(Vec::new(), |state| state.counts()),
            sessions: (self.sessions.as_ref()).map_or(Vec::new(), |state| state.counts(now)),
            messages: (self.messages.as_ref()).map_or(Vec::new(), |state| state.counts(now)),
            shared: self
                .coalescing
                .as_ref()
                .map_or(Vec::new(), |state| state.count.clone()),
        }
    }

    pub(super) fn end_warmup(&mut self) {
        let counts = self.counts();
        self.recorder.begin_measuring(self.now, counts);
        for edge in &mut self.edges {
            edge.meter.forget_latency();
        }
        for service in &mut self.services {
            service.meter.forget_sojourn();
        }
    }

    pub(super) fn close_window(&mut self) {
        let counts = self.counts();
        self.record_window(counts);
        self.limit_memory();
        let next = self.now.after(self.scenario.run.window);
        if next < Time::ZERO.after(self.scenario.run.duration) {
            self.queue
                .push(next, Rank::First, Rare::event(Occasion::WindowCloses, 0));
        }
    }

    pub(super) fn stop_arrivals(&mut self) {
        self.open = false;
        let counts = self.counts();
        self.recorder.end_measuring(self.now, counts.clone());
        self.record_window(counts);
    }

    pub(super) fn record_window(&mut self, counts: Counts) {
        let state = WindowState {
            latency: self
                .edges
                .iter_mut()
                .map(|e| e.meter.close_window())
                .collect(),
            edges: self.edge_gauges(),
            services: self.services.iter_mut().map(ServiceState::gauge).collect(),
        };
        self.recorder.close_window(self.now, counts, state);
    }

    pub(super) fn outcome(mut self, ended: Ended) -> Outcome {
        let ledger = self.take_ledger();
        let counts = self.counts();
        let (totals, drained) = self.recorder.totals(&counts);
        let recorder = self.recorder;
        Outcome {
            seed: self.seed,
            ended,
            measured_from: recorder.measured_from,
            measured_to: recorder.measured_to,
            totals,
            drained,
            windows: recorder.windows,
            open: counts.edges.iter().map(EdgeCount::open_calls).collect(),
            latency: (self.edges.into_iter())
                .map(|e| e.meter.into_latency())
                .collect(),
            sojourn: (self.services.into_iter())
                .map(|s| s.meter.into_sojourn())
                .collect(),
            events: self.events,
            trajectory: self.trajectory,
            calls_in_flight_max: self.calls_in_flight_max,
            log: recorder.log,
            ledger,
        }
    }
}

impl ServiceState {
    fn gauge(&mut self) -> ServiceGauge {
        let gauge = ServiceGauge {
            queue: self.queued.count(),
            queue_max: self.queued_max,
            workers_busy: self.busy.count(),
            workers: (!self.unlimited).then_some(self.workers.count()),
        };
        self.queued_max = self.queued.count();
        gauge
    }
}
