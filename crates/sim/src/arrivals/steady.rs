//! A constant rate: the quick case.

use seawall::{Span, Time};

use super::gaps::Gaps;
use crate::rng::Stream;

/// Arrivals whose rate only changes when a fault says so.
#[derive(Clone, Debug)]
pub(super) struct Steady {
    gaps: Gaps,
    /// Nanoseconds per unit of operational time as written; infinite at rate 0.
    written: f64,
    /// The same under the present load.
    stretch: f64,
    /// When the present load was set, or the last arrival happened.
    since: Time,
    /// Operational time from `since` to the pending arrival; `None` before the first.
    left: Option<f64>,
    /// What rounding has cut off up to `since`, in nanoseconds: without it equal gaps of a third of a
    /// second would drift.
    carry: f64,
    /// The same up to the pending arrival.
    next_carry: f64,
}

impl Steady {
    pub(super) fn new(gaps: Gaps, written: f64) -> Steady {
        Steady {
            gaps,
            written,
            stretch: written,
            since: Time::ZERO,
            left: None,
            carry: 0.0,
            next_carry: 0.0,
        }
    }

    pub(super) fn first(&mut self, stream: &mut Stream) -> Option<Time> {
        self.left = Some(self.gaps.first(stream));
        self.pending()
    }

    #[inline]
    pub(super) fn next(&mut self, now: Time, stream: &mut Stream) -> Option<Time> {
        self.since = now;
        self.carry = self.next_carry;
        self.left = Some(self.gaps.next(stream));
        self.pending()
    }

    pub(super) fn set_factor(&mut self, now: Time, factor: f64) -> Option<Time> {
        if let Some(left) = &mut self.left {
            let passed = (now.since(self.since).0 as f64 - self.carry) / self.stretch;
            *left = (*left - passed).max(0.0);
            self.carry = 0.0;
            self.since = now;
        }
        // Infinite at factor 0.
        self.stretch = self.written / factor;
        self.pending()
    }

    #[inline]
    fn pending(&mut self) -> Option<Time> {
        let gap = self.left? * self.stretch + self.carry;
        // Rate 0 gives an infinite gap, or NaN when nothing is left of it; what comes later than a signed number
        // says (292 years) does not come.
        if gap.is_nan() || gap >= i64::MAX as f64 {
            return None;
        }
        let whole = (gap + 0.5) as i64;
        self.next_carry = gap - whole as f64;
        Some(self.since.after(Span(whole.max(0) as u64)))
    }
}
