//! When the world of a scenario is disturbed.

use seawall::Time;

use crate::scenario::model::{Fault, FaultKind, Scenario};

/// When the world is disturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// When it begins.
    pub begin: Time,
    /// When it is over; `None`: never.
    pub end: Option<Time>,
}

/// Whether a fault is clearly no remedy.
fn disturbs(fault: &Fault) -> bool {
    use FaultKind::{ChangePolicy, KillSwitch};
    !matches!(fault.kind, KillSwitch { .. } | ChangePolicy { .. })
}

impl Trigger {
    /// When `scenario` disturbs its world, from the begin of the first disturbance to the end of the last;
    /// `None`: not at all.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Option<Trigger> {
        Trigger::parts(scenario)
            .into_iter()
            .reduce(|known, next| Trigger {
                begin: known.begin.min(next.begin),
                end: known.end.zip(next.end).map(|(a, b)| a.max(b)),
            })
    }

    /// Each disturbance by itself: what `run.trigger` says or, without it, every fault that is no remedy.
    #[must_use]
    pub fn parts(scenario: &Scenario) -> Vec<Trigger> {
        if let Some((begin, end)) = scenario.run.trigger {
            return vec![Trigger {
                begin,
                end: Some(end),
            }];
        }
        let is_remedy = |kind: &FaultKind| match kind {
            FaultKind::KillSwitch { .. } => true,
            // By itself it is what happens; beside something else, what is done about it.
            FaultKind::ChangePolicy { .. } => scenario.faults.iter().any(disturbs),
            _ => false,
        };
        let faults = scenario.faults.iter();
        faults
            .filter(|fault| !is_remedy(&fault.kind))
            .map(|fault| Trigger {
                begin: fault.at,
                end: fault.until,
            })
            .collect()
    }
}
