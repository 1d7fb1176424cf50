//! Services: replicas with workers and a waiting room, and the jobs in them.

use std::collections::VecDeque;

use seawall::{Failure, FailureKind, Reply, Time};

use super::task::{Root, Task};
use super::{CallId, TaskId, World};
use crate::arena::Id;
use crate::event::Event;
use crate::metrics::{Ended, JobEnd, JobRecord, ServiceCount, ServiceGauge};
use crate::rng::{Purpose, Stream};
use crate::scenario::model::{Balance, CallSite, Discipline, Service};

pub(crate) use super::JobId;

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

/// One attempt as the service sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(super) call: CallId,
    pub(super) attempt: u32,
    pub(super) service: u32,
    pub(super) replica: u32,
    edge: u32,
    link: u32,
    operation: u32,
    /// The deadline sent along.
    pub(super) deadline: Option<Time>,
    pub(super) sent: Time,
    arrived: Time,
    /// `Time::MAX` until it is.
    started: Time,
    pub(super) state: JobState,
    pub(super) answer: Reply,
    /// Its root task while `Running`.
    task: TaskId,
    /// Whether the caller still wants the answer.
    pub(super) caller_waits: bool,
    /// Whether the caller left before it was answered.
    orphan: bool,
    /// A cancellation overtook the request.
    cancelled: bool,
    answered: bool,
    /// Whether it has a worker, and since when.
    holding: bool,
    held_since: Time,
    held_ns: u64,
    /// Tasks of its that are working right now.
    pub(super) working: u32,
}

impl Job {
    pub(super) fn sent(
        call: CallId,
        attempt: u32,
        service: u32,
        site: CallSite,
        deadline: Option<Time>,
        now: Time,
    ) -> Job {
        Job {
            call,
            attempt,
            service,
            replica: 0,
            edge: site.edge,
            link: site.link,
            operation: site.operation,
            deadline,
            sent: now,
            arrived: now,
            started: Time::MAX,
            state: JobState::Sent,
            answer: Reply::Ok,
            task: Id::NONE,
            caller_waits: true,
            orphan: false,
            cancelled: false,
            answered: false,
            holding: false,
            held_since: now,
            held_ns: 0,
            working: 0,
        }
    }
}

/// One copy of a service.
#[derive(Clone, Debug)]
struct Replica {
    /// Workers there are; `u32::MAX` when unlimited.
    workers: u32,
    /// Workers held by jobs; may exceed `workers` for a while after capacity was lost.
    busy: u32,
    /// Jobs here, waiting or started.
    inside: u32,
    /// Jobs that wait to be started, and ids of jobs that were cancelled meanwhile.
    waiting: VecDeque<JobId>,
    /// How many of them still wait.
    waiting_live: u32,
    /// Started jobs that want a worker back; they go before those that wait.
    resuming: VecDeque<TaskId>,
}

/// A service while it runs.
#[derive(Clone, Debug)]
pub(super) struct ServiceState {
    replicas: Vec<Replica>,
    next_replica: u32,
    pub(super) work: Stream,
    pub(super) delay: Stream,
    pub(super) choose: Stream,
    balance: Stream,
    fault: Stream,
    /// How many times longer work takes than drawn.
    pub(super) slow: f64,
    /// Share of attempts failed by faults, and how.
    pub(super) errors: Vec<(f64, Failure)>,
    pub(super) out: bool,
    pub(super) refusing: bool,
    queued: u64,
    queued_max: u64,
    inside: u64,
    busy: u64,
    /// Workers held by jobs whose caller has left.
    busy_for_nobody: u64,
    /// Workers there are, all replicas; `None` when unlimited.
    workers: Option<u64>,
    settled: Time,
}

