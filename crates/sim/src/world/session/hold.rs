//! A session from its beginning to its end.

use seawall::{FailureKind, Time};

use super::{Held, IN_USE, Offer};
use crate::arena::beside;
use crate::event::Event;
use crate::queue::Rank;
use crate::world::task::What;
use crate::world::{TaskId, World};

impl World {
    /// The `session` step, once its call has gone well: the task holds on to the replica that answered.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn hold(&mut self, id: TaskId, session: u32) -> Option<Event> {
        let now = self.now;
        let root = self.tasks[id].root(id);
        let state = self.sessions.as_deref_mut().expect(IN_USE);
        let Some(offer) = Offer::take(&mut state.accepted, id) else {
            // A script answered, and that is no replica.
            return self.tell_failure(id, FailureKind::Reset);
        };
        let rule = &state.rules.all[session as usize];
        let (service, replica) = (rule.service, offer.replica);
        let lasts = match (&rule.lasts, &self.tasks[root].what) {
            (None, _) => None,
            (Some(law), What::Iteration { client, .. }) => {
                Some(law.sample(&mut self.clients[*client as usize].session))
            }
            (Some(_), _) => unreachable!("only clients hold sessions"),
        };
        let ends = lasts.map_or(Time::MAX, |lasts| now.after(lasts));
        let of = state.of(service)?;
        of.count.begun += 1;
        of.open.rise(now);
        let list = &mut of.held[replica as usize];
        list.push(id);
        let place = list.len() as u32 - 1;
        *beside(&mut state.held, id, || Held::NONE) = Held {
            task: id,
            session,
            replica,
            place,
            ends,
            breaks: Time::MAX,
        };
        if ends < Time::MAX {
            self.queue.push(ends, Rank::Normal, Event::Session(id));
        }
        // It may have gone while the answer was under way, and somebody may tell so.
        if self.services[service as usize].is_known_gone(replica, offer.at) {
            return self.break_session(id);
        }
        if self.is_silent(service, replica) {
            self.miss_heartbeats(service, replica);
        }
        self.outgrows(service, replica);
        None
    }

    /// Something is due for a session, unless it has been put off or the session is over.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn on_session(&mut self, id: TaskId) -> Option<Event> {
        let now = self.now;
        let state = self.sessions.as_deref_mut().expect(IN_USE);
        let held = *state.held_by(id)?;
        // What was to end in the instant in which it would have broken has ended.
        if held.ends == now {
            state.let_go(id, now)?.ended += 1;
            return Some(Event::Resume(id));
        }
        match held.breaks == now {
            true => self.break_session(id),
            false => None,
        }
    }

    /// A session breaks, and the program that holds it fails.
    pub(super) fn break_session(&mut self, id: TaskId) -> Option<Event> {
        let state = self.sessions.as_deref_mut().expect(IN_USE);
        state.let_go(id, self.now)?.broken += 1;
        self.tell_failure(id, FailureKind::Reset)
    }

    /// All sessions with a replica break, in the order in which they are kept.
    pub(in crate::world) fn break_sessions(&mut self, service: u32, replica: u32) {
        loop {
            let state = self.sessions.as_deref_mut();
            let of = state.and_then(|state| state.of(service));
            let Some(&task) = of.and_then(|of| of.held[replica as usize].last()) else {
                return;
            };
            let fails = self.break_session(task);
            self.soon.extend(fails);
        }
    }
}
