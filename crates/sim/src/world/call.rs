//! Calls: driving the policy engine, and carrying attempts to services and answers back.
//!
//! This is the simulated twin of a production driver: begin, poll until nothing is left, do each
//! action, wake at the engine's timer, tell it what came back. It decides nothing itself.

use std::collections::VecDeque;

use seawall::{Action, CallKey, FailureKind, Operation, Reply, Request, Time, Verdict, Wait};

use super::edge::EdgeState;
use super::job::{Job, JobState};
use super::site::Way;
use super::task::{Task, What};
use super::{TaskId, World};
use crate::arena::Id;
use crate::event::Event;
use crate::metrics::{AttemptLink, CallLink, CallRecord, Exchange, Log, Said};
use crate::queue::Rank;
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
    tenant: u32,
    /// The replica chosen for its next attempt, where its policy tells them apart.
    host: Option<u32>,
    /// The attempt under way, and when it was sent.
    pub(super) job: TaskId,
    pub(super) sent: Time,
    /// Where all attempts under way are kept, if its policy hedges.
    pub(super) copies: Option<u32>,
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

    /// Its request must not be sent again.
    pub(super) fn forbid_retries(&mut self) {
        self.state.forbid_retries();
    }

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

/// Wakes the calls that were given a permit while others were driven.
#[inline(always)]
fn wake_admitted(engine: &mut seawall::Client, soon: &mut VecDeque<Event>) {
    while let Some(key) = engine.next_admitted() {
        soon.push_back(Event::Poll(Id::from_bits(key.0)));
    }
}

/// Whoever names a task as the caller of an attempt that is waited for.
const CALLING: &str = "the task waits for this call";

impl World {
    /// The `call` step.
    #[inline(always)]
    pub(super) fn begin_call(&mut self, id: TaskId, root: TaskId, index: u32) -> Option<Event> {
        let (process, deadline, tenant) = match &self.tasks[root].what {
            What::Iteration { client, instance } => (*instance, None, *client),
            What::Job(job) => (job.replica, job.deadline, job.tenant),
            What::Block { .. } => unreachable!("a block is no root"),
        };
        if self.fallbacks.is_some()
            && let Some(refused) = self.admit_call(id, root, index)
        {
            return Some(refused);
        }
        let site = &self.sites[index as usize];
        let engine = site.first_engine + process;
        let operation = Operation {
            tenant: u64::from(tenant),
            ..site.semantics
        };
        let request = Request {
            key: CallKey(id.bits()),
            deadline,
            operation,
        };
        self.edges[site.edge as usize].meter.count.calls += 1;
        let call = Call {
            state: self.engines[engine as usize].begin(self.now, request),
            engine,
            edge: site.edge,
            site: index,
            tenant,
            host: None,
            job: Id::NONE,
            sent: self.now,
            copies: None,
            began: self.now,
            armed: Time::MAX,
            cancelled: false,
        };
        let begin = Said::Begin {
            deadline,
            operation,
        };
        let edge = &self.edges[site.edge as usize];
        call.log(&mut self.recorder.log, self.now, edge, begin);
        if self.recorder.log.is_some() {
            self.link_call(root, index, engine);
        }
        self.tasks[id].call = Some(call);
        if self.effects.is_some() {
            self.intend(id, root, index, engine);
        }
        self.calls_in_flight += 1;
        if self.calls_in_flight > self.calls_in_flight_max {
            self.more_calls_than_ever();
        }
        Some(Event::Poll(id))
    }

    /// Writes down where the call that has just begun was made.
    #[cold]
    fn link_call(&mut self, root: TaskId, site: u32, engine: u32) {
        let within = self.tasks[root].job().map(|_| root.bits());
        let breaker = self.engines[engine as usize].breaker_state(self.now);
        if let Some(log) = &mut self.recorder.log {
            log.calls_made.push(CallLink {
                exchange: log.exchanges.len() - 1,
                site,
                within,
                breaker,
            });
        }
    }

