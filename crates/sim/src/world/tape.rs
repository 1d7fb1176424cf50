//! The draw tape: every random number of a run, with the instant it was drawn at and what for.
//!
//! Two runs that ought to be equal and are not differ first in one draw; their tapes say in which. Nothing is
//! recorded while a world runs: after each instant the tape compares every stream with its copy from before and
//! draws from the copy until it has caught up. A run that nobody asks for a tape of therefore pays nothing.

use std::collections::VecDeque;
use std::sync::Arc;

use seawall::{Entropy as _, Time};

use super::World;
use crate::rng::{Purpose, Stream};
use crate::scenario::model::Scenario;

/// One random number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Its place on the tape, from 1. Draws of one instant are in the order of their streams.
    pub number: u64,
    /// When it was drawn.
    pub at: Time,
    /// What for.
    pub purpose: Purpose,
    /// By whom: a client, a service, or an edge (`caller → service`, with its policy).
    pub of: Arc<str>,
    /// The 64 bits.
    pub value: u64,
}

/// The draws of one run, in order. The world runs as far as the tape is read.
#[derive(Debug)]
pub struct Tape {
    world: World,
    names: Vec<Arc<str>>,
    /// Every stream as it was after the last instant.
    before: Vec<Stream>,
    pending: VecDeque<Draw>,
    number: u64,
    /// Whether the world has come to its end.
    over: bool,
}

impl Tape {
    /// The tape of `scenario` with `seed`.
    #[must_use]
    pub fn new(scenario: &Arc<Scenario>, seed: u64) -> Tape {
        let world = World::new(Arc::clone(scenario), seed);
        let names = names(scenario);
        let fresh = |((purpose, _), name): ((Purpose, &Stream), &Arc<str>)| {
            Stream::new(seed, purpose, name)
        };
        let before = world.streams().zip(&names).map(fresh).collect();
        let mut tape = Tape {
            world,
            names,
            before,
            pending: VecDeque::new(),
            number: 0,
            over: false,
        };
        // What was drawn while the world was made.
        tape.catch_up();
        tape
    }

    /// Puts what was drawn since the last time on the tape.
    fn catch_up(&mut self) {
        let streams = self.world.streams().zip(&self.names);
        for ((now, name), before) in streams.zip(&mut self.before) {
            let (purpose, now) = now;
            while before != now {
                self.number += 1;
                self.pending.push_back(Draw {
                    number: self.number,
                    at: self.world.now,
                    purpose,
                    of: Arc::clone(name),
                    value: before.next_u64(),
                });
            }
        }
    }
}

impl Iterator for Tape {
    type Item = Draw;

    fn next(&mut self) -> Option<Draw> {
        while self.pending.is_empty() && !self.over {
            let next = self.world.next_instant();
            self.over = self.world.run_until(next).is_some() || next == Time::MAX;
            self.catch_up();
        }
        self.pending.pop_front()
    }
}

/// Names in the order of [`World::streams`].
fn names(scenario: &Scenario) -> Vec<Arc<str>> {
    let repeated = |name: &str, times: usize| vec![Arc::<str>::from(name); times];
    let clients = scenario.clients.iter();
    let services = scenario.services.iter();
    let edges = (0..scenario.edges.len()).map(|edge| scenario.edge_stream_name(edge));
    clients
        .flat_map(|client| repeated(&client.name, super::client::STREAMS))
        .chain(services.flat_map(|service| repeated(&service.name, super::service::STREAMS)))
        .chain(edges.flat_map(|name| repeated(&name, super::edge::STREAMS)))
        .collect()
}

impl World {
    /// Every generator there is, with what it is drawn for, in an order that the scenario alone decides.
    fn streams(&self) -> impl Iterator<Item = (Purpose, &Stream)> {
        (self.clients.iter().flat_map(|client| client.streams()))
            .chain(self.services.iter().flat_map(|service| service.streams()))
            .chain(self.edges.iter().flat_map(|edge| edge.streams()))
    }

    /// The instant of what comes next; [`Time::MAX`] when nothing does.
    fn next_instant(&self) -> Time {
        match self.soon.is_empty() {
            true => self.queue.next_time().unwrap_or(Time::MAX),
            false => self.now,
        }
    }
}
