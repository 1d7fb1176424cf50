//! One world: its state, and the loop that makes time pass.
//!
//! [`World::run`] takes the earliest event, handles it, then handles everything that follows from it
//! in the same instant without taking any time (`soon`), then takes the next. Each kind of event has
//! one handler, in the room of what it happens to: [`client`], [`call`], [`service`], [`task`], [`fault`].

mod audit;
mod call;
mod client;
mod fault;
mod service;
mod task;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use seawall::{Span, Time};

use crate::arena::{Arena, Id};
use crate::event::Event;
use crate::law::Law;
use crate::metrics::{Ended, Log, Outcome, Recorder};
use crate::queue::{EventQueue, Lane, Rank};
use crate::scenario::model::{Caller, Scenario};

use call::{Call, EdgeState};
use client::ClientState;
use service::{Job, ServiceState};
use task::Task;

pub(crate) type CallId = Id<Call>;
pub(crate) type JobId = Id<Job>;
pub(crate) type TaskId = Id<Task>;

/// Runs `scenario` once.
///
/// # Panics
/// When a conservation law is broken after the run: that is a bug in this crate, and the message says
/// which law, where, and with which seed.
#[must_use]
pub fn run(scenario: &Arc<Scenario>, seed: u64) -> Outcome {
    World::new(Arc::clone(scenario), seed).run()
}

/// A running world. A clone continues on its own from the same instant with the same draws.
#[derive(Clone, Debug)]
pub struct World {
    scenario: Arc<Scenario>,
    seed: u64,
    now: Time,
    queue: EventQueue<Event>,
    /// What happens next in this very instant.
    soon: VecDeque<Event>,
    tasks: Arena<Task>,
    calls: Arena<Call>,
    jobs: Arena<Job>,
    /// One policy engine per edge and calling process, edge by edge.
    engines: Vec<seawall::Client>,
    edges: Vec<EdgeState>,
    clients: Vec<ClientState>,
    services: Vec<ServiceState>,
    /// Lanes of `scenario.code.laws` that are constant.
    law_lanes: Vec<Option<Lane>>,
    /// Lanes of `scenario.links` whose delay is constant; `None` inside for no delay at all.
    link_ways: Vec<Way>,
    recorder: Recorder,
    /// Which faults are active, by index.
    active: Vec<bool>,
    /// Iterations of clients that have begun and not ended.
    iterations_open: u64,
    /// Whether new iterations may begin.
    open: bool,
    /// A limit that was reached while an event was handled.
    stop: Option<Ended>,
    calls_in_flight_max: u64,
    events: u64,
    trajectory: u64,
}

/// How long a link takes, as the queue sees it.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// No time at all: the far end is reached in the same instant.
    Instant,
    /// Always the same.
    Constant(Lane),
    /// Drawn each time.
    Random,
}

impl World {
    /// The world at time zero.
    #[must_use]
    pub fn new(scenario: Arc<Scenario>, seed: u64) -> World {
        let mut queue = EventQueue::new();
        let law_lanes = scenario
            .code
            .laws
            .iter()
            .map(|law| match law {
                Law::Constant(span) => Some(queue.lane(*span, Rank::Normal)),
                _ => None,
            })
            .collect();
        let link_ways = scenario
            .links
            .iter()
            .map(|link| match link.delay {
                Law::Constant(Span::ZERO) => Way::Instant,
                Law::Constant(span) => Way::Constant(queue.lane(span, Rank::Normal)),
                _ => Way::Random,
            })
            .collect();
        let (mut engines, mut edges) = (Vec::new(), Vec::new());
        for (index, edge) in scenario.edges.iter().enumerate() {
            let processes = match edge.caller {
                Caller::Client(i) => scenario.clients[i as usize].instances,
                Caller::Service(i) => scenario.services[i as usize].replicas,
            };
            let policy = &scenario.policies[edge.policy as usize].policy;
            edges.push(EdgeState::new(
                &scenario,
                index,
                engines.len(),
                seed,
                &mut queue,
            ));
            engines
                .extend((0..processes).map(|_| seawall::Client::new(policy.clone(), Time::ZERO)));
        }
        let mut world = World {
            seed,
            now: Time::ZERO,
            soon: VecDeque::new(),
            tasks: Arena::new(),
            calls: Arena::new(),
            jobs: Arena::new(),
            engines,
            edges,
            clients: scenario
                .clients
                .iter()
                .map(|c| ClientState::new(c, seed))
                .collect(),
            services: scenario
                .services
                .iter()
                .map(|s| ServiceState::new(s, seed))
                .collect(),
            law_lanes,
            link_ways,
            recorder: Recorder::new(&scenario),
            active: vec![false; scenario.faults.len()],
            iterations_open: 0,
            open: true,
            stop: None,
            calls_in_flight_max: 0,
            events: 0,
            trajectory: seed,
            queue,
            scenario,
        };
        world.schedule_the_known();
        world
    }

    /// The same world, keeping a [`Log`] of single calls and jobs.
    #[must_use]
    pub fn with_log(mut self) -> World {
        self.recorder.log = Some(Log::default());
        self
    }

