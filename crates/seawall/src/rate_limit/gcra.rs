//! The generic cell rate algorithm, as governor has it.
//!
//! Source: governor 0.10.4 `src/gcra.rs`.

use crate::found::Found;
use crate::time::{Span, Time};

/// One cell per `period`, up to `burst` of them at once.
///
/// A cell conforms when it arrives at or after `TAT - (burst - 1) * period`, exact to the nanosecond,
/// where TAT, the theoretical arrival time, then becomes `max(TAT, now) + period`. `n` cells at once
/// count as one that is `n` wide; more than `burst` can never pass. Idle time refills to the burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gcra {
    /// Time per cell, above 0.
    pub period: Span,
    /// Cells that may come at once, at least 1.
    pub burst: u32,
}

impl Gcra {
    pub(crate) fn check(&self, found: &mut Found) {
        found.span_above_zero("rate_limit.period", self.period);
        found.at_least_one("rate_limit.burst", self.burst);
    }
}

/// The running state of [`Gcra`].
#[derive(Clone, Copy, Debug)]
pub struct GcraState {
    period: u64,
    tolerance: u64,
    arrival: Time,
}

/// More cells than the burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyCells;

impl GcraState {
    /// With the whole burst.
    #[must_use]
    pub fn new(spec: &Gcra) -> Self {
        let period = spec.period.0.max(1);
        GcraState {
            period,
            tolerance: period.saturating_mul(u64::from(spec.burst.max(1)) - 1),
            arrival: Time::ZERO,
        }
    }

    /// Asks for so many cells at once: `Ok(None)` they pass, `Ok(Some(wait))` they would after that
    /// wait, if nobody else passes meanwhile.
    ///
    /// # Errors
    /// They can never pass.
    pub fn check(&mut self, now: Time, cells: u32) -> Result<Option<Span>, TooManyCells> {
        let Some(further) = cells.checked_sub(1) else {
            return Ok(None);
        };
        let width = self.period.saturating_mul(u64::from(further));
        if width > self.tolerance {
            return Err(TooManyCells);
        }
        let earliest = Time(
            self.arrival
                .0
                .saturating_add(width)
                .saturating_sub(self.tolerance),
        );
        if now < earliest {
            return Ok(Some(earliest.since(now)));
        }
        let start = self.arrival.max(now);
        self.arrival = start.after(Span(width)).after(Span(self.period));
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cells_always_pass_and_cost_nothing() {
        let mut gcra = GcraState::new(&Gcra {
            period: Span(10),
            burst: 1,
        });
        assert_eq!(gcra.check(Time::ZERO, 0), Ok(None));
        assert_eq!(gcra.check(Time::ZERO, 1), Ok(None));
        assert_eq!(gcra.check(Time::ZERO, 0), Ok(None));
        assert_eq!(gcra.check(Time::ZERO, 1), Ok(Some(Span(10))));
    }

    #[test]
    fn in_the_long_run_one_cell_passes_per_period() {
        let mut gcra = GcraState::new(&Gcra {
            period: Span(7),
            burst: 3,
        });
        let passed = (0..7000).filter(|&t| gcra.check(Time(t), 1) == Ok(None));
        assert_eq!(passed.count(), 1000 + 2);
    }

    #[test]
    fn extremes_saturate() {
        let mut gcra = GcraState::new(&Gcra {
            period: Span::MAX,
            burst: u32::MAX,
        });
        assert_eq!(gcra.check(Time::MAX, u32::MAX), Ok(None));
        assert_eq!(gcra.check(Time::ZERO, 1), Ok(None));
        let mut gcra = GcraState::new(&Gcra {
            period: Span::ZERO,
            burst: 0,
        });
        assert_eq!(gcra.check(Time::ZERO, 1), Ok(None));
        assert_eq!(gcra.check(Time::ZERO, 2), Err(TooManyCells));
    }
}
