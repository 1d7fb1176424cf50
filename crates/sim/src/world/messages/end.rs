//! How deliveries end.

use seawall::Time;

use super::{Delivery, IN_USE};
use crate::arena::Id;
use crate::event::Event;
use crate::metrics::JobEnd;
use crate::queue::Rank;
use crate::scenario::messages::{GivesBack, Receipt};
use crate::world::job::Origin;
use crate::world::{TaskId, World};

impl World {
    /// A job is over that was no attempt.
    #[cold]
    pub(in crate::world) fn ended_apart(&mut self, id: TaskId, end: JobEnd, origin: Origin) {
        match origin {
            Origin::Delivery => self.delivery_ended(id, end),
            Origin::Attempt | Origin::Probe => self.probe_ended(id, end),
        }
    }

    /// A delivery is over: its program has ended or answered, or it went with its replica.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn delivery_ended(&mut self, id: TaskId, end: JobEnd) {
        let messages = self.messages.as_deref_mut().expect(IN_USE);
        messages.unlink(id);
        let Delivery { queue, message, .. } = messages.deliveries[id.slot()];
        let state = &mut messages.queues[queue as usize];
        let rules = &state.rules;
        let known = messages.all.get_mut(message);
        let holds = known.as_ref().is_some_and(|known| known.receipt == id);
        match end {
            JobEnd::Served => {
                let deletes = holds || (known.is_some() && rules.receipt == Receipt::Any);
                match deletes {
                    true => state.count.completed += 1,
                    false => state.count.late += 1,
                }
                if deletes {
                    self.complete(message);
                } else if let Some(known) = known {
                    known.executed = true;
                }
            }
            JobEnd::Cancelled => state.count.stopped += 1,
            JobEnd::Lost => state.count.lost += 1,
            _ => {
                state.count.failed += 1;
                if let Some(known) = known
                    && holds
                    && known.hidden
                {
                    let last = rules.max_receives.is_some_and(|max| known.receives >= max);
                    let back = match &rules.gives_back {
                        _ if last => Some(self.now),
                        GivesBack::AtOnce => Some(self.now),
                        GivesBack::After(law) => {
                            Some(self.now.after(law.sample(&mut state.returns)))
                        }
                        GivesBack::Never => None,
                    };
                    // Nobody has it any more, and nobody keeps it hidden.
                    known.receipt = Id::NONE;
                    known.until = back.unwrap_or(known.until);
                    known.due = known.until;
                    self.queue
                        .push(known.due, Rank::Normal, Event::Message(message));
                }
            }
        }
        if self.effects.is_some() {
            self.note_end(id, end);
        }
    }

    /// A message has been dealt with: it is deleted.
    fn complete(&mut self, id: super::MessageId) {
        let messages = self.messages.as_deref_mut().expect(IN_USE);
        let (queue, sent): (u32, Time) = (messages.all[id].queue, messages.all[id].sent);
        let service = messages.queues[queue as usize].service;
        let meter = &mut self.services[service as usize].meter;
        meter.answered(self.now.since(sent));
        self.forget_message(id);
    }
}
