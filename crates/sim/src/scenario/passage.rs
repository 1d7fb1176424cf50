//! What an attempt goes through besides the link and the service: phases that take time, and connections.
//!
//! A link without `phases` and `pool` has none of this ([`Link::passage`](super::model::Link)).

use seawall::{Failure, FailureKind, Phase, Span};

use super::model::{CallSite, Caller, Edge, Link, Service};
use crate::law::Law;
use crate::step::{Code, Instr, Pc};

/// What an attempt goes through over one link.
#[derive(Clone, Debug, Default)]
pub struct Passage {
    /// By [`Phase`]; those without take no time and do not fail.
    pub phases: [Option<PhaseRule>; Phase::ALL.len()],
    /// Where connections are kept; `None`: each attempt opens one of its own.
    pub pool: Option<PoolRule>,
    /// The token that attempts need, by its index in the file.
    pub credential: Option<u32>,
}

impl Passage {
    /// What holds for a phase.
    #[must_use]
    pub fn phase(&self, phase: Phase) -> Option<&PhaseRule> {
        self.phases[phase as usize].as_ref()
    }
}

/// A phase that takes time or fails.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseRule {
    /// How long.
    pub takes: Law,
    /// The share of attempts that fail in it, at its end.
    pub fails: f64,
    /// How they fail.
    pub kind: FailureKind,
    /// The longest it may take.
    pub timeout: Option<Span>,
    /// How attempts fail whose phase takes longer.
    pub too_long: FailureKind,
}

/// How one process keeps connections to one service.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolRule {
    /// At most so many at once.
    pub size: Option<u32>,
    /// At most so many to one replica.
    pub per_replica: Option<u32>,
    /// Whether each ends at a replica, chosen for each attempt; otherwise at a balancer in front of them.
    pub to_replicas: bool,
    /// Attempts that can use one connection at once.
    pub streams: u32,
    /// The longest an attempt waits for one.
    pub acquire_timeout: Option<Span>,
    /// What it gets then.
    pub exhausted: Failure,
    /// The caller closes one that has been idle so long.
    pub idle_timeout: Option<Span>,
    /// So does the service.
    pub server_idle_timeout: Option<Span>,
    /// Whether the caller notices that.
    pub notices_close: bool,
    /// A process keeps the addresses of the service so long.
    pub dns_ttl: Option<Span>,
    /// None is used again when it is so old.
    pub max_lifetime: Option<Span>,
    /// Connections that are there when a process begins.
    pub warm: u32,
    /// What a new connection costs the worker of its first request.
    pub accept: Span,
}

/// Everything of this kind in a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passages {
    /// The edges whose attempts, or some of them, go over such links: legs are counted by these.
    pub edges: Vec<u32>,
    /// Where connections are kept, each process of the caller its own.
    pub pools: Vec<PoolPlace>,
    /// By call site.
    pub sites: Vec<Option<SitePassage>>,
}

/// The connections of one caller to one service over one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolPlace {
    /// Whose.
    pub caller: Caller,
    /// Index into `services`.
    pub service: u32,
    /// Index into `links`.
    pub link: u32,
}

/// What a call site needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SitePassage {
    /// Index into [`Passages::edges`].
    pub subject: u32,
    /// Index into [`Passages::pools`].
    pub pool: Option<u32>,
    /// Where the program of the first request of a connection begins, if that is another place.
    pub first: Option<Pc>,
}

impl Link {
    /// How long the phases take that each attempt goes through; those of a new connection only where it opens one.
    pub fn phases_of_each_attempt(&self) -> impl Iterator<Item = &Law> {
        let passage = self.passage.as_deref();
        let kept = self.keeps_connections();
        let each = Phase::ALL.into_iter();
        let each = each.filter(move |phase| !kept || *phase >= Phase::Send);
        let rules = each.filter_map(move |phase| passage?.phase(phase));
        rules.map(|rule| &rule.takes)
    }

    /// Whether connections over it are kept.
    #[must_use]
    pub fn keeps_connections(&self) -> bool {
        let passage = self.passage.as_ref();
        passage.is_some_and(|passage| passage.pool.is_some())
    }
}

/// The index of `what` in a list that it joins if it is not in it.
fn place<T: PartialEq>(list: &mut Vec<T>, what: T) -> u32 {
    let known = list.iter().position(|known| *known == what);
    known.unwrap_or_else(|| {
        list.push(what);
        list.len() - 1
    }) as u32
}

impl Passages {
    /// Those of a scenario; `None` when it has none. What accepting a connection costs is put before the programs.
    pub(crate) fn of(
        sites: &[CallSite],
        edges: &[Edge],
        links: &[Link],
        services: &[Service],
        code: &mut Code,
    ) -> Option<Passages> {
        let mut all = Passages::default();
        for site in sites {
            let Some(passage) = links
                .get(site.link as usize)
                .and_then(|link| link.passage.as_deref())
            else {
                all.sites.push(None);
                continue;
            };
            let edge = edges[site.edge as usize];
            let subject = place(&mut all.edges, site.edge);
            let pool = passage.pool.as_ref().map(|_| {
                let (caller, service, link) = (edge.caller, edge.service, site.link);
                place(
                    &mut all.pools,
                    PoolPlace {
                        caller,
                        service,
                        link,
                    },
                )
            });
            let accept = passage.pool.as_ref().map(|pool| pool.accept);
            let first = accept.filter(|accept| *accept > Span::ZERO).map(|accept| {
                let operations = &services[edge.service as usize].operations;
                let entry = operations[site.operation as usize].entry;
                code.laws.push(Law::Constant(accept));
                code.instrs.push(Instr::Work(code.laws.len() as u32 - 1));
                code.instrs.push(Instr::Jump(entry));
                Pc(code.instrs.len() as u32 - 2)
            });
            all.sites.push(Some(SitePassage {
                subject,
                pool,
                first,
            }));
        }
        (!all.edges.is_empty()).then_some(all)
    }
}
