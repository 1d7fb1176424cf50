//! The laws that effects and keys must keep.

use super::{CallNote, EffectsState};
use crate::arena::Id;
use crate::world::TaskId;

impl EffectsState {
    /// The laws that are broken. `calls`: tasks whose call is open. `open`: whether a job is still in its service.
    pub(in crate::world) fn broken_laws(
        &self,
        calls: impl Iterator<Item = TaskId>,
        open: impl Fn(TaskId) -> bool,
    ) -> Vec<String> {
        let mut broken = Vec::new();
        let (counted, holding) = (self.counted_holders(), self.holding(calls));
        if counted != holding {
            broken.push(format!(
                "whoever holds an intent gives it back: {counted} are counted, {holding} calls, jobs and messages hold one"
            ));
        }
        let mut distinct = self.settled.clone();
        for intent in self.intents.iter() {
            for done in &intent.done {
                distinct[done.effect as usize] += 1;
            }
        }
        for ((count, distinct), effect) in self.count.iter().zip(distinct).zip(&self.rules.effects)
        {
            if count.committed != distinct + count.duplicates {
                broken.push(format!(
                    "each effect is one of a kind or a duplicate: {} was done {} times, {distinct} different, {} \
                     again",
                    effect.name, count.committed, count.duplicates
                ));
            }
        }
        for (state, store) in self.stores.iter().zip(&self.rules.stores) {
            let stray = state.holders().filter(|&job| !open(job)).count();
            if stray > 0 {
                broken.push(format!(
                    "each claim belongs to a job that works or crashed: {} has {stray} that belong to nobody",
                    store.name
                ));
            }
        }
        broken
    }

    /// Holders of intents, as the intents count them.
    fn counted_holders(&self) -> u64 {
        let holders = self.intents.iter().map(|intent| u64::from(intent.holders));
        holders.sum()
    }

    /// The same by who they are: calls, and what they ask about; jobs; messages.
    fn holding(&self, calls: impl Iterator<Item = TaskId>) -> u64 {
        let notes = calls.filter_map(|id| self.calls.get(id.slot()));
        let of_call = |note: &CallNote| [note.intent, note.sought];
        let calls = notes.flat_map(of_call).filter(|&held| held != Id::NONE);
        let jobs = self.jobs.iter().filter(|note| note.intent != Id::NONE);
        let messages = self.messages.iter().filter(|note| note.holds());
        (calls.count() + jobs.count() + messages.count()) as u64
    }
}
