//! What can be said about a scenario without running it, as the traps want to know it.

mod hop;
mod length;
mod program;
mod wait;

pub use hop::Hop;
pub use length::Length;
pub use wait::Draw;

use seawall::Span;
use sim::scenario::model::{Caller, FaultKind, Scenario, Service};
use sim::scenario::{Location, Places, Topology};

use program::{Programs, Rates};

/// The facts of one scenario.
pub struct Facts<'a> {
    /// What it means.
    pub scenario: &'a Scenario,
    /// Where it is written.
    pub places: &'a Places,
    /// Its static bounds.
    pub topology: Topology,
    /// Every edge with what is known about it, in their order.
    pub hops: Vec<Hop<'a>>,
    /// Attempts per second at each operation when each call is one attempt, clients that loop left out: they
    /// offer less when they are kept waiting.
    offered: Rates,
    /// The same when every attempt fails for good: each call makes as many attempts as attempts, budgets and
    /// breakers leave it in the long run.
    failing: Rates,
    programs: Programs,
}

impl<'a> Facts<'a> {
    /// Works them out.
    #[must_use]
    pub fn of(scenario: &'a Scenario, places: &'a Places) -> Facts<'a> {
        let topology = Topology::of(scenario);
        let programs = Programs::of(scenario);
        let calls = Rates::of(scenario, &programs, true, &|_| 1.0);
        let hops = (0..scenario.edges.len())
            .map(|edge| Hop::of(scenario, &topology, &calls, edge))
            .collect();
        let sustained = |edge: usize| hop::sustained_attempts(scenario, &calls, edge);
        Facts {
            scenario,
            places,
            topology,
            hops,
            offered: Rates::of(scenario, &programs, false, &|_| 1.0),
            failing: Rates::of(scenario, &programs, false, &sustained),
            programs,
        }
    }

    /// The edges that lead to what calls along `hop`.
    pub fn above<'h>(&'h self, hop: &'h Hop<'a>) -> impl Iterator<Item = &'h Hop<'a>> {
        let calls = move |above: &&Hop<'a>| hop.edge.caller == Caller::Service(above.edge.service);
        self.hops.iter().filter(calls)
    }

    /// The edges that lead to a service.
    pub fn to(&self, service: usize) -> impl Iterator<Item = &Hop<'a>> {
        let there = move |hop: &&Hop<'a>| hop.edge.service as usize == service;
        self.hops.iter().filter(there)
    }

    /// How long an attempt along `hop` takes when nothing is wrong and nobody waits; the slowest of its call
    /// sites. `None`: nothing can be said.
    #[must_use]
    pub fn answer(&self, hop: &Hop<'_>) -> Option<Length> {
        let lengths = hop
            .sites
            .iter()
            .map(|&site| Length::of_site(self.scenario, site));
        let lengths: Option<Vec<Length>> = lengths.collect();
        lengths?
            .into_iter()
            .max_by_key(|length| length.quantile(0.99))
    }

    /// Mean time, in seconds, from the start of a job of the caller of `hop` that its own steps take; 0 for a
    /// client.
    #[must_use]
    pub fn own_time(&self, hop: &Hop<'_>) -> f64 {
        let Caller::Service(service) = hop.edge.caller else {
            return 0.0;
        };
        let operations = &self.scenario.services[service as usize].operations;
        let own = operations
            .iter()
            .map(|operation| self.programs.at(operation.entry))
            .filter(|program| hop.sites.iter().any(|&s| program.visits[s as usize] > 0.0))
            .map(|program| program.own);
        own.fold(f64::INFINITY, f64::min)
    }

    /// Workers of a service, all replicas; `None` is unlimited.
    #[must_use]
    pub fn workers(&self, service: usize) -> Option<f64> {
        let Service {
            replicas,
            concurrency,
            ..
        } = self.scenario.services[service];
        concurrency.map(|workers| f64::from(workers) * f64::from(replicas))
    }

    /// Mean time, in seconds, that a job holds a worker of a service when nothing is wrong, over what it is
    /// asked for; of its operations alike if it is asked for nothing.
    #[must_use]
    pub fn hold(&self, service: usize) -> f64 {
        let rates = &self.failing.operations[service];
        let holds = self.holds(service);
        let all: f64 = rates.iter().sum();
        if all > 0.0 {
            rates.iter().zip(&holds).map(|(r, h)| r * h).sum::<f64>() / all
        } else {
            holds.iter().sum::<f64>() / holds.len().max(1) as f64
        }
    }

    fn holds(&self, service: usize) -> Vec<f64> {
        let service = &self.scenario.services[service];
        let hold = |entry| {
            let program = self.programs.at(entry);
            if service.holds_worker {
                program.whole
            } else {
                program.work
            }
        };
        service.operations.iter().map(|o| hold(o.entry)).collect()
    }

    /// Attempts per second that a service can do; `None` without a limit.
    #[must_use]
    pub fn capacity(&self, service: usize) -> Option<f64> {
        let hold = self.hold(service);
        let workers = self.workers(service)?;
        (hold > 0.0).then(|| workers / hold)
    }

    /// Attempts per second that clients with arrivals ask of a service when each call is one attempt.
    #[must_use]
    pub fn offered(&self, service: usize) -> f64 {
        self.offered.operations[service].iter().sum()
    }

    /// The same when every attempt fails, for as long as it takes.
    #[must_use]
    pub fn failing(&self, service: usize) -> f64 {
        self.failing.operations[service].iter().sum()
    }

    /// Where `keys` of the policy of `hop` are written; the call itself where it names no policy.
    #[must_use]
    pub fn of_policy(&self, hop: &Hop<'_>, keys: &[&str]) -> Location {
        if hop.edge.policy == 0 {
            return self.of_call(hop);
        }
        let path: Vec<&str> = [&["policies", hop.policy][..], keys].concat();
        self.places.find(&path)
    }

    /// Where the call is written.
    #[must_use]
    pub fn of_call(&self, hop: &Hop<'_>) -> Location {
        let block = match hop.edge.caller {
            Caller::Client(_) => "clients",
            Caller::Service(_) => "services",
        };
        self.places
            .call(&[block, hop.caller], &hop.service.name, hop.policy)
    }

    /// Where `keys` of a service are written.
    #[must_use]
    pub fn of_service(&self, service: usize, keys: &[&str]) -> Location {
        let name = self.scenario.services[service].name.as_str();
        let path: Vec<&str> = [&["services", name][..], keys].concat();
        self.places.find(&path)
    }

    /// Whether a fault makes a service slow, silent or smaller.
    #[must_use]
    pub fn disturbed(&self, service: u32) -> bool {
        self.scenario.faults.iter().any(|fault| match fault.kind {
            FaultKind::Slow { service: s, .. }
            | FaultKind::LoseCapacity { service: s, .. }
            | FaultKind::Outage { service: s } => s == service,
            _ => false,
        })
    }

    /// Whether a client of `hop` loops.
    #[must_use]
    pub fn loops(&self, hop: &Hop<'_>) -> bool {
        match hop.edge.caller {
            Caller::Client(client) => self.scenario.clients[client as usize].loops(),
            Caller::Service(_) => false,
        }
    }
}

/// The shorter, where `None` is for ever.
pub(super) fn shorter(a: Option<Span>, b: Option<Span>) -> Option<Span> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}
