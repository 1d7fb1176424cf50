//! Jobs that share the cores of their replica: all at a part of full speed, or some at full speed while others
//! stand still.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use seawall::{Span, Time};

use super::BehaviourState;
use crate::metrics::ServiceCount;
use crate::scenario::model::{Sharing, SharingRule};
use crate::world::TaskId;
use crate::world::job::Job;

/// The tasks at work on one replica.
#[derive(Clone, Debug)]
pub(in crate::world) struct Shared {
    spec: Sharing,
    order: Order,
    /// Everything is brought up to here.
    at: Time,
    /// Nobody works.
    paused: bool,
    begun: u64,
    /// Sum over the cores of the time that they worked, in ns.
    worked: u128,
    /// When the world looks here next.
    pub(super) alarm: Option<Time>,
}

#[derive(Clone, Debug)]
enum Order {
    /// All at the same speed, so work is measured by one clock that they share: a task is done when it has gone
    /// on by as much as the task's work. In 2^-44 ns of work.
    Alike {
        clock: u128,
        tasks: BinaryHeap<Reverse<Due>>,
    },
    /// Those that work are the last of the list.
    Ranked(Vec<Ranked>),
}

#[derive(Clone, Copy, Debug)]
struct Due {
    clock: u128,
    begun: u64,
    task: TaskId,
    job: TaskId,
}

#[derive(Clone, Copy, Debug)]
struct Ranked {
    /// The least goes first.
    rank: (u8, u64, u64),
    left: u64,
    task: TaskId,
    job: TaskId,
}

impl BehaviourState {
    /// Core time that jobs who share cores have worked so far, in ns.
    pub(super) fn worked(&mut self, now: Time) -> u128 {
        let shared = self.replicas.iter_mut().filter_map(|it| it.shared.as_mut());
        shared.map(|shared| shared.worked(now)).sum()
    }

    /// Core time so far, worked and in all, where jobs share cores.
    pub(in crate::world) fn settle_cores(&mut self, now: Time, count: &mut ServiceCount) {
        let shared = self.replicas.first().and_then(|it| it.shared.as_ref());
        if let Some(cores) = shared.and_then(|shared| shared.spec.cores) {
            count.cores_busy_ns = self.worked(now);
            count.cores_ns = count.replicas_ns * u128::from(cores);
        }
    }
}

/// Bits behind the point. What is lost by rounding a speed stays far below a nanosecond for work of hours.
const BITS: u32 = 44;
const ONE: f64 = (1u64 << BITS) as f64;

impl Shared {
    pub(in crate::world) fn new(spec: Sharing) -> Shared {
        let order = match spec.rule {
            SharingRule::Alike => Order::Alike {
                clock: 0,
                tasks: BinaryHeap::new(),
            },
            SharingRule::LastFirst | SharingRule::MostImportant => Order::Ranked(Vec::new()),
        };
        Shared {
            spec,
            order,
            at: Time::ZERO,
            paused: false,
            begun: 0,
            worked: 0,
            alarm: None,
        }
    }

    /// Tasks at work.
    pub(in crate::world) fn len(&self) -> u32 {
        match &self.order {
            Order::Alike { tasks, .. } => tasks.len() as u32,
            Order::Ranked(tasks) => tasks.len() as u32,
        }
    }

    /// Cores at work; each task at work uses one at most.
    pub(in crate::world) fn busy(&self) -> u32 {
        self.len().min(self.spec.cores.unwrap_or(u32::MAX))
    }

    /// Core time worked so far, in ns.
    fn worked(&mut self, now: Time) -> u128 {
        self.advance(now);
        self.worked
    }

    /// The speed of each, of tasks that are alike: 2^44 is full speed.
    fn speed(&self, tasks: u32) -> u128 {
        if self.paused || tasks == 0 {
            return 0;
        }
        let cores = self.spec.cores.unwrap_or(tasks).min(tasks);
        let slowdown = match self.spec.contention {
            Some(usl) if !usl.frozen => usl.slowdown(tasks),
            _ => 1.0,
        };
        (ONE * f64::from(cores) / f64::from(tasks) / slowdown) as u128
    }

