//! A token bucket fed by traffic: `tokens = min(burst, tokens + ratio)` per event, a retry costs 1.
//!
//! Long run: retries are at most `ratio` times the events, plus `burst` once. It does not refill by
//! time, so a silent process keeps what it has.

use super::BudgetEvent;
use super::{Event, NANO, earns};

const TOKEN: u64 = NANO as u64;

/// A token bucket fed by traffic, counted in billionths of a token.
#[derive(Clone, Debug)]
pub struct Ratio {
    of: BudgetEvent,
    tokens: u64,
    per_event: u64,
    burst: u64,
}

impl Ratio {
    pub(super) fn new(of: BudgetEvent, ratio: f64, burst: f64) -> Self {
        let burst = (burst * NANO + 0.5) as u64;
        Ratio {
            of,
            tokens: burst,
            per_event: (ratio * NANO + 0.5) as u64,
            burst,
        }
    }

    pub(super) fn record(&mut self, event: Event) {
        if earns(self.of, event) {
            self.tokens = self.tokens.saturating_add(self.per_event).min(self.burst);
        }
    }

    pub(super) fn withdraw(&mut self) -> bool {
        match self.tokens.checked_sub(TOKEN) {
            Some(rest) => {
                self.tokens = rest;
                true
            }
            None => false,
        }
    }

    pub(super) fn put_back(&mut self) {
        self.tokens = self.tokens.saturating_add(TOKEN).min(self.burst);
    }

    pub(super) fn balance(&self) -> f64 {
        self.tokens as f64 / NANO
    }
}
