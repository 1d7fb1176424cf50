//! The retry quota of the AWS SDKs' standard mode.
//!
//! Sources: boto/botocore@0e6e2404 `botocore/retries/standard.py`, `quota.py`;
//! smithy-lang/smithy-rs@56ee88c5 `aws-smithy-runtime/src/client/retries/token_bucket.rs`.

use crate::failure::FailureKind;
use crate::found::Found;
use crate::time::Time;

/// The retry quota: a bucket that each retry pays from.
///
/// | | botocore 2.0 | smithy 2.0 | 2.1 |
/// | --- | --- | --- | --- |
/// | retry | 5 | 5 | 14 |
/// | connect or read timeout | 10 | 10 | 14 |
/// | other transient error (500, 502, 503, 504, connection) | 5 | 10 | 14 |
/// | throttling error | 5 | 5 | 5 |
///
/// A call that succeeds without a retry gives 1; one that succeeds after retries gives back what its
/// **last** retry cost; any other end gives nothing. A retry is denied when it costs more than there
/// is (exactly as much is enough). The quota never exceeds its capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AwsQuota {
    /// What it starts with and never exceeds; default 500, per client in botocore, per process and
    /// partition in smithy.
    pub capacity: u32,
    /// What a retry costs.
    pub costs: AwsCosts,
    /// Tokens that come back by time (smithy); default 0.
    pub refill_per_sec: f64,
    /// Tokens that each success adds besides (smithy); default 0.
    pub success_reward: f64,
}

/// What a retry costs, by version of the standard mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwsCosts {
    /// Standard 2.0 as in botocore.
    Botocore20,
    /// Standard 2.0 as in smithy.
    Smithy20,
    /// Standard 2.1.
    V21,
}

/// What went wrong, as far as the quota is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwsError {
    /// The service says the caller sends too much.
    Throttling,
    /// No connection, or no answer, in time.
    Timeout,
    /// 500, 502, 503, 504, or a broken connection.
    Transient,
    /// Any other retryable error.
    Other,
}

impl From<FailureKind> for AwsError {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Overloaded => AwsError::Throttling,
            FailureKind::Timeout | FailureKind::ConnectTimeout => AwsError::Timeout,
            FailureKind::Internal
            | FailureKind::BadGateway
            | FailureKind::Unavailable
            | FailureKind::DeadlineExceeded
            | FailureKind::Dns
            | FailureKind::ConnectRefused
            | FailureKind::Reset
            | FailureKind::Tls => AwsError::Transient,
            FailureKind::Unauthenticated
            | FailureKind::Conflict
            | FailureKind::PermissionDenied
            | FailureKind::Invalid
            | FailureKind::Cancelled
            | FailureKind::Decode => AwsError::Other,
        }
    }
}

impl AwsQuota {
    /// The default capacity.
    pub const CAPACITY: u32 = 500;

    /// A quota without refill and reward.
    #[must_use]
    pub const fn new(costs: AwsCosts) -> Self {
        AwsQuota {
            capacity: AwsQuota::CAPACITY,
            costs,
            refill_per_sec: 0.0,
            success_reward: 0.0,
        }
    }

    pub(crate) fn check(&self, found: &mut Found) {
        found.within("budget.refill_per_sec", self.refill_per_sec, 0.0, 1e9);
        found.within("budget.success_reward", self.success_reward, 0.0, 1e9);
    }
}

impl AwsCosts {
    /// What a retry costs after such an error.
    #[must_use]
    pub const fn of(self, error: AwsError) -> u16 {
        match (self, error) {
            (_, AwsError::Throttling) => 5,
            (AwsCosts::V21, _) => 14,
            (AwsCosts::Botocore20 | AwsCosts::Smithy20, AwsError::Timeout) => 10,
            (AwsCosts::Smithy20, AwsError::Transient) => 10,
            (AwsCosts::Botocore20 | AwsCosts::Smithy20, _) => 5,
        }
    }
}

/// The running state of an [`AwsQuota`].
#[derive(Clone, Copy, Debug)]
pub struct AwsQuotaAccount {
    spec: AwsQuota,
    available: u32,
    /// Part of a token, from refill and rewards; below 1.
    fraction: f64,
    refilled: Time,
}

impl AwsQuotaAccount {
    /// A full quota.
    #[must_use]
    pub fn new(spec: &AwsQuota, now: Time) -> Self {
        AwsQuotaAccount {
            spec: *spec,
            available: spec.capacity,
            fraction: 0.0,
            refilled: now,
        }
    }

