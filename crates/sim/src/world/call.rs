//! Calls: driving the policy engine, and carrying attempts to services and answers back.
//!
//! This is the simulated twin of a production driver: begin, poll until nothing is left, do each
//! action, wake at the engine's timer, tell it what came back. It decides nothing itself.

use seawall::{Action, CallKey, FailureKind, Reply, Request, Span, Time, Verdict};

use super::service::{Job, JobState};
use super::task::{Flow, Root};
use super::{CallId, JobId, TaskId, Way, World};
use crate::arena::Id;
use crate::event::Event;
use crate::metrics::{CallRecord, EdgeGauge};
use crate::queue::{EventQueue, Lane, Rank};
use crate::rng::{Purpose, Stream};
use crate::scenario::model::{Caller, Edge, Scenario};

/// A logical call in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    state: seawall::Call,
    /// Index into `World::engines`.
    engine: u32,
    pub(super) edge: u32,
    site: u32,
    /// Who waits for it.
    task: TaskId,
    /// The attempt under way, and when it was sent.
    job: JobId,
    sent: Time,
    began: Time,
    /// The earliest `Timer` event under way for it; `Time::MAX` if none.
    armed: Time,
    /// Whether we ended it ourselves, so that giving up its attempt is no timeout.
    cancelled: bool,
}

/// An edge while it runs.
#[derive(Clone, Debug)]
pub(super) struct EdgeState {
    /// The engine of process 0; process `n` has the `n`-th after it.
    first_engine: u32,
    engines: u32,
    /// Backoff jitter.
    jitter: Stream,
    link: Stream,
    loss: Stream,
    /// Lanes for the constant waits its policy asks for again and again.
    timers: [Option<(Span, Lane)>; 2],
}

impl EdgeState {
    pub(super) fn new(
        scenario: &Scenario,
        index: usize,
        first_engine: usize,
        seed: u64,
        queue: &mut EventQueue<Event>,
    ) -> Self {
        let edge: &Edge = &scenario.edges[index];
        let name = scenario.edge_stream_name(index);
        let spec = scenario.policies[edge.policy as usize].policy.spec();
        let mut timer = |span: Option<Span>| span.map(|s| (s, queue.lane(s, Rank::Timer)));
        let engines = match edge.caller {
            Caller::Client(i) => scenario.clients[i as usize].instances,
            Caller::Service(i) => scenario.services[i as usize].replicas,
        };
        EdgeState {
            first_engine: first_engine as u32,
            engines,
            jitter: Stream::new(seed, Purpose::Jitter, &name),
            link: Stream::new(seed, Purpose::Link, &name),
            loss: Stream::new(seed, Purpose::Loss, &name),
            timers: [timer(spec.attempt_timeout), timer(spec.deadline.limit)],
        }
    }
}

impl World {
    /// The `call` step: begins a call and drives it as far as it goes at once.
    pub(super) fn begin_call(&mut self, task: TaskId, root: Root, site: u32) -> Flow {
        let place = self.scenario.sites[site as usize];
        let edge = self.scenario.edges[place.edge as usize];
        let (process, deadline) = match root {
            Root::Iteration { instance, .. } => (instance, None),
            Root::Job(job) => {
                let job = &self.jobs[job];
                (job.replica, job.deadline)
            }
        };
        let engine = self.edges[place.edge as usize].first_engine + process;
        let operations = &self.scenario.services[edge.service as usize].operations;
        let operation = operations[place.operation as usize].semantics;
        let id = self.calls.next_id();
        let request = Request {
            key: CallKey(id.bits()),
            deadline,
            operation,
        };
        let state = self.engines[engine as usize].begin(self.now, request);
        self.calls.insert(Call {
            state,
            engine,
            edge: place.edge,
            site,
            task,
            job: Id::NONE,
            sent: self.now,
            began: self.now,
            armed: Time::MAX,
            cancelled: false,
        });
        self.calls_in_flight_max = self.calls_in_flight_max.max(self.calls.len() as u64);
        self.recorder.counts.edges[place.edge as usize].calls += 1;
        match self.drive(id) {
            Some(flow) => flow,
            None => {
                self.set_call(task, id);
                Flow::Wait
            }
        }
    }

