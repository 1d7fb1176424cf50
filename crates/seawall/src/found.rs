//! What is wrong with a spec, gathered so that all of it is told at once.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;

use crate::time::Span;

/// The largest ring a breaker keeps, in results: 250 kB.
pub(crate) const LARGEST_RING: u32 = 1_000_000;
/// Ten slices of at least 1 ns.
const SHORTEST_WINDOW: Span = Span(10);

/// One thing wrong with a [`crate::Spec`].
#[derive(Clone, Debug, PartialEq)]
pub struct SpecError {
    /// The field, as a dotted path below the spec: `retry.backoff.max`.
    pub field: &'static str,
    /// What is allowed and what was given.
    pub message: String,
}

/// What was found wrong so far.
#[derive(Default)]
pub(crate) struct Found(pub(crate) Vec<SpecError>);

impl Found {
    pub(crate) fn into_result(self) -> Result<(), Vec<SpecError>> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(self.0)
        }
    }

    pub(crate) fn add(&mut self, field: &'static str, message: impl Into<String>) {
        self.0.push(SpecError {
            field,
            message: message.into(),
        });
    }

    pub(crate) fn expected(
        &mut self,
        field: &'static str,
        allowed: impl Display,
        got: impl Display,
    ) {
        self.add(field, format!("must be {allowed}; got {got}"));
    }

    /// Notes it down unless it holds.
    pub(crate) fn require(
        &mut self,
        holds: bool,
        field: &'static str,
        allowed: impl Display,
        got: impl Display,
    ) {
        if !holds {
            self.expected(field, allowed, got);
        }
    }

    /// Checks a part that elsewhere stands for itself: whatever is wrong with it is wrong with `field`.
    pub(crate) fn below(&mut self, field: &'static str, check: impl FnOnce(&mut Found)) {
        let mut found = Found::default();
        check(&mut found);
        let renamed = found
            .0
            .into_iter()
            .map(|wrong| SpecError { field, ..wrong });
        self.0.extend(renamed);
    }

    pub(crate) fn span_above_zero(&mut self, field: &'static str, span: Span) {
        if span == Span::ZERO {
            self.expected(field, "above 0", span);
        }
    }

    pub(crate) fn window(&mut self, field: &'static str, span: Span) {
        if span < SHORTEST_WINDOW {
            self.expected(field, format!("at least {SHORTEST_WINDOW}"), span);
        }
    }

    /// The size of something that is kept in memory as a whole.
    pub(crate) fn ring(&mut self, field: &'static str, size: u32) {
        let holds = (1..=LARGEST_RING).contains(&size);
        self.require(holds, field, format!("1 to {LARGEST_RING}"), size);
    }

    pub(crate) fn at_least_one(&mut self, field: &'static str, count: u32) {
        if count == 0 {
            self.expected(field, "at least 1", count);
        }
    }

    /// NaN is outside every range.
    pub(crate) fn within(&mut self, field: &'static str, value: f64, low: f64, high: f64) {
        if !(low..=high).contains(&value) {
            self.expected(field, format!("{low} to {high}"), value);
        }
    }

    /// The bounds of a limit on concurrency.
    pub(crate) fn limits(&mut self, min: u32, max: u32) {
        self.at_least_one("limiter.min", min);
        self.require(min <= max, "limiter.max", "at least min", max);
    }

    /// How long a Finagle-like budget may remember.
    pub(crate) fn ttl(&mut self, field: &'static str, ttl: Span) {
        let holds = (Span::secs(1)..=Span::secs(60)).contains(&ttl);
        self.require(holds, field, "1s to 60s", ttl);
    }

    pub(crate) fn growth(&mut self, field: &'static str, factor: f64) {
        let holds = factor > 0.0 && factor.is_finite();
        self.require(holds, field, "a number above 0", factor);
    }

    pub(crate) fn rate(&mut self, field: &'static str, rate: f64) {
        if !(rate > 0.0 && rate <= 1.0) {
            self.expected(field, "above 0, at most 1", rate);
        }
    }
}
