//! Messages as they come in.

use seawall::{FailureKind, Reply, Time};

use super::{IN_USE, Message};
use crate::arena::Id;
use crate::event::{Event, Pair};
use crate::metrics::{Ended, JobEnd};
use crate::queue::Rank;
use crate::world::{TaskId, World};

impl World {
    /// A message has come to its queue: it is kept, unless there is no place left, and its sender is told so.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn keep(&mut self, id: TaskId) -> Option<Event> {
        let job = *self.tasks[id].job()?;
        let place = self.queue_of(job.service)?;
        let state = self.messages.as_deref_mut().expect(IN_USE);
        let queue = &mut state.queues[place as usize];
        let service = &mut self.services[job.service as usize];
        let room = self.scenario.services[job.service as usize].queue.capacity;
        if room.is_some_and(|room| queue.visible >= u64::from(room)) {
            let behaviour = service.behaviour.as_ref();
            let busy = behaviour.map_or(FailureKind::Unavailable.into(), |b| b.busy());
            self.ended(id, JobEnd::ShedFull);
            return self.refuse(id, busy);
        }
        let group = queue.draw_group();
        let message = state.all.insert(|| Message {
            queue: place,
            entry: self.sites[job.site as usize].entry,
            tenant: job.tenant,
            class: job.class,
            client: job.client,
            group,
            sent: self.now,
            seen: self.now,
            hidden: false,
            until: Time::MAX,
            due: Time::MAX,
            receives: 0,
            receipt: Id::NONE,
            latest: Id::NONE,
            executed: false,
        });
        state.kept += 1;
        queue.count.sent += 1;
        queue.line_up(message, group);
        service.message_waits(self.now);
        if let Some(retention) = queue.rules.retention {
            let at = self.now.after(retention);
            self.queue.push(at, Rank::Timer, Event::Message(message));
        }
        if service.queued() > self.scenario.run.limits.queue {
            self.stop = Some(Ended::QueueLimit);
        }
        let mut reply = Reply::Ok;
        if let Some(effects) = self.effects.as_deref_mut() {
            effects.keep_message(id, message);
            reply = self.say(id, reply, true);
        }
        self.call_a_consumer(job.service);
        self.ended(id, JobEnd::of(reply));
        self.send_home(id, reply)
    }

    /// A message can be seen that could not before: a consumer with nothing to do fetches it.
    pub(super) fn call_a_consumer(&mut self, service: u32) {
        let state = &mut self.services[service as usize];
        let Some(behaviour) = &state.behaviour else {
            return;
        };
        let all = state.replicas.len() as u32;
        let in_turn = (state.next_replica..all).chain(0..state.next_replica);
        let idle = |&n: &u32| state.replicas[n as usize].has_free_worker() && behaviour.fetches(n);
        if let Some(replica) = in_turn.into_iter().find(idle) {
            state.next_replica = (replica + 1) % all;
            self.soon
                .push_back(Event::Dispatch(Pair::new(service, replica)));
        }
    }

    /// Consumers may fetch messages that could not before. Nothing happens where none are kept.
    pub(in crate::world) fn call_consumers(&mut self, service: u32) {
        let Some(place) = self.queue_of(service) else {
            return;
        };
        let state = self.messages.as_deref().expect(IN_USE);
        if state.queues[place as usize].visible == 0 {
            return;
        }
        for replica in 0..self.services[service as usize].replicas.len() as u32 {
            self.soon
                .push_back(Event::Dispatch(Pair::new(service, replica)));
        }
    }
}
