//! Work on services whose jobs share a replica.

use seawall::Span;

use super::{Plan, Tick};
use crate::event::Event;
use crate::queue::Rank;
use crate::world::{TaskId, World};

/// Whoever names a task as a job.
const A_JOB: &str = "the task is a job";

impl World {
    /// A task of a job begins to work; alone, it would take so long.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn begin_work(&mut self, id: TaskId, root: TaskId, work: Span) {
        let job = self.tasks[root].job().expect(A_JOB);
        let state = &mut self.services[job.service as usize];
        let behaviour = state.behaviour.as_mut().expect("it has one");
        let it = &mut behaviour.replicas[job.replica as usize];
        let work = match state.slow * it.slowness(self.now, behaviour.restart.cold) {
            1.0 => work,
            slow => work.times(slow),
        };
        match &mut it.shared {
            Some(shared) => {
                shared.begin(self.now, id, (root, job), work);
                let (service, replica) = (job.service, job.replica);
                self.set_alarm(service, replica);
            }
            None => {
                let done = self.now.after(work);
                self.queue.push(done, Rank::Normal, Event::Worked(id));
            }
        }
    }

    /// Has the world look at a replica when the next of its tasks will be done. An alarm that has been set for
    /// an earlier instant will do it when it comes up.
    pub(super) fn set_alarm(&mut self, service: u32, replica: u32) {
        let behaviour = self.services[service as usize].behaviour.as_mut();
        let shared = behaviour.and_then(|b| b.replicas[replica as usize].shared.as_mut());
        let Some(shared) = shared else { return };
        let Some(next) = shared.next() else { return };
        if shared.alarm.is_none_or(|alarm| alarm > next) {
            shared.alarm = Some(next);
            let tick = Tick::new(Plan::Shared, service, replica);
            self.queue.push(next, Rank::Normal, Event::Tick(tick));
        }
    }

    /// A task of those that share a replica may be done.
    pub(super) fn on_shared(&mut self, service: u32, replica: u32) -> Option<Event> {
        let behaviour = self.services[service as usize].behaviour.as_mut();
        let shared = behaviour.and_then(|b| b.replicas[replica as usize].shared.as_mut())?;
        if shared.alarm != Some(self.now) {
            return None;
        }
        shared.alarm = None;
        let first = shared.finished(self.now);
        while let Some(task) = shared.finished(self.now) {
            self.soon.push_back(Event::Worked(task));
        }
        self.set_alarm(service, replica);
        first.map(Event::Worked)
    }

    /// A job has left its service: what it was still working on is over.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn stops_working(&mut self, id: TaskId, service: u32, replica: u32) {
        let behaviour = self.services[service as usize].behaviour.as_mut();
        let Some(it) = behaviour.map(|b| &mut b.replicas[replica as usize]) else {
            return;
        };
        it.leaked += 1;
        let shared = it.shared.as_mut();
        if shared.is_some_and(|shared| shared.forget(self.now, id)) {
            self.set_alarm(service, replica);
        }
    }
}
