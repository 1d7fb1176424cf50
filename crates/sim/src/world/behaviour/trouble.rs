//! Faults that hit single replicas.

use seawall::Time;

use crate::scenario::model::{FaultKind, Trouble};
use crate::world::World;

impl World {
    /// A fault begins or ends: what it does to its replicas at that instant.
    pub(in crate::world) fn trouble(&mut self, fault: u32, begins: bool) {
        if begins {
            self.deploy(fault);
        }
        let fault = &self.scenario.faults[fault as usize];
        let FaultKind::Replicas {
            service,
            replicas,
            trouble,
        } = fault.kind
        else {
            return;
        };
        let until = fault.until.unwrap_or(Time::MAX);
        let all = self.services[service as usize].replicas.len() as u32;
        for replica in 0..replicas.min(all) {
            match trouble {
                Trouble::Crash if begins => self.crash(service, replica, until),
                Trouble::Pause => self.pause(service, replica, begins),
                Trouble::Crash | Trouble::Bad { .. } | Trouble::Deploy(_) => {}
            }
        }
    }

    /// Sets how badly the replicas of a service work from all faults that are active.
    pub(in crate::world) fn set_bad_replicas(&mut self, target: u32) {
        let Some(behaviour) = &mut self.services[target as usize].behaviour else {
            return;
        };
        for (n, it) in (0u32..).zip(&mut behaviour.replicas) {
            it.errors.clear();
            it.slow = 1.0;
            let faults = self.scenario.faults.iter().zip(&self.active);
            for fault in faults
                .filter(|(_, active)| **active)
                .map(|(fault, _)| fault)
            {
                let FaultKind::Replicas {
                    service,
                    replicas,
                    trouble,
                } = fault.kind
                else {
                    continue;
                };
                if let (
                    true,
                    Trouble::Bad {
                        share,
                        failure,
                        slow,
                    },
                ) = (service == target && n < replicas, trouble)
                {
                    it.errors.push((share, failure));
                    it.slow *= slow;
                }
            }
        }
    }
}
