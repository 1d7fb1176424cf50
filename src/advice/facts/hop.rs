//! One edge with what is known about it.

use seawall::{Budget, BudgetEvent, FailureKind, FailureSet, Span, Spec};
use sim::scenario::Topology;
use sim::scenario::model::{Caller, Edge, Scenario, Service};
use sim::scenario::repeats::factor;

use super::program::Rates;
use super::shorter;
use crate::wording;

/// One edge: who calls, under which policy, and how often.
pub struct Hop<'a> {
    /// The edge.
    pub edge: Edge,
    /// `caller → service`.
    pub name: String,
    /// The name of the caller.
    pub caller: &'a str,
    /// The name of the policy.
    pub policy: &'a str,
    /// What the policy does.
    pub spec: &'a Spec,
    /// Whom it calls.
    pub service: &'a Service,
    /// Processes that call.
    pub processes: u32,
    /// Its call sites, without those that nobody ever comes to.
    pub sites: Vec<u32>,
    /// The most attempts that one call makes, at the call site where it makes most; `u32::MAX` is without limit.
    pub most: u32,
    /// Failures that are tried again at one of the call sites at least.
    again: FailureSet,
    /// Calls per second when nothing is wrong, all processes.
    pub calls_per_s: f64,
    /// Attempts per second when each call makes all it can.
    pub attempts_per_s: f64,
    /// The longest a call can take; `None` is for ever.
    pub deadline: Option<Span>,
    /// The longest one attempt may take; `None` is for ever.
    pub attempt_limit: Option<Span>,
}

impl<'a> Hop<'a> {
    pub(super) fn of(
        scenario: &'a Scenario,
        topology: &Topology,
        calls: &Rates,
        index: usize,
    ) -> Hop<'a> {
        let edge = scenario.edges[index];
        let (caller, processes) = match edge.caller {
            Caller::Client(i) => {
                let client = &scenario.clients[i as usize];
                (client.name.as_str(), client.instances)
            }
            Caller::Service(i) => {
                let service = &scenario.services[i as usize];
                (service.name.as_str(), service.replicas)
            }
        };
        let policy = &scenario.policies[edge.policy as usize];
        let spec = policy.policy.spec();
        let here = |site: &u32| {
            let called = topology.reach.called[*site as usize];
            called && scenario.sites[*site as usize].edge as usize == index
        };
        let sites: Vec<u32> = (0..scenario.sites.len() as u32).filter(here).collect();
        let most = |site: &u32| scenario.most_attempts(*site);
        let all = |site: &u32| match (calls.sites[*site as usize], most(site)) {
            (0.0, _) => 0.0,
            (_, u32::MAX) => f64::INFINITY,
            (calls, attempts) => calls * f64::from(attempts),
        };
        let again = spec.retry.on.iter().filter(|kind| {
            let repeats = sites
                .iter()
                .any(|site| scenario.repeats_after(*site, *kind));
            spec.retry.max_attempts > 1 && repeats
        });
        Hop {
            edge,
            name: wording::arrow(scenario, &edge),
            caller,
            policy: &policy.name,
            spec,
            service: &scenario.services[edge.service as usize],
            processes,
            most: sites.iter().map(most).max().unwrap_or(1),
            again: again.fold(FailureSet::NONE, FailureSet::with),
            calls_per_s: calls.of_edge(scenario, index),
            attempts_per_s: sites.iter().map(all).sum(),
            sites,
            deadline: topology.deadlines[index],
            attempt_limit: shorter(spec.attempt_timeout, topology.deadlines[index]),
        }
    }

    /// Whether the policy says that anything is tried again, which the operation may forbid.
    #[must_use]
    pub fn says_retries(&self) -> bool {
        self.spec.retry.max_attempts > 1 && !self.spec.retry.on.is_empty()
    }

    /// Whether anything is ever tried again.
    #[must_use]
    pub fn retries(&self) -> bool {
        !self.again.is_empty()
    }

    /// Whether failures of this kind are tried again.
    #[must_use]
    pub fn retries_on(&self, kind: FailureKind) -> bool {
        self.again.contains(kind)
    }

    /// Of these kinds, those that are tried again, by name.
    #[must_use]
    pub fn retried(&self, kinds: &[FailureKind]) -> Vec<&'static str> {
        let again = self.again.iter();
        again
            .filter(|kind| kinds.contains(kind))
            .map(FailureKind::name)
            .collect()
    }

    /// Whether something bounds retries over all calls of a process: a budget, or a breaker.
    #[must_use]
    pub fn bounded(&self) -> bool {
        self.spec.budget != Budget::None || self.spec.breaker.is_some()
    }

    /// Whether the policy says anything about a bound on calls in flight or their rate.
    #[must_use]
    pub fn limited(&self) -> bool {
        self.spec.bulkhead.is_some()
            || self.spec.limiter.is_some()
            || self.spec.rate_limit.is_some()
    }

    /// Attempts of a call in words.
    #[must_use]
    pub fn attempts(&self) -> String {
        match self.most {
            u32::MAX => "attempts without limit".into(),
            n => format!("{n} attempts"),
        }
    }
}

