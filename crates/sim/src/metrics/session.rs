//! What is counted about sessions.

use super::counted::{Counted, counters};

counters! {
    /// Counted for the sessions with one service.
    SessionCount {
        /// Sessions begun.
        begun: u64,
        /// Sessions that lasted as long as they were to.
        ended: u64,
        /// Sessions that broke.
        broken: u64,
        /// Time integral of the number of sessions open, in session-ns.
        open_ns: u128,
        /// The time itself, in ns.
        time_ns: u128,
    }
}

impl SessionCount {
    /// Sessions open, mean over time; `None` when there was no time.
    #[must_use]
    pub fn open_mean(&self) -> Option<f64> {
        (self.time_ns > 0).then(|| self.open_ns as f64 / self.time_ns as f64)
    }
}
