//! Faults: what is true while they last.
//!
//! A fault is not an action with an undo. Whenever one begins or ends, the state of everything it can
//! touch is set anew from all faults that are active then, so overlapping ones combine.

use super::World;
use super::service::Errors;
use crate::metrics::JobEnd;
use crate::scenario::model::{FaultKind, RateRule};

impl World {
    pub(super) fn fault_begins(&mut self, fault: u32) {
        self.active[fault as usize] = true;
        self.apply(fault);
        self.trouble(fault, true);
        self.plan_rollout(fault);
        if let FaultKind::Revoke { credential } = self.scenario.faults[fault as usize].kind {
            self.revoke(credential);
        }
        if let FaultKind::EmptyCache {
            service,
            share,
            replicas,
        } = self.scenario.faults[fault as usize].kind
        {
            self.empty_caches(service, share, replicas);
        }
        if let FaultKind::Outage { service } = self.scenario.faults[fault as usize].kind {
            for (job, answered) in self.jobs_in_turn(service, None) {
                // One that was answered already ended then, as far as counting goes.
                if !answered {
                    self.ended(job, JobEnd::Lost);
                }
                self.remove_job(job);
            }
        }
    }

    pub(super) fn fault_ends(&mut self, fault: u32) {
        self.active[fault as usize] = false;
        self.apply(fault);
        self.trouble(fault, false);
    }

    /// Sets what `fault` touches from all active faults.
    fn apply(&mut self, fault: u32) {
        let scenario = std::sync::Arc::clone(&self.scenario);
        let active = || {
            let pairs = scenario.faults.iter().zip(&self.active);
            pairs.filter(|(_, active)| **active).map(|(f, _)| &f.kind)
        };
        match scenario.faults[fault as usize].kind {
            FaultKind::Slow {
                service: target, ..
            } => {
                let factors = active().filter_map(|kind| match kind {
                    FaultKind::Slow { service, factor } if *service == target => Some(*factor),
                    _ => None,
                });
                self.services[target as usize].slow = factors.product();
            }
            FaultKind::Errors {
                service: target, ..
            } => {
                let errors = active().filter_map(|kind| match kind {
                    FaultKind::Errors {
                        service,
                        share,
                        failure,
                        after_program,
                    } if *service == target => Some(Errors {
                        share: *share,
                        failure: *failure,
                        after_program: *after_program,
                    }),
                    _ => None,
                });
                self.services[target as usize].errors = errors.collect();
            }
            FaultKind::LoseCapacity {
                service: target, ..
            } => {
                let left: f64 = active()
                    .filter_map(|kind| match kind {
                        FaultKind::LoseCapacity { service, share } if *service == target => {
                            Some(1.0 - share)
                        }
                        _ => None,
                    })
                    .product();
                if let Some(all) = scenario.services[target as usize].concurrency {
                    self.set_workers(target, (f64::from(all) * left + 0.5) as u32);
                }
            }
            FaultKind::Outage { service: target } => {
                self.services[target as usize].out = active()
                    .any(|k| matches!(k, FaultKind::Outage { service } if *service == target));
                self.call_consumers(target);
                self.listen_to_all(target);
            }
            FaultKind::Refuse { service: target } => {
                self.services[target as usize].refusing = active()
                    .any(|k| matches!(k, FaultKind::Refuse { service } if *service == target));
            }
            FaultKind::Certificate { service: target } => {
                let bad = active()
                    .any(|k| matches!(k, FaultKind::Certificate { service } if *service == target));
                if let Some(passages) = self.passages.as_deref_mut() {
                    passages.set_certificate(target, bad);
                }
            }
            // What was issued stays revoked, what is lost stays lost.
            FaultKind::Revoke { .. } | FaultKind::EmptyCache { .. } => {}
            FaultKind::Load { client: target, .. } => {
                let factor = active()
                    .filter_map(|kind| match kind {
                        FaultKind::Load { client, factor } if *client == target => Some(*factor),
                        _ => None,
                    })
                    .product();
                self.set_load_factor(target, factor);
            }
            FaultKind::Replicas { service, .. } => self.set_bad_replicas(service),
            FaultKind::Throttle {
                service: target, ..
            } => {
                let faults = (0u32..).zip(scenario.faults.iter().zip(&self.active));
                let throttles = faults.filter_map(|(index, (fault, active))| match &fault.kind {
                    FaultKind::Throttle { service, rule } if *active && *service == target => {
                        Some((index, *rule))
                    }
                    _ => None,
                });
                let throttles: Vec<(u32, RateRule)> = throttles.collect();
                self.set_throttles(target, &throttles);
            }
            FaultKind::KillSwitch { policy: target } => {
                self.set_kill_switch(target, self.switched_off(target));
            }
            FaultKind::ChangePolicy { policy, .. } => self.set_policies(policy),
            FaultKind::ChangeLink { link: target, .. } => {
                let last = active().rev().find_map(|kind| match kind {
                    FaultKind::ChangeLink { link, to } if *link == target => Some(*to),
                    _ => None,
                });
                self.set_link(target, last.unwrap_or(target));
            }
        }
    }
}
