//! Optimistic transactions.

use seawall::Reply;

use crate::world::job::{Job, JobState, Origin};
use crate::world::{TaskId, World};

impl World {
    /// What the program of a job comes to, where those at work at once may conflict. One that has answered has committed, and a
    /// probe commits nothing.
    pub(in crate::world) fn commits(&mut self, id: TaskId, reply: Reply) -> Reply {
        let Some(job) = self.tasks[id].job().filter(|job| is_open(job)) else {
            return reply;
        };
        let service = job.service;
        let behaviour = self.services[service as usize].behaviour.as_ref();
        let Some(conflicts) = behaviour.and_then(|b| b.conflicts) else {
            return reply;
        };
        if reply != Reply::Ok {
            return reply;
        }
        let chance = conflicts.chance(self.open_transactions(service));
        let behaviour = self.services[service as usize].behaviour.as_mut();
        match behaviour.is_some_and(|b| b.clashes.bernoulli(chance)) {
            true => Reply::Failed(conflicts.failure),
            false => reply,
        }
    }

    /// Jobs of a service that have begun and not committed, whether they have a worker or wait for a call without one.
    fn open_transactions(&self, service: u32) -> u64 {
        let state = &self.services[service as usize];
        let plain = |b: &super::BehaviourState| b.probes.is_empty() && !b.answers_early;
        if state.behaviour.as_deref().is_some_and(plain) {
            let begun = state
                .replicas
                .iter()
                .map(|at| u64::from(at.inside - at.waiting_live));
            return begun.sum();
        }
        self.jobs_inside(service)
            .filter(|(_, job)| is_open(job))
            .count() as u64
    }
}

fn is_open(job: &Job) -> bool {
    job.state == JobState::Running && !job.answered && job.origin != Origin::Probe
}
