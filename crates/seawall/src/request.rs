//! What the driver says when a call begins.

use crate::failure::FailureSet;
use crate::time::Time;

/// The driver's own name for a call; any number that is unique among calls in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallKey(pub u64);

/// What the driver knows about a call when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The driver's own name for the call.
    pub key: CallKey,
    /// The deadline the caller sent, if it did.
    pub deadline: Option<Time>,
    /// What the operation allows.
    pub operation: Operation,
}

/// What the operation behind a call allows a policy to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Whether it may be retried at all.
    pub retryable: bool,
    /// Whether doing it twice is the same as once, by nature or by an idempotency key that is sent along.
    pub idempotent: bool,
    /// When set, only these kinds may be retried, whatever the policy says beyond them.
    pub retry_only: Option<FailureSet>,
    /// Which operations belong together, where the policy tells them apart ([`crate::Scope::Operation`]).
    pub group: u64,
    /// For whom it is done, where the policy tells that apart ([`crate::Scope::Tenant`]).
    pub tenant: u64,
}

impl Default for Operation {
    /// Retryable and idempotent: a read.
    fn default() -> Self {
        Operation {
            retryable: true,
            idempotent: true,
            retry_only: None,
            group: 0,
            tenant: 0,
        }
    }
}
