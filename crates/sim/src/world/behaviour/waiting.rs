//! Waits that end before a worker is free.

use seawall::{Failure, FailureKind, Time};

use super::BehaviourState;
use crate::event::Event;
use crate::metrics::JobEnd;
use crate::queue::Rank;
use crate::world::job::{Job, JobState};
use crate::world::{TaskId, World};

impl BehaviourState {
    /// What a service says that refuses a job for want of room or time.
    pub(in crate::world) fn busy(&self) -> Failure {
        Failure {
            retry_after: self.waiting.retry_after,
            ..FailureKind::Unavailable.into()
        }
    }

    /// Whether a job whose turn it is is shed instead, having waited too long.
    pub(in crate::world) fn sheds(&mut self, job: &Job, now: Time) -> bool {
        match &mut self.replicas[job.replica as usize].codel {
            Some(codel) => codel.sheds(now, now.since(job.arrived)),
            None => false,
        }
    }
}

impl World {
    /// A job begins to wait; it may not wait for ever.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn begins_to_wait(&mut self, id: TaskId) {
        let Some(job) = self.tasks[id].job() else {
            return;
        };
        let Some(behaviour) = &mut self.services[job.service as usize].behaviour else {
            return;
        };
        if let Some(law) = &behaviour.waiting.max_wait {
            let until = self.now.after(law.sample(&mut behaviour.patience));
            self.queue
                .push(until, Rank::Normal, Event::WaitedEnough(id));
        }
    }

    /// A job has waited as long as it may; nothing happens if it does not wait any more.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn on_waited_enough(&mut self, id: TaskId) -> Option<Event> {
        let job = self.tasks.get(id).and_then(|task| task.job())?;
        if job.state != JobState::Waiting {
            return None;
        }
        let (service, replica) = (job.service as usize, job.replica);
        let state = &mut self.services[service];
        state.leave_queue(self.now, replica);
        let busy = (state.behaviour.as_ref()).map_or(FailureKind::Unavailable.into(), |b| b.busy());
        self.ended(id, JobEnd::ShedWaited);
        self.leave(id, false);
        let answer = self.refuse(id, busy);
        let tasks = &self.tasks;
        let waits = |id| {
            tasks
                .get(id)
                .and_then(|task| task.job())
                .is_some_and(|job| job.state == JobState::Waiting)
        };
        self.services[service].replicas[replica as usize].sweep(waits);
        answer
    }
}
