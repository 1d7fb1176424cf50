//! The laws that effects and keys must keep.

use super::EffectsState;
use crate::world::TaskId;

impl EffectsState {
    /// The laws that are broken. `open`: whether a job is still in its service.
    pub(in crate::world) fn broken_laws(&self, open: impl Fn(TaskId) -> bool) -> Vec<String> {
        let mut broken = Vec::new();
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
}
