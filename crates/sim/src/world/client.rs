//! Clients: what starts an iteration, and how one ends.

use seawall::Time;

use super::World;
use super::task::{Root, Task};
use crate::arrivals;
use crate::event::Event;
use crate::queue::Rank;
use crate::rng::{Purpose, Stream};
use crate::scenario::model::{Client, Source};

/// A client population while it runs.
#[derive(Clone, Debug)]
pub(super) struct ClientState {
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
}

impl ClientState {
    pub(super) fn new(client: &Client, seed: u64) -> Self {
        let stream = |purpose| Stream::new(seed, purpose, &client.name);
        ClientState {
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
        }
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
                    self.queue
                        .push(at, Rank::Normal, Event::Iterate { client, instance });
                }
            }
        }
    }

    fn schedule_arrival(&mut self, client: u32, at: Option<Time>) {
        if let Some(at) = at {
            let epoch = self.clients[client as usize].epoch;
            self.queue
                .push(at, Rank::Normal, Event::Arrive { client, epoch });
        }
    }

    pub(super) fn on_arrive(&mut self, client: u32, epoch: u32) {
        let now = self.now;
        let state = &mut self.clients[client as usize];
        if !self.open || epoch != state.epoch {
            return;
        }
        let instances = u64::from(self.scenario.clients[client as usize].instances);
        let instance = if instances > 1 {
            state.assign.below(instances) as u32
        } else {
            0
        };
        let next = state
            .source
            .as_mut()
            .and_then(|s| s.next(now, &mut state.arrivals));
        self.schedule_arrival(client, next);
        self.begin_iteration(client, instance);
    }

    /// Multiplies the arrival rate of an open client from now on. A closed client has no rate.
    pub(super) fn set_load_factor(&mut self, client: u32, factor: f64) {
        let now = self.now;
        let state = &mut self.clients[client as usize];
        if let Some(source) = &mut state.source {
            state.epoch += 1;
            let next = source.set_factor(now, factor, &mut state.arrivals);
            self.schedule_arrival(client, next);
        }
    }

    pub(super) fn begin_iteration(&mut self, client: u32, instance: u32) {
        if !self.open {
            return;
        }
        self.iterations_open += 1;
        self.recorder.counts.clients[client as usize].iterations += 1;
        let operations = &self.scenario.clients[client as usize].operations;
        let operation = match operations.len() {
            1 => 0,
            _ => {
                let mut left = self.clients[client as usize].assign.unit_open();
                operations
                    .iter()
                    .position(|o| {
                        left -= o.weight;
                        left <= 0.0
                    })
                    .unwrap_or(operations.len() - 1)
            }
        };
        let entry = operations[operation].entry;
        let task = self
            .tasks
            .insert(Task::root(Root::Iteration { client, instance }, entry));
        self.run_task(task);
    }

    /// An iteration's program is over.
    pub(super) fn end_iteration(&mut self, client: u32, instance: u32, ok: bool) {
        self.iterations_open -= 1;
        let count = &mut self.recorder.counts.clients[client as usize];
        match ok {
            true => count.iterations_ok += 1,
            false => count.iterations_failed += 1,
        }
        if let Source::Loop { .. } = self.scenario.clients[client as usize].source {
            self.soon.push_back(Event::Iterate { client, instance });
        }
    }
}
