//! What a client did, counted once each, so that production and simulation report alike.

use crate::action::Stopped;
use crate::failure::FailureKind;

/// Counters of one client. They only grow.
///
/// `calls = ok + sum(stopped) + in flight`, and `attempts = retries + calls that sent one`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Calls begun.
    pub calls: u64,
    /// Calls that ended well.
    pub ok: u64,
    /// Attempts sent, first ones included.
    pub attempts: u64,
    /// Attempts sent that were not the first of their call.
    pub retries: u64,
    /// Of those, attempts of hedged calls: sent while it was not yet known how others end.
    pub hedges: u64,
    /// Calls given up, by reason (index: [`Stopped::index`]).
    pub stopped: [u64; Stopped::COUNT],
    /// Attempts that failed, by kind (index: `FailureKind as usize`); a timed-out one is `Timeout`.
    pub attempt_failed: [u64; FailureKind::ALL.len()],
    /// Replies nobody waited for any more: late, doubled or unknown.
    pub ignored_replies: u64,
    /// Times a call waited in line for a bulkhead permit.
    pub waited: u64,
    /// Tries refused on this side that were tried again ([`crate::Retry::refusals`]).
    pub refusals_retried: u64,
    /// Calls and attempts whose key had no entry of its own under the policy's [`crate::Scopes`], once for each part.
    pub beyond_cap: u64,
}

impl Stats {
    /// Calls given up, for any reason.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.stopped.iter().sum()
    }

    /// Calls begun that have not ended.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.calls
            .saturating_sub(self.ok)
            .saturating_sub(self.failed())
    }
}
