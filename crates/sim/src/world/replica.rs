//! Replicas: workers, and the queue for them.

use std::collections::VecDeque;

use super::TaskId;
use super::behaviour::Line;
use super::job::Job;
use crate::rng::{Purpose, Stream};
use crate::scenario::model::Discipline;

/// One copy of a service.
#[derive(Clone, Debug)]
pub(super) struct Replica {
    /// Workers there are; `u32::MAX` when unlimited.
    pub(super) workers: u32,
    /// Workers held by jobs; may exceed `workers` for a while after capacity was lost.
    pub(super) busy: u32,
    /// Jobs here, waiting or started.
    pub(super) inside: u32,
    /// Jobs that wait to be started, and ids of jobs that were cancelled meanwhile.
    pub(super) waiting: VecDeque<TaskId>,
    /// The same where the order of arrival does not say who is next.
    pub(super) line: Option<Box<Line>>,
    /// How many of them still wait.
    pub(super) waiting_live: u32,
    /// Tasks of started jobs that want a worker back; they go before jobs that wait.
    pub(super) resuming: VecDeque<TaskId>,
}

impl Replica {
    /// `workers`: `None` when unlimited.
    pub(super) fn new(workers: Option<u32>) -> Self {
        Replica {
            workers: workers.unwrap_or(u32::MAX),
            busy: 0,
            inside: 0,
            waiting: VecDeque::new(),
            line: None,
            waiting_live: 0,
            resuming: VecDeque::new(),
        }
    }

    /// All its generators.
    pub(super) fn streams(&self) -> impl Iterator<Item = (Purpose, &Stream)> {
        self.line.iter().flat_map(|line| line.streams())
    }

    /// Whether there is a worker that nobody holds.
    #[inline]
    pub(super) fn has_free_worker(&self) -> bool {
        self.busy < self.workers
    }

    /// Whether anybody waits for a worker, or did before being cancelled.
    #[inline]
    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty() || !self.resuming.is_empty() || self.line.is_some()
    }

    /// Whether somebody may go on now that one got a worker.
    #[inline]
    pub(super) fn goes_on(&self) -> bool {
        !self.resuming.is_empty()
            || (self.has_free_worker()
                && (!self.waiting.is_empty()
                    || self.line.as_ref().is_some_and(|line| line.len() > 0)))
    }

    /// A job waits from now on.
    #[inline]
    pub(super) fn wait(&mut self, id: TaskId, job: &Job) {
        match &mut self.line {
            None => self.waiting.push_back(id),
            Some(line) => line.push(id, job),
        }
        self.waiting_live += 1;
    }

    /// Takes out the job whose turn it is to start, which may have been cancelled while it waited.
    #[inline]
    pub(super) fn next_waiting(
        &mut self,
        discipline: Discipline,
        waits: impl Fn(TaskId) -> bool,
    ) -> Option<TaskId> {
        match discipline {
            Discipline::Fifo | Discipline::DeadlineDrop => self.waiting.pop_front(),
            Discipline::Lifo => self.waiting.pop_back(),
            Discipline::AdaptiveLifo { above } if self.waiting_live > above => {
                self.waiting.pop_back()
            }
            Discipline::AdaptiveLifo { .. } => self.waiting.pop_front(),
            Discipline::Siro | Discipline::Priority | Discipline::Fair => {
                self.line.as_mut()?.pop(waits)
            }
        }
    }

    /// Nobody is here any more.
    pub(super) fn empty(&mut self) {
        self.waiting.clear();
        self.resuming.clear();
        if let Some(line) = &mut self.line {
            line.clear();
        }
    }

    /// Ids of cancelled jobs and tasks are skipped when they come up; too many are swept out.
    pub(super) fn sweep(&mut self, lives: impl Fn(TaskId) -> bool) {
        if self.waiting.len() > 64 + 2 * self.waiting_live as usize {
            self.waiting.retain(|&id| lives(id));
        }
        if let Some(line) = &mut self.line
            && line.len() > 64 + 2 * self.waiting_live as usize
        {
            line.retain(&lives);
        }
        if self.resuming.len() > 64 + 2 * self.inside as usize {
            self.resuming.retain(|&id| lives(id));
        }
    }
}
