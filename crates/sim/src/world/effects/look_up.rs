//! Writes whose answer nobody has: what has become of them is asked, not guessed.

use seawall::Verdict;

use super::count::unknown;
use super::intent::Told;
use super::{EffectsState, IN_USE};
use crate::arena::Id;
use crate::metrics::Source;
use crate::world::{TaskId, World};

impl World {
    /// A task's call has failed, and the next one asks what has become of it.
    pub(in crate::world) fn seek(&mut self, id: TaskId) {
        let state = self.effects.as_deref_mut().expect(IN_USE);
        let note = state.call(id);
        (note.sought, note.unheard) = (note.intent, note.unanswered);
        let intent = note.intent;
        state.intents.hold(intent);
    }

    /// A task has been told what has become of the call before, or has not been. What is done later, by an attempt that is
    /// still under way, it will never know.
    pub(in crate::world) fn sought(&mut self, id: TaskId, verdict: &Verdict) -> Source {
        let state = self.effects.as_deref_mut().expect(IN_USE);
        let note = state.call(id);
        let intent = std::mem::replace(&mut note.sought, Id::NONE);
        let unheard = std::mem::take(&mut note.unheard);
        let EffectsState {
            intents,
            rules,
            count,
            ..
        } = state;
        let source = match intents.get_mut(intent) {
            Some(known) if verdict.is_ok() && !known.done.is_empty() => {
                known.told = Told::Well;
                Source::Found
            }
            Some(_) if verdict.is_ok() => Source::Absent,
            Some(known) => {
                if let Some(rules) = rules.of(known.service, known.operation)
                    && unheard
                {
                    unknown(rules, count);
                }
                Source::Failed
            }
            None => Source::Failed,
        };
        state.release(intent);
        source
    }
}
