//! Asking for a token, and what those do who need it.

use seawall::{Failure, FailureKind};

use super::{Errand, Found, Issue};
use crate::arena::Id;
use crate::event::Event;
use crate::scenario::credential::Credential;
use crate::scenario::file::credential::is_for_good;
use crate::scenario::model::Caller;
use crate::world::passage::TripId;
use crate::world::task::{Task, What};
use crate::world::{TaskId, World};

/// Whoever comes here has asked.
pub(super) const IN_USE: &str = "credentials are used in this world";

/// What a trip that needs a token gets.
pub(in crate::world) enum Held {
    /// It needs none.
    NotNeeded,
    /// This one.
    Token(Issue),
    /// It has to wait.
    Waits,
}

impl World {
    /// A trip comes to where a token is needed, if one is.
    pub(in crate::world) fn find_token(
        &mut self,
        trip: TripId,
        site: u32,
        process: u32,
        tenant: u32,
    ) -> Held {
        let now = self.now;
        let Some(state) = self.credentials.as_deref_mut() else {
            return Held::NotNeeded;
        };
        let found = state.find(site, process, tenant, now);
        let Some(keeper) = state.rules.sites[site as usize] else {
            return Held::NotNeeded;
        };
        let errand = Errand {
            keeper,
            process,
            tenant,
            trip: Id::NONE,
        };
        match found {
            Found::NotNeeded => return Held::NotNeeded,
            Found::Good(issue, ask) => {
                if ask {
                    state.keepers[keeper as usize].count.ahead += 1;
                    self.ask(errand);
                }
                return Held::Token(issue);
            }
            Found::Missing if state.rule(keeper).single_flight => {
                state.token(keeper, process, tenant).waiting.push(trip);
                self.ask(errand);
            }
            Found::Missing => self.ask(Errand { trip, ..errand }),
            Found::UnderWay => state.token(keeper, process, tenant).waiting.push(trip),
        }
        let state = self.credentials.as_deref_mut().expect(IN_USE);
        state.keepers[keeper as usize].count.waited += 1;
        Held::Waits
    }

    /// Asks for a new token.
    fn ask(&mut self, errand: Errand) {
        let state = self.credentials.as_deref_mut().expect(IN_USE);
        let token = state.token(errand.keeper, errand.process, errand.tenant);
        token.asking += 1;
        state.keepers[errand.keeper as usize].count.asked += 1;
        let entry = state.rules.refreshes[errand.keeper as usize].entry;
        let task = self.tasks.insert(|| Task::new(What::Errand(errand), entry));
        self.soon.push_back(Event::Resume(task));
    }

    /// A request for a token is over: there is one, or this went wrong.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn end_errand(&mut self, id: TaskId, failed: Option<FailureKind>) {
        let now = self.now;
        let What::Errand(errand) = self.tasks[id].what else {
            return;
        };
        self.tasks.remove(id);
        let Errand {
            keeper,
            process,
            tenant,
            trip,
        } = errand;
        let state = self.credentials.as_deref_mut().expect(IN_USE);
        let rules = std::sync::Arc::clone(&state.rules);
        let of = &mut state.keepers[keeper as usize];
        let rule = &rules.all[of.credential as usize];
        let outcome = match failed {
            None => {
                of.count.issued += 1;
                let expires = now.after(rule.lifetime.sample(&mut of.lifetimes));
                Ok(Issue {
                    issued: now,
                    expires,
                })
            }
            Some(kind) => {
                of.count.refused += 1;
                Err(without(rule, kind))
            }
        };
        let token = state.token(keeper, process, tenant);
        token.asking -= 1;
        if let Ok(issue) = outcome {
            token.issue = Some(issue);
        }
        let mut waiting = std::mem::take(&mut token.waiting);
        let mut turned_away = 0;
        for trip in waiting.drain(..).chain([trip]) {
            if let Some(passages) = self.passages.as_deref_mut()
                && passages.has_token(trip, outcome)
            {
                turned_away += u64::from(outcome.is_err());
                self.soon.push_back(Event::Leg(trip));
            }
        }
        let state = self.credentials.as_deref_mut().expect(IN_USE);
        state.keepers[keeper as usize].count.turned_away += turned_away;
        // The room of the list is used again.
        let token = state.token(keeper, process, tenant);
        if token.waiting.is_empty() {
            token.waiting = waiting;
        }
    }

    /// How many requests for tokens of a keeper are under way.
    pub(in crate::world) fn errands(&self, keeper: u32) -> u64 {
        let tasks = self.tasks.iter();
        let own = tasks.filter(
            |(_, task)| matches!(task.what, What::Errand(errand) if errand.keeper == keeper),
        );
        own.count() as u64
    }

    /// Services look at the tokens of those who need one to call them.
    pub(in crate::world) fn mark_token_checks(&mut self) {
        let Some(state) = &self.credentials else {
            return;
        };
        for (needed, site) in state.rules.sites.iter().zip(&self.sites) {
            if needed.is_some() {
                self.services[site.service as usize].has_a_guard();
            }
        }
    }

    /// A process has died with its tokens and all it asked for.
    #[cold]
    pub(in crate::world) fn lose_tokens(&mut self, service: u32, process: u32) {
        let Some(state) = self.credentials.as_deref_mut() else {
            return;
        };
        let own = |keeper: u32| state.keepers[keeper as usize].caller == Caller::Service(service);
        let errands = self.tasks.iter().filter_map(|(id, task)| match task.what {
            What::Errand(errand) if errand.process == process && own(errand.keeper) => {
                let sent = task.call.map(|call| call.sent);
                Some((id, errand, sent))
            }
            _ => None,
        });
        let mut errands: Vec<_> = errands.collect();
        // Slots are no order.
        errands.sort_by_key(|(_, errand, sent)| (errand.keeper, errand.tenant, *sent));
        for keeper in &mut state.keepers {
            if keeper.caller == Caller::Service(service) {
                let (first, each) = ((process * keeper.each) as usize, keeper.each as usize);
                keeper.tokens[first..first + each].fill_with(Default::default);
            }
        }
        for (id, errand, _) in errands {
            self.stop_program(id);
            self.tasks.remove(id);
            let state = self.credentials.as_deref_mut().expect(IN_USE);
            state.keepers[errand.keeper as usize].count.lost += 1;
        }
    }
}

/// What an attempt gets when there is no token.
fn without(rule: &Credential, kind: FailureKind) -> Failure {
    match is_for_good(kind) {
        true => Failure {
            phase: seawall::Phase::Credential,
            ..kind.into()
        },
        false => rule.fail,
    }
}
