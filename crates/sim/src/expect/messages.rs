//! Promises about messages.

use super::Metric;
use crate::metrics::Counts;
use crate::scenario::messages::queues;
use crate::scenario::model::Scenario;

impl Metric {
    /// Whether it is of messages.
    pub(super) const fn of_messages(self) -> bool {
        matches!(
            self,
            Metric::MessagesSent
                | Metric::Deliveries
                | Metric::DeliveriesPerMessage
                | Metric::Redeliveries
                | Metric::DuplicateExecutions
                | Metric::MessagesCompleted
                | Metric::DeliveriesLate
                | Metric::DeadLetters
                | Metric::MessagesExpired
                | Metric::MessagesHidden
        )
    }
}

/// What was measured of the messages of a service. `None`: nothing to measure.
pub(super) fn measured(
    metric: Metric,
    scenario: &Scenario,
    counts: &Counts,
    timed: &Counts,
    service: u32,
) -> Option<f64> {
    let place = queues(&scenario.services).position(|queue| queue == service)?;
    let count = &counts.messages[place];
    let whole = match metric {
        Metric::MessagesSent => count.sent,
        Metric::Deliveries => count.received,
        Metric::Redeliveries => count.redelivered,
        Metric::DuplicateExecutions => count.duplicated,
        Metric::MessagesCompleted => count.completed,
        Metric::DeliveriesLate => count.late,
        Metric::DeadLetters => count.dead,
        Metric::MessagesExpired => count.expired,
        Metric::DeliveriesPerMessage => return count.deliveries_per_message(),
        _ => return timed.messages[place].hidden_mean(),
    };
    Some(whole as f64)
}
