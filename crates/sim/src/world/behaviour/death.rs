//! Replicas that die and start again.

use seawall::{Reply, Time};

use super::{Plan, ReplicaState, Tick};
use crate::event::Event;
use crate::metrics::JobEnd;
use crate::queue::Rank;
use crate::scenario::model::{Caller, Cold};
use crate::world::job::JobState;
use crate::world::{TaskId, World};

impl ReplicaState {
    /// How many times as long its next piece of work takes.
    pub(super) fn slowness(&mut self, now: Time, cold: Option<Cold>) -> f64 {
        let Some(cold) = cold.filter(|_| self.cold) else {
            return self.slow;
        };
        let warm_by_time = cold
            .lasts
            .is_some_and(|lasts| now >= self.since.after(lasts));
        let warm_by_work = cold.jobs.is_some_and(|jobs| self.worked >= jobs);
        if warm_by_time || warm_by_work {
            self.cold = false;
            return self.slow;
        }
        self.worked += 1;
        self.slow * cold.factor
    }
}

impl World {
    /// A job has come in: it may be one more than the replica can hold.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn came_in(&mut self, id: TaskId) -> Option<Event> {
        let job = *self.tasks[id].job()?;
        let state = &self.services[job.service as usize];
        let (behaviour, inside) = (
            state.behaviour.as_ref()?,
            state.replicas[job.replica as usize].inside,
        );
        if behaviour.memory.is_some() && self.needs_too_much(job.service, job.replica, inside) {
            self.crash(job.service, job.replica, Time::ZERO);
            return None;
        }
        match job.state {
            JobState::Waiting => {
                self.begins_to_wait(id);
                None
            }
            _ => Some(Event::Resume(id)),
        }
    }

    /// A replica dies, and starts again when it has been away long enough, not before `until`. Nothing happens to one that is dead
    /// already, or was taken away and has done what it had to.
    pub(in crate::world) fn crash(&mut self, service: u32, replica: u32, until: Time) {
        let now = self.now;
        let state = &mut self.services[service as usize];
        let Some(behaviour) = &mut state.behaviour else {
            return;
        };
        let back = until.max(now.after(behaviour.restart.after));
        let it = &mut behaviour.replicas[replica as usize];
        let is_empty = state.replicas[replica as usize].inside == 0;
        if !it.up || (!it.there && is_empty) {
            return;
        }
        it.up = false;
        it.back = back;
        it.probes.iter_mut().for_each(|probe| probe.pending = None);
        state.meter.count.restarts += 1;
        let tick = Tick::new(Plan::Restart, service, replica);
        self.queue.push(back, Rank::Normal, Event::Tick(tick));
        let told = behaviour.restart.answer.is_some();
        self.lose_jobs(service, replica);
        if self.sessions.is_some() {
            self.lose_sessions(service, replica, told);
        }
        // While their engines still know them.
        if self.credentials.is_some() {
            self.lose_tokens(service, replica);
        }
        self.forget_policies(service, replica);
        if self.passages.is_some() {
            self.lose_connections(service, replica);
        }
        self.rotate(service);
    }

    /// Whatever is inside a replica is lost.
    fn lose_jobs(&mut self, service: u32, replica: u32) {
        let inside = self.jobs_in_turn(service, Some(replica));
        let state = &mut self.services[service as usize];
        let answer = state.behaviour.as_ref().and_then(|b| b.restart.answer);
        for (id, answered) in inside {
            if answered {
                self.remove_job(id);
                continue;
            }
            self.ended(id, JobEnd::Lost);
            let job = self.tasks[id].job().expect("it is inside");
            match answer.filter(|_| job.caller_waits) {
                None => self.remove_job(id),
                Some(failure) => {
                    match job.state {
                        JobState::Waiting => {
                            self.services[service as usize].leave_queue(self.now, replica);
                        }
                        _ => self.stop_program(id),
                    }
                    self.leave(id, false);
                    self.tasks[id].go_no_further();
                    let arrives = self.refuse(id, failure);
                    self.soon.extend(arrives);
                }
            }
        }
        self.services[service as usize].replicas[replica as usize].empty();
    }

    /// A process that starts again knows nothing of what its policies had learnt. What was switched off stays off, since
    /// that is said from outside.
    fn forget_policies(&mut self, service: u32, replica: u32) {
        let edges = self.scenario.edges.iter().zip(&mut self.edges);
        for (_, state) in edges.filter(|(edge, _)| edge.caller == Caller::Service(service)) {
            let engine = &mut self.engines[(state.first_engine + replica) as usize];
            state.retire(engine);
            let mut fresh = seawall::Client::new(engine.policy().clone(), self.now);
            fresh.set_kill_switch(engine.kill_switch());
            *engine = fresh;
        }
    }

    /// A replica may begin.
    pub(super) fn on_restart(&mut self, service: u32, replica: u32) {
        let Some(behaviour) = &mut self.services[service as usize].behaviour else {
            return;
        };
        let cold = behaviour.restart.cold.is_some();
        let (startup, readiness) = behaviour.asked_at_first();
        let it = &mut behaviour.replicas[replica as usize];
        if it.up || !it.there || self.now < it.back {
            return;
        }
        it.up = true;
        it.since = self.now;
        it.cold = cold;
        (it.worked, it.leaked) = (0, 0);
        (it.begun, it.ready) = (!startup, !readiness);
        it.probes
            .iter_mut()
            .for_each(|probe| (probe.bad, probe.good) = (0, 0));
        self.lose_caches(service, replica);
        // Who was not told that it died is told now.
        self.break_sessions(service, replica);
        self.rotate(service);
    }

    /// What an answer or its absence says about the replica that should have given it; `None`: the caller left without one.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn observe(&mut self, service: u32, replica: u32, reply: Option<Reply>) {
        let now = self.now;
        let Some(behaviour) = &mut self.services[service as usize].behaviour else {
            return;
        };
        if behaviour.observe(replica, reply, now) {
            self.rotate(service);
        }
    }
}
