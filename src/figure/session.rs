//! What is reported about sessions. Only worlds in which clients hold them have these subjects.

use sim::metrics::SessionCount;

use super::column::{Column, Unit};

/// What is reported about the sessions with one service, over any time.
#[must_use]
pub fn sessions() -> Vec<Column<SessionCount>> {
    vec![
        Column::count("sessions_begun", "Sessions begun.", |c: &SessionCount| {
            c.begun
        }),
        Column::count(
            "sessions_ended",
            "Sessions that lasted as long as they were to.",
            |c: &SessionCount| c.ended,
        ),
        Column::count(
            "sessions_broken",
            "Sessions that broke: with their replica, or since it gave no sign of life.",
            |c: &SessionCount| c.broken,
        ),
        Column::new(
            "sessions_open_mean",
            Unit::Mean,
            "Sessions open, mean over time.",
            SessionCount::open_mean,
        ),
    ]
}
