//! What a scenario means: names resolved to indices, units to nanoseconds, defaults filled in.
//!
//! Everything here has been checked; the kernel runs it without looking back. Order is the order of
//! the file, and order is identity: `services[2]` is the third service written.

use std::sync::Arc;

use seawall::{FailureKind, Operation};

use super::cache::Caches;
use super::coalesce::Coalescing;
use super::credential::Credentials;
use super::effects::Effects;
use super::fallbacks::Fallbacks;
use super::passage::{Passage, Passages};
use super::sessions::Sessions;
use crate::arrivals::Arrivals;
use crate::expect::Expectation;
use crate::law::Law;
use crate::step::{Code, Pc};

pub use super::behaviour::*;
pub use super::fault::*;
pub use super::gate::*;
pub use super::lifecycle::*;
pub use super::run::*;
pub use super::waiting::*;

/// One world, ready to run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What the story is called; empty if the file gives no title.
    pub title: String,
    /// What the story tells; empty if the file does not say.
    pub description: String,
    /// How long, how finely measured, how often.
    pub run: Run,
    /// Populations of callers.
    pub clients: Vec<Client>,
    /// Everything that can be called.
    pub services: Vec<Service>,
    /// Named policies. Index 0 is `none`, which does nothing.
    pub policies: Vec<Policy>,
    /// Named links. Index 0 is `default`.
    pub links: Vec<Link>,
    /// Who calls whom under which policy; call sites that agree in all three share an edge.
    pub edges: Vec<Edge>,
    /// One entry per `call` step.
    pub sites: Vec<CallSite>,
    /// All programs, flat.
    pub code: Code,
    /// Disturbances, in the order of the file.
    pub faults: Vec<Fault>,
    /// What the world promises.
    pub expect: Vec<Expectation>,
    /// Effects, keys and scripts, where any are used.
    pub effects: Option<Arc<Effects>>,
    /// Fallbacks, where there are any.
    pub fallbacks: Option<Arc<Fallbacks>>,
    /// What attempts go through besides links and services, where there is anything.
    pub passages: Option<Arc<Passages>>,
    /// Credentials, where there are any.
    pub credentials: Option<Arc<Credentials>>,
    /// Calls that may share one, where there are any.
    pub coalescing: Option<Arc<Coalescing>>,
    /// Caches with contents, where there are any.
    pub caches: Option<Arc<Caches>>,
    /// Sessions, where any are held.
    pub sessions: Option<Arc<Sessions>>,
}

impl Scenario {
    /// What a caller is called.
    #[must_use]
    pub fn caller_name(&self, caller: Caller) -> &str {
        match caller {
            Caller::Client(i) => &self.clients[i as usize].name,
            Caller::Service(i) => &self.services[i as usize].name,
        }
    }

    /// How many processes a caller has, each with policies, connections and tokens of its own: the instances of a client,
    /// the replicas of a service.
    #[must_use]
    pub fn processes(&self, caller: Caller) -> u32 {
        match caller {
            Caller::Client(i) => self.clients[i as usize].instances,
            Caller::Service(i) => self.services[i as usize].replicas,
        }
    }

    /// `caller -> service (policy)`: how an edge is called in reports.
    #[must_use]
    pub fn edge_name(&self, edge: &Edge) -> String {
        let caller = self.caller_name(edge.caller);
        let service = &self.services[edge.service as usize].name;
        let policy = &self.policies[edge.policy as usize].name;
        format!("{caller} -> {service} ({policy})")
    }

    /// Whether logical calls of a client go along an edge. Calls made instead of others that failed are none of their own,
    /// nor are requests for tokens.
    #[must_use]
    pub fn is_top(&self, edge: usize) -> bool {
        let stands_in = |f: &Arc<Fallbacks>| f.stand_ins.contains(&(edge as u32));
        let refreshes = |c: &Arc<Credentials>| c.edges.contains(&(edge as u32));
        matches!(self.edges[edge].caller, Caller::Client(_))
            && !self.fallbacks.as_ref().is_some_and(stands_in)
            && !self.credentials.as_ref().is_some_and(refreshes)
    }

    /// What the random streams of an edge are named by: `caller -> service`, and a number where a
    /// caller calls a service under several policies. The policy's name is left out, so that runs under
    /// different policies meet the same links.
    #[must_use]
    pub fn edge_stream_name(&self, index: usize) -> String {
        let edge = self.edges[index];
        let caller = self.caller_name(edge.caller);
        let service = &self.services[edge.service as usize].name;
        let twins = |e: &&Edge| e.caller == edge.caller && e.service == edge.service;
        match self.edges[..index].iter().filter(twins).count() {
            0 => format!("{caller} -> {service}"),
            n => format!("{caller} -> {service} #{}", n + 1),
        }
    }
}

