//! Jobs: attempts as their service sees them, from the request's arrival to the answer.

use seawall::{FailureKind, Reply, Time};

use super::service::Admission;
use super::task::Task;
use super::{TaskId, World};
use crate::event::{Event, Pair};
use crate::metrics::{Ended, JobEnd};

/// Where a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobState {
    /// On its way.
    Sent,
    /// In a replica's queue.
    Waiting,
    /// Started; its program runs.
    Running,
    /// Out of the service; at most its answer is still under way.
    Ended,
}

/// What a job comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// An attempt of a call.
    Attempt,
    /// A probe: no caller, no site.
    Probe,
    /// A message that a consumer has: likewise.
    Delivery,
}

/// One attempt as the service sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    /// The task whose call sent it.
    pub(super) caller: TaskId,
    pub(super) attempt: u32,
    /// The `call` step that sent it.
    pub(super) site: u32,
    pub(super) service: u32,
    /// `NOWHERE` until it has one.
    pub(super) replica: u32,
    /// The client for whose iteration it is done.
    pub(super) tenant: u32,
    /// The deadline sent along.
    pub(super) deadline: Option<Time>,
    pub(super) arrived: Time,
    /// Its place among those that arrived at its service.
    pub(super) turn: u32,
    /// `Time::MAX` until it is.
    pub(super) started: Time,
    pub(super) state: JobState,
    pub(super) answer: Reply,
    /// Whether the caller still wants the answer.
    pub(super) caller_waits: bool,
    /// Whether the caller left before it was answered.
    pub(super) orphan: bool,
    /// A cancellation overtook the request.
    pub(super) cancelled: bool,
    pub(super) answered: bool,
    /// Whether it has a worker, and since when.
    pub(super) holding: bool,
    pub(super) held_since: Time,
    pub(super) held_ns: u64,
    /// Tasks of its that are working right now, or are branches about to begin.
    pub(super) working: u32,
    pub(super) origin: Origin,
    /// Whether its attempt has been at the service already, with a token that was rejected.
    pub(super) again: bool,
    /// How important it is, 0 most, and whose; 0 where nobody asks.
    pub(super) class: u8,
    pub(super) client: u32,
}

impl Job {
    #[inline]
    pub(super) fn sent(
        caller: TaskId,
        attempt: u32,
        site: u32,
        service: u32,
        deadline: Option<Time>,
        now: Time,
    ) -> Job {
        Job {
            caller,
            attempt,
            site,
            service,
            replica: NOWHERE,
            tenant: 0,
            deadline,
            arrived: now,
            turn: 0,
            started: Time::MAX,
            state: JobState::Sent,
            answer: Reply::Ok,
            caller_waits: true,
            orphan: false,
            cancelled: false,
            answered: false,
            holding: false,
            held_since: now,
            held_ns: 0,
            working: 0,
            origin: Origin::Attempt,
            again: false,
            class: 0,
            client: 0,
        }
    }
}

/// The replica of a job that has none yet.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Whoever names a task as a job.
pub(super) const A_JOB: &str = "the task is a job";

impl World {
    /// A request reaches its service: it is refused, started or told to wait.
    #[inline(always)]
    pub(super) fn on_deliver(&mut self, id: TaskId) -> Option<Event> {
        let now = self.now;
        if self.effects.is_some() && self.tasks.contains(id) {
            self.number_job(id);
        }
        let mut job = self.tasks.get_mut(id).and_then(|task| task.job_mut())?;
        job.arrived = now;
        let mut service = &mut self.services[job.service as usize];
        service.arrived(job);
        if job.cancelled {
            self.ended(id, JobEnd::Cancelled);
            self.tasks.remove(id);
            return None;
        }
        if let Some(disturbance) = service.disturbance() {
            if let Some(follows) = self.disturb(id, disturbance) {
                return follows;
            }
            job = self.tasks[id].job_mut().expect(A_JOB);
            service = &mut self.services[job.service as usize];
        }
        let admission = service.admit(now, id, job);
        let behaves = service.behaviour.is_some();
        match admission {
            Admission::Starts => {
                service.start(now, job);
                match behaves {
                    false => Some(Event::Resume(id)),
                    true => self.came_in(id),
                }
            }
            Admission::Waits => {
                if service.queued() > self.scenario.run.limits.queue {
                    self.stop = Some(Ended::QueueLimit);
                }
                if behaves { self.came_in(id) } else { None }
            }
            Admission::Refused(end, failure) => {
                self.ended(id, end);
                self.refuse(id, failure)
            }
            Admission::Full => {
                let busy = match &service.behaviour {
                    None => FailureKind::Unavailable.into(),
                    Some(behaviour) => behaviour.busy(),
                };
                self.ended(id, JobEnd::ShedFull);
                self.refuse(id, busy)
            }
            Admission::Kept => self.keep(id),
            Admission::Expired => {
                self.ended(id, JobEnd::ShedExpired);
                self.refuse(id, FailureKind::DeadlineExceeded.into())
            }
        }
    }

