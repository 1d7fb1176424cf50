//! What meets a job at the door of its service: faults, tokens that are looked at, scripts.

use super::job::A_JOB;
use super::service::Disturbance;
use super::{TaskId, World};
use crate::event::Event;
use crate::metrics::JobEnd;

impl World {
    /// A fault, or a guard, has to do with a job that arrives. `Some`: it goes no further, and this follows.
    #[cold]
    #[inline(never)]
    pub(super) fn disturb(
        &mut self,
        id: TaskId,
        disturbance: Disturbance,
    ) -> Option<Option<Event>> {
        match disturbance {
            Disturbance::Vanishes => {
                self.ended(id, JobEnd::Lost);
                self.tasks.remove(id);
                Some(None)
            }
            Disturbance::Fails(failure) => {
                self.ended(id, JobEnd::Faulted);
                Some(self.refuse(id, failure))
            }
            Disturbance::FailsAfter(failure) => {
                self.fail_after_program(id, failure);
                None
            }
            Disturbance::Guarded => self.meets_a_guard(id),
        }
    }

    /// A job has come to a service that looks at tokens, or follows a script. `Some`: it goes no further, and this follows.
    #[cold]
    #[inline(never)]
    fn meets_a_guard(&mut self, id: TaskId) -> Option<Option<Event>> {
        let site = self.tasks[id].job().expect(A_JOB).site;
        if self.credentials.is_some()
            && let Some(follows) = self.check_token(id, site)
        {
            return Some(follows);
        }
        match self.effects {
            Some(_) => self.follow_script(id),
            None => None,
        }
    }
}
