//! The "circuit breaker" for retries of M. Brooker, "Fixing retries with token buckets and circuit breakers" (2022):
//! `failures <= max * calls`, both counted since the start of the process, or no retry.
//!
//! It has no memory of when: a process that failed much long ago stays without retries until enough calls have
//! gone well, and one that did well for long retries far into an outage.

use super::{Event, NANO};

/// Failed attempts against calls begun.
#[derive(Clone, Debug)]
pub struct FailureShare {
    /// Billionths of a failure per call.
    max: u64,
    calls: u64,
    failures: u64,
}

impl FailureShare {
    pub(super) fn new(max: f64) -> Self {
        FailureShare {
            max: (max * NANO + 0.5) as u64,
            calls: 0,
            failures: 0,
        }
    }

    pub(super) fn record(&mut self, event: Event) {
        match event {
            Event::Sent { first: true } => self.calls += 1,
            Event::AttemptFailed { .. } => self.failures += 1,
            _ => {}
        }
    }

    /// Whether few enough failed.
    pub(super) fn holds(&self) -> bool {
        u128::from(self.failures) * NANO as u128 <= u128::from(self.calls) * u128::from(self.max)
    }

    /// A retry costs nothing: all or none.
    pub(super) fn balance(&self) -> f64 {
        if self.holds() { f64::INFINITY } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureKind;

    #[test]
    fn retries_stop_with_the_failure_that_is_too_many_and_come_back_with_calls() {
        let mut share = FailureShare::new(0.1);
        let failed = Event::AttemptFailed {
            kind: FailureKind::Unavailable,
            transient: true,
            do_not_retry: false,
        };
        for _ in 0..20 {
            share.record(Event::Sent { first: true });
        }
        share.record(failed);
        share.record(failed);
        assert!(share.holds(), "two of twenty");
        share.record(failed);
        assert!(!share.holds(), "three of twenty");
        assert!(share.balance() < 1.0);
        // A retry is no call.
        for _ in 0..10 {
            share.record(Event::Sent { first: false });
        }
        assert!(!share.holds());
        for _ in 0..10 {
            share.record(Event::Sent { first: true });
        }
        assert!(share.holds(), "three of thirty");
    }
}
