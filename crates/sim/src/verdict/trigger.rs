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
        let no_kill_switch = |fault: &&Fault| !matches!(fault.kind, FaultKind::KillSwitch { .. });
        let is_measure = |fault: &&Fault| {
            matches!(
                fault.kind,
                FaultKind::ChangePolicy { .. } | FaultKind::Throttle { .. }
            )
        };
        // A measure by itself is what happens; beside something else it is what is done about it.
        let faults = scenario.faults.iter().filter(no_kill_switch);
        let (measures, others): (Vec<_>, Vec<_>) = faults.partition(is_measure);
        let disturbances = if others.is_empty() { measures } else { others };
        let trigger = |fault: &Fault| Trigger {
            begin: fault.at,
            end: fault.until,
        };
        disturbances.into_iter().map(trigger).collect()
    }
}
