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
    /// Engines that only calls begun earlier still belong to, and their processes.
    pub(super) earlier: Vec<(u32, u32)>,
}

/// No rollout takes more steps: with more processes several change at once.
const STEPS_MAX: u128 = 1000;

/// So many of `processes` have changed by `now` under a change that began at `fault.at`.
fn changed(fault: &Fault, share: f64, over: Span, processes: u32, now: Time) -> u32 {
    let most = (f64::from(processes) * share).ceil() as u32;
    if over == Span::ZERO {
        return most;
    }
    let passed = u128::from(now.since(fault.at).0);
    // The first one changes at once, the last one a step before the end.
    let steps = passed * u128::from(most) / u128::from(over.0) + 1;
    steps.min(u128::from(most)) as u32
}

/// How many steps the change of `policy` takes on the edge with most processes.
fn steps(scenario: &Scenario, policy: u32, share: f64) -> u128 {
    let edges = scenario.edges.iter().filter(|edge| edge.policy == policy);
    let processes = edges.map(|edge| scenario.processes(edge.caller));
    let most = processes.map(|n| (f64::from(n) * share).ceil() as u128);
    most.max().unwrap_or(1).clamp(1, STEPS_MAX)
}

impl World {
    /// Brings every process of the edges that began under `policy` to the one that all active changes come to.
    pub(super) fn set_policies(&mut self, policy: u32) {
        for edge in 0..self.edges.len() {
            if self.scenario.edges[edge].policy != policy {
                continue;
            }
            for process in 0..self.edges[edge].processes() {
                let wanted = self.policy_wanted(policy, self.edges[edge].processes(), process);
                if wanted != self.policy_of(edge, process) {
                    self.change_policy(edge, process, wanted);
                }
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

    /// A process begins its calls under another policy from now on, which knows nothing yet.
    fn change_policy(&mut self, edge: usize, process: u32, policy: u32) {
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
        rollout.policies[process as usize] = policy;
        rollout.earlier.push((kept, process));
        for task in self.tasks.iter_mut() {
            if let Some(call) = task.call.as_mut().filter(|call| call.engine == index) {
                call.engine = kept;
            }
        }
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
        let steps = steps(&self.scenario, policy, share);
        let (passed, over) = (u128::from(self.now.since(begun).0), u128::from(over.0));
        let done = passed * steps / over + 1;
        if done < steps {
            let next = begun.after(Span((over * done).div_ceil(steps) as u64));
            let event = Rare::event(Occasion::RollsOut, fault);
            self.queue.push(next, Rank::First, event);
        }
    }
}
