//! Finagle's `RetryBudget`: a leaky token bucket over a windowed adder, with a reserve.
//!
//! Sources: twitter/finagle@4feb34cb `finagle-core/.../service/RetryBudget.scala`;
//! twitter/util@17c8187d `util-core/.../TokenBucket.scala`, `WindowedAdder.scala`.

use super::BudgetEvent;
use crate::found::Found;
use crate::time::{Span, Time};

/// `RetryBudget(ttl, minRetriesPerSec, percentCanRetry)`.
///
/// A deposit is worth 1000, a withdrawal `trunc(1000 / percent)` (with percent 0: nothing and 1), and
/// there is a reserve of `min_retries_per_sec * ttl in whole seconds` withdrawals. A retry is allowed
/// while `sum + reserve >= withdrawal`; with both at 0, never.
///
/// The sum is over ten slices of `ttl / 10`, in whole milliseconds: nine kept and the current one.
/// They roll only when used and count anew from then, so a deposit lives between 0.9 and more than
/// one `ttl`. Withdrawals are negative deposits and expire as well, so the reserve comes back: in the
/// long run `min_retries_per_sec` plus `percent` of the deposits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finagle {
    /// How long a deposit counts, 1 s to 60 s; default 10 s.
    pub ttl: Span,
    /// Retries per second that are always allowed; default 10.
    pub min_retries_per_sec: u32,
    /// Retries per deposit, 0 to 1000; default 0.2.
    pub percent_can_retry: f64,
    /// What deposits: `RequeueFilter` on success, `RetryFilter` on each call begun.
    pub deposits: BudgetEvent,
}

impl Default for Finagle {
    fn default() -> Self {
        Finagle {
            ttl: Span::secs(10),
            min_retries_per_sec: 10,
            percent_can_retry: 0.2,
            deposits: BudgetEvent::Successes,
        }
    }
}

impl Finagle {
    pub(crate) fn check(&self, found: &mut Found) {
        found.ttl("budget.ttl", self.ttl);
        found.within(
            "budget.percent_can_retry",
            self.percent_can_retry,
            0.0,
            1000.0,
        );
    }
}

const KEPT: usize = 9;
const SCALE: f64 = 1000.0;

/// The running state of a [`Finagle`] budget.
#[derive(Clone, Debug)]
pub struct FinagleAccount {
    pub(super) deposits: BudgetEvent,
    deposit: i64,
    withdrawal: i64,
    reserve: i64,
    never: bool,
    adder: WindowedAdder,
}

impl FinagleAccount {
    /// A budget that holds its reserve.
    #[must_use]
    pub fn new(spec: &Finagle, now: Time) -> Self {
        let percent = spec.percent_can_retry;
        let (deposit, withdrawal) = if percent > 0.0 {
            // Finagle computes with 32-bit integers.
            let withdrawal = (SCALE / percent) as i32;
            (SCALE as i64, i64::from(withdrawal.max(1)))
        } else {
            (0, 1)
        };
        let seconds = (spec.ttl.0 / 1_000_000_000).min(i64::MAX as u64) as i64;
        FinagleAccount {
            deposits: spec.deposits,
            deposit,
            withdrawal,
            reserve: i64::from(spec.min_retries_per_sec)
                .saturating_mul(seconds)
                .saturating_mul(withdrawal),
            never: spec.min_retries_per_sec == 0 && deposit == 0,
            adder: WindowedAdder::new(spec.ttl, now),
        }
    }

    /// Something happened that earns retries.
    pub fn deposit(&mut self, now: Time) {
        self.adder.add(now, self.deposit);
    }

    /// Asks for one retry.
    #[must_use]
    pub fn withdraw(&mut self, now: Time) -> bool {
        let allowed = !self.never && self.count(now) >= self.withdrawal;
        if allowed {
            self.adder.add(now, -self.withdrawal);
        }
        allowed
    }

    /// Gives a withdrawal back that was not used.
    pub fn put_back(&mut self, now: Time) {
        self.adder.add(now, self.withdrawal);
    }

