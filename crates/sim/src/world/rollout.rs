//! Changes of policy: processes that go on under another one, all at once or one after another.
//!
//! Calls that are under way stay with the engine they began with; it is kept beside the new one. Nothing on the way
//! of a call has to know.

use super::World;
use crate::event::{Occasion, Rare};
use crate::queue::Rank;
use crate::scenario::model::{Fault, FaultKind, Scenario};
use seawall::{Span, Time};

/// What has changed on an edge whose policy was ever changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Rollout {
    /// The policy in effect, by process.
    policies: Vec<u32>,
    /// Engines that only calls begun earlier still belong to.
    pub(super) earlier: Vec<Earlier>,
}

/// An engine that was replaced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Earlier {
    pub(super) engine: u32,
    pub(super) process: u32,
    pub(super) policy: u32,
}

/// No rollout takes more steps: with more processes several change at once.
const STEPS_MAX: u128 = 1000;

/// A part of a whole, rounded up. Less than a billionth too much is none: 7 % of 100 are 7, though the product is a little more.
pub(super) fn rounded_up(part: f64) -> u32 {
    (part - 1e-9).ceil() as u32
}

/// So many of `processes` have changed by `now` under a change that began at `fault.at`.
fn changed(fault: &Fault, share: f64, over: Span, processes: u32, now: Time) -> u32 {
    let most = rounded_up(f64::from(processes) * share);
    if over == Span::ZERO {
        return most;
    }
    let passed = u128::from(now.since(fault.at).0);
    // The first one changes at once.
    let steps = passed * u128::from(most) / u128::from(over.0) + 1;
    steps.min(u128::from(most)) as u32
}

/// How many processes change from `policy` on the edge that has most of them.
fn most_to_change(scenario: &Scenario, policy: u32, share: f64) -> u128 {
    let edges = scenario.edges.iter().filter(|edge| edge.policy == policy);
    let processes = edges.map(|edge| scenario.processes(edge.caller));
    let most = processes.map(|n| u128::from(rounded_up(f64::from(n) * share)));
    most.max().unwrap_or(1).max(1)
}

impl World {
    /// Brings every process of the edges that began under `policy` to the one that all active changes come to.
    pub(super) fn set_policies(&mut self, policy: u32) {
        // Engines that have changed, and where the calls they had go on; in ascending order.
        let mut kept = Vec::new();
        for edge in 0..self.edges.len() {
            if self.scenario.edges[edge].policy != policy {
                continue;
            }
            for process in 0..self.edges[edge].processes() {
                let wanted = self.policy_wanted(policy, self.edges[edge].processes(), process);
                if wanted != self.policy_of(edge, process) {
                    kept.push(self.change_policy(edge, process, wanted));
                }
            }
        }
        if kept.is_empty() {
            return;
        }
        for call in self.tasks.iter_mut().filter_map(|task| task.call.as_mut()) {
            if let Ok(at) = kept.binary_search_by_key(&call.engine, |(engine, _)| *engine) {
                call.engine = kept[at].1;
            }
        }
    }

    /// The policy in effect for calls that a process begins now.
    pub(super) fn policy_of(&self, edge: usize, process: u32) -> u32 {
        match &self.edges[edge].rollout {
            Some(rollout) => rollout.policies[process as usize],
            None => self.scenario.edges[edge].policy,
        }
    }

    /// What all active changes come to for a process: the last one that has reached it counts.
    fn policy_wanted(&self, original: u32, processes: u32, process: u32) -> u32 {
        let faults = self.scenario.faults.iter().zip(&self.active);
        let mut reached = faults.filter_map(|(fault, active)| match fault.kind {
            FaultKind::ChangePolicy {
                policy,
                to,
                share,
                over,
            } if *active && policy == original => {
                (process < changed(fault, share, over, processes, self.now)).then_some(to)
            }
            _ => None,
        });
        reached.next_back().unwrap_or(original)
    }

    /// A process begins its calls under another policy from now on, which knows nothing yet. Gives the place of its engine, and
    /// that where the one before is kept for the calls under way.
    fn change_policy(&mut self, edge: usize, process: u32, policy: u32) -> (u32, u32) {
        let fresh = self.scenario.policies[policy as usize].policy.clone();
        let mut fresh = seawall::Client::new(fresh, self.now);
        fresh.set_kill_switch(self.switched_off(policy));
        let original = self.scenario.edges[edge].policy;
        let state = &mut self.edges[edge];
        let index = state.first_engine + process;
        let kept = self.engines.len() as u32;
        let before = std::mem::replace(&mut self.engines[index as usize], fresh);
        self.engines.push(before);
        let processes = state.processes() as usize;
        let rollout = state.rollout.get_or_insert_with(|| {
            Box::new(Rollout {
                policies: vec![original; processes],
                earlier: Vec::new(),
            })
        });
        let before = std::mem::replace(&mut rollout.policies[process as usize], policy);
        rollout.earlier.push(Earlier {
            engine: kept,
            process,
            policy: before,
        });
        (index, kept)
    }

    /// A change that takes its time has come a step further.
    pub(super) fn roll_out(&mut self, fault: u32) {
        if self.active[fault as usize] {
            if let FaultKind::ChangePolicy { policy, .. } =
                self.scenario.faults[fault as usize].kind
            {
                self.set_policies(policy);
            }
            self.deploy(fault);
            self.plan_rollout(fault);
        }
    }

    /// Plans the next step of a change that takes its time, if there is one.
    pub(super) fn plan_rollout(&mut self, fault: u32) {
        let it = &self.scenario.faults[fault as usize];
        let begun = it.at;
        let FaultKind::ChangePolicy {
            policy,
            share,
            over,
            ..
        } = it.kind
        else {
            return;
        };
        if over == Span::ZERO {
            return;
        }
        let most = most_to_change(&self.scenario, policy, share);
        let steps = most.min(STEPS_MAX);
        let (passed, over) = (u128::from(self.now.since(begun).0), u128::from(over.0));
        let done = passed * steps / over + 1;
        // With one process a step the last one has changed a step before the end; with more of them some are left for the end.
        let last = if most > steps { steps + 1 } else { steps };
        if done < last {
            let next = begun.after(Span((over * done).div_ceil(steps) as u64));
            let event = Rare::event(Occasion::RollsOut, fault);
            self.queue.push(next, Rank::First, event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::rounded_up;

    #[test]
    fn a_part_is_rounded_up_but_for_what_the_product_adds() {
        for (whole, share, part) in [
            (100.0, 0.07, 7),
            (100.0, 0.55, 55),
            (50.0, 0.14, 7),
            (10.0, 0.01, 1),
            (3.0, 0.34, 2),
            (3.0, 1.0, 3),
        ] {
            assert_eq!(rounded_up(whole * share), part, "{share} of {whole}");
        }
    }
}
