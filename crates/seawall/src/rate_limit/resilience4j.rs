//! resilience4j's `AtomicRateLimiter`.
//!
//! Source: resilience4j/resilience4j@af9e7c97 `resilience4j-ratelimiter/.../internal/
//! AtomicRateLimiter.java`.

use crate::found::Found;
use crate::time::{Span, Time};

/// `RateLimiterConfig`.
///
/// Time since construction is cut into cycles; at a new cycle the permissions become
/// `min(old + cycles passed * limit, limit)`. Whoever waits reserves permissions of future cycles, so
/// the count goes negative. It is granted when the wait is at most the timeout; otherwise nothing is
/// reserved, and a caller of the blocking interface still sleeps the timeout.
///
/// The defaults, 50 per 500 *nano*seconds, limit nothing in practice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resilience4jRate {
    /// `limitForPeriod`, at least 1; default 50.
    pub limit_for_period: u32,
    /// `limitRefreshPeriod`, above 0; default 500 ns.
    pub limit_refresh_period: Span,
    /// `timeoutDuration`; default 5 s.
    pub timeout: Span,
    /// Whether callers use the blocking interface, as the annotations do; default true.
    pub blocking: bool,
}

impl Default for Resilience4jRate {
    fn default() -> Self {
        Resilience4jRate {
            limit_for_period: 50,
            limit_refresh_period: Span(500),
            timeout: Span::secs(5),
            blocking: true,
        }
    }
}

impl Resilience4jRate {
    pub(crate) fn check(&self, found: &mut Found) {
        found.at_least_one("rate_limit.limit_for_period", self.limit_for_period);
        let period = self.limit_refresh_period;
        found.span_above_zero("rate_limit.limit_refresh_period", period);
    }
}

/// What a [`Resilience4jRate`] limiter says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateReservation {
    /// Reserved; go after this wait.
    Granted {
        /// Zero: at once.
        wait: Span,
    },
    /// Not reserved.
    Refused {
        /// How long the caller sleeps before it is told: the timeout when it blocks.
        sleeps: Span,
    },
}

/// The running state of a [`Resilience4jRate`] limiter.
#[derive(Clone, Copy, Debug)]
pub struct Resilience4jRateState {
    limit: i64,
    period: u64,
    timeout: Span,
    sleeps: Span,
    began: Time,
    cycle: u64,
    permissions: i64,
}

impl Resilience4jRateState {
    /// With the permissions of one cycle; cycles count from `now`.
    #[must_use]
    pub fn new(spec: &Resilience4jRate, now: Time) -> Self {
        let limit = i64::from(spec.limit_for_period.max(1));
        Resilience4jRateState {
            limit,
            period: spec.limit_refresh_period.0.max(1),
            timeout: spec.timeout,
            sleeps: if spec.blocking {
                spec.timeout
            } else {
                Span::ZERO
            },
            began: now,
            cycle: 0,
            permissions: limit,
        }
    }

    /// Asks for so many permissions.
    pub fn reserve(&mut self, now: Time, permits: u32) -> RateReservation {
        let elapsed = now.since(self.began).0;
        let cycle = elapsed / self.period;
        if cycle > self.cycle {
            let passed = i64::try_from(cycle - self.cycle).unwrap_or(i64::MAX);
            let earned = passed.saturating_mul(self.limit);
            self.permissions = self.permissions.saturating_add(earned).min(self.limit);
            self.cycle = cycle;
        }
        let wait = self.wait_for(i64::from(permits), elapsed);
        if wait > self.timeout {
            return RateReservation::Refused {
                sleeps: self.sleeps,
            };
        }
        self.permissions = self.permissions.saturating_sub(i64::from(permits));
        RateReservation::Granted { wait }
    }

    /// Gives back permissions that were reserved and are not waited for.
    pub fn put_back(&mut self, permits: u32) {
        let permissions = self.permissions.saturating_add(i64::from(permits));
        self.permissions = permissions.min(self.limit);
    }

    /// Permissions of the current cycle, less those reserved of later ones, as of the last call.
    #[must_use]
    pub fn permissions(&self) -> i64 {
        self.permissions
    }

    fn wait_for(&self, permits: i64, elapsed: u64) -> Span {
        let missing = permits.saturating_sub(self.permissions);
        if missing <= 0 {
            return Span::ZERO;
        }
        let to_next_cycle = self.period - elapsed % self.period;
        // Of the missing, the next cycle brings `limit`, and each full cycle after it as many.
        let full_cycles = (missing - 1) / self.limit;
        Span((full_cycles as u64).saturating_mul(self.period)).plus(Span(to_next_cycle))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_caller_sleeps_the_timeout_and_reserves_nothing() {
        let spec = Resilience4jRate {
            limit_for_period: 1,
            limit_refresh_period: Span(100),
            timeout: Span(150),
            blocking: true,
        };
        let mut limiter = Resilience4jRateState::new(&spec, Time(40));
        assert_eq!(
            limiter.reserve(Time(40), 1),
            RateReservation::Granted { wait: Span::ZERO }
        );
        let wait = Span(90);
        assert_eq!(
            limiter.reserve(Time(50), 1),
            RateReservation::Granted { wait }
        );
        let sleeps = Span(150);
        assert_eq!(
            limiter.reserve(Time(50), 1),
            RateReservation::Refused { sleeps }
        );
        assert_eq!(limiter.permissions(), -1);
    }

    #[test]
    fn the_defaults_limit_nothing_in_practice() {
        let mut limiter = Resilience4jRateState::new(&Resilience4jRate::default(), Time::ZERO);
        for t in 0..100_000 {
            let got = limiter.reserve(Time(t * 10), 1);
            assert_eq!(got, RateReservation::Granted { wait: Span::ZERO });
        }
    }

    #[test]
    fn extremes_saturate() {
        let spec = Resilience4jRate {
            limit_for_period: 0,
            limit_refresh_period: Span::ZERO,
            timeout: Span::MAX,
            blocking: false,
        };
        let mut limiter = Resilience4jRateState::new(&spec, Time(9));
        for now in [Time::MAX, Time::ZERO, Time::MAX] {
            limiter.reserve(now, u32::MAX);
        }
    }
}
