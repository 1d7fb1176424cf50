//! What some services do beyond workers behind a waiting room. A service without any of it has no
//! [`BehaviourState`]; each hook in the ordinary handlers asks for that first, and nothing else.

mod line;
mod sharing;
mod waiting;
mod work;

use seawall::Time;
use seawall::shed::CodelState;

use super::World;
use crate::event::Event;
use crate::rng::{Purpose, Stream};
use crate::scenario::model::{Behaviour, Service, Waiting};

pub(super) use line::Line;
use sharing::Shared;

/// The state of everything of a service that is not ordinary.
#[derive(Clone, Debug)]
pub(super) struct BehaviourState {
    waiting: Waiting,
    patience: Stream,
    replicas: Vec<ReplicaState>,
}

/// The same of one replica.
#[derive(Clone, Debug)]
struct ReplicaState {
    codel: Option<CodelState>,
    shared: Option<Shared>,
}

/// Something that a service has planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tick {
    pub(crate) service: u32,
    /// The lower 24 bits; above them, what.
    packed: u32,
}

/// What a service plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Plan {
    /// A task of those that share a replica may be done.
    Shared,
}

impl Plan {
    const ALL: [Plan; 1] = [Plan::Shared];
}

impl Tick {
    const BITS: u32 = 24;

    fn new(plan: Plan, service: u32, replica: u32) -> Tick {
        Tick {
            service,
            packed: (plan as u32) << Self::BITS | replica,
        }
    }

    fn plan(self) -> Plan {
        Plan::ALL[(self.packed >> Self::BITS) as usize]
    }

    fn replica(self) -> u32 {
        self.packed & ((1 << Self::BITS) - 1)
    }

    pub(crate) fn bits(self) -> u64 {
        u64::from(self.service) << 32 | u64::from(self.packed)
    }
}

impl BehaviourState {
    /// All its generators.
    pub(super) fn streams(&self) -> [(Purpose, &Stream); 1] {
        [(Purpose::Patience, &self.patience)]
    }

    pub(super) fn new(service: &Service, seed: u64) -> Option<Box<BehaviourState>> {
        let spec: &Behaviour = service.behaviour.as_deref()?;
        let replica = |_| ReplicaState {
            codel: (spec.waiting.codel.as_ref()).map(|codel| CodelState::new(codel, Time::ZERO)),
            shared: spec.sharing.map(Shared::new),
        };
        Some(Box::new(BehaviourState {
            waiting: spec.waiting.clone(),
            patience: Stream::new(seed, Purpose::Patience, &service.name),
            replicas: (0..service.replicas).map(replica).collect(),
        }))
    }
}

impl World {
    /// Something comes up that a service has planned.
    #[cold]
    #[inline(never)]
    pub(super) fn on_tick(&mut self, tick: Tick) -> Option<Event> {
        let (service, replica) = (tick.service, tick.replica());
        match tick.plan() {
            Plan::Shared => self.on_shared(service, replica),
        }
    }
}
