//! What a program gets where a call fails: an old answer, a general one, none, or one from elsewhere.
//!
//! A scenario without `fallback` has none of this ([`Scenario::fallbacks`](super::model::Scenario)).

use seawall::{FailureSet, Span, Time};

use super::model::{CallSite, Caller};

/// Every fallback there is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fallbacks {
    /// By call site.
    pub rules: Vec<Option<Rule>>,
    /// What snapshots are kept of.
    pub items: Vec<Item>,
    /// The edges that have any: what is counted is counted by these.
    pub edges: Vec<u32>,
    /// The edges of nothing but calls made instead of others.
    pub stand_ins: Vec<u32>,
}

/// What holds for one call step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What there is instead of an answer.
    pub instead: Instead,
    /// The failures it stands in for; every other one is passed on.
    pub on: FailureSet,
    /// Calls of this edge and process that may be under way at once, fallback included.
    pub permits: Option<u32>,
    /// Index into [`Fallbacks::edges`].
    pub subject: u32,
}

/// What there is instead of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// Nothing; the program goes on without that part.
    Omit,
    /// The same for everybody.
    Generic,
    /// Nothing; the program fails at once.
    Reject,
    /// The last good answer.
    Snapshot {
        /// Index into [`Fallbacks::items`].
        item: u32,
        /// The oldest that may be served.
        max_age: Span,
    },
    /// Another call, which follows in the program.
    Direct,
    /// This is that other call.
    OfDirect,
    /// Another call follows that asks what has become of this one.
    LookUp,
    /// This is the call that asks.
    OfLookUp,
}

impl Instead {
    /// Whether it is a call made because another one failed.
    #[must_use]
    pub const fn is_made_instead(self) -> bool {
        matches!(self, Instead::OfDirect | Instead::OfLookUp)
    }
}

/// Something that snapshots are kept of, one in each process of a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Who keeps them.
    pub caller: Caller,
    /// As in the file.
    pub name: String,
    /// Timestamp of the one that is there at the start.
    pub at: Option<Time>,
}

impl Fallbacks {
    /// Once all call sites are known: gives each a place, and tells the edges of stand-ins from the others.
    pub(crate) fn complete(&mut self, sites: &[CallSite]) {
        self.rules.resize(sites.len(), None);
        let instead = |rule: &Option<Rule>| rule.is_some_and(|r| r.instead.is_made_instead());
        let with = |kind: bool| {
            let rules = self.rules.iter().zip(sites);
            rules
                .filter(move |(rule, _)| instead(rule) == kind)
                .map(|(_, site)| site.edge)
        };
        let mut stand_ins: Vec<u32> = with(true).collect();
        stand_ins.retain(|edge| !with(false).any(|other| other == *edge));
        stand_ins.sort_unstable();
        stand_ins.dedup();
        self.stand_ins = stand_ins;
    }

    /// Whether there is any.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.rules.iter().any(Option::is_some)
    }
}