impl ServiceState {
    pub(super) fn new(service: &Service, seed: u64) -> Self {
        let stream = |purpose| Stream::new(seed, purpose, &service.name);
        let replica = Replica {
            workers: service.concurrency.unwrap_or(u32::MAX),
            busy: 0,
            inside: 0,
            waiting: VecDeque::new(),
            waiting_live: 0,
            resuming: VecDeque::new(),
        };
        ServiceState {
            replicas: vec![replica; service.replicas as usize],
            next_replica: 0,
            work: stream(Purpose::Work),
            delay: stream(Purpose::Delay),
            choose: stream(Purpose::Choose),
            balance: stream(Purpose::Balance),
            fault: stream(Purpose::Fault),
            slow: 1.0,
            errors: Vec::new(),
            out: false,
            refusing: false,
            queued: 0,
            queued_max: 0,
            inside: 0,
            busy: 0,
            busy_for_nobody: 0,
            workers: service
                .concurrency
                .map(|n| u64::from(n) * u64::from(service.replicas)),
            settled: Time::ZERO,
        }
    }

    /// Brings the time integrals up to `now`; to be called before any of what they integrate changes.
    #[inline]
    pub(super) fn settle(&mut self, now: Time, count: &mut ServiceCount) {
        let dt = u128::from(now.since(self.settled).0);
        if dt == 0 {
            return;
        }
        self.settled = now;
        count.workers_ns += dt * u128::from(self.workers.unwrap_or(0));
        count.busy_ns += dt * u128::from(self.busy);
        count.wasted_ns += dt * u128::from(self.busy_for_nobody);
        count.queue_ns += dt * u128::from(self.queued);
        count.inside_ns += dt * u128::from(self.inside);
    }

    pub(super) fn gauge(&mut self) -> ServiceGauge {
        let gauge = ServiceGauge {
            queue: self.queued,
            queue_max: self.queued_max,
            workers_busy: self.busy,
            workers: self.workers,
        };
        self.queued_max = self.queued;
        gauge
    }

    fn pick(&mut self, balance: Balance) -> u32 {
        let n = self.replicas.len() as u32;
        if n == 1 {
            return 0;
        }
        let load = |r: u32| self.replicas[r as usize].inside;
        match balance {
            Balance::RoundRobin => {
                let pick = self.next_replica;
                self.next_replica = (pick + 1) % n;
                pick
            }
            Balance::Random => self.balance.below(u64::from(n)) as u32,
            Balance::LeastInFlight => (0..n).min_by_key(|&r| load(r)).unwrap_or(0),
            Balance::PowerOfTwo => {
                let a = self.balance.below(u64::from(n)) as u32;
                // The second is drawn among the others.
                let b = (a + 1 + self.balance.below(u64::from(n - 1)) as u32) % n;
                if load(b) < load(a) { b } else { a }
            }
        }
    }
}

impl World {
    #[inline]
    fn settle_service(&mut self, service: u32) -> &mut ServiceState {
        let i = service as usize;
        let state = &mut self.services[i];
        state.settle(self.now, &mut self.recorder.counts.services[i]);
        state
    }

    fn count(&mut self, service: u32) -> &mut ServiceCount {
        &mut self.recorder.counts.services[service as usize]
    }

    /// A request reaches its service: it is refused, started or told to wait.
    pub(super) fn on_deliver(&mut self, id: JobId) {
        let Some(job) = self.jobs.get(id) else { return };
        let service = job.service;
        let (first, cancelled, deadline) = (job.attempt == 1, job.cancelled, job.deadline);
        let count = self.count(service);
        count.arrived += 1;
        count.arrived_first += u64::from(first);
        self.jobs[id].arrived = self.now;
        if cancelled {
            self.ended(id, JobEnd::Cancelled);
            self.jobs.remove(id);
            return;
        }
        let state = &mut self.services[service as usize];
        if state.out {
            self.ended(id, JobEnd::Lost);
            self.jobs.remove(id);
            return;
        }
        if state.refusing {
            self.ended(id, JobEnd::Faulted);
            return self.refuse(id, FailureKind::ConnectRefused.into());
        }
        for i in 0..state.errors.len() {
            let (share, failure) = state.errors[i];
            if state.fault.bernoulli(share) {
                self.ended(id, JobEnd::Faulted);
                return self.refuse(id, failure);
            }
        }
        let plan = &self.scenario.services[service as usize];
        let replica = state.pick(plan.balance);
        let place = &state.replicas[replica as usize];
        self.jobs[id].replica = replica;
        let expired = deadline.is_some_and(|d| d <= self.now);
        if plan.queue.discipline == Discipline::DeadlineDrop && expired {
            self.ended(id, JobEnd::ShedExpired);
            self.refuse(id, FailureKind::DeadlineExceeded.into());
        } else if place.busy < place.workers && place.waiting_live == 0 && place.resuming.is_empty()
        {
            self.enter(service, replica);
            self.start(id);
        } else if plan
            .queue
            .capacity
            .is_none_or(|places| place.waiting_live < places)
        {
            self.enter(service, replica);
            self.jobs[id].state = JobState::Waiting;
            let state = &mut self.services[service as usize];
            state.queued += 1;
            state.queued_max = state.queued_max.max(state.queued);
            let place = &mut state.replicas[replica as usize];
            place.waiting.push_back(id);
            place.waiting_live += 1;
            if state.queued > self.scenario.run.limits.queue {
                self.stop = Some(Ended::QueueLimit);
            }
        } else {
            self.ended(id, JobEnd::ShedFull);
            self.refuse(id, FailureKind::Unavailable.into());
        }
    }

