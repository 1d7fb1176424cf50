//! Clients: what starts an iteration, and how one ends.

use seawall::Time;

use super::task::{Task, What};
use super::{TaskId, World};
use crate::arrivals;
use crate::event::{Event, Pair};
use crate::metrics::ClientCount;
use crate::queue::Rank;
use crate::rng::{Purpose, Stream};
use crate::scenario::model::{Client, Source};
use crate::step::Pc;

/// A client population while it runs.
#[derive(Clone, Debug)]
pub(super) struct ClientState {
    instances: u32,
    /// Of a closed client: those that go on, the first ones, and those that stand still until they may.
    going: u32,
    standing: Vec<u32>,
    /// Weight and program of each operation.
    operations: Vec<(f64, Pc)>,
    /// Arrivals from outside, for an open client.
    source: Option<arrivals::Source>,
    /// Raised when the source changes its mind, so that the arrival already scheduled is void.
    epoch: u32,
    arrivals: Stream,
    /// Which instance gets an arrival, and which operation an iteration is.
    assign: Stream,
    /// When closed instances start.
    start: Stream,
    pub(super) choose: Stream,
    /// Lengths of work and delay steps.
    pub(super) delay: Stream,
    /// Lengths of sessions.
    pub(super) session: Stream,
    pub(super) count: ClientCount,
}

impl ClientState {
    /// All its generators.
    pub(super) fn streams(&self) -> [(Purpose, &Stream); 6] {
        [
            (Purpose::Arrivals, &self.arrivals),
            (Purpose::Assign, &self.assign),
            (Purpose::Start, &self.start),
            (Purpose::Choose, &self.choose),
            (Purpose::Delay, &self.delay),
            (Purpose::Session, &self.session),
        ]
    }

    pub(super) fn new(client: &Client, seed: u64) -> Self {
        let stream = |purpose| Stream::new(seed, purpose, &client.name);
        ClientState {
            instances: client.instances,
            going: client.instances,
            standing: Vec::new(),
            operations: client
                .operations
                .iter()
                .map(|o| (o.weight, o.entry))
                .collect(),
            source: match &client.source {
                Source::Open(arrivals) => Some(arrivals::Source::new(arrivals)),
                Source::Loop { .. } => None,
            },
            epoch: 0,
            arrivals: stream(Purpose::Arrivals),
            assign: stream(Purpose::Assign),
            start: stream(Purpose::Start),
            choose: stream(Purpose::Choose),
            delay: stream(Purpose::Delay),
            session: stream(Purpose::Session),
            count: ClientCount::default(),
        }
    }

    /// The instance that an arrival goes to.
    #[inline]
    fn pick_instance(&mut self) -> u32 {
        match self.instances {
            1 => 0,
            n => self.assign.below(u64::from(n)) as u32,
        }
    }

    /// The program of a new iteration.
    #[inline]
    fn iteration(&mut self) -> Pc {
        self.count.iterations += 1;
        match self.operations[..] {
            [(_, only)] => only,
            _ => self.draw_operation(),
        }
    }

    fn draw_operation(&mut self) -> Pc {
        let mut left = self.assign.unit_open();
        let drawn = self.operations.iter().find(|(weight, _)| {
            left -= weight;
            left <= 0.0
        });
        drawn
            .unwrap_or(&self.operations[self.operations.len() - 1])
            .1
    }
}

impl World {
    /// Schedules the first arrival, or the first iteration of each closed instance.
    pub(super) fn open_source(&mut self, client: u32) {
        let state = &mut self.clients[client as usize];
        match &self.scenario.clients[client as usize].source {
            Source::Open(_) => {
                let first = state
                    .source
                    .as_mut()
                    .and_then(|s| s.first(&mut state.arrivals));
                self.schedule_arrival(client, first);
            }
            Source::Loop { start } => {
                for instance in 0..self.scenario.clients[client as usize].instances {
                    let at = Time::ZERO.after(start.sample(&mut state.start));
                    self.queue.push(
                        at,
                        Rank::Normal,
                        Event::Iterate(Pair::new(client, instance)),
                    );
                }
            }
        }
    }

    fn schedule_arrival(&mut self, client: u32, at: Option<Time>) {
        if let Some(at) = at {
            let epoch = self.clients[client as usize].epoch;
            self.queue
                .push(at, Rank::Normal, Event::Arrive(Pair::new(client, epoch)));
        }
    }

    #[inline(always)]
    pub(super) fn on_arrive(&mut self, client: u32, epoch: u32) -> Option<Event> {
        let state = &mut self.clients[client as usize];
        if !self.open || epoch != state.epoch {
            return None;
        }
        let next = (state.source.as_mut()).and_then(|s| s.next(self.now, &mut state.arrivals));
        if let Some(at) = next {
            let event = Event::Arrive(Pair::new(client, epoch));
            self.queue.push(at, Rank::Normal, event);
        }
        let instance = state.pick_instance();
        Some(Event::Resume(self.begin_iteration(client, instance)))
    }

    #[inline(always)]
    fn begin_iteration(&mut self, client: u32, instance: u32) -> TaskId {
        self.iterations_open += 1;
        let entry = self.clients[client as usize].iteration();
        let what = What::Iteration { client, instance };
        self.tasks.insert(|| Task::new(what, entry))
    }

    /// Multiplies the arrival rate of an open client from now on. A closed client has no rate: it is the share of its
    /// instances that go on, the others stand still when their iteration is over.
    pub(super) fn set_load_factor(&mut self, client: u32, factor: f64) {
        let now = self.now;
        let state = &mut self.clients[client as usize];
        if let Some(source) = &mut state.source {
            state.epoch += 1;
            let next = source.set_factor(now, factor, &mut state.arrivals);
            self.schedule_arrival(client, next);
            return;
        }
        state.going = (f64::from(state.instances) * factor + 0.5) as u32;
        let (going, queue) = (state.going, &mut self.queue);
        state.standing.retain(|&instance| {
            let goes = instance < going;
            if goes {
                // After the window that may end in this instant.
                queue.push(
                    now,
                    Rank::Normal,
                    Event::Iterate(Pair::new(client, instance)),
                );
            }
            !goes
        });
    }

    /// An instance of a closed client begins its next iteration.
    pub(super) fn on_iterate(&mut self, client: u32, instance: u32) -> Option<Event> {
        if !self.open {
            return None;
        }
        let state = &mut self.clients[client as usize];
        if instance >= state.going {
            state.standing.push(instance);
            return None;
        }
        Some(Event::Resume(self.begin_iteration(client, instance)))
    }

    /// An iteration's program is over.
    #[inline(always)]
    pub(super) fn end_iteration(&mut self, client: u32, instance: u32, ok: bool) {
        self.iterations_open -= 1;
        let state = &mut self.clients[client as usize];
        match ok {
            true => state.count.iterations_ok += 1,
            false => state.count.iterations_failed += 1,
        }
        // A closed client goes round.
        if state.source.is_none() {
            self.soon
                .push_back(Event::Iterate(Pair::new(client, instance)));
        }
    }
}
