//! How far apart arrivals are, in operational time.

use crate::law::Law;
use crate::rng::Stream;

/// What makes arrivals of a given rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Process {
    /// Independent of each other: exponential gaps.
    #[default]
    Poisson,
    /// Evenly spaced: equal gaps, the first arrival after half a gap.
    Paced,
}

/// The gaps of a running process. One unit of operational time is one expected arrival, except for
/// renewals, whose unit is the nanosecond.
#[derive(Clone, Debug)]
pub(super) enum Gaps {
    Process(Process),
    Renewal(Law),
}

impl Gaps {
    pub(super) fn first(&self, stream: &mut Stream) -> f64 {
        match self {
            Gaps::Process(Process::Paced) => 0.5,
            other => other.next(stream),
        }
    }

    #[inline]
    pub(super) fn next(&self, stream: &mut Stream) -> f64 {
        match self {
            Gaps::Process(Process::Poisson) => stream.exponential(),
            Gaps::Process(Process::Paced) => 1.0,
            Gaps::Renewal(law) => law.sample(stream).0 as f64,
        }
    }
}
