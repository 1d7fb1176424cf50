//! What bounds retries over all calls of one process. One file per member of the family.
//!
//! The verbs: [`Account::record`] what happened, [`Account::withdraw`] for one retry, and
//! [`Account::settle`] what became of a withdrawal. Per-call limits multiply over layers; a budget
//! bounds the load that retries add whatever the layers above and below do.

mod ratio;
mod windowed;

use crate::failure::FailureKind;
use crate::spec::Budget;
use crate::time::Time;

use ratio::Ratio;
use windowed::Windowed;

/// Something a budget may earn by or pay for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A call sent its first attempt.
    CallStarted,
    /// An attempt failed.
    AttemptFailed {
        /// How.
        kind: FailureKind,
        /// Whether the policy and the operation count it as transient.
        transient: bool,
    },
    /// A call ended well.
    CallSucceeded,
}

/// What became of a withdrawal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The retry was not sent after all: another condition failed, or the caller left.
    Unused,
    /// The retry was sent and failed, or nobody waited for its end.
    Failed,
    /// The retry was sent and ended well.
    Succeeded,
}

/// What a withdrawal cost, in the member's own unit; the call keeps it until it settles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant(pub u16);

/// The running state of a [`Budget`].
#[derive(Clone, Debug)]
pub enum Account {
    /// Nothing bounds retries.
    Unlimited,
    /// A token bucket.
    Ratio(Ratio),
    /// A sliding window.
    Windowed(Windowed),
}

impl Account {
    /// A fresh account.
    #[must_use]
    pub fn new(budget: &Budget, now: Time) -> Account {
        match *budget {
            Budget::None => Account::Unlimited,
            Budget::Ratio { of, ratio, burst } => Account::Ratio(Ratio::new(of, ratio, burst)),
            Budget::Windowed {
                of,
                ratio,
                window,
                floor_per_sec,
            } => Account::Windowed(Windowed::new(of, ratio, window, floor_per_sec, now)),
        }
    }

    /// Takes note of something that happened.
    #[inline]
    pub fn record(&mut self, now: Time, event: Event) {
        match self {
            Account::Unlimited => {}
            Account::Ratio(account) => account.record(event),
            Account::Windowed(account) => account.record(now, event),
        }
    }

    /// Asks for one retry after a failure of this kind; `None` refuses.
    #[inline]
    pub fn withdraw(&mut self, now: Time, _kind: FailureKind) -> Option<Grant> {
        let granted = match self {
            Account::Unlimited => true,
            Account::Ratio(account) => account.withdraw(),
            Account::Windowed(account) => account.withdraw(now),
        };
        granted.then_some(Grant(1))
    }

    /// Says what became of a withdrawal. One that was not used goes back.
    #[inline]
    pub fn settle(&mut self, now: Time, _grant: Grant, settled: Settled) {
        match self {
            Account::Unlimited => {}
            Account::Ratio(account) if settled == Settled::Unused => account.put_back(),
            Account::Windowed(account) if settled == Settled::Unused => account.put_back(now),
            Account::Ratio(_) | Account::Windowed(_) => {}
        }
    }

    /// Retries it would grant now, one after the other; `f64::INFINITY` without a budget.
    #[must_use]
    pub fn balance(&mut self, now: Time) -> f64 {
        match self {
            Account::Unlimited => f64::INFINITY,
            Account::Ratio(account) => account.balance(),
            Account::Windowed(account) => account.balance(now),
        }
    }
}

/// A billionth of a token. Whole numbers, so that ten tenths are exactly one.
const NANO: f64 = 1e9;

/// Whether `event` is one that `of` earns by.
const fn earns(of: crate::spec::BudgetEvent, event: Event) -> bool {
    use crate::spec::BudgetEvent;
    matches!(
        (of, event),
        (BudgetEvent::Calls, Event::CallStarted) | (BudgetEvent::Successes, Event::CallSucceeded)
    )
}
