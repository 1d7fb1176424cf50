//! Fetches: the way to what is not in a cache, and those who wait for what it brings.

use seawall::FailureKind;

use super::super::task::What;
use super::super::{TaskId, World};
use super::{CacheState, IN_USE};
use crate::arena::beside;
use crate::event::Event;
use crate::scenario::cache::OnFailure;

/// A fetch under way.
#[derive(Clone, Debug)]
pub(super) struct Lead {
    task: TaskId,
    cache: u32,
    /// What is fetched, and for which cache.
    key: u64,
    /// Those who wait for it.
    pub(super) followers: Vec<TaskId>,
}

/// What is noted as being fetched is.
pub(super) const LED: &str = "a flight is led by a task";

/// How a fetch ends.
#[derive(Clone, Copy)]
enum Lands {
    /// There is something to go on with.
    Well,
    Failed(FailureKind),
    /// Nobody knows.
    Stopped,
}

impl CacheState {
    /// What a task fetches.
    fn lead_of(&self, id: TaskId) -> Option<&Lead> {
        let lead = self.leads.get(id.slot())?.as_ref();
        lead.filter(|lead| lead.task == id)
    }

    /// The laws that are broken. `fetches`: whether a task runs a block.
    pub(in super::super) fn broken_laws(&self, fetches: impl Fn(TaskId) -> bool) -> Vec<String> {
        let mut broken = Vec::new();
        let leads = || self.leads.iter().flatten();
        for (index, step) in (0u32..).zip(&self.steps) {
            let count = &step.count;
            let own = leads().filter(|lead| lead.cache == index);
            let (open, wait) = own.fold((0, 0), |(open, wait), lead| {
                (open + 1, wait + lead.followers.len() as u64)
            });
            if count.lookups != count.hits + count.misses
                || count.misses != count.fetches + count.waits
            {
                broken.push(format!(
                    "each look-up hits, or fetches, or waits for a fetch: {} of them, {} hits, {} misses, {} fetches, {} wait",
                    count.lookups, count.hits, count.misses, count.fetches, count.waits
                ));
            }
            let ended = count.stored + count.failed + count.stopped;
            if count.fetches != ended + open {
                broken.push(format!(
                    "each fetch ends once: {} began, {ended} ended, {open} are open",
                    count.fetches
                ));
            }
            if count.waits != count.released + wait || step.waiting != wait {
                broken.push(format!(
                    "whoever waits for a fetch is released when it is over: {} waited, {} were released, {wait} wait",
                    count.waits, count.released
                ));
            }
            if self.rules.all[index as usize].coalesce && step.flights.len() as u64 != open {
                broken.push(format!(
                    "of one thing there is one fetch: {open} are open, of {} things",
                    step.flights.len()
                ));
            }
            broken.extend(step.store.broken_law());
        }
        let stray = leads().filter(|lead| !fetches(lead.task)).count();
        if stray > 0 {
            broken.push(format!("a fetch is under way: {stray} are not"));
        }
        broken
    }
}

impl World {
    /// A task goes for something.
    pub(super) fn leads(&mut self, id: TaskId, cache: u32, key: u64) {
        let state = self.caches.as_deref_mut().expect(IN_USE);
        if state.rules.all[cache as usize].coalesce {
            let step = &mut state.steps[cache as usize];
            step.flights.insert(key, id.slot() as u32);
        }
        *beside(&mut state.leads, id, || None) = Some(Lead {
            task: id,
            cache,
            key,
            followers: state.spare.pop().unwrap_or_default(),
        });
    }

    /// A task has fetched what it went for.
    #[cold]
    #[inline(never)]
    pub(in super::super) fn fetched(&mut self, id: TaskId) {
        let now = self.now;
        let state = self.caches.as_deref_mut().expect(IN_USE);
        let Some(&Lead { cache, key, .. }) = state.lead_of(id) else {
            return;
        };
        let rule = &state.rules.all[cache as usize];
        let step = &mut state.steps[cache as usize];
        let until = step.good_until(rule, now);
        step.count.stored += 1;
        step.count.evicted += u64::from(step.store.put(key, until));
        self.fetch_lands(id, Lands::Well);
    }

    /// The program of a block fails: so do the fetches that it is part of. `Some`: one has something to go on with, and this
    /// follows.
    #[cold]
    #[inline(never)]
    pub(in super::super) fn fetch_fails(
        &mut self,
        block: TaskId,
        kind: FailureKind,
    ) -> Option<Event> {
        let mut at = block;
        while let What::Block { parent, .. } = self.tasks[at].what {
            at = parent;
            let now = self.now;
            let state = self.caches.as_deref_mut()?;
            let Some(&Lead { cache, key, .. }) = state.lead_of(at) else {
                continue;
            };
            let step = &mut state.steps[cache as usize];
            step.count.failed += 1;
            let there = step.store.peek(key);
            match state.rules.all[cache as usize].on_failure {
                OnFailure::Stale if there.is_some() => {
                    step.count.stale += 1;
                    self.fetch_lands(at, Lands::Well);
                    self.drop_children(at);
                    self.tasks[at].step_over();
                    return Some(Event::Resume(at));
                }
                OnFailure::Delete if there.is_some_and(|until| now < until) => {
                    step.count.deleted += 1;
                    step.store.take_out(key);
                }
                OnFailure::Keep | OnFailure::Delete | OnFailure::Stale => {}
            }
            self.fetch_lands(at, Lands::Failed(kind));
        }
        None
    }

    /// The program of a task ends before what it fetches is there, if it fetches anything.
    #[cold]
    #[inline(never)]
    pub(in super::super) fn fetch_stops(&mut self, id: TaskId) {
        let Some(state) = self.caches.as_deref_mut() else {
            return;
        };
        let Some(&Lead { cache, .. }) = state.lead_of(id) else {
            return;
        };
        state.steps[cache as usize].count.stopped += 1;
        self.fetch_lands(id, Lands::Stopped);
    }

    /// A fetch is over: so it is for all who wait for it. If it was stopped, they have to see for themselves.
    fn fetch_lands(&mut self, id: TaskId, how: Lands) {
        let state = self.caches.as_deref_mut().expect(IN_USE);
        let lead = state.leads[id.slot()].take().expect(LED);
        let step = &mut state.steps[lead.cache as usize];
        if state.rules.all[lead.cache as usize].coalesce {
            step.flights.remove(lead.key);
        }
        let mut followers = lead.followers;
        step.waiting -= followers.len() as u64;
        step.count.released += followers.len() as u64;
        for follower in followers.drain(..) {
            // Who left meanwhile, or is over and only has an answer under way, goes nowhere.
            let Some(task) = self.tasks.get_mut(follower).filter(|task| !task.is_over()) else {
                continue;
            };
            let event = match how {
                Lands::Well => {
                    task.step_over();
                    Event::Resume(follower)
                }
                Lands::Failed(kind) => {
                    task.fails(kind);
                    Event::Fail(follower)
                }
                Lands::Stopped => {
                    task.step_back();
                    Event::Resume(follower)
                }
            };
            self.soon.push_back(event);
        }
        state.spare.push(followers);
    }
}
