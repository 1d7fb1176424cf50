//! How long a world runs, how finely it is measured, and what ends it early.

use seawall::{Span, Time};

/// How long, how finely measured, how often.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Arrivals stop here.
    pub duration: Span,
    /// Length of a measurement window.
    pub window: Span,
    /// Totals count from here; windows are written from the start.
    pub warmup: Span,
    /// Whether the file leaves it to whoever runs the world to find out how long the warm-up is; `warmup` is zero
    /// until then.
    pub detect_warmup: bool,
    /// How long open calls may take to end after `duration`; what is still open then is counted `open`.
    pub drain: Span,
    /// The seed of replication 0.
    pub seed: u64,
    /// Runs with consecutive seeds.
    pub replications: u32,
    /// Bounds whose reaching ends the run by name.
    pub limits: Limits,
    /// When the world is disturbed, if the file says so itself (a spike in a profile is no fault);
    /// otherwise it is from the begin of the first fault to the end of the last.
    pub trigger: Option<(Time, Time)>,
}

/// Bounds whose reaching ends the run by name, with what was computed kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Events handled.
    pub events: u64,
    /// Calls in flight at once, all layers.
    pub calls: u64,
    /// Jobs waiting at any one service.
    pub queue: u64,
    /// Bytes of everything in flight and of all windows.
    pub memory: u64,
    /// Events in a row in which no time passes; a run ends after at least so many and at most twice as many.
    pub standstill: u64,
}
