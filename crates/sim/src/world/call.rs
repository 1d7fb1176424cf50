//! Calls: driving the policy engine, and carrying attempts to services and answers back.
//!
//! This is the simulated twin of a production driver: begin, poll until nothing is left, do each
//! action, wake at the engine's timer, tell it what came back. It decides nothing itself.

use std::collections::VecDeque;

use seawall::{Action, CallKey, FailureKind, Reply, Request, Time, Verdict};

use super::edge::EdgeState;
use super::job::{Job, JobState};
use super::site::Way;
use super::task::{Task, What};
use super::{TaskId, World};
use crate::arena::Id;
use crate::event::Event;
use crate::metrics::{CallRecord, Ended, Exchange, Log, Said};
use crate::queue::{EventQueue, Rank};
use crate::scenario::model::failure_of_failed_call;

/// A logical call in flight. It lives in the task that waits for it, which waits for nothing else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    state: seawall::Call,
    /// Index into `World::engines`.
    engine: u32,
    pub(super) edge: u32,
    site: u32,
    /// The attempt under way, and when it was sent.
    job: TaskId,
    sent: Time,
    began: Time,
    /// The earliest `Timer` event under way for it; `Time::MAX` if none.
    armed: Time,
    /// Whether we ended it ourselves, so that giving up its attempt is no timeout.
    cancelled: bool,
}

impl Call {
    /// Writes down what passes between it and its engine, if anybody asked.
    #[inline(always)]
    fn log(&self, log: &mut Option<Log>, now: Time, edge: &EdgeState, said: Said) {
        if let Some(log) = log {
            log.exchanges.push(Exchange {
                at: now,
                edge: self.edge,
                process: self.engine - edge.first_engine,
                call: Some(self.state.key()),
                said,
            });
        }
    }

    /// Counts what the engine wants done next, and sees to it that it is woken in time.
    #[inline(always)]
    fn heed(
        &mut self,
        action: &Option<Action>,
        engine: &mut seawall::Client,
        edge: &mut EdgeState,
        now: Time,
        queue: &mut EventQueue<Event>,
        soon: &mut VecDeque<Event>,
    ) {
        match action {
            Some(Action::Send { attempt, .. }) => {
                edge.meter.count.attempts += 1;
                edge.meter.count.retries += u64::from(*attempt > 1);
                self.sent = now;
            }
            Some(Action::Finish(verdict)) => {
                let (took, last_attempt) = (now.since(self.began), now.since(self.sent));
                edge.meter.call_ended(took, last_attempt, verdict);
            }
            // The engine is asked again before anybody else.
            Some(Action::Abandon(_)) => return,
            None => {}
        }
        if let Some(at) = self.state.timer()
            && at < self.armed
        {
            self.armed = at;
            edge.set_timer(Id::from_bits(self.state.key().0), now, at, queue);
        }
        // Those who were given a permit meanwhile.
        while let Some(key) = engine.next_admitted() {
            soon.push_back(Event::Poll(Id::from_bits(key.0)));
        }
    }

    #[inline(always)]
    fn record(&self, first_engine: u32, now: Time, verdict: &Verdict) -> CallRecord {
        CallRecord {
            edge: self.edge,
            process: self.engine - first_engine,
            began: self.began,
            ended: now,
            attempts: verdict.attempts,
            stopped: verdict.stopped,
            last: verdict.last,
        }
    }
}

/// Whoever names a task as the caller of an attempt that is waited for.
const CALLING: &str = "the task waits for this call";