    /// Counts how a job ended; every job that arrived comes by here exactly once.
    #[inline]
    pub(super) fn ended(&mut self, id: TaskId, end: JobEnd) {
        let job = self.tasks[id].job().expect(A_JOB);
        if job.origin != Origin::Attempt {
            return self.ended_apart(id, end, job.origin);
        }
        self.services[job.service as usize].ended(job, end);
        if self.looked_at {
            self.note_ended(id, end);
        }
    }

    /// What else is to be done when a job has ended.
    #[cold]
    #[inline(never)]
    fn note_ended(&mut self, id: TaskId, end: JobEnd) {
        if self.effects.is_some() {
            self.note_end(id, end);
        }
        if self.recorder.log.is_some() {
            self.log_job(id, end);
        }
    }

    /// Takes a job out of its service, and lets the next one have its worker. `useful`: somebody waited for
    /// its answer.
    pub(super) fn leave(&mut self, id: TaskId, useful: bool) {
        let job = self.tasks[id].job_mut().expect(A_JOB);
        let (service, replica) = (job.service, job.replica);
        let wanted = self.services[service as usize].leave(self.now, job, useful);
        if self.effects.is_some() {
            self.job_is_over(id);
        }
        if wanted {
            self.soon
                .push_back(Event::Dispatch(Pair::new(service, replica)));
        }
        if self.services[service as usize].behaviour.is_some() {
            self.stops_working(id, service, replica);
        }
    }

    /// Gives the worker of a job back while all of it waits, where the service does so.
    #[inline]
    pub(super) fn lend_worker(&mut self, id: TaskId) {
        let Some(job) = self.tasks[id].job_mut() else {
            return;
        };
        let (service, replica) = (job.service, job.replica);
        if self.services[service as usize].lend_worker(self.now, job) {
            self.soon
                .push_back(Event::Dispatch(Pair::new(service, replica)));
        }
    }

    /// Hands a free worker to whoever waits for one.
    #[inline(always)]
    pub(super) fn dispatch(&mut self, service: u32, replica: u32) -> Option<Event> {
        let now = self.now;
        let state = &mut self.services[service as usize];
        let task = loop {
            let place = &mut state.replicas[replica as usize];
            let free = place.has_free_worker();
            if let Some(&task) = place.resuming.front() {
                let root = self.tasks.get(task).map(|t| t.root(task));
                let job = root.and_then(|root| self.tasks.get_mut(root)?.job_mut());
                // Another branch of the same job may have got the worker meanwhile: it serves both.
                let goes_on = job.as_ref().is_none_or(|job| free || job.holding);
                if !goes_on {
                    return None;
                }
                place.resuming.pop_front();
                // One whose job was cancelled is gone.
                let Some(job) = job else { continue };
                if !job.holding {
                    state.take_worker(now, job);
                }
                break task;
            }
            if !free {
                return None;
            }
            // One that was cancelled while it waited is gone; one that was sent home may not be there yet.
            let tasks = &self.tasks;
            let waits = |id| {
                let job = tasks.get(id).and_then(Task::job);
                job.is_some_and(|job| job.state == JobState::Waiting)
            };
            let Some(id) = place.next_waiting(state.discipline, waits) else {
                return self.fetch(service, replica);
            };
            let job = self.tasks.get_mut(id).and_then(|task| task.job_mut());
            let job = job.filter(|job| job.state == JobState::Waiting);
            let Some(job) = job else { continue };
            state.leave_queue(now, replica);
            if let Some((end, failure)) = state.drops(job, now) {
                self.soon
                    .push_back(Event::Dispatch(Pair::new(service, replica)));
                self.ended(id, end);
                self.leave(id, false);
                return self.refuse(id, failure);
            }
            state.start(now, job);
            break id;
        };
        // Who fetches messages has more to do than those who line up.
        let place = &state.replicas[replica as usize];
        if place.goes_on() || (place.has_free_worker() && state.fetches()) {
            self.soon
                .push_back(Event::Dispatch(Pair::new(service, replica)));
        }
        Some(Event::Resume(task))
    }

