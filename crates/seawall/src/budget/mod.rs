//! What bounds retries over all calls of one process. One file per member of the family.
//!
//! The verbs: [`Account::record`] what happened, [`Account::withdraw`] for one retry, and
//! [`Account::settle`] what became of a withdrawal. Per-call limits multiply over layers; a budget
//! bounds the load that retries add whatever the layers above and below do.

mod aws_quota;
mod envoy;
mod failure_share;
mod finagle;
mod grpc_a6;
mod ratio;
mod sre_adaptive;
mod tower_tps;
mod windowed;

pub use aws_quota::{AwsCosts, AwsError, AwsQuota, AwsQuotaAccount};
pub use envoy::{Envoy, EnvoyAccount, EnvoyRetryBudget};
pub use finagle::{Finagle, FinagleAccount};
pub use grpc_a6::{GrpcThrottle, GrpcThrottling};
pub use sre_adaptive::{SreAdaptive, SreHistory, SreThrottle};
pub use tower_tps::{TowerTps, TowerTpsAccount};

use alloc::boxed::Box;

use crate::entropy::Entropy;
use crate::failure::FailureKind;
use crate::time::{Span, Time};

use failure_share::FailureShare;
use ratio::Ratio;
use windowed::Windowed;

/// What bounds retries over all calls of one process.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Budget {
    /// Nothing does.
    #[default]
    None,
    /// A token bucket: `ratio` tokens come in per event, a retry costs one, `burst` is both the
    /// size of the bucket and what it starts with.
    Ratio {
        /// The event that earns.
        of: BudgetEvent,
        /// Tokens per event, above 0.
        ratio: f64,
        /// Bucket size, at least 1.
        burst: f64,
    },
    /// Retries in the last `window` may not exceed `ratio` times the events in it, or
    /// `floor_per_sec` times its length, whichever is more.
    Windowed {
        /// The event counted.
        of: BudgetEvent,
        /// Retries per event, 0 to 1000.
        ratio: f64,
        /// Length of the sliding window, at least 10 ns; kept in ten slices.
        window: Span,
        /// Retries per second that are always allowed.
        floor_per_sec: f64,
    },
    /// No retry while more attempts failed than `max` times the calls begun, both since the start of the process.
    FailureShare {
        /// Above 0, at most 1000.
        max: f64,
    },
    /// The retry quota of the AWS SDKs.
    AwsQuota(AwsQuota),
    /// Envoy's bound on concurrent retries.
    Envoy(Envoy),
    /// Finagle's `RetryBudget`.
    Finagle(Finagle),
    /// gRPC's `retryThrottling`.
    Grpc(GrpcThrottling),
    /// Adaptive throttling of the Google SRE book; it rejects first attempts too.
    SreAdaptive(SreAdaptive),
    /// tower's `TpsBudget`, as in Linkerd's service profiles.
    TowerTps(TowerTps),
}

/// What earns a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetEvent {
    /// Every call that sent its first attempt. (One refused on this side before that earns nothing:
    /// an open breaker must not save up retries for the moment it closes.)
    Calls,
    /// Every call that ended well.
    Successes,
    /// Every answer, good or bad, that is not of a kind that is retried.
    NotRetryable,
}

/// Something a budget may earn by or pay for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An attempt was sent.
    Sent {
        /// Whether it is the first of its call.
        first: bool,
    },
    /// An attempt failed.
    AttemptFailed {
        /// How.
        kind: FailureKind,
        /// Whether the policy and the operation count it as transient.
        transient: bool,
        /// Whether the server said not to retry.
        do_not_retry: bool,
    },
    /// The caller left while an attempt was out.
    Abandoned,
    /// A call ended well.
    CallSucceeded {
        /// Whether it took more than one attempt.
        retried: bool,
    },
}

