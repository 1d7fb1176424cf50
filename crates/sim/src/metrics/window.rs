//! What was counted and seen in one measurement window.

use seawall::Time;

use super::counts::Counts;

/// Percentiles of call latency within one window, in ns; `None` when no call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WindowLatency {
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Largest.
    pub max: u64,
}

/// State of an edge's engines at the end of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeGauge {
    /// Calls in flight.
    pub in_flight: u64,
    /// Calling processes whose breaker is open.
    pub breakers_open: u32,
    /// Calling processes whose breaker is half-open.
    pub breakers_half_open: u32,
    /// Calling processes with a breaker.
    pub breakers: u32,
}

/// State of a service at the end of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceGauge {
    /// Jobs waiting, all replicas.
    pub queue: u64,
    /// The most jobs waiting at any instant of the window, all replicas.
    pub queue_max: u64,
    /// Workers holding a job, all replicas.
    pub workers_busy: u64,
    /// Workers there are (faults taken off); `None` when unlimited.
    pub workers: Option<u64>,
}

/// One measurement window.
#[derive(Clone, Debug)]
pub struct Window {
    /// Where it begins.
    pub start: Time,
    /// Where it ends (exclusive).
    pub end: Time,
    /// What was counted in it.
    pub counts: Counts,
    /// Latency of calls that ended in it, by edge, all ends.
    pub latency: Vec<Option<WindowLatency>>,
    /// By edge.
    pub edges: Vec<EdgeGauge>,
    /// By service.
    pub services: Vec<ServiceGauge>,
}
