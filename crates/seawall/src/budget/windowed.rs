//! A share of recent traffic: in the last `window`, `retries <= max(ratio * events, floor_per_sec * window)`.
//!
//! Withdrawals age out with the window, so the floor comes back by itself: in the long run
//! `floor_per_sec` retries per second pass even without traffic.

use super::BudgetEvent;
use super::{Event, NANO, earns};
use crate::time::{Span, Time};
use crate::window::Slices;

const EVENTS: usize = 0;
const RETRIES: usize = 1;

/// A share of recent traffic with a floor.
#[derive(Clone, Debug)]
pub struct Windowed {
    of: BudgetEvent,
    /// Billionths of a retry per event.
    ratio: u64,
    /// Billionths of a retry per window that are always allowed.
    floor: u64,
    counts: Slices<2>,
}

impl Windowed {
    pub(super) fn new(
        of: BudgetEvent,
        ratio: f64,
        window: Span,
        floor_per_sec: f64,
        now: Time,
    ) -> Self {
        Windowed {
            of,
            ratio: (ratio * NANO + 0.5) as u64,
            floor: (floor_per_sec * window.as_secs_f64() * NANO + 0.5) as u64,
            counts: Slices::new(window, now),
        }
    }

    pub(super) fn record(&mut self, now: Time, event: Event) {
        if earns(self.of, event) {
            self.counts.add(now, EVENTS);
        }
    }

    pub(super) fn withdraw(&mut self, now: Time) -> bool {
        let sum = *self.counts.sum(now);
        let granted = u128::from(sum[RETRIES] + 1) * NANO as u128 <= self.allowed(sum[EVENTS]);
        if granted {
            self.counts.add(now, RETRIES);
        }
        granted
    }

    pub(super) fn put_back(&mut self, now: Time) {
        self.counts.take_back(now, RETRIES);
    }

    pub(super) fn balance(&mut self, now: Time) -> f64 {
        let sum = *self.counts.sum(now);
        (self.allowed(sum[EVENTS]) as f64 / NANO - sum[RETRIES] as f64).max(0.0)
    }

    fn allowed(&self, events: u64) -> u128 {
        (u128::from(events) * u128::from(self.ratio)).max(u128::from(self.floor))
    }
}
