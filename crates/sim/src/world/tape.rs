//! The draw tape: every random number of a run, with the instant it was drawn at and what for.
//!
//! Two runs that ought to be equal and are not differ first in one draw; their tapes say in which. Nothing is
//! recorded while a world runs: after each instant the tape compares every stream with its copy from before and
//! draws from the copy until it has caught up. A run that nobody asks for a tape of therefore pays nothing.

use std::collections::{BTreeMap, VecDeque};
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
    /// By whom: a client, a service, a replica, an edge (`caller → service`), whoever keeps a token, or a shared step.
    pub of: Arc<str>,
    /// The 64 bits.
    pub value: u64,
}

/// Whose generator it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    Client(u32),
    Service(u32),
    /// A copy of a service.
    Replica(u32, u32),
    Edge(u32),
    /// A caller that keeps tokens.
    Keeper(u32),
    /// A step whose calls may share one.
    Shared(u32),
    /// A step that looks something up.
    Cache(u32),
}

impl Owner {
    /// The name that its streams are made from.
    fn name(self, scenario: &Scenario) -> String {
        match self {
            Owner::Client(i) => scenario.clients[i as usize].name.clone(),
            Owner::Service(i) => scenario.services[i as usize].name.clone(),
            Owner::Replica(i, replica) => {
                format!("{}#{replica}", scenario.services[i as usize].name)
            }
            Owner::Edge(i) => scenario.edge_stream_name(i as usize),
            Owner::Shared(i) => scenario.shared_name(i as usize),
            Owner::Cache(i) => scenario.cache_stream_name(i as usize),
            Owner::Keeper(i) => scenario.keeper_name(i as usize),
        }
    }
}

/// A stream as it was after the last instant.
#[derive(Debug)]
struct Followed {
    name: Arc<str>,
    stream: Stream,
}

/// The draws of one run, in order. The world runs as far as the tape is read.
#[derive(Debug)]
pub struct Tape {
    world: World,
    followed: BTreeMap<(Owner, Purpose), Followed>,
    pending: VecDeque<Draw>,
    number: u64,
    /// Whether the world has come to its end.
    over: bool,
}

impl Tape {
    /// The tape of `scenario` with `seed`.
    #[must_use]
    pub fn new(scenario: &Arc<Scenario>, seed: u64) -> Tape {
        let mut tape = Tape {
            world: World::new(Arc::clone(scenario), seed),
            followed: BTreeMap::new(),
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
        let Tape {
            world,
            followed,
            pending,
            number,
            ..
        } = self;
        for (owner, purpose, now) in world.streams() {
            // One that was not there before is followed from its seed on.
            let before = followed.entry((owner, purpose)).or_insert_with(|| {
                let name = owner.name(&world.scenario);
                let stream = Stream::new(world.seed, purpose, &name);
                let name = name.into();
                Followed { name, stream }
            });
            while before.stream != *now {
                *number += 1;
                pending.push_back(Draw {
                    number: *number,
                    at: world.now,
                    purpose,
                    of: Arc::clone(&before.name),
                    value: before.stream.next_u64(),
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

impl World {
    /// Every generator there is.
    fn streams(&self) -> impl Iterator<Item = (Owner, Purpose, &Stream)> {
        let clients = (0u32..).zip(&self.clients).flat_map(|(i, client)| {
            let streams = client.streams().into_iter();
            streams.map(move |(purpose, stream)| (Owner::Client(i), purpose, stream))
        });
        let services = (0u32..).zip(&self.services).flat_map(|(i, service)| {
            let own = (service.streams()).map(move |(p, stream)| (Owner::Service(i), p, stream));
            let replicas = (0u32..)
                .zip(&service.replicas)
                .flat_map(move |(n, replica)| {
                    let streams = replica.streams();
                    streams.map(move |(purpose, stream)| (Owner::Replica(i, n), purpose, stream))
                });
            let behaviour = service.behaviour.iter();
            let behaving = behaviour.flat_map(move |behaviour| {
                let streams = behaviour.replica_streams();
                streams.map(move |(n, purpose, stream)| (Owner::Replica(i, n), purpose, stream))
            });
            own.chain(replicas).chain(behaving)
        });
        let edges = (0u32..).zip(&self.edges).flat_map(|(i, edge)| {
            let streams = edge.streams().into_iter();
            streams.map(move |(purpose, stream)| (Owner::Edge(i), purpose, stream))
        });
        let ways = self.passages.iter().flat_map(|state| state.streams());
        let ways = ways.map(|(i, purpose, stream)| (Owner::Edge(i), purpose, stream));
        let keepers = self.credentials.iter().flat_map(|state| state.streams());
        let shared = self.coalescing.iter().flat_map(|state| state.streams());
        let shared = shared.map(|(i, purpose, stream)| (Owner::Shared(i), purpose, stream));
        let caches = self.caches.iter().flat_map(|state| state.streams());
        let caches = caches.map(|(i, purpose, stream)| (Owner::Cache(i), purpose, stream));
        let messages = self.messages.iter().flat_map(|state| state.streams());
        let messages = messages.map(|(i, purpose, stream)| (Owner::Service(i), purpose, stream));
        let keepers = keepers.map(|(i, purpose, stream)| (Owner::Keeper(i), purpose, stream));
        (clients.chain(services).chain(edges))
            .chain(ways)
            .chain(keepers)
            .chain(shared)
            .chain(caches)
            .chain(messages)
    }

    /// The instant of what comes next; [`Time::MAX`] when nothing does.
    fn next_instant(&self) -> Time {
        match self.soon.is_empty() {
            true => self.queue.next_time().unwrap_or(Time::MAX),
            false => self.now,
        }
    }
}
