//! Which replicas requests are given to.

use seawall::{FailureKind, Time};

use super::BehaviourState;
use crate::metrics::JobEnd;
use crate::world::World;
use crate::world::job::{Job, NOWHERE};
use crate::world::service::{Admission, ServiceState};

impl BehaviourState {
    /// The replicas that requests are given to, in order: those that are there, live, are ready and not left out;
    /// all that are there when those are too few a part of them.
    fn in_rotation(&mut self) -> &[u32] {
        let there = || (0u32..).zip(&self.replicas).filter(|(_, r)| r.there);
        let well = |r: &super::ReplicaState| r.up && r.begun && r.ready && !r.leaving;
        let ejection = self.ejection.as_ref();
        let left_out =
            |n: u32| ejection.is_some_and(|(detector, _)| detector.is_ejected(n as usize));
        let all = there().count() as f64;
        let good = || {
            there()
                .filter(|(n, r)| well(r) && !left_out(*n))
                .map(|(n, _)| n)
        };
        let panics =
            ejection.is_some_and(|(_, threshold)| (good().count() as f64) < threshold * all);
        let mut rotation = std::mem::take(&mut self.rotation);
        rotation.clear();
        match panics {
            false => rotation.extend(good()),
            true => rotation.extend(there().map(|(n, _)| n)),
        }
        self.rotation = rotation;
        &self.rotation
    }
}

impl ServiceState {
    /// Does something with the replicas that requests are given to, in ascending order; `None`: these are all.
    pub(in crate::world) fn with_rotation<T>(
        &mut self,
        what: impl FnOnce(&mut Self, Option<&[u32]>) -> T,
    ) -> T {
        let rotation = self
            .behaviour
            .as_mut()
            .map(|b| std::mem::take(&mut b.rotation));
        let done = what(self, rotation.as_deref());
        if let (Some(behaviour), Some(rotation)) = (&mut self.behaviour, rotation) {
            behaviour.rotation = rotation;
        }
        done
    }

    /// Finds a replica for a job, or says how it is refused.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn find_replica(
        &mut self,
        now: Time,
        job: &mut Job,
    ) -> Result<(), Admission> {
        let Some(behaviour) = &mut self.behaviour else {
            return Ok(());
        };
        if let Some(failure) = behaviour.over_the_limit(now, job) {
            return Err(Admission::Refused(JobEnd::RateLimited, failure));
        }
        if behaviour.keeps {
            return Err(Admission::Kept);
        }
        let picked = match job.replica {
            NOWHERE => self.with_rotation(|state, rotation| match rotation? {
                [] => None,
                [one] => Some(*one),
                all => Some(state.pick_among(all.len() as u32, all)),
            }),
            // Its caller has chosen already.
            chosen => Some(chosen),
        };
        let behaviour = self.behaviour.as_mut().expect("as above");
        let picked = picked.filter(|&n| behaviour.replicas[n as usize].up);
        let Some(replica) = picked else {
            let refused = FailureKind::ConnectRefused.into();
            return Err(Admission::Refused(JobEnd::Unreachable, refused));
        };
        job.replica = replica;
        let trouble = &behaviour.replicas[replica as usize].errors;
        let luck = &mut behaviour.luck;
        match trouble.iter().find(|(share, _)| luck.bernoulli(*share)) {
            Some((_, failure)) => Err(Admission::Refused(JobEnd::Faulted, *failure)),
            None => Ok(()),
        }
    }

    /// Whether a replica lives.
    pub(in crate::world) fn is_up(&self, replica: u32) -> bool {
        let behaviour = self.behaviour.as_ref();
        behaviour.is_none_or(|behaviour| behaviour.replicas[replica as usize].up)
    }

    /// Whether nobody is where a replica was when its address was asked for; `None`: nobody keeps that, and it is
    /// asked for now.
    pub(in crate::world) fn is_elsewhere(&self, replica: u32, asked: Option<Time>) -> bool {
        let Some(behaviour) = self.behaviour.as_ref().filter(|b| b.restart.new_address) else {
            return false;
        };
        let it = &behaviour.replicas[replica as usize];
        !it.up || asked.is_some_and(|asked| it.since > asked)
    }

    /// Who gets requests has changed: so has the number of workers there are.
    pub(super) fn rotate(&mut self, now: Time) {
        let Some(behaviour) = &mut self.behaviour else {
            return;
        };
        let standing = behaviour.in_rotation().len() as u64;
        if let Some(scaler) = &mut behaviour.scaler {
            let there = behaviour.replicas.iter().filter(|it| it.there);
            let up = there.clone().filter(|it| it.up).count();
            scaler.see(now, there.count() as u64, up as u64);
        }
        self.standing.set(now, standing);
        self.recount(now);
    }

    /// Sets how many workers there are from the replicas that are there and live.
    pub(in crate::world) fn recount(&mut self, now: Time) {
        let Some(behaviour) = &self.behaviour else {
            return;
        };
        if self.unlimited {
            return;
        }
        let states = behaviour.replicas.iter().zip(&self.replicas);
        let living = states.filter(|(state, _)| state.there && state.up);
        let workers = living.map(|(_, replica)| u64::from(replica.workers)).sum();
        self.workers.set(now, workers);
    }
}

impl World {
    /// Who gets requests of a service has changed.
    pub(super) fn rotate(&mut self, service: u32) {
        self.services[service as usize].rotate(self.now);
        self.call_consumers(service);
    }
}
