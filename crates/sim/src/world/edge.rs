//! Edges: one caller's calls to one service, under one policy; an engine for each calling process.

use seawall::{Span, Time};

use super::rollout::{Earlier, Rollout};
use super::{TaskId, World};
use crate::event::Event;
use crate::metrics::{EdgeGauge, EdgeMeter, Exchange, Said};
use crate::queue::{EventQueue, Lane, Rank};
use crate::rng::{Purpose, Stream};
use crate::scenario::model::{Edge, FaultKind, Scenario};

/// An edge while it runs.
#[derive(Clone, Debug)]
pub(super) struct EdgeState {
    /// The engine of process 0; process `n` has the `n`-th after it.
    pub(super) first_engine: u32,
    engines: u32,
    /// Backoff jitter.
    pub(super) jitter: Stream,
    pub(super) link: Stream,
    loss: Stream,
    /// Lanes for the constant waits its policy asks for again and again.
    timers: [Option<(Span, Lane)>; 2],
    /// Whether its policy hedges.
    pub(super) hedges: bool,
    /// What has changed, if its policy ever did.
    pub(super) rollout: Option<Box<Rollout>>,
    /// What engines had counted whose processes have died.
    retired: EngineCount,
    pub(super) meter: EdgeMeter,
}

/// What only engines count.
#[derive(Clone, Copy, Debug, Default)]
struct EngineCount {
    openings: u64,
    refusals_retried: u64,
    hedges: u64,
    beyond_cap: u64,
    attempts: u64,
    failed: u64,
}

impl EngineCount {
    /// With what `engine` has counted.
    fn and(self, engine: &seawall::Client) -> EngineCount {
        let stats = engine.stats();
        EngineCount {
            openings: self.openings + engine.breaker_openings(),
            refusals_retried: self.refusals_retried + stats.refusals_retried,
            hedges: self.hedges + stats.hedges,
            beyond_cap: self.beyond_cap + stats.beyond_cap,
            attempts: self.attempts + stats.attempts,
            failed: self.failed + stats.attempt_failed.iter().sum::<u64>(),
        }
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
        EdgeState {
            first_engine: first_engine as u32,
            engines: scenario.processes(edge.caller),
            jitter: Stream::new(seed, Purpose::Jitter, &name),
            link: Stream::new(seed, Purpose::Link, &name),
            loss: Stream::new(seed, Purpose::Loss, &name),
            timers: [timer(spec.attempt_timeout), timer(spec.deadline.limit)],
            hedges: spec.hedge.is_some() || may_hedge(scenario, edge.policy),
            rollout: None,
            retired: EngineCount::default(),
            meter: EdgeMeter::new(),
        }
    }

    /// Draws whether a message is lost that is with this probability.
    #[inline]
    pub(super) fn loses(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.loss.bernoulli(probability)
    }

    /// Everything its engines have counted.
    fn of_engines(&self, engines: &[seawall::Client]) -> EngineCount {
        let first = self.first_engine as usize;
        let current = engines[first..first + self.engines as usize].iter();
        let earlier = self.earlier().map(|kept| &engines[kept.engine as usize]);
        current.chain(earlier).fold(self.retired, EngineCount::and)
    }

    /// Processes that call along it.
    pub(super) fn processes(&self) -> u32 {
        self.engines
    }

    /// Engines that were replaced by a change of policy, and that calls begun earlier still have.
    fn earlier(&self) -> impl Iterator<Item = &Earlier> {
        self.rollout.iter().flat_map(|rollout| &rollout.earlier)
    }

    /// The process that an engine belongs to, or did before its policy was changed.
    pub(super) fn process_of(&self, engine: u32) -> u32 {
        let process = engine.wrapping_sub(self.first_engine);
        if process < self.engines {
            return process;
        }
        let kept = self.earlier().find(|kept| kept.engine == engine);
        kept.map_or(0, |kept| kept.process)
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

    /// Attempts that its engines sent, and that failed.
    pub(super) fn attempts_of_engines(&self, engines: &[seawall::Client]) -> (u64, u64) {
        let all = self.of_engines(engines);
        (all.attempts, all.failed)
    }

    /// Keeps what `engine` has counted: its process has died.
    pub(super) fn retire(&mut self, engine: &seawall::Client) {
        self.retired = self.retired.and(engine);
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

/// Whether a change puts a policy that hedges into the place of `policy`.
fn may_hedge(scenario: &Scenario, policy: u32) -> bool {
    let hedges = |to: u32| scenario.policies[to as usize].policy.spec().hedge.is_some();
    let kinds = scenario.faults.iter().map(|fault| &fault.kind);
    kinds.into_iter().any(|kind| {
        matches!(*kind, FaultKind::ChangePolicy { policy: p, to, .. } if p == policy && hedges(to))
    })
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

    /// Whether retries under a policy are switched off now.
    pub(super) fn switched_off(&self, policy: u32) -> bool {
        let faults = self.scenario.faults.iter().zip(&self.active);
        let mut active = faults.filter(|(_, active)| **active).map(|(f, _)| &f.kind);
        active.any(|kind| matches!(kind, FaultKind::KillSwitch { policy: p } if *p == policy))
    }

    /// Switches retries off (or on again) for everybody under a policy, calls that were begun before it was changed among them.
    pub(super) fn set_kill_switch(&mut self, policy: u32, on: bool) {
        for edge in 0..self.edges.len() {
            for kept in self.edges[edge]
                .earlier()
                .filter(|kept| kept.policy == policy)
            {
                self.engines[kept.engine as usize].set_kill_switch(on);
            }
            for process in 0..self.edges[edge].processes() {
                if self.policy_of(edge, process) != policy {
                    continue;
                }
                let first = self.edges[edge].first_engine;
                self.engines[(first + process) as usize].set_kill_switch(on);
                if let Some(log) = &mut self.recorder.log
                    && !log.ends_only
                {
                    log.exchanges.push(Exchange {
                        at: self.now,
                        edge: edge as u32,
                        process,
                        call: None,
                        said: Said::KillSwitch(on),
                    });
                }
            }
        }
    }
}