    /// Does everything the engine asks for. `Some` when the call is over: how its task goes on.
    fn drive(&mut self, id: CallId) -> Option<Flow> {
        loop {
            let call = self.calls.get_mut(id)?;
            let engine = &mut self.engines[call.engine as usize];
            let jitter = &mut self.edges[call.edge as usize].jitter;
            match engine.poll(&mut call.state, self.now, jitter) {
                Some(Action::Send {
                    attempt, deadline, ..
                }) => self.send(id, attempt, deadline),
                Some(Action::Abandon(_)) => self.abandon(id),
                Some(Action::Finish(verdict)) => {
                    let engine = call.engine;
                    let flow = self.end_call(id, verdict);
                    self.admit_waiting(engine);
                    return Some(flow);
                }
                None => break,
            }
        }
        let call = &mut self.calls[id];
        let engine = call.engine;
        if let Some(at) = call.state.timer()
            && at < call.armed
        {
            call.armed = at;
            let wait = at.since(self.now);
            let timers = &self.edges[call.edge as usize].timers;
            match timers.iter().flatten().find(|(span, _)| *span == wait) {
                Some(&(_, lane)) => self.queue.push_lane(lane, self.now, Event::Timer(id)),
                None => self.queue.push(at, Rank::Timer, Event::Timer(id)),
            }
        }
        self.admit_waiting(engine);
        None
    }

    /// Wakes the calls that were given a permit while others were driven.
    #[inline]
    fn admit_waiting(&mut self, engine: u32) {
        while let Some(key) = self.engines[engine as usize].next_admitted() {
            self.soon.push_back(Event::Admitted(Id::from_bits(key.0)));
        }
    }

    fn drive_and_resume(&mut self, id: CallId) {
        let Some(call) = self.calls.get(id) else {
            return;
        };
        let task = call.task;
        if let Some(flow) = self.drive(id) {
            self.resume_from_call(task, flow);
        }
    }

    pub(super) fn on_admitted(&mut self, id: CallId) {
        self.drive_and_resume(id);
    }

    pub(super) fn on_timer(&mut self, id: CallId) {
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        if call.armed != self.now {
            return; // an earlier wake-up took its place
        }
        call.armed = Time::MAX;
        self.engines[call.engine as usize].on_timer(&mut call.state, self.now);
        self.drive_and_resume(id);
    }

    /// An answer reaches its caller.
    pub(super) fn on_answer(&mut self, id: JobId) {
        let Some(job) = self.jobs.get_mut(id) else {
            return;
        };
        let Job {
            call,
            attempt,
            answer,
            caller_waits,
            sent,
            ..
        } = *job;
        match job.state {
            // Its program goes on after the answer.
            JobState::Running | JobState::Waiting => job.caller_waits = false,
            JobState::Sent | JobState::Ended => {
                self.jobs.remove(id);
            }
        }
        if !caller_waits {
            return;
        }
        let call_id = call;
        let call = &mut self.calls[call_id];
        let edge = call.edge as usize;
        if call.job == id {
            call.job = Id::NONE;
        }
        if let Reply::Failed(failure) = answer {
            self.recorder.counts.edges[edge].attempt_failed[failure.kind as usize] += 1;
        }
        self.recorder.attempt_ended(edge, self.now.since(sent));
        self.engines[call.engine as usize].on_reply(&mut call.state, self.now, attempt, answer);
        self.drive_and_resume(call_id);
    }

    fn send(&mut self, id: CallId, attempt: u32, deadline: Option<Time>) {
        let call = &self.calls[id];
        let site = self.scenario.sites[call.site as usize];
        let edge = call.edge as usize;
        let count = &mut self.recorder.counts.edges[edge];
        count.attempts += 1;
        count.retries += u64::from(attempt > 1);
        let service = self.scenario.edges[edge].service;
        let job = self
            .jobs
            .insert(Job::sent(id, attempt, service, site, deadline, self.now));
        self.calls[id].job = job;
        self.calls[id].sent = self.now;
        let link = &self.scenario.links[site.link as usize];
        let state = &mut self.edges[edge];
        if link.lose_request > 0.0 && state.loss.bernoulli(link.lose_request) {
            // The server never sees it; the caller does not know.
            self.jobs.remove(job);
            return;
        }
        match self.link_ways[site.link as usize] {
            Way::Instant => self.on_deliver(job),
            Way::Constant(lane) => self.queue.push_lane(lane, self.now, Event::Deliver(job)),
            Way::Random => {
                let at = self.now.after(link.delay.sample(&mut state.link));
                self.queue.push(at, Rank::Normal, Event::Deliver(job));
            }
        }
    }

