//! Optimistic transactions.

use seawall::Reply;

use crate::world::job::Origin;
use crate::world::{TaskId, World};

impl World {
    /// What the program of a job comes to, where those at work at once may conflict: whoever has begun and not ended, also while
    /// it waits for a call and has lent its worker. One that has answered has committed, and a probe commits nothing.
    pub(in crate::world) fn commits(&mut self, id: TaskId, reply: Reply) -> Reply {
        let Some(job) = self.tasks[id].job() else {
            return reply;
        };
        let state = &mut self.services[job.service as usize];
        let Some(conflicts) = state.behaviour.as_ref().and_then(|b| b.conflicts) else {
            return reply;
        };
        if reply != Reply::Ok || job.answered || job.origin == Origin::Probe {
            return reply;
        }
        let chance = conflicts.chance(state.at_work());
        let clashes = state.behaviour.as_mut().map(|b| &mut b.clashes);
        match clashes.is_some_and(|stream| stream.bernoulli(chance)) {
            true => Reply::Failed(conflicts.failure),
            false => reply,
        }
    }
}
