//! Programs that end before their last step: with a failure, or with an answer known sooner.

use seawall::{FailureKind, Reply};

use super::task::{NO_STEPS, What};
use super::{TaskId, World};
use crate::event::Event;

impl World {
    /// What follows when something fails that a task waited for: its program ends with the first failure it is told of.
    pub(super) fn tell_failure(&mut self, id: TaskId, kind: FailureKind) -> Option<Event> {
        self.tasks.get_mut(id)?.fails(kind);
        Some(Event::Fail(id))
    }

    /// A call failed that a task waited for, which may be over itself.
    pub(super) fn on_fail(&mut self, id: TaskId) -> Option<Event> {
        let kind = self.tasks.get_mut(id)?.take_failure()?;
        self.fail_program(id, kind)
    }

    /// A call failed, and the program that the task is part of with it.
    pub(super) fn fail_program(&mut self, id: TaskId, kind: FailureKind) -> Option<Event> {
        self.stop_program(id);
        match self.tasks[id].what {
            What::Job(_) => self.end_job(id, Reply::Failed(kind.into())),
            What::Iteration { client, instance } => {
                self.tasks.remove(id);
                self.end_iteration(client, instance, false);
                None
            }
            What::Errand(_) => {
                self.end_errand(id, Some(kind));
                None
            }
            What::Block { root, .. } => {
                let instead = match self.caches {
                    Some(_) => self.fetch_fails(id, kind),
                    None => None,
                };
                instead.or_else(|| self.tell_failure(root, kind))
            }
        }
    }

    /// The program that a task is part of says this before its end, and is over.
    #[cold]
    #[inline(never)]
    pub(super) fn end_program(&mut self, id: TaskId, reply: Reply) -> Option<Event> {
        if let (What::Iteration { .. } | What::Block { .. }, Reply::Failed(failure)) =
            (&self.tasks[id].what, reply)
        {
            return self.fail_program(id, failure.kind);
        }
        let root = self.tasks[id].root(id);
        self.stop_program(root);
        match self.tasks[root].what {
            What::Job(_) => self.end_job(root, reply),
            What::Iteration { client, instance } => {
                self.tasks.remove(root);
                self.end_iteration(client, instance, true);
                None
            }
            What::Errand(_) | What::Block { .. } => unreachable!("{NO_STEPS}"),
        }
    }
}
