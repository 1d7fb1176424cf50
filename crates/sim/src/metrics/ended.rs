//! Why a run ended.

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All of its time passed.
    Completed,
    /// `run.limits.events` was reached.
    EventLimit,
    /// `run.limits.calls` was reached.
    CallLimit,
    /// `run.limits.queue` was reached.
    QueueLimit,
    /// `run.limits.memory` was reached.
    MemoryLimit,
    /// `run.limits.standstill` was reached.
    StandstillLimit,
    /// Whoever drove the world let it go on no longer.
    Interrupted,
}

impl Ended {
    /// Every reason.
    pub const ALL: [Ended; 7] = [
        Ended::Completed,
        Ended::EventLimit,
        Ended::CallLimit,
        Ended::QueueLimit,
        Ended::MemoryLimit,
        Ended::StandstillLimit,
        Ended::Interrupted,
    ];

    /// The word for it in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Ended::Completed => "completed",
            Ended::EventLimit => "event_limit",
            Ended::CallLimit => "call_limit",
            Ended::QueueLimit => "queue_limit",
            Ended::MemoryLimit => "memory_limit",
            Ended::StandstillLimit => "standstill_limit",
            Ended::Interrupted => "interrupted",
        }
    }
}