    fn enter(&mut self, service: u32, replica: u32) {
        let state = self.settle_service(service);
        state.inside += 1;
        state.replicas[replica as usize].inside += 1;
    }

    /// Counts how a job ended; every job that arrived comes by here exactly once.
    pub(super) fn ended(&mut self, id: JobId, end: JobEnd) {
        let job = &self.jobs[id];
        let count = &mut self.recorder.counts.services[job.service as usize];
        match end {
            JobEnd::Served => count.served += 1,
            JobEnd::Failed => count.failed += 1,
            JobEnd::ShedFull => count.shed_full += 1,
            JobEnd::ShedExpired => count.shed_expired += 1,
            JobEnd::Faulted => count.faulted += 1,
            JobEnd::Cancelled => count.cancelled += 1,
            JobEnd::Lost => count.lost += 1,
        }
        let answered = matches!(end, JobEnd::Served | JobEnd::Failed);
        count.late += u64::from(answered && job.orphan);
        if let Some(log) = &mut self.recorder.log {
            log.jobs.push(JobRecord {
                service: job.service,
                replica: job.replica,
                edge: job.edge,
                attempt: job.attempt,
                arrived: job.arrived,
                started: (job.started != Time::MAX).then_some(job.started),
                left: self.now,
                end,
                late: job.orphan,
            });
        }
    }

    /// Sends an attempt home that was never let in.
    fn refuse(&mut self, id: JobId, failure: Failure) {
        self.jobs[id].state = JobState::Ended;
        self.answer(id, Reply::Failed(failure));
    }

    fn start(&mut self, id: JobId) {
        let job = &mut self.jobs[id];
        let Job {
            service,
            operation,
            arrived,
            ..
        } = *job;
        job.state = JobState::Running;
        job.started = self.now;
        let entry = self.scenario.services[service as usize].operations[operation as usize].entry;
        let task = self.tasks.insert(Task::root(Root::Job(id), entry));
        self.jobs[id].task = task;
        let waited = self.now.since(arrived).0;
        let count = self.count(service);
        count.started += 1;
        count.waited += u64::from(waited > 0);
        count.wait_ns += u128::from(waited);
        self.take_worker(id);
        self.run_task(task);
    }

    fn take_worker(&mut self, id: JobId) {
        let now = self.now;
        let job = &mut self.jobs[id];
        job.holding = true;
        job.held_since = now;
        let (service, replica, orphan) = (job.service, job.replica, job.orphan);
        let state = self.settle_service(service);
        state.busy += 1;
        state.busy_for_nobody += u64::from(orphan);
        state.replicas[replica as usize].busy += 1;
    }

    fn give_worker(&mut self, id: JobId) {
        let now = self.now;
        let job = &mut self.jobs[id];
        if !std::mem::take(&mut job.holding) {
            return;
        }
        job.held_ns += now.since(job.held_since).0;
        let (service, replica, orphan) = (job.service, job.replica, job.orphan);
        let state = self.settle_service(service);
        state.busy -= 1;
        state.busy_for_nobody -= u64::from(orphan);
        let place = &mut state.replicas[replica as usize];
        place.busy -= 1;
        if !place.waiting.is_empty() || !place.resuming.is_empty() {
            self.soon.push_back(Event::Dispatch { service, replica });
        }
    }

