//! Calls: driving the policy engine from a call's beginning to its end.
//!
//! This is the simulated twin of a production driver: begin, poll until nothing is left, do each
//! action, wake at the engine's timer, tell it what came back. It decides nothing itself.

use std::collections::VecDeque;

use seawall::{Action, CallKey, Operation, Reply, Request, Time, Verdict};

use super::edge::EdgeState;
use super::job::{Job, JobState};
use super::task::What;
use super::{TaskId, World};
use crate::arena::Id;
use crate::event::Event;
use crate::metrics::Said;
use crate::queue::EventQueue;
use crate::scenario::model::failure_of_failed_call;

/// A logical call in flight. It lives in the task that waits for it, which waits for nothing else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(super) state: seawall::Call,
    /// Index into `World::engines`.
    pub(super) engine: u32,
    pub(super) edge: u32,
    pub(super) site: u32,
    /// The client for whose iteration it is made.
    pub(super) tenant: u32,
    /// The replica chosen for its next attempt, where its policy tells them apart; else `NOWHERE`.
    pub(super) host: u32,
    /// The attempt under way, and when it was sent.
    pub(super) job: TaskId,
    pub(super) sent: Time,
    /// Where all attempts under way are kept, if its policy hedges.
    pub(super) copies: Option<u32>,
    pub(super) began: Time,
    /// The earliest `Timer` event under way for it; `Time::MAX` if none.
    armed: Time,
    /// Whether we ended it ourselves, so that giving up its attempt is no timeout.
    pub(super) cancelled: bool,
}

/// Where the attempts of a call come from, and go.
#[derive(Clone, Copy)]
pub(super) struct Sender {
    /// The `call` step.
    pub(super) site: u32,
    pub(super) tenant: u32,
    pub(super) host: u32,
}

impl Call {
    #[inline(always)]
    pub(super) fn sender(&self) -> Sender {
        Sender {
            site: self.site,
            tenant: self.tenant,
            host: self.host,
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
            Some(Action::Send { attempt, .. }) => self.counts_as_sent(*attempt, edge, now),
            Some(Action::Finish(verdict)) => {
                let (took, last_attempt) = (now.since(self.began), now.since(self.sent));
                edge.meter.call_ended(took, Some(last_attempt), verdict);
            }
            // The engine is asked again before anybody else.
            Some(Action::Abandon(_) | Action::Choose(_)) => return,
            None => {}
        }
        self.arm(edge, now, queue);
        wake_admitted(engine, soon);
    }

    #[inline(always)]
    pub(super) fn counts_as_sent(&mut self, attempt: u32, edge: &mut EdgeState, now: Time) {
        edge.meter.count.attempts += 1;
        edge.meter.count.retries += u64::from(attempt > 1);
        self.sent = now;
    }

    /// Sees to it that its engine is woken in time.
    #[inline(always)]
    pub(super) fn arm(&mut self, edge: &EdgeState, now: Time, queue: &mut EventQueue<Event>) {
        if let Some(at) = self.state.timer()
            && at < self.armed
        {
            self.armed = at;
            edge.set_timer(Id::from_bits(self.state.key().0), now, at, queue);
        }
    }

    /// Its request must not be sent again.
    pub(super) fn forbid_retries(&mut self) {
        self.state.forbid_retries();
    }
}

/// Those who were given a permit meanwhile are asked what they do with it.
#[inline(always)]
pub(super) fn wake_admitted(engine: &mut seawall::Client, soon: &mut VecDeque<Event>) {
    while let Some(key) = engine.next_admitted() {
        soon.push_back(Event::Poll(Id::from_bits(key.0)));
    }
}

/// Whoever names a task as the caller of an attempt that is waited for.
pub(super) const CALLING: &str = "the task waits for this call";

impl World {
    /// The `call` step.
    #[inline(always)]
    pub(super) fn begin_call(&mut self, id: TaskId, root: TaskId, index: u32) -> Option<Event> {
        let (process, deadline, job, tenant) = match &self.tasks[root].what {
            What::Iteration { client, instance } => (*instance, None, None, *client),
            What::Job(job) => (job.replica, job.deadline, Some(root), job.tenant),
            What::Errand(errand) => (errand.process, None, None, errand.tenant),
            What::Block { .. } => unreachable!("a block is no root"),
        };
        if self.asked_first
            && let Some(instead) = self.ask_first(id, root, index)
        {
            return instead;
        }
        self.calls_in_flight += 1;
        if self.calls_in_flight > self.calls_in_flight_max {
            self.more_calls_than_ever();
        }
        let site = &self.sites[index as usize];
        let engine = site.first_engine + process;
        let request = Request {
            key: CallKey(id.bits()),
            deadline,
            operation: Operation {
                tenant: u64::from(tenant),
                ..site.semantics
            },
        };
        let policy = &mut self.engines[engine as usize];
        let edge = &mut self.edges[site.edge as usize];
        edge.meter.count.calls += 1;
        let call = self.tasks[id].call.insert(Call {
            state: policy.begin(self.now, request),
            engine,
            edge: site.edge,
            site: index,
            tenant,
            host: super::job::NOWHERE,
            job: Id::NONE,
            sent: self.now,
            copies: None,
            began: self.now,
            armed: Time::MAX,
            cancelled: false,
        });
        if edge.hedges || self.looked_at || self.follow_ups_left == 0 {
            self.note_begin(id, root, engine, &request);
            return Some(Event::Poll(id));
        }
        self.follow_ups_left -= 1;
        let action = policy.poll(&mut call.state, self.now, &mut edge.jitter);
        let (queue, soon) = (&mut self.queue, &mut self.soon);
        call.heed(&action, policy, edge, self.now, queue, soon);
        let from = call.sender();
        self.act(id, from, job, &action)
    }