    /// Asks for one retry after such an error: what it cost, or `None` when it is denied.
    #[must_use]
    pub fn acquire(&mut self, now: Time, error: AwsError) -> Option<u16> {
        self.refill(now);
        let cost = self.spec.costs.of(error);
        self.available = self.available.checked_sub(u32::from(cost))?;
        Some(cost)
    }

    /// A call ended well; `last` is what its last retry cost, if it had one.
    pub fn succeeded(&mut self, now: Time, last: Option<u16>) {
        self.refill(now);
        self.give(last.map_or(1, u32::from));
        self.add_fraction(self.spec.success_reward);
    }

    /// Gives back what a retry cost that was not made.
    pub fn put_back(&mut self, cost: u16) {
        self.give(u32::from(cost));
    }

    /// Retries that could be paid after ordinary errors.
    #[must_use]
    pub fn balance(&self) -> f64 {
        f64::from(self.available / u32::from(self.spec.costs.of(AwsError::Other)))
    }

    /// Tokens left.
    #[must_use]
    pub fn available(&self) -> u32 {
        self.available
    }

    fn refill(&mut self, now: Time) {
        if self.spec.refill_per_sec > 0.0 {
            let passed = now.since(self.refilled).as_secs_f64();
            self.refilled = self.refilled.max(now);
            self.add_fraction(passed * self.spec.refill_per_sec);
        }
    }

    fn add_fraction(&mut self, tokens: f64) {
        self.fraction += tokens;
        let whole = libm::floor(self.fraction);
        self.fraction -= whole;
        self.give(whole as u32);
    }

    fn give(&mut self, tokens: u32) {
        self.available = self
            .available
            .saturating_add(tokens)
            .min(self.spec.capacity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(version: AwsCosts) -> [u16; 4] {
        [
            AwsError::Throttling,
            AwsError::Timeout,
            AwsError::Transient,
            AwsError::Other,
        ]
        .map(|error| version.of(error))
    }

    #[test]
    fn smithy_charges_every_transient_error_as_a_timeout_and_botocore_does_not() {
        assert_eq!(costs(AwsCosts::Botocore20), [5, 10, 5, 5]);
        assert_eq!(costs(AwsCosts::Smithy20), [5, 10, 10, 5]);
        assert_eq!(costs(AwsCosts::V21), [5, 14, 14, 14]);
    }

    #[test]
    fn a_2_0_quota_returns_only_the_last_cost() {
        let mut quota = AwsQuotaAccount::new(&AwsQuota::new(AwsCosts::Botocore20), Time::ZERO);
        let first = quota.acquire(Time::ZERO, AwsError::Timeout);
        let second = quota.acquire(Time::ZERO, AwsError::Other);
        assert_eq!((first, second, quota.available()), (Some(10), Some(5), 485));
        quota.succeeded(Time::ZERO, second);
        assert_eq!(quota.available(), 490);
    }

    #[test]
    fn what_is_exactly_enough_is_granted() {
        let spec = AwsQuota {
            capacity: 10,
            ..AwsQuota::new(AwsCosts::Botocore20)
        };
        let mut quota = AwsQuotaAccount::new(&spec, Time::ZERO);
        assert_eq!(quota.acquire(Time::ZERO, AwsError::Timeout), Some(10));
        assert_eq!(quota.acquire(Time::ZERO, AwsError::Throttling), None);
        quota.put_back(10);
        quota.put_back(10);
        assert_eq!(quota.available(), 10);
    }

    #[test]
    fn smithy_can_refill_by_time_and_reward_successes() {
        let spec = AwsQuota {
            capacity: 10,
            costs: AwsCosts::Smithy20,
            refill_per_sec: 0.5,
            success_reward: 0.25,
        };
        let mut quota = AwsQuotaAccount::new(&spec, Time::ZERO);
        assert_eq!(quota.acquire(Time::ZERO, AwsError::Transient), Some(10));
        assert_eq!(quota.acquire(Time(9_999_999_999), AwsError::Other), None);
        assert_eq!(quota.available(), 4);
        assert_eq!(
            quota.acquire(Time(10_000_000_000), AwsError::Other),
            Some(5)
        );
        for _ in 0..4 {
            quota.succeeded(Time(10_000_000_000), None);
        }
        assert_eq!(quota.available(), 5);
        assert!(quota.acquire(Time::MAX, AwsError::Other).is_some());
        assert!(quota.available() <= 10);
    }
}
