//! Promises about sessions.

use super::Metric;
use crate::metrics::Counts;
use crate::scenario::model::Scenario;

impl Metric {
    /// Whether it is of sessions.
    pub(super) const fn of_sessions(self) -> bool {
        matches!(
            self,
            Metric::SessionsBegun | Metric::SessionsBroken | Metric::SessionsOpen
        )
    }
}

/// What was measured of the sessions with a service. `None`: nothing to measure.
pub(super) fn measured(
    metric: Metric,
    scenario: &Scenario,
    counts: &Counts,
    timed: &Counts,
    service: u32,
) -> Option<f64> {
    let used = scenario.sessions.as_deref()?;
    let place = used.services.iter().position(|known| *known == service)?;
    match metric {
        Metric::SessionsBegun => Some(counts.sessions[place].begun as f64),
        Metric::SessionsBroken => Some(counts.sessions[place].broken as f64),
        _ => timed.sessions[place].open_mean(),
    }
}
