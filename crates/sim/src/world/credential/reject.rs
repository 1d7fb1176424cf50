//! Tokens that the service does not take.

use seawall::{FailureKind, Reply};

use super::Issue;
use super::refresh::IN_USE;
use crate::event::Event;
use crate::metrics::JobEnd;
use crate::world::{TaskId, World};

impl World {
    /// No token of a credential that was issued up to now is good any more. Those who hold them do not know.
    pub(in crate::world) fn revoke(&mut self, credential: u32) {
        let now = self.now;
        if let Some(state) = self.credentials.as_deref_mut() {
            state.revoked[credential as usize] = Some(now);
        }
    }

    /// A job that came with a token is sent home if that is not good. `Some`: it was, and this follows.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn check_token(&mut self, id: TaskId, site: u32) -> Option<Option<Event>> {
        let now = self.now;
        let issue = self.passages.as_deref()?.token_of(id)?;
        let state = self.credentials.as_deref_mut()?;
        let keeper = state.rules.sites[site as usize]?;
        let credential = state.keepers[keeper as usize].credential;
        let revoked = state.revoked[credential as usize];
        if now < issue.expires && revoked.is_none_or(|at| issue.issued > at) {
            return None;
        }
        state.keepers[keeper as usize].count.rejected += 1;
        self.ended(id, JobEnd::Faulted);
        Some(self.refuse(id, FailureKind::Unauthenticated.into()))
    }

    /// An answer has come to an attempt with a token. Whether that is thrown away and the attempt sent once more with
    /// a new one. `again`: it has been already.
    pub(in crate::world) fn rejected(
        &mut self,
        site: u32,
        (process, tenant): (u32, u32),
        issue: Issue,
        answer: Reply,
        again: bool,
    ) -> bool {
        let Reply::Failed(failure) = answer else {
            return false;
        };
        if failure.kind != FailureKind::Unauthenticated {
            return false;
        }
        let state = self.credentials.as_deref_mut().expect(IN_USE);
        let Some(keeper) = state.rules.sites[site as usize] else {
            return false;
        };
        let token = state.token(keeper, process, tenant);
        // Another attempt may have got a new one meanwhile.
        if token.issue == Some(issue) {
            token.issue = None;
        }
        let replays = state.rule(keeper).replay && !again;
        state.keepers[keeper as usize].count.replayed += u64::from(replays);
        replays
    }
}