impl World {
    /// The `call` step.
    #[inline(always)]
    pub(super) fn begin_call(&mut self, id: TaskId, root: TaskId, index: u32) -> Option<Event> {
        let (process, deadline, job) = match &self.tasks[root].what {
            What::Iteration { instance, .. } => (*instance, None, None),
            What::Job(job) => (job.replica, job.deadline, Some(root)),
            What::Block { .. } => unreachable!("a block is no root"),
        };
        let site = &self.sites[index as usize];
        let engine = site.first_engine + process;
        let request = Request {
            key: CallKey(id.bits()),
            deadline,
            operation: site.semantics,
        };
        let begin = Said::Begin {
            deadline,
            operation: site.semantics,
        };
        let policy = &mut self.engines[engine as usize];
        let edge = &mut self.edges[site.edge as usize];
        edge.meter.count.calls += 1;
        let call = self.tasks[id].call.insert(Call {
            state: policy.begin(self.now, request),
            engine,
            edge: site.edge,
            site: index,
            job: Id::NONE,
            sent: self.now,
            began: self.now,
            armed: Time::MAX,
            cancelled: false,
        });
        call.log(&mut self.recorder.log, self.now, edge, begin);
        let action = policy.poll(&mut call.state, self.now, &mut edge.jitter);
        let (queue, soon) = (&mut self.queue, &mut self.soon);
        call.heed(&action, policy, edge, self.now, queue, soon);
        self.calls_in_flight += 1;
        if self.calls_in_flight > self.calls_in_flight_max {
            self.calls_in_flight_max = self.calls_in_flight;
            if self.calls_in_flight > self.scenario.run.limits.calls {
                self.stop = Some(Ended::CallLimit);
            }
        }
        self.act(id, index, job, &action)
    }

    /// Does what the engine of a task's call asks for next.
    #[inline(always)]
    pub(super) fn drive(&mut self, id: TaskId) -> Option<Event> {
        let task = self.tasks.get_mut(id)?;
        let job = task.job_behind(id);
        let call = task.call.as_mut()?;
        let index = call.site;
        let edge = &mut self.edges[call.edge as usize];
        let engine = &mut self.engines[call.engine as usize];
        let action = engine.poll(&mut call.state, self.now, &mut edge.jitter);
        let (queue, soon) = (&mut self.queue, &mut self.soon);
        call.heed(&action, engine, edge, self.now, queue, soon);
        self.act(id, index, job, &action)
    }

    /// Does what the engine of a task's call asked for. `index`: the `call` step; `job`: whose worker may be free
    /// while the task waits.
    #[inline(always)]
    fn act(
        &mut self,
        id: TaskId,
        index: u32,
        job: Option<TaskId>,
        action: &Option<Action>,
    ) -> Option<Event> {
        if self.recorder.log.is_some()
            && let Some(action) = action
            && let Some(call) = &self.tasks[id].call
        {
            let edge = &self.edges[call.edge as usize];
            call.log(&mut self.recorder.log, self.now, edge, Said::Do(*action));
            if let Action::Finish(verdict) = action
                && let Some(log) = &mut self.recorder.log
            {
                let record = call.record(edge.first_engine, self.now, verdict);
                log.calls.push(record);
            }
        }
        let sending = match *action {
            Some(Action::Finish(ref verdict)) => return self.end_call(id, index, verdict),
            Some(Action::Abandon(_)) => return self.abandon(id),
            // The engine has nothing more to say after it.
            Some(Action::Send {
                attempt, deadline, ..
            }) => Some((attempt, deadline)),
            None => None,
        };
        // Now the task waits, and its job with it.
        if let Some(job) = job {
            self.lend_worker(job);
        }
        let (attempt, deadline) = sending?;
        self.send(id, index, attempt, deadline)
    }

    /// Drives a call that was cancelled, whose task goes nowhere afterwards. Apart, so that the driver of all others
    /// is compiled into the loop alone.
    #[inline(never)]
    fn drive_to_the_end(&mut self, id: TaskId) {
        while let Some(Event::Poll(_)) = self.drive(id) {}
    }

    /// A call is over; its task goes on, or its program fails with it.
    #[inline(always)]
    fn end_call(&mut self, id: TaskId, index: u32, verdict: &Verdict) -> Option<Event> {
        self.tasks[id].call = None;
        self.calls_in_flight -= 1;
        match verdict.stopped {
            Some(_) if !self.sites[index as usize].optional => {
                Some(Event::Fail(failure_of_failed_call(verdict.last), id))
            }
            _ => Some(Event::Resume(id)),
        }
    }

    #[inline(always)]
    pub(super) fn on_timer(&mut self, id: TaskId) -> Option<Event> {
        let call = self.tasks.get_mut(id).and_then(|task| task.call.as_mut())?;
        if call.armed != self.now {
            return None; // an earlier wake-up took its place, or it was that of an earlier call
        }
        call.armed = Time::MAX;
        let edge = &self.edges[call.edge as usize];
        call.log(&mut self.recorder.log, self.now, edge, Said::Timer);
        self.engines[call.engine as usize].on_timer(&mut call.state, self.now);
        Some(Event::Poll(id))
    }