    /// A job's program is over. Its worker goes to the next before its caller can react to the answer.
    #[inline(always)]
    pub(super) fn end_job(&mut self, id: TaskId, reply: Reply) -> Option<Event> {
        if self.looked_at {
            return self.end_job_with_more(id, reply);
        }
        let job = self.tasks[id].job_mut().expect(A_JOB);
        let (service, replica) = (job.service, job.replica);
        let state = &mut self.services[service as usize];
        if state.behaviour.is_some() {
            return self.end_job_with_more(id, reply);
        }
        let wanted = state.leave(self.now, job, !job.orphan);
        let mut arrives = false;
        if !job.answered {
            state.answered(self.now, job);
            state.ended(job, JobEnd::of(reply));
            let index = job.site;
            let site = &self.sites[index as usize];
            let home = job.answer(reply, site, &mut self.edges[site.edge as usize]);
            arrives = self.go_home(id, index, home);
        } else if !job.caller_waits {
            // Answered earlier, and that answer is no longer under way.
            self.tasks.remove(id);
        }
        self.worker_goes_on(id, service, replica, wanted, arrives)
    }

    /// The same where somebody looks at the job, or its service does more than to have workers.
    #[cold]
    #[inline(never)]
    fn end_job_with_more(&mut self, id: TaskId, reply: Reply) -> Option<Event> {
        let reply = self.commits(id, reply);
        let reply = match self.effects {
            Some(_) => self.say(id, reply, true),
            None => reply,
        };
        let job = self.tasks[id].job_mut().expect(A_JOB);
        let (service, replica) = (job.service, job.replica);
        let state = &mut self.services[service as usize];
        let wanted = state.leave(self.now, job, !job.orphan);
        let behaves = state.behaviour.is_some();
        let mut arrives = false;
        if !job.answered {
            state.answered_apart(self.now, job);
            self.ended(id, JobEnd::of(reply));
            arrives = self.answer(id, reply);
        } else if !job.caller_waits {
            self.tasks.remove(id);
        }
        if behaves {
            self.stops_working(id, service, replica);
        }
        self.worker_goes_on(id, service, replica, wanted, arrives)
    }

    /// The worker of a job that is over goes to whoever waits for one, if it is `wanted`; the answer follows, if it
    /// arrives in this instant.
    #[inline(always)]
    fn worker_goes_on(
        &mut self,
        id: TaskId,
        service: u32,
        replica: u32,
        wanted: bool,
        arrives: bool,
    ) -> Option<Event> {
        if !wanted {
            return arrives.then_some(Event::Answer(id));
        }
        if arrives {
            self.soon.push_back(Event::Answer(id));
        }
        Some(Event::Dispatch(Pair::new(service, replica)))
    }

    /// Sets the workers of each replica, and puts new ones to use.
    pub(super) fn set_workers(&mut self, service: u32, workers: u32) {
        for replica in self.services[service as usize].set_workers(self.now, workers) {
            self.soon
                .push_back(Event::Dispatch(Pair::new(service, replica)));
        }
    }
}
