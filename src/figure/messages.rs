//! What is reported about messages. Only worlds in which a service keeps them have these subjects.

use sim::metrics::MessageCount;

use super::column::{Column, Unit};

/// A column's name, what it means, and how it is read off.
type Count = (&'static str, &'static str, fn(&MessageCount) -> u64);

const COUNTS: [Count; 11] = [
    (
        "messages_sent",
        "Messages that a queue kept.",
        |c: &MessageCount| c.sent,
    ),
    (
        "messages_completed",
        "Messages that a consumer dealt with and deleted.",
        |c| c.completed,
    ),
    (
        "dead_letters",
        "Messages given up after as many deliveries as there may be.",
        |c| c.dead,
    ),
    (
        "messages_expired",
        "Messages dropped because of their age.",
        |c| c.expired,
    ),
    ("deliveries", "Times a consumer fetched a message.", |c| {
        c.received
    }),
    (
        "redeliveries",
        "Of those, the ones of messages that had been fetched before.",
        |c| c.redelivered,
    ),
    (
        "duplicate_executions",
        "Of those, the ones that began while another consumer was at the same message, or had ended it without its being \
         deleted.",
        |c| c.duplicated,
    ),
    (
        "deliveries_late",
        "Deliveries that ended well and deleted nothing: their receipt was worth nothing any more.",
        |c| c.late,
    ),
    (
        "deliveries_failed",
        "Deliveries whose program failed.",
        |c| c.failed,
    ),
    (
        "deliveries_lost",
        "Deliveries that ended with their replica.",
        |c| c.lost,
    ),
    (
        "deliveries_stopped",
        "Deliveries that were stopped, since their receipt was worth nothing any more.",
        |c| c.stopped,
    ),
];

/// What is reported about the messages of one service, over any time.
#[must_use]
pub fn messages() -> Vec<Column<MessageCount>> {
    let counts = COUNTS.into_iter();
    let mut columns: Vec<Column<MessageCount>> = counts
        .map(|(name, meaning, get)| Column::count(name, meaning, get))
        .collect();
    columns.extend([
        Column::new(
            "deliveries_per_message",
            Unit::Factor,
            "Deliveries ÷ messages kept.",
            MessageCount::deliveries_per_message,
        ),
        Column::new(
            "messages_hidden_mean",
            Unit::Mean,
            "Messages that a consumer had, or that were to come back later, mean over time.",
            MessageCount::hidden_mean,
        ),
    ]);
    columns
}
