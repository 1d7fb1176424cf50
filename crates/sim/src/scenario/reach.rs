//! Which calls are ever made, and which of them lead to which.

use super::model::Scenario;
use crate::step::{Instr, Pc};

/// The calls that clients cause, operation by operation: a call to one operation of a service leads to what that
/// one calls, not to what the others do.
#[derive(Clone, Debug)]
pub struct Reach {
    /// By call site: whether any client's program ever comes to it.
    pub called: Vec<bool>,
    /// By call site: the call sites, ascending, whose attempts run the program that it is in. None for those of clients,
    /// and for those nobody comes to. A request for a token is made for the same attempts as the calls that need it.
    pub above: Vec<Vec<u32>>,
}

impl Reach {
    pub(super) fn of(scenario: &Scenario) -> Reach {
        let sites = scenario.sites.len();
        let mut walk = Walk {
            scenario,
            reach: Reach {
                called: vec![false; sites],
                above: vec![Vec::new(); sites],
            },
            open: Vec::new(),
        };
        let programs = scenario.clients.iter().flat_map(|c| &c.operations);
        for program in programs {
            for site in calls(scenario, program.entry) {
                walk.note(None, site);
            }
        }
        while let Some(site) = walk.open.pop() {
            for below in calls(scenario, entry(scenario, site)) {
                walk.note(Some(site), below);
            }
        }
        walk.reach
            .above
            .iter_mut()
            .for_each(|all| all.sort_unstable());
        walk.reach
    }

    /// The call sites that an attempt from `site` leads to at once, in the order of the file.
    pub fn below(&self, site: u32) -> impl Iterator<Item = u32> {
        let above = self.above.iter().enumerate();
        above.filter_map(move |(below, above)| {
            above.binary_search(&site).is_ok().then_some(below as u32)
        })
    }
}

/// Where the program begins that an attempt from a call site runs.
fn entry(scenario: &Scenario, site: u32) -> Pc {
    let call = scenario.sites[site as usize];
    let service = scenario.edges[call.edge as usize].service;
    scenario.services[service as usize].operations[call.operation as usize].entry
}

/// The call sites that a program may come to.
fn calls(scenario: &Scenario, entry: Pc) -> Vec<u32> {
    let instrs = scenario.code.reachable(entry);
    let calls = instrs.filter_map(|instr| match instr {
        Instr::Call(site) => Some(*site),
        _ => None,
    });
    calls.collect()
}

struct Walk<'a> {
    scenario: &'a Scenario,
    reach: Reach,
    /// Sites that are called, whose programs have not been looked at yet.
    open: Vec<u32>,
}

impl Walk<'_> {
    /// `site` is called by a program that `above` runs; `None` is a client.
    fn note(&mut self, above: Option<u32>, site: u32) {
        let at = site as usize;
        let new = !std::mem::replace(&mut self.reach.called[at], true);
        let other = above.filter(|above| !self.reach.above[at].contains(above));
        if !new && other.is_none() {
            return;
        }
        self.reach.above[at].extend(other);
        if new {
            self.open.push(site);
        }
        let used = self.scenario.credentials.as_deref();
        let token = used.and_then(|used| {
            let refresh = used.sites.get(at).copied().flatten()?;
            Some(used.refreshes[refresh as usize].site)
        });
        if let Some(token) = token {
            self.note(above, token);
        }
    }
}