    /// Sends an event about `job` along its link: the answer home, or a cancellation out.
    pub(super) fn along_link(&mut self, link: u32, edge: u32, event: Event) {
        match self.link_ways[link as usize] {
            Way::Instant => self.soon.push_back(event),
            Way::Constant(lane) => self.queue.push_lane(lane, self.now, event),
            Way::Random => {
                let delay = &self.scenario.links[link as usize].delay;
                let at = self
                    .now
                    .after(delay.sample(&mut self.edges[edge as usize].link));
                self.queue.push(at, Rank::Normal, event);
            }
        }
    }

    /// Draws whether the answer of a job is lost on its way.
    pub(super) fn answer_is_lost(&mut self, link: u32, edge: u32) -> bool {
        let p = self.scenario.links[link as usize].lose_response;
        p > 0.0 && self.edges[edge as usize].loss.bernoulli(p)
    }

    /// The call gives up its attempt under way: timed out, or the call itself is cancelled.
    fn abandon(&mut self, id: CallId) {
        let call = &mut self.calls[id];
        let (edge, sent, cancelled) = (call.edge as usize, call.sent, call.cancelled);
        let job_id = std::mem::replace(&mut call.job, Id::NONE);
        if !cancelled {
            let count = &mut self.recorder.counts.edges[edge];
            count.attempt_failed[FailureKind::Timeout as usize] += 1;
        }
        self.recorder.attempt_ended(edge, self.now.since(sent));
        // The request may be lost, or the service gone: then there is nobody to leave.
        if self.jobs.contains(job_id) {
            self.caller_leaves(job_id);
        }
    }

    /// The task that waited for the call is gone.
    pub(super) fn cancel_call(&mut self, id: CallId) {
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        call.cancelled = true;
        self.engines[call.engine as usize].cancel(&mut call.state, self.now);
        // Its task no longer exists, so there is nothing to resume.
        let _ = self.drive(id);
    }

    fn end_call(&mut self, id: CallId, verdict: Verdict) -> Flow {
        let Call {
            edge,
            site,
            began,
            engine,
            ..
        } = self.calls[id];
        self.calls.remove(id);
        if let Some(log) = &mut self.recorder.log {
            log.calls.push(CallRecord {
                edge,
                process: engine - self.edges[edge as usize].first_engine,
                began,
                ended: self.now,
                attempts: verdict.attempts,
                stopped: verdict.stopped,
                last: verdict.last,
            });
        }
        self.recorder
            .call_ended(edge as usize, self.now.since(began), &verdict);
        if verdict.stopped.is_none() || self.scenario.sites[site as usize].optional {
            Flow::Next
        } else {
            Flow::Failed(verdict.last)
        }
    }

    /// State of every edge's engines now.
    pub(super) fn edge_gauges(&self) -> Vec<EdgeGauge> {
        let mut gauges = vec![EdgeGauge::default(); self.edges.len()];
        for (_, call) in self.calls.iter() {
            gauges[call.edge as usize].in_flight += 1;
        }
        for (gauge, edge) in gauges.iter_mut().zip(&self.edges) {
            let first = edge.first_engine as usize;
            for engine in &self.engines[first..first + edge.engines as usize] {
                let Some(state) = engine.breaker_state(self.now) else {
                    break;
                };
                gauge.breakers += 1;
                match state {
                    seawall::BreakerState::Open => gauge.breakers_open += 1,
                    seawall::BreakerState::HalfOpen => gauge.breakers_half_open += 1,
                    seawall::BreakerState::Closed => {}
                }
            }
        }
        gauges
    }

    /// Switches retries off (or on again) for everybody under a policy.
    pub(super) fn set_kill_switch(&mut self, policy: u32, on: bool) {
        for (edge, state) in self.scenario.edges.iter().zip(&self.edges) {
            if edge.policy == policy {
                let first = state.first_engine as usize;
                for engine in &mut self.engines[first..first + state.engines as usize] {
                    engine.set_kill_switch(on);
                }
            }
        }
    }
}
