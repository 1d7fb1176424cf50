//! What is counted about messages.

use super::counted::{Counted, counters};

counters! {
    /// Counted for one message queue, all its consumers together.
    MessageCount {
        /// Messages kept.
        sent: u64,
        /// Deliveries: times a consumer fetched one.
        received: u64,
        /// Of those, the ones of messages that had been fetched before.
        redelivered: u64,
        /// Of those, the ones that began while another consumer was at the same message, or had ended it without its being
        /// deleted.
        duplicated: u64,
        /// Deliveries whose end deleted the message.
        completed: u64,
        /// Deliveries that ended well and deleted nothing.
        late: u64,
        /// Deliveries whose program failed.
        failed: u64,
        /// Deliveries that ended with their replica.
        lost: u64,
        /// Deliveries that were stopped, since their receipt was worth nothing any more.
        stopped: u64,
        /// Messages that went to the dead letters.
        dead: u64,
        /// Messages that were dropped because of their age.
        expired: u64,
        /// Time integral of the number of messages hidden, in message-ns.
        hidden_ns: u128,
        /// The time itself, in ns.
        time_ns: u128,
    }
}

impl MessageCount {
    /// Deliveries that are over, one way or another.
    #[must_use]
    pub fn over(&self) -> u64 {
        self.completed + self.late + self.failed + self.lost + self.stopped
    }

    /// Deliveries ÷ messages kept; `None` where none was.
    #[must_use]
    pub fn deliveries_per_message(&self) -> Option<f64> {
        (self.sent > 0).then(|| self.received as f64 / self.sent as f64)
    }

    /// Messages hidden, mean over time; `None` when there was no time.
    #[must_use]
    pub fn hidden_mean(&self) -> Option<f64> {
        (self.time_ns > 0).then(|| self.hidden_ns as f64 / self.time_ns as f64)
    }

    /// Messages that are gone, one way or another.
    #[must_use]
    pub fn gone(&self) -> u64 {
        self.completed + self.dead + self.expired
    }
}
