//! Who calls whom, from the clients down, as far as calls really go.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use sim::scenario::model::{Caller, Client, Scenario, Service, Source};
use sim::scenario::{Reach, Topology};

use crate::number;
use crate::report::style::Style;
use crate::report::table::wrapped;
use crate::wording;

/// Call sites that go along one edge to one operation, in their order.
type Branch = Vec<u32>;

/// What is drawn.
struct Tree<'a> {
    scenario: &'a Scenario,
    reach: &'a Reach,
    style: Style,
}

/// The tree of all clients, and what is in none of them.
pub(super) fn tree(scenario: &Scenario, topology: &Topology, style: Style) -> String {
    let tree = Tree {
        scenario,
        reach: &topology.reach,
        style,
    };
    let mut out = String::new();
    for (i, client) in scenario.clients.iter().enumerate() {
        let head = style.bold(&client.name);
        let source = source(client, scenario.run.duration);
        let _ = writeln!(out, "  {head}  {}", style.dim(&source));
        let caller = Caller::Client(i as u32);
        let sites = tree.called().filter(|site| tree.caller(*site) == caller);
        let top = tree.branches(sites);
        tree.draw(&mut out, &top, "  ", &mut Vec::new());
    }
    let never = tree.never_called();
    if !never.is_empty() {
        let words = format!("never called: {}", never.join(", "));
        for line in wrapped(&words, super::COLUMNS - 2) {
            let _ = writeln!(out, "  {}", style.warn(&line));
        }
    }
    out.push('\n');
    out
}

impl Tree<'_> {
    /// All call sites that anybody comes to.
    fn called(&self) -> impl Iterator<Item = u32> {
        let sites = 0..self.scenario.sites.len() as u32;
        sites.filter(|site| self.reach.called[*site as usize])
    }

    fn caller(&self, site: u32) -> Caller {
        let edge = self.scenario.sites[site as usize].edge;
        self.scenario.edges[edge as usize].caller
    }

    /// Call sites by edge and operation, each in the order in which it comes first.
    fn branches(&self, sites: impl Iterator<Item = u32>) -> Vec<Branch> {
        let mut branches: Vec<Branch> = Vec::new();
        let what = |site: u32| {
            let call = self.scenario.sites[site as usize];
            (call.edge, call.operation)
        };
        for site in sites {
            match branches.iter_mut().find(|b| what(b[0]) == what(site)) {
                Some(branch) => branch.push(site),
                None => branches.push(vec![site]),
            }
        }
        branches
    }

    fn draw(&self, out: &mut String, branches: &[Branch], indent: &str, above: &mut Vec<u32>) {
        for (i, branch) in branches.iter().enumerate() {
            let (mark, further) = if i + 1 == branches.len() {
                ("└─ ", "   ")
            } else {
                ("├─ ", "│  ")
            };
            let site = branch[0];
            let edge = self.scenario.edges[self.scenario.sites[site as usize].edge as usize];
            let policy = &self.scenario.policies[edge.policy as usize];
            let most = branch.iter().map(|site| self.scenario.most_attempts(*site));
            let attempts = match most.max() {
                None | Some(u32::MAX) => "∞".into(),
                Some(n) => n.to_string(),
            };
            let name = self.style.bold(&wording::called(self.scenario, site));
            let service = &self.scenario.services[edge.service as usize];
            let rest = format!("under {} · {}", policy.name, room(service));
            let rest = self.style.dim(&rest);
            let _ = writeln!(out, "{indent}{mark}{name} ×{attempts}  {rest}");
            // A request for a token may need one itself: said once is enough.
            if !above.contains(&site) {
                above.push(site);
                let below = branch.iter().flat_map(|site| self.reach.below(*site));
                let below: BTreeSet<u32> = below.collect();
                let below = self.branches(below.into_iter());
                self.draw(out, &below, &format!("{indent}{further}"), above);
                above.pop();
            }
        }
    }

    /// Services, and operations of others, that no client's call leads to.
    fn never_called(&self) -> Vec<String> {
        let called = self.called().map(|site| {
            let call = self.scenario.sites[site as usize];
            (
                self.scenario.edges[call.edge as usize].service,
                call.operation,
            )
        });
        let called: BTreeSet<(u32, u32)> = called.collect();
        let mut never = Vec::new();
        for (i, service) in self.scenario.services.iter().enumerate() {
            let operations = service.operations.iter().enumerate();
            let unused = operations.filter(|(of, _)| !called.contains(&(i as u32, *of as u32)));
            let unused: Vec<String> = unused
                .map(|(_, operation)| format!("{}.{}", service.name, operation.name))
                .collect();
            if unused.len() == service.operations.len() {
                never.push(service.name.clone());
            } else {
                never.extend(unused);
            }
        }
        never
    }
}

/// What starts a client's calls.
fn source(client: &Client, duration: seawall::Span) -> String {
    let instances = match client.instances {
        1 => "1 process".into(),
        n => format!("{} processes", number::count(u64::from(n))),
    };
    match &client.source {
        Source::Open(arrivals) => {
            format!("{instances} · {}", wording::arrivals(arrivals, duration))
        }
        Source::Loop { .. } => format!("{instances}, each in a loop"),
    }
}

/// How much a service can do at once.
fn room(service: &Service) -> String {
    let scaling = service.behaviour.as_ref().and_then(|b| b.scaling);
    let replicas = match scaling.map_or(service.replicas, |scaling| scaling.initial) {
        1 => "1 replica".into(),
        n => format!("{} replicas", number::count(u64::from(n))),
    };
    let workers = match service.concurrency {
        Some(n) => format!("{} workers", number::count(u64::from(n))),
        None => "workers without limit".into(),
    };
    let queue = match service.queue.capacity {
        Some(0) => "no queue".into(),
        Some(n) => format!("queue of {}", number::count(u64::from(n))),
        None => "queue without limit".into(),
    };
    let more = wording::server(service).into_iter();
    let more: String = more.map(|words| format!(", {words}")).collect();
    format!("{replicas} × {workers}, {queue}{more}")
}
