//! Replicas that fetch messages for themselves.

use seawall::Failure;

use super::BehaviourState;
use crate::world::service::ServiceState;

impl BehaviourState {
    /// Whether a replica fetches messages: it is there and stays, lives, has begun and does not stand still.
    pub(in crate::world) fn fetches(&self, replica: u32) -> bool {
        let it = &self.replicas[replica as usize];
        it.there && it.begun && !it.leaving && self.fetches_on(replica)
    }

    /// Whether a replica goes on with what it has fetched: it lives and does not stand still.
    pub(in crate::world) fn fetches_on(&self, replica: u32) -> bool {
        let it = &self.replicas[replica as usize];
        it.up && it.pauses == 0
    }
}

impl ServiceState {
    /// Whether its replicas fetch messages.
    #[inline]
    pub(in crate::world) fn fetches(&self) -> bool {
        self.behaviour
            .as_ref()
            .is_some_and(|behaviour| behaviour.keeps)
    }

    /// How a delivery fails that a bad replica fetched, if it is one of those.
    pub(in crate::world) fn fails_at_once(&mut self, replica: u32) -> Option<Failure> {
        let behaviour = self.behaviour.as_mut()?;
        let trouble = &behaviour.replicas[replica as usize].errors;
        let luck = &mut behaviour.luck;
        let hit = trouble.iter().find(|(share, _)| luck.bernoulli(*share));
        hit.map(|(_, failure)| *failure)
    }
}
