//! What a scenario promises, and whether a run kept it.
//!
//! `metric(target) op value [from T] [to T]`, such as `amplification(api) <= 1.2`,
//! `success_rate(web) >= 99% from 60s to 120s`, `stopped(web -> api, budget_empty) == 0`,
//! `verdict == recovered`.

mod evaluate;
mod messages;
mod metric;
mod parse;
mod sessions;
mod ways;

use seawall::{FailureKind, Stopped, Time};

pub use evaluate::{Checked, evaluate, measured};
pub use metric::{Metric, Of, Unit};
pub(crate) use parse::parse;
pub use parse::{amount, measure};

use crate::metrics::{Leg, Source};
use crate::scenario::model::Caller;

/// One promise.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// As written.
    pub text: String,
    /// What is promised about.
    pub measure: Measure,
    /// How the two compare.
    pub comparison: Comparison,
    /// With what: seconds, shares, per second, or the index of a verdict.
    pub value: f64,
}

/// One number that a run has: a metric of something, over some time.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// What is measured.
    pub metric: Metric,
    /// Of what.
    pub target: Target,
    /// Of which kind only, where a metric has kinds.
    pub kind: Option<Kind>,
    /// Only windows that begin no earlier.
    pub from: Option<Time>,
    /// Only windows that end no later.
    pub to: Option<Time>,
}

/// What a promise is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The run as a whole; of calls, those of all clients.
    Run,
    /// The calls of `clients[.0]`.
    Client(u32),
    /// `services[.0]`.
    Service(u32),
    /// The calls of a caller to `services[.1]`, under whatever policy.
    Edge(Caller, u32),
}

/// A kind of ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An index in [`Stopped::NAMES`].
    Stopped(usize),
    /// The failure of the last attempt.
    Failed(FailureKind),
    /// An effect, by its index.
    Effect(u32),
    /// Where an answer came from.
    Source(Source),
    /// A leg of the way of an attempt.
    Leg(Leg),
}

impl Kind {
    pub(super) fn named(metric: Metric, name: &str) -> Option<Kind> {
        match metric {
            Metric::Stopped => Stopped::NAMES
                .iter()
                .position(|known| *known == name)
                .map(Kind::Stopped),
            Metric::Failures => {
                let kinds = FailureKind::ALL.iter().copied();
                kinds
                    .into_iter()
                    .find(|kind| kind.name() == name)
                    .map(Kind::Failed)
            }
            Metric::Answers => Source::ALL
                .into_iter()
                .find(|source| source.name() == name)
                .map(Kind::Source),
            Metric::PhaseTime | Metric::PhaseFailures => {
                let mut legs = Leg::ALL.into_iter();
                legs.find(|leg| leg.name() == name).map(Kind::Leg)
            }
            _ => None,
        }
    }
}

/// How an actual value must compare with the promised one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
}

impl Comparison {
    /// Longer signs first.
    pub(super) const SIGNS: [(&'static str, Comparison); 6] = [
        ("<=", Comparison::AtMost),
        (">=", Comparison::AtLeast),
        ("==", Comparison::Equal),
        ("!=", Comparison::Unequal),
        ("<", Comparison::Below),
        (">", Comparison::Above),
    ];

    /// Whether `actual` compares so with `promised`.
    #[must_use]
    pub fn holds(self, actual: f64, promised: f64) -> bool {
        match self {
            Comparison::Below => actual < promised,
            Comparison::AtMost => actual <= promised,
            Comparison::Above => actual > promised,
            Comparison::AtLeast => actual >= promised,
            Comparison::Equal => actual == promised,
            Comparison::Unequal => actual != promised,
        }
    }
}
