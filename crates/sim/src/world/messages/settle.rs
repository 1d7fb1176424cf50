//! What becomes of messages as time passes: they are seen again, die, or are too old.

use super::{IN_USE, Message, MessageId};
use crate::arena::Id;
use crate::event::Event;
use crate::queue::Rank;
use crate::scenario::messages::Receipt;
use crate::world::World;
use crate::world::job::JobState;

impl World {
    /// Something is due for a message, unless it has been put off or the message is gone.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn on_message(&mut self, id: MessageId) {
        let now = self.now;
        let messages = self.messages.as_deref_mut().expect(IN_USE);
        let Some(message) = messages.all.get(id).copied() else {
            return;
        };
        let queue = &mut messages.queues[message.queue as usize];
        if let Some(retention) = queue.rules.retention
            && now >= message.sent.after(retention)
        {
            queue.count.expired += 1;
            self.forget_message(id);
            return;
        }
        if message.due != now || !message.hidden {
            return;
        }
        if message.until > now {
            return self.beat(id, message);
        }
        let died = queue.rules.max_receives;
        let died = died.is_some_and(|max| message.receives >= max);
        if died {
            queue.count.dead += 1;
            self.forget_message(id);
            return;
        }
        if queue.rules.receipt == Receipt::InTime {
            messages.all[id].receipt = Id::NONE;
            self.in_vain(message.receipt);
        }
        self.see_again(id);
    }

    /// A consumer has its message hidden for longer, if it can: one that has died or stands still cannot.
    fn beat(&mut self, id: MessageId, message: Message) {
        let now = self.now;
        let holder = self.tasks.get(message.receipt).and_then(|task| task.job());
        let holder = holder.filter(|job| job.state == JobState::Running && !job.answered);
        let works = holder.map(|job| {
            let behaviour = self.services[job.service as usize].behaviour.as_ref();
            behaviour.is_some_and(|behaviour| behaviour.fetches_on(job.replica))
        });
        let messages = self.messages.as_deref_mut().expect(IN_USE);
        let rules = &messages.queues[message.queue as usize].rules;
        let known = &mut messages.all[id];
        if works == Some(true) {
            known.until = now.after(rules.visibility);
        }
        let next = rules.heartbeat.filter(|_| works.is_some());
        let next = next.map_or(known.until, |every| now.after(every));
        known.due = next.min(known.until);
        self.queue.push(known.due, Rank::Timer, Event::Message(id));
    }

    /// A message that was hidden can be seen again.
    fn see_again(&mut self, id: MessageId) {
        let now = self.now;
        let messages = self.messages.as_deref_mut().expect(IN_USE);
        let message = &mut messages.all[id];
        message.hidden = false;
        message.seen = now;
        let queue = &mut messages.queues[message.queue as usize];
        queue.hidden.fall(now);
        queue.visible += 1;
        queue.ready.push_back(id);
        let service = queue.service;
        self.services[service as usize].message_waits(now);
        self.call_a_consumer(service);
    }

    /// A message is kept no longer, for whatever reason. Who still works on it does so for nobody.
    pub(super) fn forget_message(&mut self, id: MessageId) {
        let now = self.now;
        let messages = self.messages.as_deref_mut().expect(IN_USE);
        let message = messages.all[id];
        messages.all.remove(id);
        messages.kept -= 1;
        let queue = &mut messages.queues[message.queue as usize];
        let service = queue.service;
        match message.hidden {
            true => queue.hidden.fall(now),
            false => {
                queue.visible -= 1;
                self.services[service as usize].message_goes(now);
                queue.sweep(&messages.all);
            }
        }
        let before = queue.ready.len();
        queue.next_of_group(id, message.group, &messages.all);
        let has_next = queue.ready.len() > before;
        let mut at = message.latest;
        while at != Id::NONE {
            let messages = self.messages.as_deref_mut().expect(IN_USE);
            let delivery = &mut messages.deliveries[at.slot()];
            delivery.message = Id::NONE;
            let next = delivery.before;
            self.in_vain(at);
            at = next;
        }
        if let Some(effects) = self.effects.as_deref_mut() {
            effects.drop_message(id);
        }
        if has_next {
            self.call_a_consumer(service);
        }
    }
}
