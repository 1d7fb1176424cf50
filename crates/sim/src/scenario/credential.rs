//! Credentials: tokens that calls need, and where they come from.
//!
//! A scenario without `credentials` has none of this ([`Scenario::credentials`](super::model::Scenario)).

use seawall::{Failure, Span};

use super::model::{CallSite, Caller, Scenario};
use crate::law::Law;
use crate::step::Pc;

/// A token that calls over some links need.
#[derive(Clone, Debug, PartialEq)]
pub struct Credential {
    /// As in the file.
    pub name: String,
    /// How long one is good for, from when it was issued.
    pub lifetime: Law,
    /// A new one is asked for so long before the old one ends, while that is still used.
    pub refresh_margin: Span,
    /// Whether one process asks for one at a time; otherwise each attempt that needs one asks for itself.
    pub single_flight: bool,
    /// Whether a process has one for each client on whose behalf it calls; otherwise one for all.
    pub per_client: bool,
    /// What an attempt gets that has none, where that is nobody's mistake.
    pub fail: Failure,
    /// Whether an attempt whose token is rejected gets a new one and is sent once more.
    pub replay: bool,
}

/// How one caller comes by one credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refresh {
    /// Index into [`Credentials::all`].
    pub credential: u32,
    /// Whose.
    pub caller: Caller,
    /// The call that asks for a new one.
    pub site: u32,
    /// The program that makes it.
    pub entry: Pc,
}

/// All credentials of a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Credentials {
    /// In the order of the file.
    pub all: Vec<Credential>,
    /// What is counted is counted by these.
    pub refreshes: Vec<Refresh>,
    /// By call site: which of [`Credentials::refreshes`] its attempts need.
    pub sites: Vec<Option<u32>>,
    /// The edges of nothing but refreshes.
    pub edges: Vec<u32>,
}

impl Scenario {
    /// `caller: credential`: whose tokens, in reports and of a stream.
    #[must_use]
    pub fn keeper_name(&self, refresh: usize) -> String {
        let Some(used) = &self.credentials else {
            return String::new();
        };
        let refresh = used.refreshes[refresh];
        let caller = self.caller_name(refresh.caller);
        let name = &used.all[refresh.credential as usize].name;
        format!("{caller}: {name}")
    }
}

impl Credentials {
    /// Once all call sites are known: tells the edges of refreshes from the others.
    pub(crate) fn complete(&mut self, sites: &[CallSite]) {
        self.sites.resize(sites.len(), None);
        let asks = |site: usize| self.refreshes.iter().any(|r| r.site as usize == site);
        let with = |kind: bool| {
            let sites = sites.iter().enumerate();
            sites
                .filter(move |(site, _)| asks(*site) == kind)
                .map(|(_, site)| site.edge)
        };
        let mut edges: Vec<u32> = with(true).collect();
        edges.retain(|edge| !with(false).any(|other| other == *edge));
        edges.sort_unstable();
        edges.dedup();
        self.edges = edges;
    }
}
