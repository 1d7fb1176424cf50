//! What stands in front of a service: rate limits, and a balancer that leaves replicas out.

use seawall::Failure;
use seawall::outlier::Outlier;
use seawall::rate_limit::{Gcra, Resilience4jRate};

/// What bounds how many requests are let in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateRule {
    /// How they are counted.
    pub limit: ServerLimit,
    /// Whether each client has a limit of its own.
    pub per_client: bool,
    /// What the others get.
    pub failure: Failure,
    /// Whether they are told how long to wait.
    pub retry_after: TellWait,
}

/// How requests are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerLimit {
    /// Evenly.
    Gcra(Gcra),
    /// So many in each period.
    PerPeriod(Resilience4jRate),
}

/// How exactly a refused caller is told when to come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TellWait {
    /// Not at all.
    Not,
    /// To the nanosecond.
    Exactly,
    /// In whole seconds, rounded up: what the HTTP header can say.
    InSeconds,
}

/// A balancer that leaves out replicas that fail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ejection {
    /// Which.
    pub outlier: Outlier,
    /// With a smaller share of the replicas left, all of them are used.
    pub panic_threshold: f64,
}
