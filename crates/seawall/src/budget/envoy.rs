//! Envoy's bound on concurrent retries: a number, or a share of the requests in flight.
//!
//! Sources: envoyproxy/envoy `source/common/upstream/resource_manager_impl.h`,
//! `source/common/router/retry_state_impl.cc`; envoyproxy/data-plane-api@84e84367
//! `envoy/config/cluster/v3/circuit_breaker.proto`. Slot counts agree with Envoy 1.40.0.

use crate::found::Found;
use crate::time::{Span, Time};

/// `circuit_breakers.thresholds`, as far as retries go, for one cluster and priority.
///
/// A retry is allowed while `retries out < limit`. Its slot is taken when it is decided and held
/// through backoff and the whole retried attempt, until the request's next decision or its end; a
/// request that fails again frees its own slot before it asks. A request in backoff is not in flight,
/// and the attempt that has just failed has left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Envoy {
    /// `max_retries`; default 3. Not looked at with a budget.
    pub max_retries: u32,
    /// `retry_budget`; default none.
    pub retry_budget: Option<EnvoyRetryBudget>,
}

/// `retry_budget`: `limit = max(trunc(percent / 100 * requests), min_retry_concurrency)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnvoyRetryBudget {
    /// `budget_percent`, 0 to 100; default 20.
    pub percent: f64,
    /// `min_retry_concurrency`; default 3.
    pub min_retry_concurrency: u32,
    /// `budget_interval`: count the attempts sent in the last nine to ten tenths of it, instead of
    /// those in flight and pending. Whole milliseconds, at least 10; default none.
    pub interval: Option<Span>,
}

impl Default for Envoy {
    fn default() -> Self {
        Envoy {
            max_retries: 3,
            retry_budget: None,
        }
    }
}

impl Default for EnvoyRetryBudget {
    fn default() -> Self {
        EnvoyRetryBudget {
            percent: 20.0,
            min_retry_concurrency: 3,
            interval: None,
        }
    }
}

impl Envoy {
    pub(crate) fn check(&self, found: &mut Found) {
        let Some(budget) = self.retry_budget else {
            return;
        };
        found.within("budget.percent", budget.percent, 0.0, 100.0);
        if let Some(interval) = budget.interval {
            found.require(
                interval >= Span::millis(10),
                "budget.interval",
                "at least 10ms",
                interval,
            );
        }
    }

    /// Retries that may be out at a time, with so many requests (in flight and pending, or sent in
    /// the interval).
    #[must_use]
    pub fn limit(&self, requests: u64) -> u64 {
        match self.retry_budget {
            None => u64::from(self.max_retries),
            Some(budget) => {
                let share = (budget.percent / 100.0 * requests as f64) as u64;
                share.max(u64::from(budget.min_retry_concurrency))
            }
        }
    }
}

/// The running state of an [`Envoy`] bound.
#[derive(Clone, Debug)]
pub struct EnvoyAccount {
    spec: Envoy,
    /// Attempts in flight.
    active: u64,
    /// Retries decided whose slot is held.
    retries: u64,
    recent: Option<Recent>,
}

impl EnvoyAccount {
    /// With nothing in flight.
    #[must_use]
    pub fn new(spec: &Envoy, now: Time) -> Self {
        let interval = spec.retry_budget.and_then(|budget| budget.interval);
        EnvoyAccount {
            spec: *spec,
            active: 0,
            retries: 0,
            recent: interval.map(|interval| Recent::new(interval, now)),
        }
    }

    /// An attempt was sent.
    pub fn sent(&mut self, now: Time) {
        self.active += 1;
        if let Some(recent) = &mut self.recent {
            recent.count(now);
        }
    }

    /// An attempt is no longer in flight.
    pub fn left(&mut self) {
        self.active = self.active.saturating_sub(1);
    }

    /// Asks for a slot, with so many requests waiting for a connection.
    #[must_use]
    pub fn withdraw(&mut self, now: Time, pending: u32) -> bool {
        let allowed = self.retries < self.limit(now, pending);
        self.retries += u64::from(allowed);
        allowed
    }

