//! Deployments: replicas that are started anew, one batch after the other.

use crate::event::{Occasion, Rare};
use crate::queue::Rank;
use crate::scenario::model::{FaultKind, Trouble};
use crate::world::World;

impl World {
    /// What a deployment does in this instant, if the fault is one, and when it goes on.
    #[cold]
    pub(in crate::world) fn deploy(&mut self, fault: u32) {
        let it = &self.scenario.faults[fault as usize];
        let FaultKind::Replicas {
            service,
            trouble: Trouble::Deploy(deployment),
            ..
        } = it.kind
        else {
            return;
        };
        let (begun, now) = (it.at, self.now);
        let all = self.scenario.services[service as usize].replicas;
        let mut next = None;
        for (begins, batch) in deployment.batches(all) {
            let leaves = begun.after(begins);
            let dies = leaves.after(deployment.drain);
            if leaves == now && dies > now {
                self.take_out(service, batch.clone(), true);
            }
            if dies == now {
                self.take_out(service, batch.clone(), false);
                batch.for_each(|replica| self.crash(service, replica, now));
            }
            let times = [leaves, dies].into_iter().filter(|time| *time > now);
            next = next.into_iter().chain(times).min();
        }
        if let Some(next) = next {
            let event = Rare::event(Occasion::RollsOut, fault);
            self.queue.push(next, Rank::First, event);
        }
    }

    /// Requests are not given to these replicas any more, or are again.
    fn take_out(&mut self, service: u32, replicas: std::ops::Range<u32>, out: bool) {
        if let Some(behaviour) = &mut self.services[service as usize].behaviour {
            for replica in replicas {
                behaviour.replicas[replica as usize].leaving = out;
            }
        }
        self.rotate(service);
    }
}