    /// Does everything the engine of a task's call asks for.
    #[inline(always)]
    pub(super) fn drive(&mut self, id: TaskId) -> Option<Event> {
        // An attempt goes out when the engine has nothing more to say.
        let mut sending = None;
        loop {
            let task = self.tasks.get_mut(id)?;
            let root = task.root(id);
            let call = task.call.as_mut()?;
            let edge = &mut self.edges[call.edge as usize];
            let engine = &mut self.engines[call.engine as usize];
            if self.recorder.log.is_some() && call.state.waits_for() == Some(Wait::Permit) {
                call.log(&mut self.recorder.log, self.now, edge, Said::Look);
            }
            let action = loop {
                let action = engine.poll(&mut call.state, self.now, &mut edge.jitter);
                if let Some(action) = action {
                    call.log(&mut self.recorder.log, self.now, edge, Said::Do(action));
                }
                match action {
                    Some(Action::Send {
                        attempt, deadline, ..
                    }) if sending.is_none() => sending = Some((attempt, deadline)),
                    action => break action,
                }
            };
            let Some(action) = action else {
                if let Some(at) = call.state.timer()
                    && at < call.armed
                {
                    call.armed = at;
                    edge.set_timer(id, self.now, at, &mut self.queue);
                }
                wake_admitted(engine, &mut self.soon);
                // Now the task waits, and its job with it.
                self.lend_worker(root);
                let (attempt, deadline) = sending?;
                return self.send(id, attempt, deadline);
            };
            if let Some((attempt, deadline)) = sending.take() {
                let arrives = self.send(id, attempt, deadline);
                self.soon.extend(arrives);
            }
            match action {
                Action::Send {
                    attempt, deadline, ..
                } => sending = Some((attempt, deadline)),
                Action::Choose(_) => self.choose_host(id),
                Action::Abandon(attempt) => self.abandon(id, attempt),
                Action::Finish(verdict) => return self.end_call(id, &verdict),
            }
        }
    }

    /// Drives a call that was cancelled; apart, so that the driver of all others is compiled into the loop alone.
    #[inline(never)]
    fn drive_to_the_end(&mut self, id: TaskId) -> Option<Event> {
        self.drive(id)
    }