    /// Frees a slot.
    pub fn release(&mut self) {
        self.retries = self.retries.saturating_sub(1);
    }

    /// Retries that may be out now.
    #[must_use]
    pub fn limit(&mut self, now: Time, pending: u32) -> u64 {
        let requests = match &mut self.recent {
            Some(recent) => recent.sum(now),
            None => self.active + u64::from(pending),
        };
        self.spec.limit(requests)
    }

    /// Attempts in flight.
    #[must_use]
    pub fn active(&self) -> u64 {
        self.active
    }

    /// Slots held.
    #[must_use]
    pub fn retries(&self) -> u64 {
        self.retries
    }
}

const SLOTS: usize = 10;

/// Attempts sent in the current tenth of the interval and the nine before it; a timer from the
/// beginning on, not use, moves it.
#[derive(Clone, Debug)]
struct Recent {
    width: u64,
    began: Time,
    current: u64,
    slots: [u64; SLOTS],
}

impl Recent {
    fn new(interval: Span, now: Time) -> Self {
        const MILLI: u64 = 1_000_000;
        Recent {
            width: (interval.0 / MILLI / SLOTS as u64).max(1) * MILLI,
            began: now,
            current: 0,
            slots: [0; SLOTS],
        }
    }

    fn count(&mut self, now: Time) {
        self.roll(now);
        self.slots[(self.current % SLOTS as u64) as usize] += 1;
    }

    fn sum(&mut self, now: Time) -> u64 {
        self.roll(now);
        self.slots.iter().sum()
    }

    fn roll(&mut self, now: Time) {
        let target = now.since(self.began).0 / self.width;
        let passed = target.saturating_sub(self.current).min(SLOTS as u64);
        for age in 0..passed {
            self.slots[((target - age) % SLOTS as u64) as usize] = 0;
        }
        self.current = self.current.max(target);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Time {
        Time(millis * 1_000_000)
    }

    fn budget(interval: Option<Span>) -> Envoy {
        let budget = EnvoyRetryBudget {
            percent: 50.0,
            min_retry_concurrency: 1,
            interval,
        };
        Envoy {
            retry_budget: Some(budget),
            ..Envoy::default()
        }
    }

    #[test]
    fn the_limit_falls_while_many_attempts_fail_at_once() {
        let spec = Envoy {
            retry_budget: Some(EnvoyRetryBudget::default()),
            ..Envoy::default()
        };
        let mut account = EnvoyAccount::new(&spec, Time::ZERO);
        for _ in 0..100 {
            account.sent(Time::ZERO);
        }
        let retries = (0..100).filter(|_| {
            account.left();
            account.withdraw(Time::ZERO, 0)
        });
        // The 17th decision sees 83 in flight, hence a limit of 16, and 16 retries out.
        assert_eq!(retries.count(), 16);
    }

    #[test]
    fn requests_waiting_for_a_connection_count() {
        let mut account = EnvoyAccount::new(&budget(None), Time::ZERO);
        assert_eq!(account.limit(Time::ZERO, 0), 1);
        assert_eq!(account.limit(Time::ZERO, 9), 4);
    }

    #[test]
    fn an_interval_counts_what_was_sent_in_its_last_ten_tenths() {
        let mut account = EnvoyAccount::new(&budget(Some(Span::secs(1))), Time::ZERO);
        for _ in 0..8 {
            account.sent(at(99));
            account.left();
        }
        assert_eq!(
            account.limit(at(100), 50),
            4,
            "pending and active do not count"
        );
        assert_eq!(account.limit(at(999), 0), 4);
        assert_eq!(account.limit(at(1000), 0), 1);
    }

    #[test]
    fn the_interval_survives_any_clock() {
        let mut account = EnvoyAccount::new(&budget(Some(Span(1))), at(5));
        for now in [Time::MAX, Time::ZERO, Time::MAX] {
            account.sent(now);
        }
        assert_eq!(account.limit(Time::MAX, 0), 1);
        account.release();
        account.left();
    }
}
