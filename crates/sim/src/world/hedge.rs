//! Hedged calls: several attempts of one call under way at once.
//!
//! A call remembers one attempt. Where its policy hedges, all that are under way are kept here instead, in places that are used
//! again.

use seawall::{FailureKind, Time};

use super::{TaskId, World};
use crate::arena::Id;

/// Attempts of one call that are under way.
#[derive(Clone, Copy, Debug)]
struct Copies([Option<Copied>; seawall::HEDGED_ATTEMPTS_MAX as usize]);

#[derive(Clone, Copy, Debug)]
struct Copied {
    attempt: u32,
    /// Nobody, if the request was lost on its way.
    job: TaskId,
    sent: Time,
}

/// The hedged calls with attempts under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Hedged {
    places: Vec<Copies>,
    free: Vec<u32>,
}

impl Hedged {
    fn begin(&mut self) -> u32 {
        let none = Copies([None; seawall::HEDGED_ATTEMPTS_MAX as usize]);
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = none;
            return place;
        }
        self.places.push(none);
        self.places.len() as u32 - 1
    }

    fn note(&mut self, place: u32, copy: Copied) {
        let copies = &mut self.places[place as usize].0;
        if let Some(free) = copies.iter_mut().find(|copy| copy.is_none()) {
            *free = Some(copy);
        }
    }

    fn take(&mut self, place: u32, attempt: u32) -> Option<Copied> {
        let copies = &mut self.places[place as usize].0;
        let is_it = |copy: &&mut Option<Copied>| copy.is_some_and(|copy| copy.attempt == attempt);
        copies.iter_mut().find(is_it)?.take()
    }

    /// A call is over.
    pub(super) fn end(&mut self, place: Option<u32>) {
        self.free.extend(place);
    }
}

impl World {
    /// The attempt that a call remembers goes among those that are under way.
    #[cold]
    pub(super) fn note_copy(&mut self, id: TaskId, attempt: u32) {
        let Some(call) = self.tasks.get_mut(id).and_then(|task| task.call.as_mut()) else {
            return;
        };
        let place = *call.copies.get_or_insert_with(|| self.hedged.begin());
        let copy = Copied {
            attempt,
            job: std::mem::replace(&mut call.job, Id::NONE),
            sent: call.sent,
        };
        self.hedged.note(place, copy);
    }

    /// When the attempt that was answered, or is given up, was sent; the call remembers it for the moment.
    #[cold]
    pub(super) fn recall_copy(&mut self, id: TaskId, attempt: u32) {
        let Some(call) = self.tasks.get_mut(id).and_then(|task| task.call.as_mut()) else {
            return;
        };
        if let Some(copy) = call
            .copies
            .and_then(|place| self.hedged.take(place, attempt))
        {
            (call.job, call.sent) = (copy.job, copy.sent);
        }
    }

    /// Tells the engine of a hedged call that its timer has come, and counts the attempts that this ended.
    #[cold]
    pub(super) fn hedged_timer(&mut self, id: TaskId) {
        let Some(call) = self.tasks.get_mut(id).and_then(|task| task.call.as_mut()) else {
            return;
        };
        let engine = &mut self.engines[call.engine as usize];
        let timeouts =
            |engine: &seawall::Client| engine.stats().attempt_failed[FailureKind::Timeout as usize];
        let before = timeouts(engine);
        engine.on_timer(&mut call.state, self.now);
        for _ in before..timeouts(engine) {
            let meter = &mut self.edges[call.edge as usize].meter;
            meter.attempt_failed(FailureKind::Timeout, FailureKind::Timeout.phase());
        }
    }
}