    /// A call is over; its task goes on, or its program fails with it.
    #[inline(always)]
    fn end_call(&mut self, id: TaskId, verdict: &Verdict) -> Option<Event> {
        let call = self.tasks[id].call.take().expect(CALLING);
        let edge = &mut self.edges[call.edge as usize];
        edge.meter.call_ended(self.now.since(call.began), verdict);
        if let Some(log) = &mut self.recorder.log {
            log.calls
                .push(call.record(edge.first_engine, self.now, verdict));
        }
        wake_admitted(&mut self.engines[call.engine as usize], &mut self.soon);
        self.hedged.end(call.copies);
        self.calls_in_flight -= 1;
        let instead = match self.fallbacks {
            Some(_) => self.fall_back(id, call.site, verdict),
            None => None,
        };
        if self.effects.is_some() {
            self.conclude(id, verdict);
        }
        if instead.is_some() {
            return instead;
        }
        match verdict.stopped {
            Some(_) if !self.sites[call.site as usize].optional => {
                Some(Event::Fail(id, failure_of_failed_call(verdict.last)))
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
        if self.tasks[caller]
            .call
            .as_ref()
            .expect(CALLING)
            .copies
            .is_some()
        {
            self.recall_copy(caller, attempt);
        }
        let call = self.tasks[caller].call.as_mut().expect(CALLING);
        if call.job == id {
            call.job = Id::NONE;
        }
        let edge = &mut self.edges[call.edge as usize];
        let said = Said::Answer {
            attempt,
            reply: answer,
        };
        call.log(&mut self.recorder.log, self.now, edge, said);
        let meter = &mut edge.meter;
        if let Reply::Failed(failure) = answer {
            meter.attempt_failed(failure.kind, failure.phase);
        }
        meter.attempt_ended(self.now.since(call.sent));
        self.engines[call.engine as usize].on_reply(&mut call.state, self.now, attempt, answer);
        Some(Event::Poll(caller))
    }

    /// Sends an attempt on its way.
    #[inline(always)]
    fn send(&mut self, id: TaskId, attempt: u32, deadline: Option<Time>) -> Option<Event> {
        let call = self.tasks[id].call.as_mut().expect(CALLING);
        let index = call.site;
        let site = &self.sites[index as usize];
        let edge = &mut self.edges[call.edge as usize];
        edge.meter.count.attempts += 1;
        edge.meter.count.retries += u64::from(attempt > 1);
        let hedges = edge.hedges;
        call.sent = self.now;
        if site.lose_request > 0.0 && edge.loss.bernoulli(site.lose_request) {
            // The server never sees it; the caller does not know.
            call.job = Id::NONE;
            if self.effects.is_some() {
                self.send_intent(id, None, attempt, index);
            }
            if hedges {
                self.note_copy(id, attempt);
            }
            return None;
        }
        let mut job = Job::sent(id, attempt, index, site.service, deadline, self.now);
        job.tenant = call.tenant;
        if let Some(host) = call.host {
            job.replica = host;
        }
        let (entry, way) = (site.entry, site.way);
        if site.asks_for_origin {
            (job.class, job.client) = self.origin(id, site.priority);
        }
        let job = self.tasks.insert(Task::new(What::Job(job), entry));
        if let Some(log) = &mut self.recorder.log {
            log.attempts_sent.push(AttemptLink {
                exchange: log.exchanges.len(),
                call: CallKey(id.bits()),
                attempt,
                job: job.bits(),
            });
        }
        self.tasks[id].call.as_mut().expect(CALLING).job = job;
        if self.effects.is_some() {
            self.send_intent(id, Some(job), attempt, index);
        }
        if hedges {
            self.note_copy(id, attempt);
        }
        if let Way::Instant = way {
            return Some(Event::Deliver(job));
        }
        self.travel(index, Event::Deliver(job));
        None
    }

    /// Chooses a replica for the next attempt of a call whose policy tells them apart, one that it does not refuse
    /// if there is one.
    #[cold]
    fn choose_host(&mut self, id: TaskId) {
        let call = self.tasks[id].call.as_mut().expect(CALLING);
        let engine = &mut self.engines[call.engine as usize];
        let service = self.sites[call.site as usize].service;
        let admits = |replica: u32| engine.admits_host(self.now, u64::from(replica));
        let host = self.services[service as usize].pick_passing_over(admits);
        call.host = Some(host);
        let edge = &self.edges[call.edge as usize];
        call.log(&mut self.recorder.log, self.now, edge, Said::Host(host));
        engine.on_host(&mut call.state, u64::from(host));
    }

    /// Sends an event along the link of a site: a request or a cancellation out, an answer home.
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

    /// Draws whether the answer of a job is lost on its way.
    #[inline]
    pub(super) fn answer_is_lost(&mut self, site: u32) -> bool {
        let site = &self.sites[site as usize];
        let p = site.lose_response;
        p > 0.0 && self.edges[site.edge as usize].loss.bernoulli(p)
    }

    /// The call gives up its attempt under way: timed out, or the call itself is cancelled.
    fn abandon(&mut self, id: TaskId, attempt: u32) {
        let hedged = self.tasks[id]
            .call
            .as_ref()
            .expect(CALLING)
            .copies
            .is_some();
        if hedged {
            self.recall_copy(id, attempt);
        }
        let call = self.tasks[id].call.as_mut().expect(CALLING);
        let meter = &mut self.edges[call.edge as usize].meter;
        // Of a hedged call those that timed out were counted when they did.
        if !call.cancelled && !hedged {
            meter.attempt_failed(FailureKind::Timeout, FailureKind::Timeout.phase());
        }
        let job_id = std::mem::replace(&mut call.job, Id::NONE);
        meter.attempt_ended(self.now.since(call.sent));
        if self.effects.is_some() {
            self.hear_nothing(id);
        }
        // The request may be lost, or the service gone: then there is nobody to leave.
        if self.tasks.contains(job_id) {
            self.caller_leaves(job_id);
        }
    }

    /// The task that waits for the call is about to go.
    #[cold]
    pub(super) fn cancel_call(&mut self, id: TaskId) {
        let call = self.tasks[id].call.as_mut().expect(CALLING);
        call.cancelled = true;
        let edge = &self.edges[call.edge as usize];
        call.log(&mut self.recorder.log, self.now, edge, Said::Cancel);
        self.engines[call.engine as usize].cancel(&mut call.state, self.now);
        // Its task goes nowhere afterwards.
        let _ = self.drive_to_the_end(id);
    }
}