    /// Whether a call begins at all. `Some`: it does not, and this follows.
    #[cold]
    #[inline(never)]
    fn ask_first(&mut self, id: TaskId, root: TaskId, site: u32) -> Option<Option<Event>> {
        if self.fallbacks.is_some()
            && let Some(refused) = self.admit_call(id, root, site)
        {
            return Some(Some(refused));
        }
        if !self.joins_another(id, root, site) {
            return None;
        }
        // The task waits, and its job with it.
        self.lend_worker(root);
        Some(None)
    }

    /// Does what the engine of a task's call asks for next.
    #[inline(always)]
    pub(super) fn drive(&mut self, id: TaskId) -> Option<Event> {
        let task = self.tasks.get_mut(id)?;
        let job = task.job_behind(id);
        let call = task.call.as_mut()?;
        let edge = &mut self.edges[call.edge as usize];
        if edge.hedges {
            return self.drive_hedged(id);
        }
        call.log_look(&mut self.recorder.log, self.now, edge);
        let engine = &mut self.engines[call.engine as usize];
        let action = engine.poll(&mut call.state, self.now, &mut edge.jitter);
        let (queue, soon) = (&mut self.queue, &mut self.soon);
        call.heed(&action, engine, edge, self.now, queue, soon);
        let from = call.sender();
        self.act(id, from, job, &action)
    }

    /// Does what the engine of a task's call asked for. `job`: whose worker may be free while the task waits.
    #[inline(always)]
    fn act(
        &mut self,
        id: TaskId,
        from: Sender,
        job: Option<TaskId>,
        action: &Option<Action>,
    ) -> Option<Event> {
        if self.recorder.log.is_some()
            && let Some(action) = action
        {
            self.log_action(id, action);
        }
        let sending = match *action {
            Some(Action::Finish(ref verdict)) => return self.end_call(id, from.site, verdict),
            // The next poll is part of this one.
            Some(Action::Abandon(_)) => {
                self.abandon(id, false);
                self.follow_ups_left += 1;
                return Some(Event::Poll(id));
            }
            Some(Action::Choose(_)) => {
                self.choose_host(id);
                self.follow_ups_left += 1;
                return Some(Event::Poll(id));
            }
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
        self.send(id, from, attempt, deadline)
    }

    /// Drives a call that was cancelled, whose task goes nowhere afterwards. Apart, so that the driver of all others
    /// is compiled into the loop alone.
    #[inline(never)]
    fn drive_to_the_end(&mut self, id: TaskId) {
        while let Some(Event::Poll(_)) = self.drive(id) {
            self.follow_ups_left -= 1;
        }
    }

    /// A call is over; its task goes on, or its program fails with it.
    #[inline(always)]
    pub(super) fn end_call(&mut self, id: TaskId, index: u32, verdict: &Verdict) -> Option<Event> {
        self.tasks[id].call = None;
        self.calls_in_flight -= 1;
        if self.concluded
            && let Some(instead) = self.conclude_call(id, index, verdict)
        {
            return Some(instead);
        }
        match verdict.stopped {
            Some(_) if !self.sites[index as usize].optional => {
                Some(Event::Fail(failure_of_failed_call(verdict.last), id))
            }
            _ => Some(Event::Resume(id)),
        }
    }

    /// What else is to be done when a call is over. `Some`: it has a fallback, and this follows.
    #[cold]
    #[inline(never)]
    fn conclude_call(&mut self, id: TaskId, index: u32, verdict: &Verdict) -> Option<Event> {
        let instead = match self.fallbacks {
            Some(_) => self.fall_back(id, index, verdict),
            None => None,
        };
        if self.effects.is_some() {
            self.conclude(id, verdict);
        }
        if self.coalescing.is_some() {
            self.lands(id, index, verdict);
        }
        instead
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
        if call.copies.is_some() {
            self.hedged_timer(id);
            return Some(Event::Poll(id));
        }
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
        let answer = match self.effects {
            Some(_) => self.hear(id, caller, answer),
            None => answer,
        };
        let task = &mut self.tasks[caller];
        let job = task.job_behind(caller);
        let call = task.call.as_mut().expect(CALLING);
        if call.copies.is_some() {
            return self.on_answer_to_copy(id, caller, attempt, answer);
        }
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
        if self.follow_ups_left == 0 {
            return Some(Event::Poll(caller));
        }
        self.follow_ups_left -= 1;
        let action = engine.poll(&mut call.state, self.now, &mut edge.jitter);
        let (queue, soon) = (&mut self.queue, &mut self.soon);
        call.heed(&action, engine, edge, self.now, queue, soon);
        let from = call.sender();
        self.act(caller, from, job, &action)
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
