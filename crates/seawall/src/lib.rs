//! Resilience policies as a sans-IO engine.
#![cfg_attr(not(any(test, feature = "std")), no_std)]

extern crate alloc;

mod action;
pub mod backoff;
pub mod breaker;
pub mod budget;
pub mod bulkhead;
mod call;
mod check;
mod classify;
mod client;
mod deadline;
mod entropy;
mod error;
mod failure;
mod guards;
mod policy;
mod request;
mod retry_after;
mod spec;
mod stats;
mod time;
#[cfg(feature = "std")]
mod wall;
mod window;

pub use action::{Action, Stopped, Verdict};
pub use breaker::BreakerState;
pub use call::Call;
pub use client::Client;
pub use entropy::Entropy;
pub use error::{CallError, ErrorKind};
pub use failure::{Failure, FailureKind, FailureSet, Phase, Reply};
pub use policy::Policy;
pub use request::{CallKey, Operation, Request};
pub use retry_after::parse_retry_after;
pub use spec::{
    Backoff, Breaker, Budget, BudgetEvent, Bulkhead, Counts, Deadline, Jitter, Retry, RetryAfter,
    Spec, SpecError, Window,
};
pub use stats::Stats;
pub use time::{Span, Time};
#[cfg(feature = "std")]
pub use wall::Wall;
