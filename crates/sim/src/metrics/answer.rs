//! What is counted about answers and where they come from.

use super::counted::{Counted, counters};

counters! {
    /// Counted for the calls of one edge that have a fallback.
    AnswerCount {
        /// Calls begun.
        begun: u64,
        /// Answered by the service itself.
        live: u64,
        /// Answered with the last good answer.
        snapshot: u64,
        /// Answered with what everybody gets.
        generic: u64,
        /// Gone on without.
        omitted: u64,
        /// Answered by the call made instead.
        direct: u64,
        /// Failed, and found to have been done.
        found: u64,
        /// Failed, and found not to have been done.
        absent: u64,
        /// Rejected since the snapshot was too old.
        too_old: u64,
        /// Rejected since the snapshot was from the future.
        future: u64,
        /// Rejected since there was no snapshot.
        missing: u64,
        /// Rejected since no permit was left.
        capacity: u64,
        /// Rejected by rule.
        rejected: u64,
        /// Failed in a way that no fallback stands in for, or so did the call made instead.
        failed: u64,
        /// Sum over snapshots served of their age, in ns.
        age_ns: u128,
    }
}

/// Where what a program got came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The service itself.
    Live,
    /// The last good answer.
    Snapshot,
    /// What everybody gets.
    Generic,
    /// Nowhere: left out.
    Omitted,
    /// The call made instead.
    Direct,
    /// The call that asked: it was done.
    Found,
    /// The call that asked: it was not done.
    Absent,
    /// Rejected: too old.
    TooOld,
    /// Rejected: from the future.
    Future,
    /// Rejected: no snapshot.
    Missing,
    /// Rejected: no permit.
    Capacity,
    /// Rejected by rule.
    Rejected,
    /// Failed.
    Failed,
}

impl Source {
    /// All, in the order of reports.
    pub const ALL: [Source; 13] = [
        Source::Live,
        Source::Snapshot,
        Source::Generic,
        Source::Omitted,
        Source::Direct,
        Source::Found,
        Source::Absent,
        Source::TooOld,
        Source::Future,
        Source::Missing,
        Source::Capacity,
        Source::Rejected,
        Source::Failed,
    ];

    /// The word in promises, columns and ledgers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Source::Live => "live",
            Source::Snapshot => "snapshot",
            Source::Generic => "generic",
            Source::Omitted => "omitted",
            Source::Direct => "direct",
            Source::Found => "found",
            Source::Absent => "absent",
            Source::TooOld => "too_old",
            Source::Future => "future",
            Source::Missing => "missing",
            Source::Capacity => "capacity",
            Source::Rejected => "rejected",
            Source::Failed => "failed",
        }
    }

    /// Whether the program goes on with it.
    #[must_use]
    pub const fn serves(self) -> bool {
        matches!(
            self,
            Source::Live
                | Source::Snapshot
                | Source::Generic
                | Source::Omitted
                | Source::Direct
                | Source::Found
        )
    }
}

impl AnswerCount {
    /// How many came from `source`.
    #[must_use]
    pub const fn of(&self, source: Source) -> u64 {
        match source {
            Source::Live => self.live,
            Source::Snapshot => self.snapshot,
            Source::Generic => self.generic,
            Source::Omitted => self.omitted,
            Source::Direct => self.direct,
            Source::Found => self.found,
            Source::Absent => self.absent,
            Source::TooOld => self.too_old,
            Source::Future => self.future,
            Source::Missing => self.missing,
            Source::Capacity => self.capacity,
            Source::Rejected => self.rejected,
            Source::Failed => self.failed,
        }
    }

    /// One more from `source`.
    pub(crate) fn tick(&mut self, source: Source) {
        *match source {
            Source::Live => &mut self.live,
            Source::Snapshot => &mut self.snapshot,
            Source::Generic => &mut self.generic,
            Source::Omitted => &mut self.omitted,
            Source::Direct => &mut self.direct,
            Source::Found => &mut self.found,
            Source::Absent => &mut self.absent,
            Source::TooOld => &mut self.too_old,
            Source::Future => &mut self.future,
            Source::Missing => &mut self.missing,
            Source::Capacity => &mut self.capacity,
            Source::Rejected => &mut self.rejected,
            Source::Failed => &mut self.failed,
        } += 1;
    }

    /// Calls whose program went on, by whatever means.
    #[must_use]
    pub fn answered(&self) -> u64 {
        let serves = Source::ALL.iter().filter(|source| source.serves());
        serves.map(|&source| self.of(source)).sum()
    }

    /// Calls that ended.
    #[must_use]
    pub fn ended(&self) -> u64 {
        Source::ALL.iter().map(|&source| self.of(source)).sum()
    }
}
