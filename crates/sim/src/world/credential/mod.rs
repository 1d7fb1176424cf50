//! Tokens that attempts need: kept by processes, asked for, waited for, rejected.

mod refresh;
mod reject;

pub(super) use refresh::Held;

use std::sync::Arc;

use seawall::{Span, Time};

use super::passage::TripId;
use crate::metrics::CredentialCount;
use crate::rng::{Purpose, Stream};
use crate::scenario::credential::{Credential, Credentials};
use crate::scenario::model::{Caller, Scenario};

/// A token that was issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Issue {
    pub(super) issued: Time,
    expires: Time,
}

/// What one holder knows of its token.
#[derive(Clone, Debug, Default)]
struct Token {
    issue: Option<Issue>,
    /// Requests for a new one that are under way.
    asking: u32,
    /// Attempts that wait for the one that is under way.
    waiting: Vec<TripId>,
}

/// The tokens of one caller and credential.
#[derive(Clone, Debug)]
struct Keeper {
    credential: u32,
    caller: Caller,
    /// By process, and within it by client where each has its own.
    tokens: Vec<Token>,
    /// Tokens of one process.
    each: u32,
    /// How long tokens are good for.
    lifetimes: Stream,
    count: CredentialCount,
}

/// Everything about credentials while a world runs.
#[derive(Clone, Debug)]
pub(super) struct CredentialState {
    rules: Arc<Credentials>,
    /// By index in `Credentials::refreshes`.
    keepers: Vec<Keeper>,
    /// By credential: no token that was issued up to then is good.
    revoked: Vec<Option<Time>>,
}

/// What a request for a token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Errand {
    /// Index into `CredentialState::keepers`.
    keeper: u32,
    pub(super) process: u32,
    /// The client on whose behalf.
    pub(super) tenant: u32,
    /// The attempt that waits for this very request, if one does.
    trip: TripId,
}

/// What an attempt finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It needs none.
    NotNeeded,
    /// One that is good; whether a new one is to be asked for meanwhile.
    Good(Issue, bool),
    /// None, and none is asked for that it could wait for.
    Missing,
    /// None, but one is asked for.
    UnderWay,
}

impl CredentialState {
    /// That of a scenario; `None` when it has none.
    pub(super) fn new(scenario: &Scenario, seed: u64) -> Option<Box<CredentialState>> {
        let rules = scenario.credentials.clone()?;
        let keepers = rules.refreshes.iter().enumerate().map(|(index, refresh)| {
            let processes = scenario.processes(refresh.caller);
            let rule = &rules.all[refresh.credential as usize];
            let each = match rule.per_client {
                true => scenario.clients.len() as u32,
                false => 1,
            };
            let name = scenario.keeper_name(index);
            Keeper {
                credential: refresh.credential,
                caller: refresh.caller,
                tokens: vec![Token::default(); (processes * each) as usize],
                each,
                lifetimes: Stream::new(seed, Purpose::Lifetime, &name),
                count: CredentialCount::default(),
            }
        });
        Some(Box::new(CredentialState {
            keepers: keepers.collect(),
            revoked: vec![None; rules.all.len()],
            rules,
        }))
    }

    /// All its generators, by caller and name.
    pub(super) fn streams(&self) -> impl Iterator<Item = (u32, Purpose, &Stream)> {
        let keepers = (0u32..).zip(&self.keepers);
        keepers.map(|(index, keeper)| (index, Purpose::Lifetime, &keeper.lifetimes))
    }

    pub(super) fn counts(&self) -> Vec<CredentialCount> {
        let counts = self.keepers.iter().map(|keeper| keeper.count.clone());
        counts.collect()
    }

    fn rule(&self, keeper: u32) -> &Credential {
        let credential = self.keepers[keeper as usize].credential;
        &self.rules.all[credential as usize]
    }

    fn token(&mut self, keeper: u32, process: u32, tenant: u32) -> &mut Token {
        let keeper = &mut self.keepers[keeper as usize];
        let at = process * keeper.each + tenant % keeper.each;
        &mut keeper.tokens[at as usize]
    }

    /// The token of a call site's caller.
    fn find(&mut self, site: u32, process: u32, tenant: u32, now: Time) -> Found {
        let Some(keeper) = self.rules.sites[site as usize] else {
            return Found::NotNeeded;
        };
        let rule = self.rule(keeper);
        let (margin, single) = (rule.refresh_margin, rule.single_flight);
        let token = self.token(keeper, process, tenant);
        match token.issue {
            Some(issue) if issue.expires > now => {
                let soon = margin > Span::ZERO && now.after(margin) >= issue.expires;
                Found::Good(issue, soon && !(single && token.asking > 0))
            }
            _ if single && token.asking > 0 => Found::UnderWay,
            _ => Found::Missing,
        }
    }

    /// The laws that are broken. `under_way`: how many requests for tokens of each keeper are.
    pub(super) fn broken_laws(&self, under_way: impl Fn(u32) -> u64) -> Vec<String> {
        let mut broken = Vec::new();
        for (index, keeper) in (0u32..).zip(&self.keepers) {
            let count = &keeper.count;
            let ended = count.issued + count.refused + count.lost;
            let open = under_way(index);
            let asking: u32 = keeper.tokens.iter().map(|token| token.asking).sum();
            if count.asked != ended + open || u64::from(asking) != open {
                broken.push(format!(
                    "each request for a token ends once: {} began, {ended} ended, {open} are open, {asking} are \
                     thought to be",
                    count.asked
                ));
            }
        }
        broken
    }
}
