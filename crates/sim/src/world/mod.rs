//! One world: its state, and the loop that makes time pass.
//!
//! [`World::run`] takes the earliest event, handles it, then handles everything that follows from it
//! in the same instant without taking any time (`soon`), then takes the next. Each kind of event has
//! one handler, in the room of what it happens to: [`client`], [`call`], [`job`], [`task`], [`fault`].
//!
//! Handlers do not call each other. One after which something is to be done at once answers with that
//! event, and the loop goes on with it: nothing is nested, however many layers a scenario has, and each
//! handler is compiled into the loop once. Such a follow-up is part of its event; `soon` is for what must
//! wait its turn.

mod answer;
mod attempt;
mod audit;
mod balance;
mod begin;
mod behaviour;
mod cache;
mod call;
mod client;
mod coalesce;
mod credential;
mod departure;
mod door;
mod edge;
mod effects;
mod failing;
mod fallback;
mod fault;
mod hedge;
mod index;
mod job;
mod length;
mod limit;
mod measure;
mod messages;
mod passage;
mod pool;
mod record;
mod replica;
mod rollout;
mod service;
mod session;
mod site;
mod tape;
mod task;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use seawall::{Span, Time};

use crate::arena::{Arena, Id};
use crate::event::{Event, Occasion, Rare};
use crate::metrics::{Counts, Ended, Outcome, Recorder};
use crate::queue::{EventQueue, Rank};
use crate::scenario::model::Scenario;
use crate::step::Instr;

pub(crate) use behaviour::Tick;
use cache::CacheState;
use client::ClientState;
use coalesce::CoalesceState;
use credential::CredentialState;
use edge::EdgeState;
use effects::EffectsState;
use fallback::FallbackState;
use hedge::Hedged;
use length::Length;
use limit::Watch;
pub(crate) use messages::MessageId;
use messages::MessagesState;
use passage::PassageState;
pub(crate) use passage::TripId;
use service::ServiceState;
use session::SessionsState;
use site::Site;
use task::Task;

pub use tape::{Draw, Tape};

pub(crate) type TaskId = Id<Task>;

/// A longer chain of follow-ups is counted as several events, so that a storm that takes no time meets
/// the limit on events.
const FOLLOW_UPS_MAX: u32 = 100;

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
    /// What each `call` step needs to know.
    sites: Vec<Site>,
    /// All programs: `scenario.code.instrs`, at hand.
    program: Box<[Instr]>,
    /// One policy engine per edge and calling process, edge by edge.
    engines: Vec<seawall::Client>,
    edges: Vec<EdgeState>,
    hedged: Hedged,
    clients: Vec<ClientState>,
    services: Vec<ServiceState>,
    /// `scenario.code.laws`, at hand.
    laws: Box<[Length]>,
    recorder: Recorder,
    /// What callers are not told, where there is anything.
    effects: Option<Box<EffectsState>>,
    /// What programs get where calls fail, where there is anything.
    fallbacks: Option<Box<FallbackState>>,
    /// Ways of attempts that have more to them than a link, where there are any.
    passages: Option<Box<PassageState>>,
    /// Tokens that attempts need, where they do.
    credentials: Option<Box<CredentialState>>,
    /// Calls that may share one, where there are any.
    coalescing: Option<Box<CoalesceState>>,
    /// Caches with contents, where there are any.
    caches: Option<Box<CacheState>>,
    /// Messages that are kept, where any are.
    messages: Option<Box<MessagesState>>,
    /// Sessions that clients hold, where any do.
    sessions: Option<Box<SessionsState>>,
    /// Whether somebody is asked before a call begins: fallbacks have permits, and calls may share one.
    asked_first: bool,
    /// How many more follow-ups of the event being handled are part of it. What a handler does at once that might
    /// have been a follow-up counts as one, so that the limit does not depend on it.
    follow_ups_left: u32,
    /// Whether calls and attempts are looked at by others than those concerned: effects, or a log.
    looked_at: bool,
    /// Whether there is more to an answer that comes home than what it says: effects, or sessions.
    hears_more: bool,
    /// Whether there is more to the end of a call than that its task goes on: effects, or fallbacks.
    concluded: bool,
    /// Which faults are active, by index.
    active: Vec<bool>,
    /// Iterations of clients that have begun and not ended.
    iterations_open: u64,
    /// Whether new iterations may begin.
    open: bool,
    /// A limit that was reached while an event was handled.
    stop: Option<Ended>,
    watch: Watch,
    calls_in_flight: u64,
    calls_in_flight_max: u64,
    events: u64,
    trajectory: u64,
}

