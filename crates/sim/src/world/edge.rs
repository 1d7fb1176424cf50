//! Edges: one caller's calls to one service, under one policy; an engine for each calling process.

use seawall::{Span, Time};

use super::{TaskId, World};
use crate::event::Event;
use crate::metrics::{EdgeGauge, EdgeMeter, Exchange, Said};
use crate::queue::{EventQueue, Lane, Rank};
use crate::rng::{Purpose, Stream};
use crate::scenario::model::{Caller, Edge, Scenario};

/// An edge while it runs.
#[derive(Clone, Debug)]
pub(super) struct EdgeState {
    /// The engine of process 0; process `n` has the `n`-th after it.
    pub(super) first_engine: u32,
    engines: u32,
    /// Backoff jitter.
    pub(super) jitter: Stream,
    pub(super) link: Stream,
    pub(super) loss: Stream,
    /// Lanes for the constant waits its policy asks for again and again.
    timers: [Option<(Span, Lane)>; 2],
    /// Whether its policy hedges.
    pub(super) hedges: bool,
    pub(super) meter: EdgeMeter,
    /// Of engines that died with their process.
    forgotten: Counted,
}

/// What engines count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    /// Attempts sent.
    pub(super) sent: u64,
    /// Attempts that failed.
    pub(super) failed: u64,
    openings: u64,
    refusals_retried: u64,
    hedges: u64,
    beyond_cap: u64,
}

impl Counted {
    fn add(&mut self, engine: &seawall::Client) {
        let stats = engine.stats();
        self.sent += stats.attempts;
        self.failed += stats.attempt_failed.iter().sum::<u64>();
        self.openings += engine.breaker_openings();
        self.refusals_retried += stats.refusals_retried;
        self.hedges += stats.hedges;
        self.beyond_cap += stats.beyond_cap;
    }
}

impl EdgeState {
    /// All its generators.
    pub(super) fn streams(&self) -> [(Purpose, &Stream); 3] {
        [
            (Purpose::Jitter, &self.jitter),
            (Purpose::Link, &self.link),
            (Purpose::Loss, &self.loss),
        ]
    }

    pub(super) fn new(
        scenario: &Scenario,
        index: usize,
        first_engine: usize,
        seed: u64,
        queue: &mut EventQueue<Event>,
    ) -> Self {
        let edge: &Edge = &scenario.edges[index];
        let name = scenario.edge_stream_name(index);
        let spec = scenario.policies[edge.policy as usize].policy.spec();
        let mut timer = |span: Option<Span>| span.map(|s| (s, queue.lane(s, Rank::Timer)));
        let engines = match edge.caller {
            Caller::Client(i) => scenario.clients[i as usize].instances,
            Caller::Service(i) => scenario.services[i as usize].replicas,
        };
        EdgeState {
            first_engine: first_engine as u32,
            engines,
            jitter: Stream::new(seed, Purpose::Jitter, &name),
            link: Stream::new(seed, Purpose::Link, &name),
            loss: Stream::new(seed, Purpose::Loss, &name),
            timers: [timer(spec.attempt_timeout), timer(spec.deadline.limit)],
            hedges: spec.hedge.is_some(),
            meter: EdgeMeter::new(),
            forgotten: Counted::default(),
        }
    }

    /// Brings what its engines count up to now.
    pub(super) fn settle(&mut self, engines: &[seawall::Client]) {
        let all = self.of_engines(engines);
        let count = &mut self.meter.count;
        count.openings = all.openings;
        count.refusals_retried = all.refusals_retried;
        count.hedges = all.hedges;
        count.beyond_cap = all.beyond_cap;
    }

    /// What its engines counted, those included that are no more.
    pub(super) fn of_engines(&self, engines: &[seawall::Client]) -> Counted {
        let first = self.first_engine as usize;
        let mut all = self.forgotten;
        let engines = &engines[first..first + self.engines as usize];
        engines.iter().for_each(|engine| all.add(engine));
        all
    }

    /// An engine is about to be replaced.
    pub(super) fn forget(&mut self, engine: &seawall::Client) {
        self.forgotten.add(engine);
    }

    /// Has the engine of a task's call woken.
    #[inline]
    pub(super) fn set_timer(&self, id: TaskId, now: Time, at: Time, queue: &mut EventQueue<Event>) {
        let (wait, event) = (at.since(now), Event::Timer(id));
        match self.timers.iter().flatten().find(|t| t.0 == wait) {
            Some(&(_, lane)) => queue.push_lane(lane, now, event),
            None => queue.push(at, Rank::Timer, event),
        }
    }
}

impl World {
    /// State of every edge's engines now.
    pub(super) fn edge_gauges(&self) -> Vec<EdgeGauge> {
        let gauge = |edge: &EdgeState| {
            let mut gauge = EdgeGauge {
                in_flight: edge.meter.count.open_calls(),
                ..EdgeGauge::default()
            };
            let first = edge.first_engine as usize;
            for engine in &self.engines[first..first + edge.engines as usize] {
                for (_, breaker) in engine.breakers() {
                    gauge.breakers += 1;
                    match breaker.state(self.now) {
                        seawall::BreakerState::Open => gauge.breakers_open += 1,
                        seawall::BreakerState::HalfOpen => gauge.breakers_half_open += 1,
                        seawall::BreakerState::Closed => {}
                    }
                }
            }
            gauge
        };
        self.edges.iter().map(gauge).collect()
    }

    /// Switches retries off (or on again) for everybody under a policy.
    pub(super) fn set_kill_switch(&mut self, policy: u32, on: bool) {
        let edges = self.scenario.edges.iter().zip(&self.edges);
        for (index, (edge, state)) in edges.enumerate() {
            if edge.policy != policy {
                continue;
            }
            for process in 0..state.engines {
                self.engines[(state.first_engine + process) as usize].set_kill_switch(on);
                if let Some(log) = &mut self.recorder.log {
                    log.exchanges.push(Exchange {
                        at: self.now,
                        edge: index as u32,
                        process,
                        call: None,
                        said: Said::KillSwitch(on),
                    });
                }
            }
        }
    }
}
