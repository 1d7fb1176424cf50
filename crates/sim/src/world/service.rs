//! Services: what their replicas share, and what is counted there.

use seawall::{Failure, FailureKind, Time};

use super::TaskId;
use super::behaviour::{BehaviourState, Line};
use super::job::{Job, JobState};
use super::replica::Replica;
use crate::metrics::{JobEnd, Level, ServiceMeter};
use crate::rng::{Purpose, Stream};
use crate::scenario::model::{Balance, Discipline, Service};

/// A share of the attempts that a fault fails.
#[derive(Clone, Copy, Debug)]
pub(super) struct Errors {
    pub(super) share: f64,
    pub(super) failure: Failure,
    /// Whether only after the program has run.
    pub(super) after_program: bool,
}

/// A service while it runs.
#[derive(Clone, Debug)]
pub(super) struct ServiceState {
    pub(super) balance: Balance,
    pub(super) discipline: Discipline,
    /// Places in each waiting room; `u32::MAX` when unlimited.
    places: u32,
    holds_worker: bool,
    pub(super) honours_cancellation: bool,
    pub(super) replicas: Vec<Replica>,
    pub(super) next_replica: u32,
    pub(super) work: Stream,
    pub(super) delay: Stream,
    pub(super) choose: Stream,
    pub(super) assign: Stream,
    fault: Stream,
    /// How many times longer work takes than drawn.
    pub(super) slow: f64,
    pub(super) errors: Vec<Errors>,
    pub(super) out: bool,
    pub(super) refusing: bool,
    /// Whether any of its answers are scripted, or it looks at tokens.
    guarded: bool,
    pub(super) queued: Level,
    pub(super) queued_max: u64,
    pub(super) inside: Level,
    pub(super) busy: Level,
    /// Workers held by jobs whose caller has left.
    busy_for_nobody: Level,
    /// Workers there are, all replicas; none when they are unlimited.
    pub(super) workers: Level,
    pub(super) unlimited: bool,
    pub(super) meter: ServiceMeter,
    /// Replicas that requests are given to.
    pub(super) standing: Level,
    /// What else there is to it.
    pub(super) behaviour: Option<Box<BehaviourState>>,
}

impl ServiceState {
    /// What its waiting rooms take.
    pub(super) fn waiting_bytes(&self) -> usize {
        let ids = |r: &Replica| r.waiting.len() + r.resuming.len();
        self.replicas.iter().map(ids).sum::<usize>() * size_of::<TaskId>()
    }

    /// All its generators, without those of its replicas.
    pub(super) fn streams(&self) -> impl Iterator<Item = (Purpose, &Stream)> {
        let own = [
            (Purpose::Work, &self.work),
            (Purpose::Delay, &self.delay),
            (Purpose::Choose, &self.choose),
            (Purpose::Balance, &self.assign),
            (Purpose::Fault, &self.fault),
        ];
        own.into_iter()
            .chain(self.behaviour.iter().flat_map(|b| b.streams()))
    }

    pub(super) fn new(service: &Service, seed: u64) -> Self {
        let stream = |purpose| Stream::new(seed, purpose, &service.name);
        let discipline = service.lines_up_by();
        let replica = |n| Replica {
            line: Line::new(discipline, seed, &service.name, n),
            ..Replica::new(service.concurrency)
        };
        let mut workers = Level::default();
        let each = service.concurrency.unwrap_or(0);
        let scaling = service.behaviour.as_ref().and_then(|b| b.scaling);
        let replicas = u64::from(scaling.map_or(service.replicas, |scaling| scaling.initial));
        workers.set(Time::ZERO, u64::from(each) * replicas);
        let mut standing = Level::default();
        standing.set(Time::ZERO, replicas);
        ServiceState {
            balance: service.balance,
            discipline,
            places: service.queue.capacity.unwrap_or(u32::MAX),
            holds_worker: service.holds_worker,
            honours_cancellation: service.honours_cancellation,
            replicas: (0..service.replicas).map(replica).collect(),
            next_replica: 0,
            work: stream(Purpose::Work),
            delay: stream(Purpose::Delay),
            choose: stream(Purpose::Choose),
            assign: stream(Purpose::Balance),
            fault: stream(Purpose::Fault),
            slow: 1.0,
            errors: Vec::new(),
            out: false,
            refusing: false,
            guarded: false,
            queued: Level::default(),
            queued_max: 0,
            inside: Level::default(),
            busy: Level::default(),
            busy_for_nobody: Level::default(),
            workers,
            unlimited: service.concurrency.is_none(),
            meter: ServiceMeter::new(),
            standing,
            behaviour: BehaviourState::new(service, seed),
        }
    }

