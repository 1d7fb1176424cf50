//! Calls: driving the policy engine from a call's beginning to its end.
//!
//! This is the simulated twin of a production driver: begin, poll until nothing is left, do each
//! action, wake at the engine's timer, tell it what came back. It decides nothing itself.

use std::collections::VecDeque;

use seawall::{Action, Reply, Time, Verdict};

use super::edge::EdgeState;
use super::job::{Job, JobState};
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
    pub(super) armed: Time,
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

    /// Its next attempt is sent.
    #[inline(always)]
    pub(super) fn counts_as_sent(&mut self, attempt: u32, edge: &mut EdgeState, now: Time) {
        edge.meter.count.attempts += 1;
        edge.meter.count.retries += u64::from(attempt > 1);
        self.sent = now;
    }

    /// It is over, and its last attempt with it.
    #[inline(always)]
    fn counts_as_ended(&self, verdict: &Verdict, edge: &mut EdgeState, now: Time) {
        let (took, last_attempt) = (now.since(self.began), now.since(self.sent));
        edge.meter.call_ended(took, Some(last_attempt), verdict);
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
    /// Asks the engine of a task's call what to do next, and does it.
    #[inline(always)]
    pub(super) fn drive(&mut self, id: TaskId) -> Option<Event> {
        let call = self.tasks.get_mut(id)?.call.as_mut()?;
        let edge = &mut self.edges[call.edge as usize];
        if edge.hedges {
            return self.drive_hedged(id);
        }
        call.log_look(&mut self.recorder.log, self.now, edge);
        let engine = &mut self.engines[call.engine as usize];
        let action = engine.poll(&mut call.state, self.now, &mut edge.jitter);
        self.follow(id, action)
    }

    /// Does what the engine of a task's call asked for.
    #[inline(never)]
    pub(super) fn follow(&mut self, id: TaskId, action: Option<Action>) -> Option<Event> {
        if self.recorder.log.is_some()
            && let Some(action) = &action
        {
            self.log_action(id, action);
        }
        let task = &mut self.tasks[id];
        let job = task.job_behind(id);
        let call = task.call.as_mut().expect(CALLING);
        let edge = &mut self.edges[call.edge as usize];
        let engine = &mut self.engines[call.engine as usize];
        let sending = match action {
            Some(Action::Finish(verdict)) => {
                call.counts_as_ended(&verdict, edge, self.now);
                wake_admitted(engine, &mut self.soon);
                let site = call.site;
                return self.end_call(id, site, &verdict);
            }
            // The next poll is part of this one: the engine is asked again before anybody else.
            Some(Action::Abandon(_)) => {
                self.abandon(id, true);
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
            }) => {
                call.counts_as_sent(attempt, edge, self.now);
                Some((attempt, deadline))
            }
            None => None,
        };
        call.arm(edge, self.now, &mut self.queue);
        wake_admitted(engine, &mut self.soon);
        let from = call.sender();
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
        self.call_has_ended(id, index, verdict)
    }

    /// A task's call is over and forgotten.
    #[inline(always)]
    fn call_has_ended(&mut self, id: TaskId, index: u32, verdict: &Verdict) -> Option<Event> {
        self.calls_in_flight -= 1;
        if self.concluded
            && let Some(instead) = self.conclude_call(id, index, verdict)
        {
            return Some(instead);
        }
        match verdict.stopped {
            Some(_) if !self.sites[index as usize].optional => {
                self.tell_failure(id, failure_of_failed_call(verdict.last))
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
        let answer = match self.hears_more {
            true => self.hear_more(id, caller, answer),
            false => answer,
        };
        let task = &mut self.tasks[caller];
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
        // Nearly every answer is the last thing a call waits for.
        match action {
            Some(Action::Finish(verdict)) if !self.looked_at => {
                call.counts_as_ended(&verdict, edge, self.now);
                wake_admitted(engine, &mut self.soon);
                let site = call.site;
                task.call = None;
                self.call_has_ended(caller, site, &verdict)
            }
            _ => self.follow(caller, action),
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
        self.drive_to_the_end(id);
    }
}
