//! Resilience policies as a sans-IO engine: deadline, retries, retry budget, circuit breaker and bulkhead.
//!
//! This crate decides; it never sends, sleeps, spawns, reads a clock or draws a random number. `now` and
//! randomness are arguments, so the same engine runs under a socket, in a test and in a simulator, and
//! gives the same decisions for the same inputs.
//!
//! # The contract, in six steps
//!
//! 1. Write a [`Spec`], [`check`](Spec::check) it once, and make one [`Client`] per process and dependency
//!    with the [`Policy`] that comes out. All calls to that dependency share it.
//! 2. [`begin`](Client::begin) a call.
//! 3. [`poll`](Client::poll) it until `None`, and do each [`Action`]: `Send` an attempt, `Abandon` one,
//!    `Finish`.
//! 4. Wait for whatever comes first: a reply, or [`Call::timer`].
//! 5. Say so with [`on_reply`](Client::on_reply) or [`on_timer`](Client::on_timer); if the caller left, with
//!    [`cancel`](Client::cancel).
//! 6. Go on with step 3, for this call and for each that [`next_admitted`](Client::next_admitted) names.
//!    After `Finish` the call may be dropped; whatever still arrives for it is ignored.
//!
//! ```
//! use seawall::{
//!     Action, Backoff, CallKey, Client, Entropy, FailureKind, Jitter, Operation, Reply, Request, Retry,
//!     Span, Spec, Time,
//! };
//!
//! struct Dice(u64);
//! impl Entropy for Dice {
//!     fn next_u64(&mut self) -> u64 {
//!         self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
//!         self.0
//!     }
//! }
//!
//! let spec = Spec {
//!     attempt_timeout: Some(Span::millis(100)),
//!     retry: Retry {
//!         max_attempts: 3,
//!         backoff: Backoff::Exponential {
//!             base: Span::millis(50),
//!             multiplier: 2.0,
//!             max: Span::secs(1),
//!             jitter: Jitter::Full,
//!         },
//!         ..Retry::default()
//!     },
//!     ..Spec::default()
//! };
//! let mut now = Time::ZERO; // this driver's clock stands still unless it is moved
//! let mut dice = Dice(1);
//! let mut client = Client::new(spec.check().expect("a sound spec"), now);
//!
//! let request = Request { key: CallKey(1), deadline: None, operation: Operation::default() };
//! let mut call = client.begin(now, request);
//! let verdict = 'call: loop {
//!     while let Some(action) = client.poll(&mut call, now, &mut dice) {
//!         match action {
//!             // A dependency that is down for the first attempt and up for the second.
//!             Action::Send { attempt: 1, .. } => {
//!                 let failed = Reply::Failed(FailureKind::Unavailable.into());
//!                 client.on_reply(&mut call, now, 1, failed);
//!             }
//!             Action::Send { attempt, .. } => client.on_reply(&mut call, now, attempt, Reply::Ok),
//!             Action::Abandon(_) | Action::Choose(_) => {}
//!             Action::Finish(verdict) => break 'call verdict,
//!         }
//!     }
//!     if let Some(timer) = call.timer() {
//!         now = timer; // a real driver sleeps
//!         client.on_timer(&mut call, now);
//!     }
//! };
//! assert!(verdict.is_ok());
//! assert_eq!(verdict.attempts, 2);
//! assert!(now < Time::ZERO.after(Span::millis(50)), "one wait, drawn from [0, 50 ms)");
//! ```
//!
//! # What happens to a failed attempt
//!
//! A retry is made only if all of these hold; the first that does not is the call's [`Stopped`] reason:
//!
//! | it must hold that | otherwise |
//! |---|---|
//! | the deadline has not passed | `DeadlineExceeded` |
//! | policy and operation retry this kind of failure | `NotRetryable` |
//! | the operation is idempotent, or the server cannot have seen the request | `NotIdempotent` |
//! | attempts are left | `AttemptsUsed` |
//! | retries are not switched off | `KillSwitch` |
//! | the server did not ask for a longer wait than is accepted or left | `RetryAfterTooLong` |
//! | after the wait there is time for an attempt | `DeadlineTooClose` |
//! | the breaker is not known to be open then | `BreakerOpen` |
//! | the budget grants a retry | `BudgetEmpty` |
//! | the rate limit lets it pass in time | `RateLimited` |
//! | when the wait is over, the bulkhead has a permit in time | `BulkheadFull`, `BulkheadTimeout` |
//! | and adaptive throttling, where that is the budget, and the breaker let it through | `Throttled`, `BreakerOpen` |
//!
//! # Order of composition
//!
//! Part of the spec ([`Spec::order`]). By default, outermost first: total timeout, retries with their budget, rate
//! limit, breaker, bulkhead, attempt timeout. What is outside retry is passed once per call, what is inside once per
//! attempt; see [`Layer`] for what follows. What this side refuses is no failure to the breaker unless it is told so
//! ([`Breaker::count_refusals`]), and a caller that leaves is none, except where the library that a breaker is named after has it
//! otherwise: to Hystrix a full bulkhead is a failure whatever it is told, and so is a trial whose caller leaves; to Polly a
//! caller that leaves is a success. Nothing is counted twice.
//!
//! # Scope
//!
//! A breaker, budget, bulkhead or rate limit is shared by all calls of a client, or by those to one host, of one group of
//! operations, or of one tenant ([`Scope`]). Where a host matters, the client asks for it before each
//! attempt with [`Action::Choose`], and is told with [`Client::on_host`]; [`Client::admits_host`] lets the
//! balancer pass over hosts whose breaker is open.
//!
//! # Promises
//!
//! - No input makes it panic: late, doubled and unknown replies are ignored and counted, time may stand
//!   still or run back, numbers may be as large as they come; all arithmetic saturates.
//! - Everything a call holds (permit, place in line, breaker trial, unused retry token) is given back on
//!   every way it can end. Only a call that is dropped before its end keeps what it holds: cancel it first.
//! - A [`Call`] is plain data of at most 128 bytes. No call allocates once the line for permits has been at its
//!   longest.
//! - One timer per call, never in the past after a poll.
//!
//! # Features
//!
//! `std` (default) adds [`Wall`], which turns the clock of std into [`Time`]. Without it the crate needs
//! `core` and `alloc` only.
#![cfg_attr(not(any(test, feature = "std")), no_std)]
#![warn(missing_docs)]
// Nothing here talks to anybody but its caller. Tests may.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

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
mod found;
mod guards;
pub mod hedge;
mod layers;
pub mod limiter;
mod order;
pub mod outlier;
mod policy;
mod preset;
mod pushback;
mod race;
pub mod rate_limit;
mod request;
mod retry_after;
pub mod route_timeout;
mod scope;
pub mod shed;
mod spec;
mod stats;
mod time;
#[cfg(feature = "std")]
mod wall;
mod window;

pub use action::{Action, Stopped, Verdict};
pub use breaker::BreakerState;
pub use call::{Call, Wait};
pub use client::Client;
pub use entropy::Entropy;
pub use error::{CallError, ErrorKind};
pub use failure::{Failure, FailureKind, FailureSet, Phase, PhaseSet, Reply};
pub use hedge::{HEDGED_ATTEMPTS_MAX, Hedge, HedgeVariant};
pub use order::{Layer, Order, Refusal, RefusalSet};
pub use policy::Policy;
pub use preset::Preset;
pub use pushback::{Pushback, PushbackParser, parse_pushback};
pub use request::{CallKey, Operation, Request};
pub use retry_after::parse_retry_after;
pub use scope::{Scope, Scopes};
pub use spec::{
    Backoff, Breaker, BreakerRule, Budget, BudgetEvent, Bulkhead, Counts, Deadline, Jitter,
    Limiter, LimiterRule, Ramp, RateLimit, Rates, Retry, RetryAfter, Spec, SpecError, Window,
};
pub use stats::Stats;
pub use time::{Span, Time};
#[cfg(feature = "std")]
pub use wall::Wall;
