//! What a server does with requests that have waited too long: folly's CoDel.
//!
//! Source: facebook/folly@ff98381e `folly/executors/Codel.cpp`.

use crate::time::{Span, Time};

/// `Codel::Options`. Per interval the smallest queueing delay is kept; the interval that follows counts
/// as overloaded when it was *above* the target. While overloaded, a request that waited *more* than
/// twice the target is shed. The first request after an interval began is never shed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codel {
    /// `codel_interval`; default 100 ms.
    pub interval: Span,
    /// `codel_target_delay`, above 0 and below the interval; default 5 ms.
    pub target: Span,
}

impl Default for Codel {
    fn default() -> Self {
        Codel {
            interval: Span::millis(100),
            target: Span::millis(5),
        }
    }
}

/// The running state of [`Codel`].
#[derive(Clone, Copy, Debug)]
pub struct CodelState {
    spec: Codel,
    smallest: Span,
    interval_ends: Time,
    /// An interval has ended, and nothing came since.
    fresh: bool,
    overloaded: bool,
}

impl CodelState {
    /// Not overloaded.
    #[must_use]
    pub fn new(spec: &Codel, now: Time) -> Self {
        CodelState {
            spec: *spec,
            smallest: Span::ZERO,
            interval_ends: now,
            fresh: true,
            overloaded: false,
        }
    }

    /// A request comes out of the queue after waiting so long; whether to shed it.
    #[must_use]
    pub fn sheds(&mut self, now: Time, waited: Span) -> bool {
        if now > self.interval_ends && !self.fresh {
            self.fresh = true;
            self.interval_ends = now.after(self.spec.interval);
            self.overloaded = self.smallest > self.spec.target;
        }
        if self.fresh {
            self.fresh = false;
            self.smallest = waited;
            return false;
        }
        self.smallest = self.smallest.min(waited);
        self.overloaded && waited > self.spec.target.plus(self.spec.target)
    }

    /// Whether the last interval was overloaded.
    #[must_use]
    pub fn overloaded(&self) -> bool {
        self.overloaded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_interval_belongs_to_it() {
        let mut codel = CodelState::new(&Codel::default(), Time::ZERO);
        let slow = Span::millis(20);
        assert!(!codel.sheds(Time(1), slow));
        assert!(!codel.sheds(Time(2), slow), "first of the next interval");
        assert!(codel.sheds(Time(100_000_002), slow));
        assert!(
            !codel.sheds(Time(100_000_003), slow),
            "first of the next interval"
        );
    }

    #[test]
    fn a_clock_that_runs_back_does_no_harm() {
        let mut codel = CodelState::new(&Codel::default(), Time::MAX);
        for now in [Time::MAX, Time::ZERO, Time(5), Time::MAX] {
            assert!(!codel.sheds(now, Span::MAX));
        }
    }
}
