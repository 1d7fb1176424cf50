//! Optimistic transactions.

use seawall::Reply;

use crate::world::{TaskId, World};

impl World {
    /// What the program of a job comes to, where those at work at once may conflict. One that has answered has committed.
    pub(in crate::world) fn commits(&mut self, id: TaskId, reply: Reply) -> Reply {
        let Some(job) = self.tasks[id].job() else {
            return reply;
        };
        let state = &mut self.services[job.service as usize];
        let at_work = state.busy.count().max(1);
        let Some(behaviour) = &mut state.behaviour else {
            return reply;
        };
        match behaviour.conflicts {
            Some(conflicts) if reply == Reply::Ok && !job.answered => {
                match behaviour.clashes.bernoulli(conflicts.chance(at_work)) {
                    true => Reply::Failed(conflicts.failure),
                    false => reply,
                }
            }
            _ => reply,
        }
    }
}