    /// Makes sure a job has a worker; if none is free, `task` is resumed when one is.
    pub(super) fn hold_worker(&mut self, id: JobId, task: TaskId) -> bool {
        let job = &self.jobs[id];
        if job.holding {
            return true;
        }
        let place = &mut self.services[job.service as usize].replicas[job.replica as usize];
        if place.busy < place.workers && place.resuming.is_empty() {
            self.take_worker(id);
            return true;
        }
        place.resuming.push_back(task);
        false
    }

    /// Gives the worker back while all of a job waits, where the service does so.
    pub(super) fn lend_worker(&mut self, id: JobId) {
        let Some(job) = self.jobs.get(id) else {
            return;
        };
        if job.holding
            && job.working == 0
            && !self.scenario.services[job.service as usize].holds_worker
        {
            self.give_worker(id);
        }
    }

    /// Hands free workers to those who wait for one.
    pub(super) fn dispatch(&mut self, service: u32, replica: u32) {
        let discipline = self.scenario.services[service as usize].queue.discipline;
        loop {
            let place = &mut self.services[service as usize].replicas[replica as usize];
            let free = place.busy < place.workers;
            if let Some(&task) = place.resuming.front() {
                match self.tasks.get(task).map(|t| t.root) {
                    // Another branch of the same job may have got the worker meanwhile: it serves both.
                    Some(Root::Job(job)) if free || self.jobs[job].holding => {
                        place.resuming.pop_front();
                        if !self.jobs[job].holding {
                            self.take_worker(job);
                        }
                        self.run_task(task);
                    }
                    Some(_) => return,
                    None => {
                        place.resuming.pop_front();
                    }
                }
                continue;
            }
            if !free {
                return;
            }
            let next = match discipline {
                Discipline::Fifo | Discipline::DeadlineDrop => place.waiting.pop_front(),
                Discipline::Lifo => place.waiting.pop_back(),
            };
            let Some(id) = next else { return };
            let Some(job) = self.jobs.get(id) else {
                continue;
            };
            let expired = job.deadline.is_some_and(|d| d <= self.now);
            self.leave_queue(service, replica);
            if discipline == Discipline::DeadlineDrop && expired {
                self.ended(id, JobEnd::ShedExpired);
                self.leave(id, false);
                self.refuse(id, FailureKind::DeadlineExceeded.into());
            } else {
                self.start(id);
            }
        }
    }

    fn leave_queue(&mut self, service: u32, replica: u32) {
        let state = self.settle_service(service);
        state.queued -= 1;
        state.replicas[replica as usize].waiting_live -= 1;
    }

    /// A job goes out of the service, for whatever reason. `useful`: somebody waited for its answer.
    fn leave(&mut self, id: JobId, useful: bool) {
        self.give_worker(id);
        let job = &mut self.jobs[id];
        job.state = JobState::Ended;
        let Job {
            service,
            replica,
            arrived,
            held_ns,
            ..
        } = *job;
        let inside = self.now.since(arrived).0;
        let state = self.settle_service(service);
        state.inside -= 1;
        state.replicas[replica as usize].inside -= 1;
        let count = self.count(service);
        count.sojourn_ns += u128::from(inside);
        match useful {
            true => count.useful_ns += u128::from(held_ns),
            false => count.useless_ns += u128::from(held_ns),
        }
    }

    /// The `respond` step, and the end of a program that has not responded.
    pub(super) fn respond(&mut self, id: JobId, reply: Reply) {
        let job = &mut self.jobs[id];
        if std::mem::replace(&mut job.answered, true) {
            return;
        }
        let service = job.service;
        let inside = self.now.since(job.arrived);
        self.ended(
            id,
            match reply {
                Reply::Ok => JobEnd::Served,
                Reply::Failed(_) => JobEnd::Failed,
            },
        );
        self.recorder.answered(service as usize, inside);
        self.answer(id, reply);
    }