    fn advance(&mut self, now: Time) {
        let passed = now.since(self.at).0;
        self.at = now;
        let (speed, working) = (self.speed(self.len()), self.working());
        self.worked += u128::from(passed) * working as u128;
        match &mut self.order {
            Order::Alike { clock, .. } => *clock += u128::from(passed) * speed,
            Order::Ranked(tasks) => {
                let first = tasks.len() - working;
                for task in &mut tasks[first..] {
                    task.left = task.left.saturating_sub(passed);
                }
            }
        }
    }

    /// How many cores work.
    fn working(&self) -> usize {
        match self.paused {
            true => 0,
            false => self.busy() as usize,
        }
    }

    /// A task of a job begins to work.
    pub(in crate::world) fn begin(
        &mut self,
        now: Time,
        task: TaskId,
        (id, job): (TaskId, &Job),
        work: Span,
    ) {
        self.advance(now);
        self.begun += 1;
        let begun = self.begun;
        let work = match self.spec.contention {
            Some(usl) if usl.frozen => work.times(usl.slowdown(self.len() + 1)),
            _ => work,
        };
        let last_first = self.spec.rule == SharingRule::LastFirst;
        match &mut self.order {
            Order::Alike { clock, tasks } => tasks.push(Reverse(Due {
                clock: *clock + (u128::from(work.0) << BITS),
                begun,
                task,
                job: id,
            })),
            Order::Ranked(tasks) => {
                let rank = match last_first {
                    true => (0, u64::MAX - job.arrived.0, u64::MAX - begun),
                    false => (job.class, job.arrived.0, begun),
                };
                let place = tasks.partition_point(|other| other.rank > rank);
                tasks.insert(
                    place,
                    Ranked {
                        rank,
                        left: work.0,
                        task,
                        job: id,
                    },
                );
            }
        }
    }

    /// A job is gone, and all its tasks with it. Whether any was at work.
    pub(in crate::world) fn forget(&mut self, now: Time, job: TaskId) -> bool {
        self.advance(now);
        let before = self.len();
        match &mut self.order {
            Order::Alike { tasks, .. } => tasks.retain(|Reverse(due)| due.job != job),
            Order::Ranked(tasks) => tasks.retain(|task| task.job != job),
        }
        self.len() != before
    }

    /// Everybody stops, or goes on.
    pub(in crate::world) fn pause(&mut self, now: Time, paused: bool) {
        self.advance(now);
        self.paused = paused;
    }

    /// Takes out a task that is done.
    pub(in crate::world) fn finished(&mut self, now: Time) -> Option<TaskId> {
        self.advance(now);
        let (speed, working) = (self.speed(self.len()), self.working());
        match &mut self.order {
            Order::Alike { clock, tasks } => {
                let Reverse(due) = tasks.peek()?;
                // To the nearest nanosecond.
                let done = due.clock <= *clock + speed / 2 && !self.paused;
                done.then(|| tasks.pop().map(|Reverse(due)| due.task))?
            }
            Order::Ranked(tasks) => {
                let first = tasks.len() - working;
                let done = tasks[first..].iter().rposition(|task| task.left == 0)?;
                Some(tasks.remove(first + done).task)
            }
        }
    }

    /// When the next one will be done if nothing changes. Everything is up to date.
    pub(in crate::world) fn next(&self) -> Option<Time> {
        let wait = match &self.order {
            Order::Alike { clock, tasks } => {
                let Reverse(due) = tasks.peek()?;
                let speed = self.speed(self.len());
                let left = due.clock.saturating_sub(*clock + speed / 2);
                (speed > 0).then(|| left.div_ceil(speed))?
            }
            Order::Ranked(tasks) => {
                let working = &tasks[tasks.len() - self.working()..];
                u128::from(working.iter().map(|task| task.left).min()?)
            }
        };
        Some(self.at.after(Span(u64::try_from(wait).unwrap_or(u64::MAX))))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.clock, self.begun).cmp(&(other.clock, other.begun))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Due {}
