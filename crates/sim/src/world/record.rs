//! Writing down single calls and jobs, for those who asked for a log.

use seawall::{Action, Request, Time, Verdict, Wait};

use super::call::{CALLING, Call};
use super::edge::EdgeState;
use super::job::NOWHERE;
use super::task::What;
use super::{TaskId, World};
use crate::metrics::{CallLink, CallRecord, Exchange, JobEnd, JobRecord, Log, Said};

impl Call {
    /// Writes down what passes between it and its engine, if anybody asked.
    #[inline(always)]
    pub(super) fn log(&self, log: &mut Option<Log>, now: Time, edge: &EdgeState, said: Said) {
        if let Some(log) = log
            && !log.ends_only
        {
            log.exchanges.push(Exchange {
                at: now,
                edge: self.edge,
                process: edge.process_of(self.engine),
                call: Some(self.state.key()),
                said,
            });
        }
    }

    /// Writes down that it waited for a permit and asks whether it has it, if anybody asked.
    #[inline(always)]
    pub(super) fn log_look(&self, log: &mut Option<Log>, now: Time, edge: &EdgeState) {
        if log.is_some() && self.state.waits_for() == Some(Wait::Permit) {
            self.log(log, now, edge, Said::Look);
        }
    }

    pub(super) fn record(&self, edge: &EdgeState, now: Time, verdict: &Verdict) -> CallRecord {
        CallRecord {
            edge: self.edge,
            process: edge.process_of(self.engine),
            began: self.began,
            ended: now,
            attempts: verdict.attempts,
            stopped: verdict.stopped,
            last: verdict.last,
        }
    }
}

impl World {
    /// The same world, keeping a [`Log`] of single calls and jobs.
    #[must_use]
    pub fn with_log(mut self) -> World {
        self.recorder.log = Some(Log::default());
        self.looked_at = true;
        self
    }

    /// The same world, keeping the jobs and calls of a [`Log`] and not what was said on the way: a quarter of the memory.
    #[must_use]
    pub fn with_ends(mut self) -> World {
        self = self.with_log();
        if let Some(log) = &mut self.recorder.log {
            log.ends_only = true;
        }
        self
    }

    /// What has been logged so far, if anybody asked.
    #[must_use]
    pub fn log(&self) -> Option<&Log> {
        self.recorder.log.as_ref()
    }

    /// Writes down how a job ended.
    #[cold]
    pub(super) fn log_job(&mut self, id: TaskId, end: JobEnd) {
        let job = self.tasks[id].job().expect("the task is a job");
        if let Some(log) = &mut self.recorder.log {
            log.jobs.push(JobRecord {
                job: id.bits(),
                service: job.service,
                replica: match job.replica {
                    NOWHERE => 0,
                    replica => replica,
                },
                edge: self.sites[job.site as usize].edge,
                attempt: job.attempt,
                arrived: job.arrived,
                started: (job.started != Time::MAX).then_some(job.started),
                left: self.now,
                end,
                late: job.orphan,
            });
        }
    }

    /// What else is to be done when a call has begun.
    #[cold]
    #[inline(never)]
    pub(super) fn note_begin(&mut self, id: TaskId, engine: u32, request: &Request) {
        let root = self.tasks[id].root(id);
        let call = self.tasks[id].call.as_ref().expect(CALLING);
        let (edge, site) = (&self.edges[call.edge as usize], call.site);
        let begin = Said::Begin {
            deadline: request.deadline,
            operation: request.operation,
        };
        call.log(&mut self.recorder.log, self.now, edge, begin);
        // Where it was made.
        let within = self.tasks[root].job().map(|_| root.bits());
        let breaker = self.engines[engine as usize].breaker_state(self.now);
        if let Some(log) = &mut self.recorder.log
            && !log.ends_only
        {
            log.calls_made.push(CallLink {
                exchange: log.exchanges.len() - 1,
                site,
                within,
                breaker,
                errand: matches!(self.tasks[root].what, What::Errand(_)),
            });
        }
        if self.effects.is_some() {
            self.intend(id, root, site, engine);
        }
    }

    /// Writes down what the engine of a task's call asked for.
    #[cold]
    #[inline(never)]
    pub(super) fn log_action(&mut self, id: TaskId, action: &Action) {
        let call = self.tasks[id].call.as_ref().expect(CALLING);
        let edge = &self.edges[call.edge as usize];
        call.log(&mut self.recorder.log, self.now, edge, Said::Do(*action));
        if let Action::Finish(verdict) = action
            && let Some(log) = &mut self.recorder.log
        {
            let record = call.record(edge, self.now, verdict);
            log.calls.push(record);
        }
    }
}
