//! What some services do beyond workers behind a waiting room. A service without any of it has no
//! [`BehaviourState`]; each hook in the ordinary handlers asks for that first, and nothing else.

mod conflict;
mod consumer;
mod death;
mod deploy;
mod ejection;
mod gate;
mod line;
mod pause;
mod probe;
mod rotation;
mod scaling;
mod session;
mod sharing;
mod tick;
mod trouble;
mod waiting;
mod work;

use std::collections::BTreeMap;

use seawall::outlier::OutlierDetector;
use seawall::shed::CodelState;
use seawall::{Failure, Time};

use crate::rng::{Purpose, Stream};
use crate::scenario::conflicts::Conflicts;
use crate::scenario::model::{
    Behaviour, Memory, Pauses, Probe, ProbeKind, Restart, Service, Waiting,
};

use gate::Gate;
pub(super) use line::Line;
use probe::Asked;
use scaling::Scaler;
use sharing::Shared;
use tick::Plan;
pub(crate) use tick::Tick;

/// The state of everything of a service that is not ordinary.
#[derive(Clone, Debug)]
pub(super) struct BehaviourState {
    /// Whether what is sent to it is kept, and consumers fetch it.
    keeps: bool,
    waiting: Waiting,
    patience: Stream,
    gate: Option<Gate>,
    /// Faults that take its place, by index.
    throttles: BTreeMap<u32, Gate>,
    memory: Option<Memory>,
    restart: Restart,
    pauses: Option<Pauses>,
    /// The detector, and the share of replicas below which all are used.
    ejection: Option<(OutlierDetector, f64)>,
    probes: Vec<Probe>,
    scaler: Option<Scaler>,
    /// What a replica can do at once.
    cores: u32,
    conflicts: Option<Conflicts>,
    /// Whether a job has ever answered before its program was over.
    answers_early: bool,
    /// Who conflicts.
    clashes: Stream,
    /// Whom faults of single replicas hit, and what the balancer draws.
    luck: Stream,
    replicas: Vec<ReplicaState>,
    /// The replicas that requests are given to, in order.
    rotation: Vec<u32>,
}

/// The same of one replica.
#[derive(Clone, Debug)]
struct ReplicaState {
    codel: Option<CodelState>,
    shared: Option<Shared>,
    /// Whether it is meant to be; it may be dead meanwhile.
    there: bool,
    /// Whether it lives, and not before when if not.
    up: bool,
    back: Time,
    /// Whether it gets no new requests, since it is about to be started anew.
    leaving: bool,
    /// Since when.
    since: Time,
    /// Whether its startup probe has been answered, and whether it is ready; true where nobody asks.
    begun: bool,
    ready: bool,
    probes: [Asked; 3],
    /// Whether it is new, and how much it has worked since.
    cold: bool,
    worked: u32,
    /// Jobs that have been inside.
    leaked: u64,
    /// Reasons to stand still, and when the next one comes.
    pauses: u32,
    rhythm: Stream,
    /// What faults of it alone do: shares of attempts that fail, and how many times as long work takes.
    errors: Vec<(f64, Failure)>,
    slow: f64,
}

impl ReplicaState {
    fn asked(&mut self, kind: ProbeKind) -> &mut Asked {
        &mut self.probes[kind as usize]
    }
}

impl BehaviourState {
    /// All its generators.
    pub(super) fn streams(&self) -> [(Purpose, &Stream); 3] {
        [
            (Purpose::Patience, &self.patience),
            (Purpose::Luck, &self.luck),
            (Purpose::Conflict, &self.clashes),
        ]
    }

    /// A job has answered, and its program goes on.
    pub(super) fn answers_early(&mut self) {
        self.answers_early = true;
    }

    /// All generators of its replicas.
    pub(super) fn replica_streams(&self) -> impl Iterator<Item = (u32, Purpose, &Stream)> {
        let replicas = (0u32..).zip(&self.replicas);
        replicas.map(|(n, replica)| (n, Purpose::Pause, &replica.rhythm))
    }

    pub(super) fn new(service: &Service, seed: u64) -> Option<Box<BehaviourState>> {
        let spec: &Behaviour = service.behaviour.as_deref()?;
        let name = &service.name;
        let initial = spec.scaling.map_or(u32::MAX, |scaling| scaling.initial);
        let replica = |n: u32| ReplicaState {
            codel: (spec.waiting.codel.as_ref()).map(|codel| CodelState::new(codel, Time::ZERO)),
            shared: spec.sharing.map(Shared::new),
            there: n < initial,
            up: n < initial,
            back: Time::ZERO,
            leaving: false,
            since: Time::ZERO,
            begun: true,
            ready: true,
            probes: [Asked::default(); 3],
            cold: false,
            worked: 0,
            leaked: 0,
            pauses: 0,
            rhythm: Stream::new(seed, Purpose::Pause, &format!("{name}#{n}")),
            errors: Vec::new(),
            slow: 1.0,
        };
        let ejection = spec.ejection.as_ref().map(|ejection| {
            let detector = OutlierDetector::new(&ejection.outlier, service.replicas as usize);
            (detector, ejection.panic_threshold)
        });
        let cores = spec.sharing.and_then(|sharing| sharing.cores);
        Some(Box::new(BehaviourState {
            keeps: spec.messages.is_some(),
            waiting: spec.waiting.clone(),
            patience: Stream::new(seed, Purpose::Patience, name),
            gate: spec.rate_limit.map(Gate::new),
            throttles: BTreeMap::new(),
            memory: spec.memory,
            restart: spec.restart,
            pauses: spec.pauses.clone(),
            ejection,
            probes: spec.probes.clone(),
            scaler: spec.scaling.map(Scaler::new),
            cores: cores.or(service.concurrency).unwrap_or(1),
            conflicts: spec.conflicts,
            answers_early: false,
            clashes: Stream::new(seed, Purpose::Conflict, name),
            luck: Stream::new(seed, Purpose::Luck, name),
            replicas: (0..service.replicas).map(replica).collect(),
            rotation: (0..service.replicas.min(initial)).collect(),
        }))
    }
}