/// What a retry is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// How the attempt before it failed.
    pub kind: FailureKind,
    /// Calls that wait for a bulkhead permit.
    pub pending: u32,
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
    /// A bound on the share of failures.
    FailureShare(FailureShare),
    /// The retry quota of the AWS SDKs.
    AwsQuota(AwsQuotaAccount),
    /// Envoy's bound on concurrent retries.
    Envoy(Box<EnvoyAccount>),
    /// Finagle's `RetryBudget`.
    Finagle(Box<FinagleAccount>),
    /// gRPC's `retryThrottling`.
    Grpc(GrpcThrottle),
    /// Adaptive throttling of the Google SRE book.
    SreAdaptive(Box<SreThrottle>),
    /// tower's `TpsBudget`.
    TowerTps(Box<TowerTpsAccount>),
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
            Budget::FailureShare { max } => Account::FailureShare(FailureShare::new(max)),
            Budget::AwsQuota(ref spec) => Account::AwsQuota(AwsQuotaAccount::new(spec, now)),
            Budget::Envoy(ref spec) => Account::Envoy(Box::new(EnvoyAccount::new(spec, now))),
            Budget::Finagle(ref spec) => Account::Finagle(Box::new(FinagleAccount::new(spec, now))),
            Budget::Grpc(ref spec) => Account::Grpc(GrpcThrottle::new(spec)),
            Budget::SreAdaptive(ref spec) => {
                Account::SreAdaptive(Box::new(SreThrottle::new(spec, now)))
            }
            Budget::TowerTps(ref spec) => {
                Account::TowerTps(Box::new(TowerTpsAccount::new(spec, now)))
            }
        }
    }

    /// Whether an attempt, the first of a call or a later one, may be sent at all.
    #[inline]
    #[must_use]
    pub fn admits(&mut self, now: Time, entropy: &mut impl Entropy) -> bool {
        match self {
            Account::SreAdaptive(throttle) => throttle.admit(now, entropy.unit()),
            _ => true,
        }
    }

    /// Takes note of something that happened.
    #[inline]
    pub fn record(&mut self, now: Time, event: Event) {
        match self {
            Account::Unlimited => {}
            Account::Ratio(account) => account.record(event),
            Account::Windowed(account) => account.record(now, event),
            Account::FailureShare(account) => account.record(event),
            Account::AwsQuota(account) => {
                // After retries it is the last grant that goes back.
                if event == (Event::CallSucceeded { retried: false }) {
                    account.succeeded(now, None);
                }
            }
            Account::Envoy(account) => match event {
                Event::Sent { .. } => account.sent(now),
                Event::AttemptFailed { .. } | Event::Abandoned | Event::CallSucceeded { .. } => {
                    account.left();
                }
            },
            Account::Finagle(account) => {
                if earns(account.deposits, event) {
                    account.deposit(now);
                }
            }
            Account::Grpc(account) => match event {
                Event::CallSucceeded { .. } => account.success(),
                Event::AttemptFailed {
                    transient,
                    do_not_retry,
                    ..
                } if transient || do_not_retry => account.failure(),
                Event::Sent { .. } | Event::AttemptFailed { .. } | Event::Abandoned => {}
            },
            Account::SreAdaptive(account) => {
                let accepted = match event {
                    Event::CallSucceeded { .. } => true,
                    Event::AttemptFailed { kind, .. } => !account.spec.rejections.contains(kind),
                    Event::Sent { .. } | Event::Abandoned => false,
                };
                if accepted {
                    account.accepted(now);
                }
            }
            Account::TowerTps(account) => {
                if earns(account.deposits, event) {
                    account.deposit(now);
                }
            }
        }
    }

    /// Asks for one retry; `None` refuses.
    #[inline]
    pub fn withdraw(&mut self, now: Time, need: Need) -> Option<Grant> {
        let granted = match self {
            Account::Unlimited | Account::SreAdaptive(_) => true,
            Account::Ratio(account) => account.withdraw(),
            Account::Windowed(account) => account.withdraw(now),
            Account::FailureShare(account) => account.holds(),
            Account::AwsQuota(account) => return account.acquire(now, need.kind.into()).map(Grant),
            Account::Envoy(account) => account.withdraw(now, need.pending),
            Account::Finagle(account) => account.withdraw(now),
            Account::Grpc(account) => account.allows_retry(),
            Account::TowerTps(account) => account.withdraw(now),
        };
        granted.then_some(Grant(1))
    }

    /// Says what became of a withdrawal. One that was not used goes back.
    #[inline]
    pub fn settle(&mut self, now: Time, grant: Grant, settled: Settled) {
        match (self, settled) {
            (Account::Ratio(account), Settled::Unused) => account.put_back(),
            (Account::Windowed(account), Settled::Unused) => account.put_back(now),
            (Account::AwsQuota(account), Settled::Unused) => account.put_back(grant.0),
            (Account::AwsQuota(account), Settled::Succeeded) => {
                account.succeeded(now, Some(grant.0));
            }
            (Account::Envoy(account), _) => account.release(),
            (Account::Finagle(account), Settled::Unused) => account.put_back(now),
            (Account::TowerTps(account), Settled::Unused) => account.put_back(now),
            _ => {}
        }
    }

    /// Retries it would grant now, one after the other; `f64::INFINITY` without a budget. (For a quota
    /// with several prices, at the price of an ordinary error.)
    #[must_use]
    pub fn balance(&mut self, now: Time) -> f64 {
        match self {
            Account::Unlimited | Account::SreAdaptive(_) => f64::INFINITY,
            Account::Ratio(account) => account.balance(),
            Account::Windowed(account) => account.balance(now),
            Account::FailureShare(account) => account.balance(),
            Account::AwsQuota(account) => account.balance(),
            Account::Envoy(account) => {
                account.limit(now, 0).saturating_sub(account.retries()) as f64
            }
            Account::Finagle(account) => account.balance(now).max(0) as f64,
            Account::Grpc(account) => account.balance(),
            Account::TowerTps(account) => account.balance().max(0) as f64,
        }
    }
}

/// A billionth of a token. Whole numbers, so that ten tenths are exactly one.
const NANO: f64 = 1e9;

/// Whether `event` is one that `of` earns by.
const fn earns(of: BudgetEvent, event: Event) -> bool {
    matches!(
        (of, event),
        (BudgetEvent::Calls, Event::Sent { first: true })
            | (
                BudgetEvent::Successes | BudgetEvent::NotRetryable,
                Event::CallSucceeded { .. }
            )
            | (
                BudgetEvent::NotRetryable,
                Event::AttemptFailed {
                    transient: false,
                    ..
                }
            )
    )
}
