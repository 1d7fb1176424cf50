//! Replicas that die, start again, stand still, are asked whether they live, and come and go.

use std::ops::Range;

use seawall::{Failure, Span};

use crate::law::Law;

/// What a replica can hold before it dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// In bytes; a replica that needs more crashes.
    pub limit: u64,
    /// In bytes, with nothing to do.
    pub base: u64,
    /// In bytes, for each job inside, waiting or at work.
    pub per_job: u64,
    /// In bytes, never given back, for each job that has been inside since the replica began.
    pub leak: u64,
    /// What each session needs.
    pub per_session: u64,
}

/// What happens when a replica dies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Restart {
    /// From its death until it takes requests again.
    pub after: Span,
    /// How it works at first.
    pub cold: Option<Cold>,
    /// What those get whose jobs die with it; `None`: no answer at all.
    pub answer: Option<Failure>,
    /// Whether it comes back under another address, and nobody is at the old one.
    pub new_address: bool,
}

impl Default for Restart {
    fn default() -> Self {
        Restart {
            after: Span::secs(10),
            cold: None,
            answer: Some(seawall::FailureKind::Reset.into()),
            new_address: false,
        }
    }
}

/// Work that takes longer while a replica is new.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cold {
    /// So many times as long.
    pub factor: f64,
    /// For so long, if that ends it.
    pub lasts: Option<Span>,
    /// For so many pieces of work, if that ends it.
    pub jobs: Option<u32>,
}

/// A replica stands still now and then.
#[derive(Clone, Debug)]
pub struct Pauses {
    /// From the end of one to the beginning of the next.
    pub every: Law,
    /// How long.
    pub length: Law,
}

/// A request that asks a replica how it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What its answer decides about.
    pub kind: ProbeKind,
    /// Index into the service's `operations`.
    pub operation: u32,
    /// From the beginning of one to that of the next.
    pub period: Span,
    /// From the beginning of a replica to its first.
    pub initial_delay: Span,
    /// The longest it may take; at most the period.
    pub timeout: Span,
    /// Failures in a row that count.
    pub failures: u32,
    /// Successes in a row that count.
    pub successes: u32,
    /// Whether each replica is asked at an instant of its own.
    pub spread: bool,
    /// Whether it needs neither a place nor a worker.
    pub aside: bool,
}

/// What the answer to a probe decides about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeKind {
    /// Whether a new replica has begun; one that has not after so many failures is started again. Nothing else is
    /// asked before.
    Startup,
    /// Whether it is started again.
    Liveness,
    /// Whether it gets requests.
    Readiness,
}

impl ProbeKind {
    /// All of them.
    pub const ALL: [ProbeKind; 3] = [
        ProbeKind::Startup,
        ProbeKind::Liveness,
        ProbeKind::Readiness,
    ];
}

/// Replicas are added and taken away by what is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// At the start.
    pub initial: u32,
    /// At least.
    pub min: u32,
    /// At most.
    pub max: u32,
    /// What is measured.
    pub signal: Signal,
    /// What it should be.
    pub target: f64,
    /// How far it may be off without anything being done, as a share of the target.
    pub tolerance: f64,
    /// How often it is looked at, and what it is the mean over.
    pub every: Span,
    /// From the decision until a new replica takes requests.
    pub lag: Span,
    /// No more replicas are taken away than all decisions of so long ago and since allow.
    pub cooldown: Span,
}

/// What an autoscaler measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The share of the workers that work, not counting those that wait for calls.
    Cpu,
    /// The share of the workers that are held by jobs.
    Workers,
    /// Jobs waiting per replica.
    Queue,
}

/// What may happen to single replicas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trouble {
    /// They die, and start again as the service does, but not before the fault is over.
    Crash,
    /// They stand still.
    Pause,
    /// All are started anew, some at a time.
    Deploy(Deployment),
    /// They do their work badly.
    Bad {
        /// The share of attempts that they answer with a failure instead of working, 0 to 1.
        share: f64,
        /// What those get.
        failure: Failure,
        /// Other work takes so many times as long, at least 0.
        slow: f64,
    },
}

/// Replicas that are started anew, one batch after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deployment {
    /// How many at a time.
    pub at_once: u32,
    /// From the beginning of one batch to that of the next.
    pub every: Span,
    /// So long a replica gets no new requests before it is started anew.
    pub drain: Span,
}

impl Deployment {
    /// The replicas of a service that has so many, batch by batch, with when each batch begins, counted from the beginning
    /// of the whole.
    pub(crate) fn batches(self, replicas: u32) -> impl Iterator<Item = (Span, Range<u32>)> {
        let batches = replicas.div_ceil(self.at_once.max(1));
        (0..batches).map(move |n| {
            let first = n * self.at_once;
            let after = first.saturating_add(self.at_once).min(replicas);
            (
                Span(self.every.0.saturating_mul(u64::from(n))),
                first..after,
            )
        })
    }

    /// How long all of it takes.
    pub(crate) fn lasts(self, replicas: u32) -> Span {
        let last = self.batches(replicas).last();
        let begins = last.map_or(Span::ZERO, |(begins, _)| begins);
        begins.plus(self.drain).plus(self.every)
    }
}

impl Trouble {
    /// The word used in scenarios and reports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Trouble::Crash => "crash",
            Trouble::Pause => "pause",
            Trouble::Deploy(_) => "deploy",
            Trouble::Bad { .. } => "bad_replicas",
        }
    }
}