    /// A job's program is over (its tasks are gone).
    pub(super) fn end_job(&mut self, id: JobId, reply: Reply) {
        self.leave(id, !self.jobs[id].orphan);
        if self.jobs[id].answered {
            // Answered earlier; the id is needed only while that answer is under way.
            if !self.jobs[id].caller_waits {
                self.jobs.remove(id);
            }
        } else {
            self.respond(id, reply);
        }
    }

    /// Sends an answer home, if anybody waits for it and the link does not lose it.
    fn answer(&mut self, id: JobId, reply: Reply) {
        let job = &mut self.jobs[id];
        job.answer = reply;
        let Job {
            link,
            edge,
            state,
            caller_waits,
            ..
        } = *job;
        if caller_waits && !self.answer_is_lost(link, edge) {
            self.along_link(link, edge, Event::Answer(id));
            return;
        }
        self.jobs[id].caller_waits = false;
        if state == JobState::Ended {
            self.jobs.remove(id);
        }
    }

    /// The caller of a job gave up on it.
    pub(super) fn caller_leaves(&mut self, id: JobId) {
        let job = &mut self.jobs[id];
        job.caller_waits = false;
        if job.answered || job.state == JobState::Ended {
            return; // only the answer is still under way
        }
        job.orphan = true;
        let Job {
            service,
            link,
            edge,
            holding,
            ..
        } = *job;
        if holding {
            self.settle_service(service).busy_for_nobody += 1;
        }
        if self.scenario.services[service as usize].honours_cancellation {
            self.along_link(link, edge, Event::Cancel(id));
        }
    }

    /// A cancellation reaches the service.
    pub(super) fn on_cancel(&mut self, id: JobId) {
        let Some(job) = self.jobs.get_mut(id) else {
            return;
        };
        if job.answered {
            return;
        }
        match job.state {
            JobState::Sent => job.cancelled = true,
            JobState::Waiting | JobState::Running => {
                self.ended(id, JobEnd::Cancelled);
                self.remove_job(id);
            }
            JobState::Ended => {}
        }
    }

    /// Takes a job out of the service without an answer.
    pub(super) fn remove_job(&mut self, id: JobId) {
        let Job {
            state,
            service,
            replica,
            task,
            answered,
            orphan,
            caller_waits,
            ..
        } = self.jobs[id];
        match state {
            JobState::Waiting => {
                self.leave_queue(service, replica);
                self.leave(id, false);
                self.jobs.remove(id);
                let place = &mut self.services[service as usize].replicas[replica as usize];
                // Ids of cancelled jobs are skipped when they come up; too many are swept out.
                if place.waiting.len() > 64 + 2 * place.waiting_live as usize {
                    let jobs = &self.jobs;
                    place.waiting.retain(|&id| jobs.contains(id));
                }
            }
            JobState::Running => {
                self.drop_tree(task);
                self.leave(id, answered && !orphan);
                // An answer already under way still arrives.
                if !(answered && caller_waits) {
                    self.jobs.remove(id);
                }
                let tasks = &self.tasks;
                let place = &mut self.services[service as usize].replicas[replica as usize];
                if place.resuming.len() > 64 + 2 * place.inside as usize {
                    place.resuming.retain(|&task| tasks.contains(task));
                }
            }
            JobState::Sent | JobState::Ended => {}
        }
    }

    /// Every job in a service, with when it arrived and whether it has been answered already.
    pub(super) fn jobs_inside(&self, service: u32) -> impl Iterator<Item = (JobId, Time, bool)> {
        self.jobs
            .iter()
            .filter(move |(_, j)| {
                j.service == service && matches!(j.state, JobState::Waiting | JobState::Running)
            })
            .map(|(id, j)| (id, j.arrived, j.answered))
    }

    /// Sets the workers of each replica, and puts new ones to use.
    pub(super) fn set_workers(&mut self, service: u32, workers: u32) {
        let state = self.settle_service(service);
        let replicas = state.replicas.len() as u32;
        state.workers = Some(u64::from(workers) * u64::from(replicas));
        for replica in 0..replicas {
            self.services[service as usize].replicas[replica as usize].workers = workers;
            self.soon.push_back(Event::Dispatch { service, replica });
        }
    }
}
