//! Consumers that fetch messages.

use super::{Delivery, IN_USE, MessageId, MessagesState};
use crate::arena::{Id, beside};
use crate::event::{Event, Pair};
use crate::queue::Rank;
use crate::scenario::messages::Receipt;
use crate::world::job::{Job, JobState, Origin};
use crate::world::task::{Task, What};
use crate::world::{TaskId, World};

impl World {
    /// A free worker of a replica has nobody waiting for it. If its service keeps messages it fetches the next.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn fetch(&mut self, service: u32, replica: u32) -> Option<Event> {
        let place = self.queue_of(service)?;
        let state = &self.services[service as usize];
        let behaviour = state.behaviour.as_ref()?;
        if state.out || !behaviour.fetches(replica) {
            return None;
        }
        let messages = self.messages.as_deref_mut().expect(IN_USE);
        let queue = &mut messages.queues[place as usize];
        let id = queue.pop(&messages.all)?;
        let another = queue.visible > 1;
        let task = self.deliver(place, id, replica);
        let fails = self.services[service as usize].fails_at_once(replica);
        let goes_on = self.came_in(task);
        let free = self.services[service as usize].replicas[replica as usize].has_free_worker();
        if another && free {
            self.soon
                .push_back(Event::Dispatch(Pair::new(service, replica)));
        }
        match (goes_on, fails) {
            (Some(_), Some(failure)) => self.tell_failure(task, failure.kind),
            (goes_on, _) => goes_on,
        }
    }

    /// A consumer has a message: a job that nobody waits for.
    fn deliver(&mut self, place: u32, id: MessageId, replica: u32) -> TaskId {
        let now = self.now;
        let messages = self.messages.as_deref_mut().expect(IN_USE);
        let queue = &mut messages.queues[place as usize];
        let message = &mut messages.all[id];
        queue.count.received += 1;
        queue.count.redelivered += u64::from(message.receives > 0);
        let twice = message.latest != Id::NONE || message.executed;
        queue.count.duplicated += u64::from(twice);
        queue.visible -= 1;
        queue.hidden.rise(now);
        message.receives += 1;
        message.hidden = true;
        message.until = now.after(queue.rules.visibility);
        let beat = queue.rules.heartbeat.map(|every| now.after(every));
        message.due = beat.map_or(message.until, |beat| beat.min(message.until));
        self.queue
            .push(message.due, Rank::Timer, Event::Message(id));
        let message = *message;
        let service = queue.service;
        let state = &mut self.services[service as usize];
        let task = self.tasks.insert(|| {
            let job = Job {
                replica,
                tenant: message.tenant,
                class: message.class,
                client: message.client,
                caller_waits: false,
                origin: Origin::Delivery,
                ..Job::sent(Id::NONE, message.receives, u32::MAX, service, None, now)
            };
            Task::new(What::Job(job), message.entry)
        });
        let job = self.tasks[task].job_mut().expect("it is one");
        state.start_delivery(now, message.seen, job);
        messages.begin(id, task, place);
        let before = std::mem::replace(&mut messages.all[id].receipt, task);
        let any = messages.queues[place as usize].rules.receipt == Receipt::Any;
        if let Some(effects) = self.effects.as_deref_mut() {
            effects.deliver_message(id, task);
            self.number_job(task);
        }
        // Unless any receipt will do, that of whoever had it before is worth nothing now.
        if !any {
            self.in_vain(before);
        }
        task
    }

    /// What a delivery still does is for nobody. Nothing happens to one that is over.
    pub(super) fn in_vain(&mut self, task: TaskId) {
        let now = self.now;
        let Some(job) = self.tasks.get_mut(task).and_then(|task| task.job_mut()) else {
            return;
        };
        if job.orphan || job.answered || job.state != JobState::Running {
            return;
        }
        let service = &mut self.services[job.service as usize];
        service.orphan(now, job);
        if service.honours_cancellation {
            self.soon.push_back(Event::Cancel(task));
        }
    }
}

impl MessagesState {
    /// A delivery of a message begins.
    fn begin(&mut self, id: MessageId, task: TaskId, queue: u32) {
        let before = std::mem::replace(&mut self.all[id].latest, task);
        let nobody = || Delivery {
            queue,
            message: Id::NONE,
            before: Id::NONE,
        };
        *beside(&mut self.deliveries, task, nobody) = Delivery {
            queue,
            message: id,
            before,
        };
    }

    /// A delivery is over: its message does not know it any more.
    pub(super) fn unlink(&mut self, task: TaskId) {
        let Delivery {
            message, before, ..
        } = self.deliveries[task.slot()];
        let Some(message) = self.all.get_mut(message) else {
            return;
        };
        if message.latest == task {
            message.latest = before;
            return;
        }
        let mut at = message.latest;
        while at != Id::NONE {
            let later = &mut self.deliveries[at.slot()];
            if later.before == task {
                later.before = before;
                return;
            }
            at = later.before;
        }
    }
}
