//! Jobs that go without an answer: their callers have left, or their service is gone.

use super::job::{A_JOB, Job, JobState, NOWHERE};
use super::{TaskId, World};
use crate::event::Event;
use crate::metrics::JobEnd;

impl World {
    /// The caller of a job gave up on it.
    pub(super) fn caller_leaves(&mut self, id: TaskId) {
        let job = self.tasks[id].job_mut().expect(A_JOB);
        job.caller_waits = false;
        if job.answered || job.state == JobState::Ended {
            return; // only the answer is still under way
        }
        let service = &mut self.services[job.service as usize];
        service.orphan(self.now, job);
        let (site, honours) = (job.site, service.honours_cancellation);
        if service.behaviour.is_some() && job.replica != NOWHERE {
            let (service, replica) = (job.service, job.replica);
            self.observe(service, replica, None);
        }
        if honours {
            self.travel(site, Event::Cancel(id));
        }
    }

    /// A cancellation reaches the service.
    pub(super) fn on_cancel(&mut self, id: TaskId) -> Option<Event> {
        let job = self.tasks.get_mut(id).and_then(|task| task.job_mut())?;
        if job.answered {
            return None;
        }
        match job.state {
            JobState::Sent => job.cancelled = true,
            JobState::Waiting | JobState::Running => {
                self.ended(id, JobEnd::Cancelled);
                self.remove_job(id);
            }
            JobState::Ended => {}
        }
        None
    }

    /// Takes a job out of the service without an answer.
    pub(super) fn remove_job(&mut self, id: TaskId) {
        let job = *self.tasks[id].job().expect(A_JOB);
        let service = job.service as usize;
        match job.state {
            JobState::Waiting => {
                self.services[service].leave_queue(self.now, job.replica);
                self.leave(id, false);
                self.tasks.remove(id);
            }
            JobState::Running => {
                self.stop_program(id);
                self.leave(id, job.answered && !job.orphan);
                if job.answered && job.caller_waits {
                    // An answer already under way still arrives.
                    self.tasks[id].go_no_further();
                } else {
                    self.tasks.remove(id);
                }
            }
            JobState::Sent | JobState::Ended => return,
        }
        let tasks = &self.tasks;
        self.services[service].replicas[job.replica as usize].sweep(|id| tasks.contains(id));
    }

    /// The jobs in a service, or in one replica of it, as they came, with whether each has been answered already. Slots
    /// are given to whoever comes, other clients' tasks among them: they are no order.
    pub(super) fn jobs_in_turn(&self, service: u32, replica: Option<u32>) -> Vec<(TaskId, bool)> {
        let inside = self.jobs_inside(service);
        let inside = inside.filter(|(_, job)| replica.is_none_or(|index| job.replica == index));
        let mut inside: Vec<(TaskId, &Job)> = inside.collect();
        inside.sort_by_key(|(_, job)| (job.arrived, job.turn));
        let answered = |(id, job): (TaskId, &Job)| (id, job.answered);
        inside.into_iter().map(answered).collect()
    }

    /// Every job in a service.
    pub(super) fn jobs_inside(&self, service: u32) -> impl Iterator<Item = (TaskId, &Job)> {
        self.tasks
            .iter()
            .filter_map(|(id, task)| Some((id, task.job()?)))
            .filter(move |(_, job)| {
                job.service == service && matches!(job.state, JobState::Waiting | JobState::Running)
            })
    }
}
