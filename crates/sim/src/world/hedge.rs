//! Hedged calls: several attempts of one call under way at once.
//!
//! A call remembers one attempt. Where its policy hedges, all that are under way are kept here instead, in places that are used
//! again.

use seawall::{Action, FailureKind, Reply, Time, Verdict};

use super::call::{CALLING, wake_admitted};
use super::{TaskId, World};
use crate::arena::Id;
use crate::event::Event;
use crate::metrics::Said;

/// Attempts of one call that are under way.
#[derive(Clone, Copy, Debug)]
struct Copies {
    all: [Option<Copied>; seawall::HEDGED_ATTEMPTS_MAX as usize],
    /// How many of them have timed out and are still to be given up.
    timed_out: u64,
}

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
        let none = Copies {
            all: [None; seawall::HEDGED_ATTEMPTS_MAX as usize],
            timed_out: 0,
        };
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = none;
            return place;
        }
        self.places.push(none);
        self.places.len() as u32 - 1
    }

    fn note(&mut self, place: u32, copy: Copied) {
        let copies = &mut self.places[place as usize].all;
        if let Some(free) = copies.iter_mut().find(|copy| copy.is_none()) {
            *free = Some(copy);
        }
    }

    fn take(&mut self, place: u32, attempt: u32) -> Option<Copied> {
        let copies = &mut self.places[place as usize].all;
        let is_it = |copy: &&mut Option<Copied>| copy.is_some_and(|copy| copy.attempt == attempt);
        copies.iter_mut().find(is_it)?.take()
    }

    /// An attempt goes on as another job.
    pub(super) fn is_another_job(&mut self, place: u32, job: TaskId, new: TaskId) {
        let copies = self.places[place as usize].all.iter_mut().flatten();
        copies
            .filter(|copy| copy.job == job)
            .for_each(|copy| copy.job = new);
    }

    /// An attempt is given up. Whether it is one of those that timed out.
    fn was_timed_out(&mut self, place: u32) -> bool {
        let timed_out = &mut self.places[place as usize].timed_out;
        let was = *timed_out > 0;
        *timed_out -= u64::from(was);
        was
    }

    /// A call is over.
    pub(super) fn end(&mut self, place: Option<u32>) {
        self.free.extend(place);
    }
}

impl World {
    /// Does everything the engine of a hedged call asks for: several attempts may go out at once, and given up
    /// others may come between them.
    #[cold]
    #[inline(never)]
    pub(super) fn drive_hedged(&mut self, id: TaskId) -> Option<Event> {
        // An attempt goes out when the engine has nothing more to say.
        let mut sending = None;
        loop {
            let task = self.tasks.get_mut(id)?;
            let root = task.root(id);
            let call = task.call.as_mut()?;
            let edge = &mut self.edges[call.edge as usize];
            let engine = &mut self.engines[call.engine as usize];
            if sending.is_none() {
                call.log_look(&mut self.recorder.log, self.now, edge);
            }
            let action = engine.poll(&mut call.state, self.now, &mut edge.jitter);
            let Some(action) = action else {
                call.arm(edge, self.now, &mut self.queue);
                wake_admitted(engine, &mut self.soon);
                // Now the task waits, and its job with it.
                self.lend_worker(root);
                let (attempt, deadline) = sending?;
                return self.send_copy(id, attempt, deadline);
            };
            if self.recorder.log.is_some() {
                self.log_action(id, &action);
            }
            if let Some((attempt, deadline)) = sending.take() {
                let arrives = self.send_copy(id, attempt, deadline);
                self.soon.extend(arrives);
            }
            match action {
                Action::Send {
                    attempt, deadline, ..
                } => sending = Some((attempt, deadline)),
                Action::Choose(_) => self.choose_host(id),
                Action::Abandon(attempt) => {
                    self.recall_copy(id, attempt);
                    let place = self.tasks[id].call.as_ref().and_then(|call| call.copies);
                    let timed_out = place.is_none_or(|place| self.hedged.was_timed_out(place));
                    self.abandon(id, timed_out);
                }
                Action::Finish(verdict) => return self.end_hedged_call(id, &verdict),
            }
        }
    }

    fn send_copy(&mut self, id: TaskId, attempt: u32, deadline: Option<Time>) -> Option<Event> {
        let call = self.tasks[id].call.as_mut().expect(CALLING);
        call.counts_as_sent(attempt, &mut self.edges[call.edge as usize], self.now);
        let from = call.sender();
        let arrives = self.send(id, from, attempt, deadline);
        self.note_copy(id, attempt);
        arrives
    }

    fn end_hedged_call(&mut self, id: TaskId, verdict: &Verdict) -> Option<Event> {
        let call = self.tasks[id].call.as_ref().expect(CALLING);
        let (site, copies) = (call.site, call.copies);
        let meter = &mut self.edges[call.edge as usize].meter;
        // Its attempts were measured one by one.
        meter.call_ended(self.now.since(call.began), None, verdict);
        wake_admitted(&mut self.engines[call.engine as usize], &mut self.soon);
        self.hedged.end(copies);
        self.end_call(id, site, verdict)
    }

    /// An answer to one of the attempts of a hedged call.
    #[cold]
    #[inline(never)]
    pub(super) fn on_answer_to_copy(
        &mut self,
        job: TaskId,
        id: TaskId,
        attempt: u32,
        reply: Reply,
    ) -> Option<Event> {
        self.recall_copy(id, attempt);
        let call = self.tasks[id].call.as_mut().expect(CALLING);
        if call.job == job {
            call.job = Id::NONE;
        }
        let edge = &mut self.edges[call.edge as usize];
        let said = Said::Answer { attempt, reply };
        call.log(&mut self.recorder.log, self.now, edge, said);
        if let Reply::Failed(failure) = reply {
            edge.meter.attempt_failed(failure.kind, failure.phase);
        }
        edge.meter.attempt_ended(self.now.since(call.sent));
        self.engines[call.engine as usize].on_reply(&mut call.state, self.now, attempt, reply);
        Some(Event::Poll(id))
    }

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

    /// Tells the engine of a hedged call that its timer has come, and notes how many attempts this ended.
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
        if let Some(place) = call.copies {
            self.hedged.places[place as usize].timed_out += timeouts(engine) - before;
        }
    }
}
