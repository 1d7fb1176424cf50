//! Faults: what disturbs a world, and when.

use seawall::{Failure, Span, Time};

use super::gate::RateRule;
use super::lifecycle::Trouble;

/// A disturbance on the timeline.
#[derive(Clone, Debug)]
pub struct Fault {
    /// When it begins.
    pub at: Time,
    /// When it is over; `None` is never.
    pub until: Option<Time>,
    /// What it does.
    pub kind: FaultKind,
}

/// What a fault does while it lasts.
#[derive(Clone, Debug)]
pub enum FaultKind {
    /// Work started meanwhile takes `factor` times as long.
    Slow {
        /// Index into `services`.
        service: u32,
        /// At least 0; 0 is instantaneous.
        factor: f64,
    },
    /// A share of attempts is answered with a failure instead of being worked on.
    Errors {
        /// Index into `services`.
        service: u32,
        /// 0 to 1.
        share: f64,
        /// What they get.
        failure: Failure,
        /// Whether the program runs first, with its effects; otherwise they are not worked on.
        after_program: bool,
    },
    /// A share of the workers of each replica is gone (rounded to whole workers, running work ends first).
    LoseCapacity {
        /// Index into `services`.
        service: u32,
        /// 0 to 1.
        share: f64,
    },
    /// Nothing answers: requests vanish, running and queued jobs are lost.
    Outage {
        /// Index into `services`.
        service: u32,
    },
    /// Connections are refused at once.
    Refuse {
        /// Index into `services`.
        service: u32,
    },
    /// Handshakes with a service fail.
    Certificate {
        /// Index into `services`.
        service: u32,
    },
    /// Tokens that were issued so far are no good any more.
    Revoke {
        /// Index into [`Credentials::all`](super::credential::Credentials::all).
        credential: u32,
    },
    /// Entries of the caches of a service are lost.
    EmptyCache {
        /// Index into `services`.
        service: u32,
        /// The chance of each entry, 0 to 1.
        share: f64,
        /// Of how many replicas, the first; `u32::MAX` is all.
        replicas: u32,
    },
    /// A client's arrivals come `factor` times as often.
    Load {
        /// Index into `clients`.
        client: u32,
        /// At least 0.
        factor: f64,
    },
    /// Something happens to the first replicas of a service alone.
    Replicas {
        /// Index into `services`.
        service: u32,
        /// How many; `u32::MAX` is all.
        replicas: u32,
        /// What.
        trouble: Trouble,
    },
    /// A service lets in so many requests and no more.
    Throttle {
        /// Index into `services`.
        service: u32,
        /// What takes the place of its own limit.
        rule: RateRule,
    },
    /// Retries under a policy are switched off.
    KillSwitch {
        /// Index into `policies`.
        policy: u32,
    },
    /// A share of the processes that call under a policy goes on under another one.
    ChangePolicy {
        /// Index into `policies`: the one the calls are written with.
        policy: u32,
        /// Index into `policies`: what takes its place.
        to: u32,
        /// 0 to 1, of the processes of each caller, rounded up.
        share: f64,
        /// One process after another in so long; 0: all at once.
        over: Span,
    },
    /// Calls go over another link.
    ChangeLink {
        /// Index into `links`: the one the calls are written with.
        link: u32,
        /// Index into `links`: what takes its place.
        to: u32,
    },
}

impl Fault {
    /// Whether it has programs run whose answers it then replaces.
    pub(crate) fn runs_the_program(&self) -> bool {
        matches!(self.kind, FaultKind::Errors { after_program, .. } if after_program)
    }
}

impl FaultKind {
    /// The word used in scenarios and reports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            FaultKind::Slow { .. } => "slow",
            FaultKind::Errors { .. } => "errors",
            FaultKind::LoseCapacity { .. } => "lose_capacity",
            FaultKind::Outage { .. } => "outage",
            FaultKind::Refuse { .. } => "refuse",
            FaultKind::Certificate { .. } => "certificate",
            FaultKind::Revoke { .. } => "revoke",
            FaultKind::EmptyCache { .. } => "empty_cache",
            FaultKind::Load { .. } => "load",
            FaultKind::Replicas { trouble, .. } => trouble.name(),
            FaultKind::Throttle { .. } => "throttle",
            FaultKind::KillSwitch { .. } => "kill_switch",
            FaultKind::ChangePolicy { .. } => "change_policy",
            FaultKind::ChangeLink { .. } => "change_link",
        }
    }
}
