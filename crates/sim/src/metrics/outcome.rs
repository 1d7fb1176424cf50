//! What a run leaves behind: plain numbers, no formatting.

use hdrhistogram::Histogram;
use seawall::Time;

use super::counts::Counts;
use super::ended::Ended;
use super::ledger::Entry;
use super::log::Log;
use super::window::Window;

/// Latency of one edge over the whole measured time, in ns.
#[derive(Clone, Debug)]
pub struct EdgeLatency {
    /// Calls, however they ended.
    pub calls: Histogram<u64>,
    /// Calls that ended well.
    pub ok: Histogram<u64>,
    /// Attempts that were answered or given up.
    pub attempts: Histogram<u64>,
    /// Attempts per call: index n counts calls that took n attempts (the last index: that many or more).
    pub attempts_per_call: Vec<u64>,
}

/// What a run leaves behind.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The seed it ran with.
    pub seed: u64,
    /// Why it ended.
    pub ended: Ended,
    /// Where totals begin.
    pub measured_from: Time,
    /// Where arrivals stopped (or the limit was reached); totals end here.
    pub measured_to: Time,
    /// Counted between those two. For rates and shares of time.
    pub totals: Counts,
    /// Counted from `measured_from` to the very end, when calls begun in time have ended. For shares of
    /// calls and for amplification, which would otherwise miss what was under way. Calls under way when
    /// the warm-up ends add their ends and later attempts: choose a warm-up that ends in quiet times.
    pub drained: Counts,
    /// From the start to the end of arrivals, in order.
    pub windows: Vec<Window>,
    /// By edge.
    pub latency: Vec<EdgeLatency>,
    /// Time in the service of jobs that were answered, by service, in ns.
    pub sojourn: Vec<Histogram<u64>>,
    /// Calls still open when the drain ended, by edge.
    pub open: Vec<u64>,
    /// Events handled.
    pub events: u64,
    /// A hash over every event handled, in order: equal hashes mean equal trajectories.
    pub trajectory: u64,
    /// The most calls in flight at once, all edges.
    pub calls_in_flight_max: u64,
    /// Single calls and jobs from the very start, if the world was made [`crate::World::with_log`].
    pub log: Option<Log>,
    /// Every attempt of the first calls, if the world was made [`crate::World::with_ledger`].
    pub ledger: Option<Vec<Entry>>,
}