    /// Everything whose instant is known from the start.
    fn schedule_the_known(&mut self) {
        let scenario = Arc::clone(&self.scenario);
        let run = &scenario.run;
        for (i, fault) in (0u32..).zip(&scenario.faults) {
            self.queue
                .push(fault.at, Rank::First, Event::FaultBegins(i));
            if let Some(until) = fault.until {
                self.queue.push(until, Rank::First, Event::FaultEnds(i));
            }
        }
        if run.warmup > Span::ZERO {
            self.queue
                .push(Time::ZERO.after(run.warmup), Rank::First, Event::WarmupEnds);
        }
        self.queue.push(
            Time::ZERO.after(run.duration),
            Rank::First,
            Event::ArrivalsEnd,
        );
        if run.window < run.duration {
            self.queue.push(
                Time::ZERO.after(run.window),
                Rank::First,
                Event::WindowCloses,
            );
        }
        for client in 0..scenario.clients.len() as u32 {
            self.open_source(client);
        }
    }

    /// Runs to the end and says what happened.
    ///
    /// # Panics
    /// When a conservation law is broken; see [`run`].
    #[must_use]
    pub fn run(mut self) -> Outcome {
        let ended = self.run_until(Time::MAX).unwrap_or(Ended::Completed);
        if self.open {
            self.stop_arrivals();
        }
        self.audit();
        self.outcome(ended)
    }

    /// Lets time pass up to and including `until`. `None` when it got there with the world still running.
    pub fn run_until(&mut self, until: Time) -> Option<Ended> {
        let limits = self.scenario.run.limits;
        let last = Time::ZERO
            .after(self.scenario.run.duration)
            .after(self.scenario.run.drain);
        let until = until.min(last);
        loop {
            if self.events >= limits.events {
                return Some(Ended::EventLimit);
            }
            if self.calls.len() as u64 > limits.calls {
                return Some(Ended::CallLimit);
            }
            if self.stop.is_some() {
                return self.stop;
            }
            if let Some(event) = self.soon.pop_front() {
                self.handle(event);
                continue;
            }
            // Work that goes on for nobody is cut here: nobody can see what becomes of it.
            if !self.open && self.calls.len() == 0 && self.iterations_open == 0 {
                return Some(Ended::Completed);
            }
            let Some((time, event)) = self.queue.pop(until) else {
                let over = self.queue.is_empty() || until == last;
                self.now = until;
                return over.then_some(Ended::Completed);
            };
            debug_assert!(time >= self.now, "time ran back");
            self.now = time;
            self.handle(event);
        }
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        self.events += 1;
        // Multiply–rotate mixing: every event, its instant and their order leave their mark.
        self.trajectory = (self.trajectory ^ event.fingerprint() ^ self.now.0.rotate_left(20))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(29);
        match event {
            Event::Arrive { client, epoch } => self.on_arrive(client, epoch),
            Event::Iterate { client, instance } => self.begin_iteration(client, instance),
            Event::Deliver(job) => self.on_deliver(job),
            Event::Cancel(job) => self.on_cancel(job),
            Event::Answer(job) => self.on_answer(job),
            Event::Done(task) => self.on_done(task),
            Event::Timer(call) => self.on_timer(call),
            Event::Admitted(call) => self.on_admitted(call),
            Event::Dispatch { service, replica } => self.dispatch(service, replica),
            Event::FaultBegins(i) => self.fault_begins(i),
            Event::FaultEnds(i) => self.fault_ends(i),
            Event::WindowCloses => self.close_window(),
            Event::WarmupEnds => self.end_warmup(),
            Event::ArrivalsEnd => self.stop_arrivals(),
        }
    }

    /// Brings every time integral up to now.
    fn settle(&mut self) {
        for (i, service) in self.services.iter_mut().enumerate() {
            service.settle(self.now, &mut self.recorder.counts.services[i]);
        }
    }

    fn end_warmup(&mut self) {
        self.settle();
        self.recorder.begin_measuring(self.now);
    }

    fn close_window(&mut self) {
        self.settle();
        self.record_window();
        let next = self.now.after(self.scenario.run.window);
        if next < Time::ZERO.after(self.scenario.run.duration) {
            self.queue.push(next, Rank::First, Event::WindowCloses);
        }
    }

    fn stop_arrivals(&mut self) {
        self.open = false;
        self.settle();
        self.record_window();
        self.recorder.end_measuring(self.now);
    }

    fn record_window(&mut self) {
        let edges = self.edge_gauges();
        let services = self.services.iter_mut().map(ServiceState::gauge).collect();
        self.recorder.close_window(self.now, edges, services);
    }

    fn outcome(self, ended: Ended) -> Outcome {
        let mut open = vec![0; self.edges.len()];
        for (_, call) in self.calls.iter() {
            open[call.edge as usize] += 1;
        }
        Outcome {
            open,
            events: self.events,
            trajectory: self.trajectory,
            calls_in_flight_max: self.calls_in_flight_max,
            ..self.recorder.into_outcome(self.seed, ended)
        }
    }
}
