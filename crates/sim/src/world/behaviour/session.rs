//! Replicas that sessions are held to.

use seawall::Time;

use crate::world::World;
use crate::world::service::ServiceState;

impl ServiceState {
    /// Whether a replica has gone since an instant, or died, and its clients know: it was taken away, has begun anew, or its death
    /// is told.
    pub(in crate::world) fn is_known_gone(&self, replica: u32, then: Time) -> bool {
        self.behaviour.as_ref().is_some_and(|behaviour| {
            let it = &behaviour.replicas[replica as usize];
            match it.up {
                true => !it.there || it.since > then,
                false => !it.there || behaviour.restart.answer.is_some(),
            }
        })
    }

    /// Whether a replica stands still.
    pub(in crate::world) fn stands_still(&self, replica: u32) -> bool {
        let behaviour = self.behaviour.as_ref();
        behaviour.is_some_and(|behaviour| behaviour.replicas[replica as usize].pauses > 0)
    }
}

impl World {
    /// Whether a replica with so many jobs inside needs more memory than there is.
    pub(super) fn needs_too_much(&self, service: u32, replica: u32, inside: u32) -> bool {
        let behaviour = self.services[service as usize].behaviour.as_ref();
        let Some((behaviour, memory)) = behaviour.and_then(|b| Some((b, b.memory?))) else {
            return false;
        };
        let gone = behaviour.replicas[replica as usize].leaked;
        let held = self.sessions.as_ref();
        let held = held.map_or(0, |state| state.open(service, replica));
        let needed = u128::from(memory.base)
            + u128::from(memory.per_job) * u128::from(inside)
            + u128::from(memory.per_session) * u128::from(held)
            + u128::from(memory.leak) * u128::from(gone);
        needed > u128::from(memory.limit)
    }

    /// Replicas that were taken away hold no sessions any longer.
    pub(super) fn break_sessions_with_the_gone(&mut self, service: u32) {
        let Some(behaviour) = &self.services[service as usize].behaviour else {
            return;
        };
        let there: Vec<bool> = behaviour.replicas.iter().map(|it| it.there).collect();
        let gone = (0u32..).zip(there).filter(|(_, there)| !there);
        gone.for_each(|(replica, _)| self.break_sessions(service, replica));
    }

    /// A session more may be one more than its replica can hold.
    pub(in crate::world) fn outgrows(&mut self, service: u32, replica: u32) {
        let state = &self.services[service as usize];
        let Some(behaviour) = &state.behaviour else {
            return;
        };
        let inside = state.replicas[replica as usize].inside;
        if behaviour.memory.is_some() && self.needs_too_much(service, replica, inside) {
            self.crash(service, replica, Time::ZERO);
        }
    }
}