/// A population of callers.
#[derive(Clone, Debug)]
pub struct Client {
    /// As in the file.
    pub name: String,
    /// Processes, each with its own budget, breaker and bulkhead.
    pub instances: u32,
    /// What starts an iteration.
    pub source: Source,
    /// What an iteration does, by operation; one is drawn by weight.
    pub operations: Vec<ClientOperation>,
}

impl Client {
    /// Whether its instances run their program again and again, and so offer less when they are kept waiting.
    #[must_use]
    pub fn loops(&self) -> bool {
        matches!(self.source, Source::Loop { .. })
    }
}

/// What starts an iteration of a client's program.
#[derive(Clone, Debug)]
pub enum Source {
    /// Arrivals from outside, each given to a random instance. The world keeps coming whatever happens.
    Open(Arrivals),
    /// Each instance runs its program again and again; the first run starts after a draw of `start`.
    Loop {
        /// When each instance starts.
        start: Law,
    },
}

/// One of the things a client does.
#[derive(Clone, Debug)]
pub struct ClientOperation {
    /// As in the file; `default` when there is only one.
    pub name: String,
    /// Share of iterations, in (0, 1]; all of a client's sum to 1.
    pub weight: f64,
    /// Its program.
    pub entry: Pc,
}

/// Something that can be called.
#[derive(Clone, Debug)]
pub struct Service {
    /// As in the file.
    pub name: String,
    /// Copies, each with its own queue and workers.
    pub replicas: u32,
    /// How an attempt finds its replica.
    pub balance: Balance,
    /// Workers per replica; `None` is unlimited.
    pub concurrency: Option<u32>,
    /// Waiting room per replica.
    pub queue: Queue,
    /// Whether a job keeps its worker while it waits for a call or a delay.
    pub holds_worker: bool,
    /// Whether a job ends when its caller has left.
    pub honours_cancellation: bool,
    /// What it does, by operation. Index 0 serves callers that name none.
    pub operations: Vec<ServiceOperation>,
    /// What else there is to it; `None` for most.
    pub behaviour: Option<Box<Behaviour>>,
}

/// One of the things a service does.
#[derive(Clone, Debug)]
pub struct ServiceOperation {
    /// As in the file; `default` when there is only one.
    pub name: String,
    /// What callers may assume about it.
    pub semantics: Operation,
    /// Its program.
    pub entry: Pc,
}

/// How an attempt finds its replica.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Balance {
    /// In turn.
    #[default]
    RoundRobin,
    /// Uniformly at random.
    Random,
    /// The one with the fewest jobs; ties go to the first.
    LeastInFlight,
    /// The better of two drawn at random.
    PowerOfTwo,
}

/// A named policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// As in the file.
    pub name: String,
    /// What it does, checked.
    pub policy: seawall::Policy,
}

/// A way between caller and service, taken by requests and by responses.
#[derive(Clone, Debug)]
pub struct Link {
    /// As in the file.
    pub name: String,
    /// One way.
    pub delay: Law,
    /// Probability that a request vanishes: the server never sees it.
    pub lose_request: f64,
    /// Probability that a response vanishes: the server did the work.
    pub lose_response: f64,
    /// What an attempt goes through besides, if anything.
    pub passage: Option<Arc<Passage>>,
}

/// Who makes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Caller {
    /// `clients[i]`.
    Client(u32),
    /// `services[i]`, one process per replica.
    Service(u32),
}

/// Caller, service and policy: what shares one engine per calling process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Who calls.
    pub caller: Caller,
    /// Index into `services`.
    pub service: u32,
    /// Index into `policies`.
    pub policy: u32,
}

/// One `call` step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// Index into `edges`.
    pub edge: u32,
    /// Index into the service's `operations`.
    pub operation: u32,
    /// Index into `links`.
    pub link: u32,
    /// Whether the program goes on when the call fails.
    pub optional: bool,
    /// How important it is, 0 most; `None`: as important as the request that caused it.
    pub priority: Option<u8>,
}

/// What a service answers by default when a call it depends on failed.
///
/// Running out of time below is running out of time here; everything that is the dependency's fault
/// or a local refusal is `Unavailable`; a wrong request stays wrong.
#[must_use]
pub fn failure_of_failed_call(last: Option<FailureKind>) -> FailureKind {
    match last {
        Some(FailureKind::Timeout | FailureKind::DeadlineExceeded) => FailureKind::DeadlineExceeded,
        Some(
            kind @ (FailureKind::Invalid
            | FailureKind::Conflict
            | FailureKind::PermissionDenied
            | FailureKind::Internal),
        ) => kind,
        _ => FailureKind::Unavailable,
    }
}
