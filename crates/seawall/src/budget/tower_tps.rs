//! tower's `TpsBudget`, which Linkerd's service profiles use too.
//!
//! Sources: tower-rs/tower@8358ee71 `tower/src/retry/budget/tps_budget.rs` (0.5.3);
//! linkerd/linkerd2-proxy@29637b64 `linkerd/service-profiles/src/proto.rs`,
//! `linkerd/app/outbound/src/http/retry.rs`.

use super::BudgetEvent;
use crate::found::Found;
use crate::time::{Span, Time};

/// `TpsBudget::new(ttl, min_per_sec, retry_percent)`.
///
/// Finagle's idea with other arithmetic: percent 0 deposits 0 and withdraws 1; up to 1 it deposits 1
/// and withdraws `trunc(1 / percent)`, so 0.3 means a third and **0.6 means every deposit**; above 1
/// it deposits 1000 and withdraws `trunc(1000 / percent)`. The reserve is `min_per_sec * ttl in whole
/// seconds` withdrawals.
///
/// Ten slots of `ttl / 10` are kept besides the current one, and the slot about to be reused still
/// counts, so a deposit lives up to 1.1 `ttl`, and longer when nobody asks. On rolling, an exact
/// multiple of a slot clears one slot fewer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TowerTps {
    /// How long a deposit counts, 1 s to 60 s; default 10 s.
    pub ttl: Span,
    /// Retries per second that are always allowed; default 10.
    pub min_per_sec: u32,
    /// Retries per deposit, 0 to 1000; default 0.2. Computed with 32-bit floats.
    pub retry_percent: f32,
    /// What deposits; Linkerd: every response that is not retryable.
    pub deposits: BudgetEvent,
}

impl Default for TowerTps {
    fn default() -> Self {
        TowerTps {
            ttl: Span::secs(10),
            min_per_sec: 10,
            retry_percent: 0.2,
            deposits: BudgetEvent::NotRetryable,
        }
    }
}

impl TowerTps {
    pub(crate) fn check(&self, found: &mut Found) {
        found.ttl("budget.ttl", self.ttl);
        let percent = f64::from(self.retry_percent);
        found.within("budget.retry_percent", percent, 0.0, 1000.0);
    }

    /// What a deposit and a withdrawal are worth, in tokens.
    #[must_use]
    pub fn amounts(&self) -> (i64, i64) {
        let percent = self.retry_percent;
        if percent > 1.0 {
            (1000, ((1000.0 / percent) as i64).max(1))
        } else if percent > 0.0 {
            (1, (1.0 / percent) as i64)
        } else {
            (0, 1)
        }
    }
}

const SLOTS: usize = 10;

/// The running state of a [`TowerTps`] budget.
#[derive(Clone, Debug)]
pub struct TowerTpsAccount {
    pub(super) deposits: BudgetEvent,
    deposit: i64,
    withdrawal: i64,
    reserve: i64,
    width: u64,
    /// When the slots were last rolled.
    rolled: Time,
    slots: [i64; SLOTS],
    index: usize,
    current: i64,
}

impl TowerTpsAccount {
    /// A budget that holds its reserve.
    #[must_use]
    pub fn new(spec: &TowerTps, now: Time) -> Self {
        let (deposit, withdrawal) = spec.amounts();
        let seconds = (spec.ttl.0 / 1_000_000_000).min(i64::MAX as u64) as i64;
        TowerTpsAccount {
            deposits: spec.deposits,
            deposit,
            withdrawal,
            reserve: i64::from(spec.min_per_sec)
                .saturating_mul(seconds)
                .saturating_mul(withdrawal),
            width: (spec.ttl.0 / SLOTS as u64).max(1),
            rolled: now,
            slots: [0; SLOTS],
            index: 0,
            current: 0,
        }
    }

    /// Something happened that earns retries.
    pub fn deposit(&mut self, now: Time) {
        self.add(now, self.deposit);
    }

    /// Asks for one retry.
    #[must_use]
    pub fn withdraw(&mut self, now: Time) -> bool {
        self.roll(now);
        let allowed = self.tokens() >= self.withdrawal;
        if allowed {
            self.add(now, -self.withdrawal);
        }
        allowed
    }

    /// Gives a withdrawal back that was not used.
    pub fn put_back(&mut self, now: Time) {
        self.add(now, self.withdrawal);
    }

    /// Tokens held, as of the last deposit or withdrawal.
    #[must_use]
    pub fn tokens(&self) -> i64 {
        let kept = self.slots.iter();
        kept.fold(self.current, |sum, slot| sum.saturating_add(*slot))
            .saturating_add(self.reserve)
    }

    /// Retries that could be withdrawn, as of the last deposit or withdrawal.
    #[must_use]
    pub fn balance(&self) -> i64 {
        self.tokens() / self.withdrawal.max(1)
    }

    fn add(&mut self, now: Time, amount: i64) {
        self.roll(now);
        self.current = self.current.saturating_add(amount);
    }

    fn roll(&mut self, now: Time) {
        let passed = now.since(self.rolled).0;
        if passed < self.width {
            return;
        }
        self.slots[self.index] = core::mem::take(&mut self.current);
        // A slot is cleared while more than one is left over: an exact multiple clears one fewer.
        let cleared = passed.div_ceil(self.width) - 1;
        for i in 1..=cleared.min(SLOTS as u64) as usize {
            self.slots[(self.index + i) % SLOTS] = 0;
        }
        self.index = (self.index + 1 + (cleared % SLOTS as u64) as usize) % SLOTS;
        self.rolled = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(retry_percent: f32) -> TowerTps {
        TowerTps {
            ttl: Span::secs(1),
            min_per_sec: 0,
            retry_percent,
            ..TowerTps::default()
        }
    }

    #[test]
    fn the_cost_is_cut_to_a_whole_number() {
        let amounts = [0.0, 0.1, 0.3, 0.6, 0.7, 1.0, 1.5, 3.0, 1000.0].map(|p| spec(p).amounts());
        let want = [
            (0, 1),
            (1, 10),
            (1, 3),
            (1, 1),
            (1, 1),
            (1, 1),
            (1000, 666),
            (1000, 333),
            (1000, 1),
        ];
        assert_eq!(amounts, want);
    }

    #[test]
    fn an_exact_multiple_of_a_slot_clears_one_slot_fewer() {
        let slot = 100_000_000;
        let balance_after = |passed| {
            let mut account = TowerTpsAccount::new(&spec(1.0), Time::ZERO);
            for i in 0..11 {
                account.deposit(Time(i * slot));
            }
            account.deposit(Time(10 * slot + passed));
            account.tokens()
        };
        assert_eq!(balance_after(2 * slot - 1), 10);
        assert_eq!(balance_after(2 * slot), 10);
        assert_eq!(balance_after(2 * slot + 1), 9);
    }

    #[test]
    fn everything_is_forgotten_after_more_than_ten_slots() {
        let mut account = TowerTpsAccount::new(&spec(1.0), Time::ZERO);
        account.deposit(Time::ZERO);
        account.deposit(Time(1_100_000_001));
        assert_eq!(account.tokens(), 1);
    }

    #[test]
    fn a_clock_that_jumps_to_the_end_of_time_and_back_does_no_harm() {
        let mut account = TowerTpsAccount::new(&spec(0.5), Time::ZERO);
        for now in [Time::MAX, Time::ZERO, Time::MAX] {
            account.deposit(now);
            let _ = account.withdraw(now);
        }
        assert!(account.tokens() >= 0);
    }
}