    /// An answer reaches its caller.
    #[inline(always)]
    pub(super) fn on_answer(&mut self, id: TaskId) -> Option<Event> {
        let job = self.tasks.get_mut(id).and_then(|task| task.job_mut())?;
        let Job {
            caller,
            attempt,
            answer,
            caller_waits,
            ..
        } = *job;
        match job.state {
            // Its program goes on after the answer.
            JobState::Running | JobState::Waiting => job.caller_waits = false,
            JobState::Sent | JobState::Ended => {
                self.tasks.remove(id);
            }
        }
        if !caller_waits {
            return None;
        }
        let task = &mut self.tasks[caller];
        let job = task.job_behind(caller);
        let call = task.call.as_mut().expect(CALLING);
        if call.job == id {
            call.job = Id::NONE;
        }
        let edge = &mut self.edges[call.edge as usize];
        let said = Said::Answer {
            attempt,
            reply: answer,
        };
        call.log(&mut self.recorder.log, self.now, edge, said);
        let engine = &mut self.engines[call.engine as usize];
        if let Reply::Failed(failure) = answer {
            edge.meter.attempt_failed(failure.kind, failure.phase);
            edge.meter.attempt_ended(self.now.since(call.sent));
        }
        engine.on_reply(&mut call.state, self.now, attempt, answer);
        let index = call.site;
        let action = engine.poll(&mut call.state, self.now, &mut edge.jitter);
        let (queue, soon) = (&mut self.queue, &mut self.soon);
        call.heed(&action, engine, edge, self.now, queue, soon);
        self.act(caller, index, job, &action)
    }

    /// Sends an attempt on its way.
    #[inline(always)]
    fn send(
        &mut self,
        id: TaskId,
        index: u32,
        attempt: u32,
        deadline: Option<Time>,
    ) -> Option<Event> {
        let site = &self.sites[index as usize];
        let lost = self.edges[site.edge as usize].loses(site.lose_request);
        let job = if lost {
            // The server never sees it; the caller does not know.
            Id::NONE
        } else {
            let (service, entry, now) = (site.service, site.entry, self.now);
            self.tasks.insert(|| {
                let job = Job::sent(id, attempt, index, service, deadline, now);
                Task::new(What::Job(job), entry)
            })
        };
        self.tasks[id].call.as_mut().expect(CALLING).job = job;
        if lost {
            return None;
        }
        if let Way::Instant = site.way {
            return Some(Event::Deliver(job));
        }
        self.travel(index, Event::Deliver(job));
        None
    }

    /// Sends an event along the link of a site: a request or a cancellation out, an answer home.
    #[inline]
    pub(super) fn travel(&mut self, site: u32, event: Event) {
        let site = &self.sites[site as usize];
        match site.way {
            Way::Instant => self.soon.push_back(event),
            Way::Constant(lane) => self.queue.push_lane(lane, self.now, event),
            Way::Random => {
                let delay = &self.scenario.links[site.link as usize].delay;
                let span = delay.sample(&mut self.edges[site.edge as usize].link);
                self.queue.push(self.now.after(span), Rank::Normal, event);
            }
        }
    }

    /// The call gives up its attempt under way: timed out, or the call itself is cancelled.
    fn abandon(&mut self, id: TaskId) -> Option<Event> {
        let call = self.tasks[id].call.as_mut().expect(CALLING);
        let meter = &mut self.edges[call.edge as usize].meter;
        if !call.cancelled {
            meter.attempt_failed(FailureKind::Timeout, FailureKind::Timeout.phase());
        }
        let job_id = std::mem::replace(&mut call.job, Id::NONE);
        meter.attempt_ended(self.now.since(call.sent));
        // The request may be lost, or the service gone: then there is nobody to leave.
        if self.tasks.contains(job_id) {
            self.caller_leaves(job_id);
        }
        Some(Event::Poll(id))
    }

    /// The task that waits for the call is about to go.
    #[cold]
    pub(super) fn cancel_call(&mut self, id: TaskId) {
        let call = self.tasks[id].call.as_mut().expect(CALLING);
        call.cancelled = true;
        let edge = &self.edges[call.edge as usize];
        call.log(&mut self.recorder.log, self.now, edge, Said::Cancel);
        self.engines[call.engine as usize].cancel(&mut call.state, self.now);
        self.drive_to_the_end(id);
    }
}
