//! Effects as they are done, and the keys that guard them.

use seawall::{FailureKind, Reply, Time};

use super::intent::Done;
use super::store::{Found, Key, State};
use super::{EffectsState, IN_USE, mix, tick};
use crate::event::Event;
use crate::metrics::{By, Mark};
use crate::queue::Rank;
use crate::scenario::effects::{InProgress, Store};
use crate::world::{TaskId, World};

/// What a look at the keys came to.
pub(in crate::world) enum Claimed {
    /// The program runs.
    GoesOn,
    /// It will look again.
    Waits,
    /// It is answered at once.
    Answered(Reply),
}

impl World {
    /// The `effect` step of the job `root`. `Some`: the key forbids it, and the program ends like this.
    #[inline(never)]
    pub(in crate::world) fn commit(&mut self, root: TaskId, effect: u32) -> Option<Reply> {
        let state = self.effects.as_deref_mut().expect(IN_USE);
        let note = state.job(root);
        let item = tick(&mut note.done, effect);
        let (intent, entry, body) = (note.intent, note.entry, note.body);
        let done = Done { effect, item };
        if let Some((store, key)) = state.protection(root, done) {
            let rules = &state.rules.stores[store as usize];
            let entries = &mut state.stores[store as usize];
            match entries.recorded(self.now, key) {
                Some(known) if rules.fingerprint && known != body => {
                    entries.count.conflicts += 1;
                    let note = state.job(root);
                    (note.refused, note.by) = (true, By::Store);
                    return Some(Reply::Failed(FailureKind::Conflict.into()));
                }
                Some(_) => {
                    entries.count.replayed += 1;
                    state.count[effect as usize].skipped += 1;
                    state.mark(entry, effect, Mark::Skipped);
                    return None;
                }
                None => {
                    entries.count.new += 1;
                    entries.finish(rules, self.now, key, body, root, State::Succeeded(0));
                }
            }
        }
        let count = &mut state.count[effect as usize];
        count.committed += 1;
        let known = state.intents.get_mut(intent).expect("its job is not over");
        let twice = known
            .done
            .iter()
            .any(|d| d.effect == effect && d.item == item);
        if twice {
            count.duplicates += 1;
        } else {
            known.done.push(done);
        }
        state.mark(
            entry,
            effect,
            if twice { Mark::Duplicate } else { Mark::First },
        );
        None
    }

    /// The program of a job begins with a look at the keys of `store`.
    #[inline(never)]
    pub(in crate::world) fn claim(&mut self, id: TaskId, store: u32) -> Claimed {
        let state = self.effects.as_deref_mut().expect(IN_USE);
        let Some(key) = state.key(id, store, None) else {
            state.stores[store as usize].count.without += 1;
            return Claimed::GoesOn;
        };
        let body = state.job(id).body;
        let rules = &state.rules.stores[store as usize];
        let entries = &mut state.stores[store as usize];
        let found = entries.look(rules, self.now, key, body, id);
        let note = &mut state.jobs[id.slot()];
        let count = &mut entries.count;
        match found {
            Found::New => {
                count.new += 1;
                note.claim = Some((store, key));
                Claimed::GoesOn
            }
            Found::OtherBody => {
                count.conflicts += 1;
                (note.by, note.refused) = (By::Store, true);
                Claimed::Answered(Reply::Failed(FailureKind::Conflict.into()))
            }
            Found::Answer(reply, status) => {
                count.replayed += 1;
                note.by = By::Store;
                note.status = (reply == Reply::Ok).then_some(status);
                Claimed::Answered(reply)
            }
            Found::InProgress => {
                count.in_progress += u64::from(note.polled == 0);
                let failure = match rules.in_progress {
                    InProgress::Fails(failure) => failure,
                    InProgress::Polls { every, times } if note.polled < times => {
                        note.polled += 1;
                        count.polls += 1;
                        let at = self.now.after(every);
                        self.queue.push(at, Rank::Normal, Event::Resume(id));
                        self.lend_worker(id);
                        return Claimed::Waits;
                    }
                    InProgress::Polls { .. } => FailureKind::Conflict.into(),
                };
                note.by = By::Store;
                Claimed::Answered(Reply::Failed(failure))
            }
        }
    }
}

impl EffectsState {
    /// The key of a job's request in `store`, for `done` if it is recorded with an effect; `None`: it sent none.
    fn key(&self, id: TaskId, store: u32, done: Option<Done>) -> Option<Key> {
        let note = &self.jobs[id.slot()];
        let key = note.key?;
        let intent = self.intents.get(note.intent)?;
        let Store {
            by_tenant,
            by_operation,
            ..
        } = self.rules.stores[store as usize];
        let of = |counts: bool, part: u64| if counts { part } else { 0 };
        Some([
            key,
            of(by_tenant, intent.tenant),
            of(by_operation, u64::from(intent.operation) + 1),
            done.map_or(0, |d| (u64::from(d.effect) + 1) << 32 | u64::from(d.item)),
        ])
    }

    /// The key that an effect is recorded with.
    fn protection(&self, root: TaskId, done: Done) -> Option<(u32, Key)> {
        let intent = self.intents.get(self.jobs[root.slot()].intent)?;
        let store = self.rules.of(intent.service, intent.operation)?.store?;
        let protects = self.rules.stores[store as usize].protects.as_ref()?;
        if !protects.contains(&done.effect) {
            return None;
        }
        Some((store, self.key(root, store, Some(done))?))
    }

    /// The store that a job looked its key up in is told the answer.
    pub(super) fn finish_claim(&mut self, id: TaskId, now: Time, answer: State) {
        let note = &mut self.jobs[id.slot()];
        let body = note.body;
        if let Some((store, key)) = note.claim.take() {
            let rules = &self.rules.stores[store as usize];
            self.stores[store as usize].finish(rules, now, key, body, id, answer);
        }
    }

    /// A job is gone without an answer.
    pub(super) fn give_up_claim(&mut self, id: TaskId, crashed: bool) {
        if let Some((store, key)) = self.jobs[id.slot()].claim.take() {
            self.stores[store as usize].give_up(key, id, crashed);
        }
    }

    fn mark(&mut self, entry: Option<usize>, effect: u32, mark: Mark) {
        if let (Some(entry), Some(ledger)) = (entry, &mut self.ledger) {
            ledger.entries[entry].effects.push((effect, mark));
        }
    }
}

/// The key of a request, as a number.
pub(super) fn key_of(kind: u64, of: u64, attempt: u64) -> u64 {
    mix(mix(kind, of), attempt)
}
