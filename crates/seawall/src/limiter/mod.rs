//! Concurrency limits that follow latency and drops. One file per member of the family.
//!
//! Source of all: Netflix/concurrency-limits@78a74b98 `concurrency-limits-core/.../limit/`.

mod aimd;
mod gradient2;
mod vegas;
mod windowed;

pub use aimd::{Aimd, AimdState};
pub use gradient2::{Gradient2, Gradient2State};
pub use vegas::{Vegas, VegasState};
pub use windowed::{SampleWindow, Windowed};

use crate::entropy::Entropy;
use crate::failure::FailureSet;
use crate::time::Span;

/// What moves the number of bulkhead permits: latency and drops of attempts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limiter {
    /// How.
    pub rule: LimiterRule,
    /// Failures that are drops. Any other failure tells nothing.
    pub dropped: FailureSet,
    /// What is gathered before it moves; `None`: it moves with every answer.
    pub window: Option<SampleWindow>,
}

/// How a limiter moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LimiterRule {
    /// Up by one, down by a share.
    Aimd(Aimd),
    /// By the ratio of long-term to latest latency.
    Gradient2(Gradient2),
    /// By the queue that latency betrays.
    Vegas(Vegas),
}

/// What one finished attempt tells a limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// How long it took.
    pub rtt: Span,
    /// Attempts in flight when it was sent, itself included.
    pub in_flight: u32,
    /// Whether it was dropped: timed out, or refused for load.
    pub dropped: bool,
}

/// The running state of a [`LimiterRule`].
#[derive(Clone, Copy, Debug)]
pub enum LimiterState {
    /// Up by one, down by a share.
    Aimd(AimdState),
    /// By the ratio of long-term to latest latency.
    Gradient2(Gradient2State),
    /// By the queue that latency betrays.
    Vegas(VegasState),
}

impl LimiterState {
    /// With the initial limit.
    #[must_use]
    pub fn new(rule: &LimiterRule) -> LimiterState {
        match rule {
            LimiterRule::Aimd(rule) => LimiterState::Aimd(AimdState::new(rule)),
            LimiterRule::Gradient2(rule) => LimiterState::Gradient2(Gradient2State::new(rule)),
            LimiterRule::Vegas(rule) => LimiterState::Vegas(VegasState::new(rule)),
        }
    }

    /// Whether samples draw.
    #[must_use]
    pub const fn draws(&self) -> bool {
        matches!(self, LimiterState::Vegas(_))
    }

    /// An attempt finished.
    pub fn sample(&mut self, sample: Sample, entropy: &mut impl Entropy) {
        match self {
            LimiterState::Aimd(state) => state.sample(sample),
            LimiterState::Gradient2(state) => state.sample(sample),
            LimiterState::Vegas(state) => state.sample(sample, entropy),
        }
    }

    /// Attempts that may be in flight, at least 1.
    #[must_use]
    pub fn limit(&self) -> u32 {
        let limit = match self {
            LimiterState::Aimd(state) => state.limit(),
            LimiterState::Gradient2(state) => state.limit(),
            LimiterState::Vegas(state) => state.limit(),
        };
        limit.max(1)
    }
}