    /// Brings the time integrals among the counts up to `now`.
    pub(super) fn settle(&mut self, now: Time) {
        let count = &mut self.meter.count;
        count.workers_ns = self.workers.integral(now);
        count.busy_ns = self.busy.integral(now);
        count.wasted_ns = self.busy_for_nobody.integral(now);
        count.queue_ns = self.queued.integral(now);
        count.inside_ns = self.inside.integral(now);
        count.replicas_ns = self.standing.integral(now);
        if let Some(behaviour) = &mut self.behaviour {
            behaviour.settle_cores(now, count);
        }
    }

    pub(super) fn has_a_guard(&mut self) {
        self.guarded = true;
    }

    pub(super) fn queued(&self) -> u64 {
        self.queued.count()
    }

    /// A request reaches the service.
    #[inline]
    pub(super) fn arrived(&mut self, job: &mut Job) {
        let count = &mut self.meter.count;
        count.arrived += 1;
        job.turn = count.arrived as u32;
        count.arrived_first += u64::from(job.attempt == 1 && !job.again);
    }

    /// What active faults do to a job that arrives; `None`: nothing.
    #[inline]
    pub(super) fn disturbance(&mut self) -> Option<Disturbance> {
        if self.out {
            return Some(Disturbance::Vanishes);
        }
        if self.refusing {
            return Some(Disturbance::Fails(FailureKind::ConnectRefused.into()));
        }
        if self.errors.is_empty() {
            return self.guarded.then_some(Disturbance::Guarded);
        }
        let fault = &mut self.fault;
        let hits = |errors: &&Errors| fault.bernoulli(errors.share);
        match self.errors.iter().find(hits) {
            Some(errors) if errors.after_program => Some(Disturbance::FailsAfter(errors.failure)),
            Some(errors) => Some(Disturbance::Fails(errors.failure)),
            None if self.guarded => Some(Disturbance::Guarded),
            None => None,
        }
    }

    /// Finds a replica for a job that arrives, and lets it in unless there is no place left.
    #[inline(always)]
    pub(super) fn admit(&mut self, now: Time, id: TaskId, job: &mut Job) -> Admission {
        if self.behaviour.is_none() {
            self.choose(job);
        } else if let Err(refused) = self.find_replica(now, job) {
            return refused;
        }
        self.admit_here(now, id, job)
    }

    /// Lets a job in that has its replica, unless there is no place left.
    #[inline(always)]
    pub(super) fn admit_here(&mut self, now: Time, id: TaskId, job: &mut Job) -> Admission {
        if self.expired(job, now) {
            return Admission::Expired;
        }
        let place = &mut self.replicas[job.replica as usize];
        let idle = place.waiting_live == 0 && place.resuming.is_empty();
        let admission = if idle && place.busy < place.workers {
            Admission::Starts
        } else if place.waiting_live < self.places {
            place.wait(id, job);
            job.state = JobState::Waiting;
            self.queued.rise(now);
            self.queued_max = self.queued_max.max(self.queued.count());
            Admission::Waits
        } else {
            return Admission::Full;
        };
        place.inside += 1;
        self.inside.rise(now);
        admission
    }

    /// Lets a job in that needs neither a place nor a free worker.
    pub(super) fn admit_aside(&mut self, now: Time, job: &Job) -> Admission {
        self.replicas[job.replica as usize].inside += 1;
        self.inside.rise(now);
        Admission::Starts
    }

    /// Gives a job a worker, so that its program can begin.
    #[inline]
    pub(super) fn start(&mut self, now: Time, job: &mut Job) {
        job.state = JobState::Running;
        job.started = now;
        let waited = now.since(job.arrived).0;
        let count = &mut self.meter.count;
        count.started += 1;
        count.waited += u64::from(waited > 0);
        count.wait_ns += u128::from(waited);
        self.take_worker(now, job);
    }

    #[inline]
    pub(super) fn take_worker(&mut self, now: Time, job: &mut Job) {
        job.holding = true;
        job.held_since = now;
        self.busy.rise(now);
        if job.orphan {
            self.busy_for_nobody.rise(now);
        }
        self.replicas[job.replica as usize].busy += 1;
    }

    /// Makes sure a job has a worker; if none is free, `task` is resumed when one is.
    #[inline]
    pub(super) fn hold_worker(&mut self, now: Time, job: &mut Job, task: TaskId) -> bool {
        if job.holding {
            return true;
        }
        let place = &mut self.replicas[job.replica as usize];
        if place.busy < place.workers && place.resuming.is_empty() {
            self.take_worker(now, job);
            return true;
        }
        place.resuming.push_back(task);
        false
    }

    /// Takes back the worker of a job, if it has one. Whether somebody waits for it.
    #[inline(always)]
    fn give_worker(&mut self, now: Time, job: &mut Job) -> bool {
        if !std::mem::take(&mut job.holding) {
            return false;
        }
        job.held_ns += now.since(job.held_since).0;
        self.busy.fall(now);
        if job.orphan {
            self.busy_for_nobody.fall(now);
        }
        let place = &mut self.replicas[job.replica as usize];
        place.busy -= 1;
        place.has_waiting()
    }

