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

use crate::wording;
use program::{Programs, Rates};

/// The facts of one scenario.
pub struct Facts<'a> {
    /// What it means.
    pub scenario: &'a Scenario,
    /// Where it is written.
    pub places: &'a Places,
    /// Its static bounds.
    pub topology: Topology,
    /// Every edge that calls go along, with what is known about it, in their order.
    pub hops: Vec<Hop<'a>>,
    /// Calls when nothing is wrong, each one attempt, clients that loop included.
    calls: Rates,
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
            .filter(|hop| !hop.sites.is_empty())
            .collect();
        let failing = {
            let sustained = |site: u32| hop::sustained_attempts(scenario, &calls, site);
            Rates::of(scenario, &programs, false, &sustained)
        };
        Facts {
            scenario,
            places,
            topology,
            hops,
            offered: Rates::of(scenario, &programs, false, &|_| 1.0),
            failing,
            calls,
            programs,
        }
    }

    /// The edges whose calls lead to calls along `hop`.
    pub fn above<'h>(&'h self, hop: &'h Hop<'a>) -> impl Iterator<Item = &'h Hop<'a>> {
        let leads = move |above: &u32| {
            let all = &self.topology.reach.above;
            hop.sites
                .iter()
                .any(|site| all[*site as usize].contains(above))
        };
        let hops = self.hops.iter();
        hops.filter(move |above| above.sites.iter().any(leads))
    }

    /// The edge of a call site that is called.
    pub fn hop_of(&self, site: u32) -> Option<&Hop<'a>> {
        self.hops.iter().find(|hop| hop.sites.contains(&site))
    }

    /// The calls that lead to calls along `hop`: the edge above, its call site, and the call site of `hop`.
    pub fn ways<'h>(&'h self, hop: &'h Hop<'a>) -> impl Iterator<Item = (&'h Hop<'a>, u32, u32)> {
        hop.sites.iter().flat_map(move |&site| {
            let above = self.topology.reach.above[site as usize].iter();
            above.filter_map(move |&from| Some((self.hop_of(from)?, from, site)))
        })
    }

    /// The longest a call from a call site can take; `None` is for ever.
    #[must_use]
    pub fn deadline(&self, site: u32) -> Option<Span> {
        self.topology.site_deadlines[site as usize]
    }

    /// The longest that one attempt from a call site may take; `None` is for ever.
    #[must_use]
    pub fn attempt_limit(&self, site: u32) -> Option<Span> {
        shorter(
            self.scenario.spec(site).attempt_timeout,
            self.deadline(site),
        )
    }

    /// What is called from a call site: the service, and its operation where it has several.
    #[must_use]
    pub fn called(&self, site: u32) -> String {
        wording::called(self.scenario, site)
    }

    /// Indices of the operations of a service that anybody calls.
    pub fn operations(&self, service: usize) -> impl Iterator<Item = usize> {
        let count = self.scenario.services[service].operations.len();
        let called = move |operation: &usize| {
            let sites = self.to(service).flat_map(|hop| &hop.sites);
            let mut of_sites = sites.map(|&site| self.scenario.sites[site as usize].operation);
            of_sites.any(|of_site| of_site as usize == *operation)
        };
        (0..count).filter(called)
    }

    /// The edges that lead to a service.
    pub fn to(&self, service: usize) -> impl Iterator<Item = &Hop<'a>> {
        let there = move |hop: &&Hop<'a>| hop.edge.service as usize == service;
        self.hops.iter().filter(there)
    }

    /// How long an attempt along `hop` takes when nothing is wrong and nobody waits, by call site. `None`: nothing can
    /// be said.
    #[must_use]
    pub fn answers(&self, hop: &Hop<'_>) -> Option<Vec<(u32, Length)>> {
        let sites = hop.sites.iter();
        sites
            .map(|&site| Some((site, Length::of_site(self.scenario, site)?)))
            .collect()
    }

    /// The same of the call site that is slowest.
    #[must_use]
    pub fn answer(&self, hop: &Hop<'_>) -> Option<Length> {
        let lengths = self.answers(hop)?.into_iter().map(|(_, length)| length);
        lengths.max_by_key(|length| length.quantile(0.99))
    }

    /// Mean time, in seconds, that the own steps of what is called from a call site take.
    #[must_use]
    pub fn own_time(&self, site: u32) -> f64 {
        let call = self.scenario.sites[site as usize];
        let service = self.scenario.edges[call.edge as usize].service;
        let operations = &self.scenario.services[service as usize].operations;
        self.programs
            .at(operations[call.operation as usize].entry)
            .own
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

    /// Mean time, in seconds, that a job holds a worker of a service when nothing is wrong, over what clients with
    /// arrivals ask of it; over what all ask if those ask nothing, and of its operations alike if nobody does.
    #[must_use]
    pub fn hold(&self, service: usize) -> f64 {
        let holds = self.holds(service);
        for rates in [&self.offered, &self.calls] {
            let rates = &rates.operations[service];
            let all: f64 = rates.iter().sum();
            if all > 0.0 {
                return held(rates, &holds) / all;
            }
        }
        holds.iter().sum::<f64>() / holds.len().max(1) as f64
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

    /// Attempts per second that a service can do, of the mix of operations that it is asked for ([`Facts::hold`]);
    /// `None` without a limit.
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

    /// Workers of a service, all replicas, that [`Facts::failing`] needs: of the mix that comes then, in which operations
    /// that are tried again are more.
    #[must_use]
    pub fn failing_holds(&self, service: usize) -> f64 {
        held(&self.failing.operations[service], &self.holds(service))
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

/// Workers that jobs of these rates, each holding one for so long, need.
fn held(rates: &[f64], holds: &[f64]) -> f64 {
    let each = rates.iter().zip(holds);
    let each = each.filter(|(rate, hold)| **rate > 0.0 && **hold > 0.0);
    each.map(|(rate, hold)| rate * hold).sum()
}

/// The shorter, where `None` is for ever.
pub(super) fn shorter(a: Option<Span>, b: Option<Span>) -> Option<Span> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}