    /// Retries that could be withdrawn now: `(sum + reserve) / withdrawal`.
    #[must_use]
    pub fn balance(&mut self, now: Time) -> i64 {
        if self.never {
            0
        } else {
            self.count(now) / self.withdrawal
        }
    }

    fn count(&mut self, now: Time) -> i64 {
        self.adder.sum(now).saturating_add(self.reserve)
    }
}

/// A sum over a window that rolls when it is used.
#[derive(Clone, Debug)]
struct WindowedAdder {
    /// Length of a slice, in milliseconds.
    width: u64,
    /// When the current slice began, in milliseconds.
    began: u64,
    current: i64,
    kept: [i64; KEPT],
    next: usize,
}

impl WindowedAdder {
    fn new(ttl: Span, now: Time) -> Self {
        WindowedAdder {
            width: (millis(ttl.0) / (KEPT as u64 + 1)).max(1),
            began: millis(now.0),
            current: 0,
            kept: [0; KEPT],
            next: 0,
        }
    }

    fn add(&mut self, now: Time, amount: i64) {
        self.roll(now);
        self.current = self.current.saturating_add(amount);
    }

    fn sum(&mut self, now: Time) -> i64 {
        self.roll(now);
        let kept = self.kept.iter();
        kept.fold(self.current, |sum, slice| sum.saturating_add(*slice))
    }

    fn roll(&mut self, now: Time) {
        let passed = millis(now.0).saturating_sub(self.began) / self.width;
        if passed == 0 {
            return;
        }
        self.kept[self.next] = core::mem::take(&mut self.current);
        self.next = (self.next + 1) % KEPT;
        for _ in 0..(passed - 1).min(KEPT as u64) {
            self.kept[self.next] = 0;
            self.next = (self.next + 1) % KEPT;
        }
        self.began = millis(now.0);
    }
}

const fn millis(nanos: u64) -> u64 {
    nanos / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(min_retries_per_sec: u32, percent_can_retry: f64) -> FinagleAccount {
        let spec = Finagle {
            ttl: Span::secs(1),
            min_retries_per_sec,
            percent_can_retry,
            ..Finagle::default()
        };
        FinagleAccount::new(&spec, Time::ZERO)
    }

    const fn at(millis: u64) -> Time {
        Time(millis * 1_000_000)
    }

    #[test]
    fn without_reserve_and_percentage_there_is_never_a_retry() {
        let mut account = account(0, 0.0);
        account.deposit(Time::ZERO);
        assert!(!account.withdraw(Time::ZERO));
        assert_eq!(account.balance(Time::ZERO), 0);
    }

    #[test]
    fn a_third_costs_3333_and_not_a_full_third() {
        let mut account = account(0, 0.3);
        for _ in 0..3 {
            account.deposit(Time::ZERO);
        }
        assert!(!account.withdraw(Time::ZERO), "3000 < 3333");
        account.deposit(Time::ZERO);
        assert!(account.withdraw(Time::ZERO));
    }

    #[test]
    fn a_deposit_lives_nine_tenths_of_a_ttl_under_steady_use() {
        let mut account = account(0, 1.0);
        account.deposit(at(99));
        for tenth in 1..10 {
            assert_eq!(account.balance(at(tenth * 100)), 1, "at {tenth}");
        }
        assert_eq!(account.balance(at(1000)), 0);
    }

    #[test]
    fn a_slice_shorter_than_a_millisecond_is_not_seen() {
        let mut account = account(0, 1.0);
        account.deposit(at(0));
        account.deposit(Time(99_999_999));
        assert_eq!(account.adder.began, 0);
        account.deposit(Time(100_999_999));
        assert_eq!(account.adder.began, 100);
    }

    #[test]
    fn a_clock_that_stands_still_runs_back_or_jumps_does_no_harm() {
        let mut account = account(5, 0.2);
        for now in [Time::MAX, Time::ZERO, Time(1), Time::MAX] {
            account.deposit(now);
            let _ = account.withdraw(now);
            assert!(account.balance(now) <= 5);
        }
    }
}