    /// A task of a job waits for a call or a delay, or is over: its worker is free meanwhile, unless the
    /// service holds it or another task of the job works. Whether somebody waits for the worker.
    #[inline]
    pub(super) fn lend_worker(&mut self, now: Time, job: &mut Job) -> bool {
        !self.holds_worker && job.working == 0 && self.give_worker(now, job)
    }

    /// Whether the service sees that a job comes too late.
    #[inline]
    fn expired(&self, job: &Job, now: Time) -> bool {
        self.discipline == Discipline::DeadlineDrop && job.deadline.is_some_and(|d| d <= now)
    }

    /// How a job whose turn it is ends if it is dropped instead, and what its caller is told.
    #[inline]
    pub(super) fn drops(&mut self, job: &Job, now: Time) -> Option<(JobEnd, Failure)> {
        if self.expired(job, now) {
            return Some((JobEnd::ShedExpired, FailureKind::DeadlineExceeded.into()));
        }
        let behaviour = self.behaviour.as_mut()?;
        (behaviour.sheds(job, now)).then(|| (JobEnd::ShedWaited, behaviour.busy()))
    }

    /// A job waits no longer.
    #[inline]
    pub(super) fn leave_queue(&mut self, now: Time, replica: u32) {
        self.queued.fall(now);
        self.replicas[replica as usize].waiting_live -= 1;
    }

    /// A job goes out of the service, for whatever reason; `useful`: somebody waited for its answer. Whether
    /// somebody waits for its worker.
    #[inline(always)]
    pub(super) fn leave(&mut self, now: Time, job: &mut Job, useful: bool) -> bool {
        let wanted = self.give_worker(now, job);
        job.state = JobState::Ended;
        self.inside.fall(now);
        self.replicas[job.replica as usize].inside -= 1;
        let count = &mut self.meter.count;
        count.sojourn_ns += u128::from(now.since(job.arrived).0);
        match useful {
            true => count.useful_ns += u128::from(job.held_ns),
            false => count.useless_ns += u128::from(job.held_ns),
        }
        wanted
    }

    /// A job answers.
    #[inline]
    pub(super) fn answered(&mut self, now: Time, job: &mut Job) {
        job.answered = true;
        self.meter.answered(now.since(job.arrived));
    }

    /// Counts how a job ended.
    #[inline]
    pub(super) fn ended(&mut self, job: &Job, end: JobEnd) {
        let count = &mut self.meter.count;
        match end {
            JobEnd::Served => count.served += 1,
            JobEnd::Failed => count.failed += 1,
            JobEnd::ShedFull => count.shed_full += 1,
            JobEnd::ShedExpired => count.shed_expired += 1,
            JobEnd::ShedWaited => count.shed_waited += 1,
            JobEnd::RateLimited => count.rate_limited += 1,
            JobEnd::Unreachable => count.unreachable += 1,
            JobEnd::Faulted => count.faulted += 1,
            JobEnd::Cancelled => count.cancelled += 1,
            JobEnd::Lost => count.lost += 1,
        }
        let answered = matches!(end, JobEnd::Served | JobEnd::Failed);
        count.late += u64::from(answered && job.orphan);
    }

    /// The caller of a job gave up on it.
    pub(super) fn orphan(&mut self, now: Time, job: &mut Job) {
        job.orphan = true;
        if job.holding {
            self.busy_for_nobody.rise(now);
        }
    }

    /// Sets the workers of each replica; names the replicas.
    pub(super) fn set_workers(&mut self, now: Time, workers: u32) -> std::ops::Range<u32> {
        let all = u64::from(workers) * self.replicas.len() as u64;
        self.workers.set(now, all);
        for replica in &mut self.replicas {
            replica.workers = workers;
        }
        self.recount(now);
        0..self.replicas.len() as u32
    }
}

/// What becomes of a job that arrives.
pub(super) enum Admission {
    /// A worker is free.
    Starts,
    /// It has a place in the waiting room.
    Waits,
    /// There is none left.
    Full,
    /// Its deadline has passed, and the service looks.
    Expired,
    /// It is kept as a message.
    Kept,
    /// It ends like this, and its caller gets that.
    Refused(JobEnd, Failure),
}

/// What a fault does to a job that arrives.
pub(super) enum Disturbance {
    /// Nobody will ever answer.
    Vanishes,
    /// It is answered like this.
    Fails(Failure),
    /// Its program runs, and then it is answered like this.
    FailsAfter(Failure),
    /// Its answer may be scripted, or its token not be good.
    Guarded,
}
