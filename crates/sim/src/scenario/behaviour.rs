//! What a service does beyond workers behind a waiting room. A service of which nothing of this is written
//! has no [`Behaviour`], and pays nothing for what is here.

use super::conflicts::Conflicts;
use super::gate::{Ejection, RateRule};
use super::lifecycle::{Memory, Pauses, Probe, Restart, Scaling};
use super::messages::Messages;
use super::model::Service;
use super::waiting::{Discipline, Waiting};

/// What a service does beyond workers behind a waiting room.
#[derive(Clone, Debug, Default)]
pub struct Behaviour {
    /// What else bounds a wait.
    pub waiting: Waiting,
    /// How the jobs at work share a replica; `None`: each worker works on its own.
    pub sharing: Option<Sharing>,
    /// What bounds how many requests are let in.
    pub rate_limit: Option<RateRule>,
    /// What a replica can hold.
    pub memory: Option<Memory>,
    /// What happens when a replica dies.
    pub restart: Restart,
    /// A replica stands still now and then.
    pub pauses: Option<Pauses>,
    /// A balancer that leaves out replicas that fail.
    pub ejection: Option<Ejection>,
    /// What asks replicas how they are; at most one of each kind.
    pub probes: Vec<Probe>,
    /// What adds replicas and takes them away. There is room for the most of them from the start.
    pub scaling: Option<Scaling>,
    /// How it keeps messages, if it is a message queue.
    pub messages: Option<Messages>,
    /// How often its jobs fail for each other's sake.
    pub conflicts: Option<Conflicts>,
}

/// How the jobs at work on one replica share it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sharing {
    /// Who works when there are more jobs than cores.
    pub rule: SharingRule,
    /// How many can work at full speed at once; `None`: all.
    pub cores: Option<u32>,
    /// How they slow each other down.
    pub contention: Option<Usl>,
}

/// Who works when there are more jobs than cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharingRule {
    /// All of them, each at the same part of full speed.
    Alike,
    /// Those that arrived last; the others stand still meanwhile and lose nothing.
    LastFirst,
    /// The most important; among equals, those that arrived first.
    MostImportant,
}

/// The universal scalability law (Gunther, "Guerrilla Capacity Planning", 2007): `n` jobs at once take
/// `1 + alpha (n - 1) + beta n (n - 1)` times as long as one alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usl {
    /// Contention: the part of the work that only one can do at a time. At least 0.
    pub alpha: f64,
    /// Coherency: what each pair of jobs costs. At least 0.
    pub beta: f64,
    /// Whether a job keeps the slowdown that it found when it began.
    pub frozen: bool,
}

impl Usl {
    /// How many times as long work takes while `n` are at it; 1 for none and for one.
    #[must_use]
    pub fn slowdown(&self, n: u32) -> f64 {
        let (n, others) = (f64::from(n), f64::from(n.saturating_sub(1)));
        1.0 + self.alpha * others + self.beta * n * others
    }
}

impl Service {
    /// Whether it makes a difference between jobs by their priority.
    pub(crate) fn asks_for_priority(&self) -> bool {
        let sharing = self.behaviour.as_ref().and_then(|b| b.sharing);
        self.queue.discipline == Discipline::Priority
            || sharing.is_some_and(|sharing| sharing.rule == SharingRule::MostImportant)
    }

    /// Whether it makes a difference between jobs by their priority or by their client.
    pub(crate) fn asks_for_origin(&self) -> bool {
        let limit = self.behaviour.as_ref().and_then(|b| b.rate_limit);
        self.asks_for_priority()
            || self.queue.discipline == Discipline::Fair
            || limit.is_some_and(|limit| limit.per_client)
    }
}