/// Attempts per call from a call site when every attempt fails for a long time: all it can make without a budget, and
/// with one what comes in by calls. A budget that successes fill earns nothing then, and a breaker is open.
pub(super) fn sustained_attempts(scenario: &Scenario, calls: &Rates, site: u32) -> f64 {
    let index = scenario.sites[site as usize].edge;
    let edge = scenario.edges[index as usize];
    let spec = scenario.spec(site);
    let attempts = factor(scenario.most_attempts(site));
    if attempts == 1.0 || spec.breaker.is_some() {
        return 1.0;
    }
    let processes = scenario.processes(edge.caller);
    // Retries per call of a floor of so many per second and process.
    let floor = |per_s: f64| {
        let rate = calls.of_edge(scenario, index as usize);
        if rate > 0.0 {
            per_s * f64::from(processes) / rate
        } else {
            0.0
        }
    };
    let earned = |of: BudgetEvent, ratio: f64| match of {
        BudgetEvent::Calls => ratio,
        BudgetEvent::Successes | BudgetEvent::NotRetryable => 0.0,
    };
    let retries = match &spec.budget {
        Budget::None => f64::INFINITY,
        Budget::Ratio { of, ratio, .. } => earned(*of, *ratio),
        Budget::Windowed {
            of,
            ratio,
            floor_per_sec,
            ..
        } => earned(*of, *ratio).max(floor(*floor_per_sec)),
        Budget::AwsQuota(quota) => floor(quota.refill_per_sec),
        Budget::Finagle(budget) => {
            earned(budget.deposits, budget.percent_can_retry)
                + floor(f64::from(budget.min_retries_per_sec))
        }
        Budget::TowerTps(budget) => {
            earned(budget.deposits, f64::from(budget.retry_percent))
                + floor(f64::from(budget.min_per_sec))
        }
        // They count attempts in flight, or throttle while everything fails, or stop retries at last.
        Budget::FailureShare { .. }
        | Budget::Envoy(_)
        | Budget::Grpc(_)
        | Budget::SreAdaptive(_) => 0.0,
    };
    // Calls that make one attempt only leave what they earn to the others.
    let all = scenario.sites.iter().zip(&calls.sites).enumerate();
    let along = all.filter(|(_, (other, _))| other.edge == index);
    let (mut every, mut repeating) = (0.0, 0.0);
    for (other, (_, rate)) in along {
        every += rate;
        if scenario.most_attempts(other as u32) > 1 {
            repeating += rate;
        }
    }
    let share = if repeating > 0.0 {
        every / repeating
    } else {
        1.0
    };
    attempts.min(1.0 + retries * share)
}