impl World {
    /// The world at time zero.
    #[must_use]
    pub fn new(scenario: Arc<Scenario>, seed: u64) -> World {
        let mut queue = EventQueue::new();
        let laws = (scenario.code.laws.iter())
            .map(|law| Length::new(law, &mut queue))
            .collect();
        let (mut engines, mut edges) = (Vec::new(), Vec::new());
        for (index, edge) in scenario.edges.iter().enumerate() {
            let processes = scenario.processes(edge.caller);
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
        let sites = scenario
            .sites
            .iter()
            .enumerate()
            .map(|(index, site)| {
                let first_engine = edges[site.edge as usize].first_engine;
                Site::new(&scenario, index, first_engine, &mut queue)
            })
            .collect();
        let effects = EffectsState::new(&scenario, engines.len());
        let fallbacks = FallbackState::new(&scenario, engines.len());
        let passages = PassageState::new(&scenario, seed, &mut queue);
        let coalescing = CoalesceState::new(&scenario, seed);
        let sessions = SessionsState::new(&scenario);
        let mut world = World {
            seed,
            now: Time::ZERO,
            soon: VecDeque::new(),
            tasks: Arena::new(),
            sites,
            program: scenario.code.instrs.clone().into_boxed_slice(),
            engines,
            edges,
            hedged: Hedged::default(),
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
            laws,
            recorder: Recorder::new(Counts::zero(&scenario)),
            follow_ups_left: 0,
            looked_at: effects.is_some(),
            hears_more: effects.is_some() || sessions.is_some(),
            concluded: effects.is_some() || fallbacks.is_some() || coalescing.is_some(),
            effects,
            passages,
            credentials: CredentialState::new(&scenario, seed),
            caches: CacheState::new(&scenario, seed),
            messages: MessagesState::new(&scenario, seed),
            sessions,
            asked_first: fallbacks.is_some() || coalescing.is_some(),
            fallbacks,
            coalescing,
            active: vec![false; scenario.faults.len()],
            iterations_open: 0,
            open: true,
            stop: None,
            watch: Watch::new(scenario.run.limits.standstill),
            calls_in_flight: 0,
            calls_in_flight_max: 0,
            events: 0,
            trajectory: seed,
            queue,
            scenario,
        };
        world.mark_scripts();
        world.mark_token_checks();
        world.schedule_the_known();
        world
    }

    /// Everything whose instant is known from the start.
    fn schedule_the_known(&mut self) {
        let scenario = Arc::clone(&self.scenario);
        let run = &scenario.run;
        for (i, fault) in (0u32..).zip(&scenario.faults) {
            self.queue
                .push(fault.at, Rank::First, Rare::event(Occasion::FaultBegins, i));
            if let Some(until) = fault.until {
                self.queue
                    .push(until, Rank::First, Rare::event(Occasion::FaultEnds, i));
            }
        }
        if run.warmup > Span::ZERO {
            self.queue.push(
                Time::ZERO.after(run.warmup),
                Rank::First,
                Rare::event(Occasion::WarmupEnds, 0),
            );
        }
        self.queue.push(
            Time::ZERO.after(run.duration),
            Rank::First,
            Rare::event(Occasion::ArrivalsEnd, 0),
        );
        if run.window < run.duration {
            self.queue.push(
                Time::ZERO.after(run.window),
                Rank::First,
                Rare::event(Occasion::WindowCloses, 0),
            );
        }
        self.plan_behaviours();
        self.watch_warm_connections();
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
        self.settle_effects();
        self.audit();
        self.outcome(ended)
    }

    /// Lets time pass up to and including `until`. `None` when it got there with the world still running.
    pub fn run_until(&mut self, until: Time) -> Option<Ended> {
        self.run_for(until, u64::MAX)
    }

    /// Ends the run here, with what was computed kept.
    pub fn interrupt(&mut self) {
        self.stop.get_or_insert(Ended::Interrupted);
    }

    /// Where in simulated time it is.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Lets time pass up to and including `until`, but handles no more than `events`. `None` when it got to either
    /// with the world still running.
    pub fn run_for(&mut self, until: Time, events: u64) -> Option<Ended> {
        let enough = self.events.saturating_add(events);
        let mut pause = self.events_until_a_look().min(enough);
        let last = Time::ZERO
            .after(self.scenario.run.duration)
            .after(self.scenario.run.drain);
        let until = until.min(last);
        loop {
            if self.events >= pause {
                self.limit_events();
                if self.events >= enough && self.stop.is_none() {
                    return None;
                }
                pause = self.events_until_a_look().min(enough);
            }
            if self.stop.is_some() {
                return self.stop;
            }
            // `handle` is compiled into this place alone.
            let event = if let Some(event) = self.soon.pop_front() {
                event
            } else {
                // Work that goes on for nobody is cut here: nobody can see what becomes of it.
                if !self.open && self.nothing_is_under_way() {
                    return Some(Ended::Completed);
                }
                let Some((time, event)) = self.queue.pop(until) else {
                    let over = self.queue.is_empty() || until == last;
                    self.now = until;
                    return over.then_some(Ended::Completed);
                };
                debug_assert!(time >= self.now, "time ran back");
                self.now = time;
                event
            };
            self.handle(event);
        }
    }

    /// Whether nobody waits for anything any more, and no message is left.
    #[cold]
    fn nothing_is_under_way(&self) -> bool {
        let kept = self.messages.as_ref();
        self.calls_in_flight == 0
            && self.iterations_open == 0
            && kept.is_none_or(|messages| messages.is_empty())
    }

    /// Handles an event, and the one that follows from it at once, and so on.
    #[inline(always)]
    fn handle(&mut self, event: Event) {
        self.events += 1;
        // Multiply–rotate mixing: every event, its instant and their order leave their mark.
        self.trajectory = (self.trajectory ^ event.fingerprint() ^ self.now.0.rotate_left(20))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(29);
        let mut event = event;
        self.follow_ups_left = FOLLOW_UPS_MAX;
        loop {
            self.follow_ups_left -= 1;
            let Some(next) = self.handle_alone(event) else {
                return;
            };
            if self.follow_ups_left == 0 {
                self.soon.push_front(next);
                return;
            }
            event = next;
        }
    }

    /// What follows from an event.
    #[inline(always)]
    fn handle_alone(&mut self, event: Event) -> Option<Event> {
        match event {
            Event::Arrive(which) => self.on_arrive(which.first(), which.second()),
            Event::Iterate(which) => self.on_iterate(which.first(), which.second()),
            Event::Worked(task) => self.on_worked(task),
            Event::Fail(task) => self.on_fail(task),
            Event::Timer(task) => self.on_timer(task),
            Event::Deliver(job) => self.on_deliver(job),
            Event::Answer(job) => self.on_answer(job),
            Event::Cancel(job) => self.on_cancel(job),
            Event::Dispatch(place) => self.dispatch(place.first(), place.second()),
            Event::WaitedEnough(job) => self.on_waited_enough(job),
            Event::Tick(tick) => self.on_tick(tick),
            Event::Leg(trip) => self.on_leg(trip),
            Event::WaitedForConnection(trip) => self.on_waited_for_connection(trip),
            Event::IdleConnections(pool) => {
                self.on_idle_connections(pool as u32);
                None
            }
            Event::Session(task) => self.on_session(task),
            Event::Message(message) => {
                self.on_message(message);
                None
            }
            Event::Rare(rare) => self.handle_rare(rare),
            Event::Poll(task) => self.drive(task),
            Event::Resume(task) => self.run_program(task),
        }
    }

    #[cold]
    fn handle_rare(&mut self, event: Rare) -> Option<Event> {
        let fault = event.fault();
        match event.occasion() {
            Occasion::FaultBegins => self.fault_begins(fault),
            Occasion::FaultEnds => self.fault_ends(fault),
            Occasion::WindowCloses => self.close_window(),
            Occasion::WarmupEnds => self.end_warmup(),
            Occasion::ArrivalsEnd => self.stop_arrivals(),
            Occasion::RollsOut => self.roll_out(fault),
        }
        None
    }
}
