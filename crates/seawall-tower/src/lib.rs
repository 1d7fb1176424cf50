//! [`seawall`]'s resilience policies as a [tower](https://docs.rs/tower) layer on tokio: deadline, attempt timeout, retries with
//! backoff and budget, rate limit, circuit breaker and bulkhead around any [`Service`](tower_service::Service).
//!
//! This crate decides nothing. It holds seawall's six-step loop and what a loop needs of the world: tokio's clock,
//! tokio's timers, and a lock. The engine is the one a simulator runs, so what a simulation said about a policy holds for
//! the policy that ships.
//!
//! ```
//! use seawall::{Backoff, Budget, BudgetEvent, FailureKind, Jitter, Reply, Retry, Span, Spec};
//! use seawall_tower::{Engine, PolicyLayer, SplitMix};
//! use tower::{Service, ServiceBuilder, ServiceExt};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let policy = Spec {
//!     attempt_timeout: Some(Span::millis(100)),
//!     retry: Retry {
//!         max_attempts: 3,
//!         backoff: Backoff::Exponential {
//!             base: Span::millis(2),
//!             multiplier: 2.0,
//!             max: Span::secs(1),
//!             jitter: Jitter::Full,
//!         },
//!         ..Retry::default()
//!     },
//!     budget: Budget::Ratio { of: BudgetEvent::Calls, ratio: 0.1, burst: 10.0 },
//!     ..Spec::default()
//! }
//! .check()
//! .map_err(|problems| format!("{problems:?}"))?;
//!
//! // One engine per process and dependency; clone the service as often as you like, they all share it.
//! let engine = Engine::new(policy, SplitMix::seeded(42));
//! let unavailable = |result: &Result<u32, std::io::Error>| match result {
//!     Ok(_) => Reply::Ok,
//!     Err(_) => Reply::Failed(FailureKind::Unavailable.into()),
//! };
//! let mut tries = 0;
//! let mut service = ServiceBuilder::new()
//!     .layer(PolicyLayer::new(engine.clone(), unavailable))
//!     .service_fn(move |n: u32| async move {
//!         if n == 0 { Err(std::io::Error::other("down")) } else { Ok(n) }
//!     });
//!
//! assert_eq!(service.ready().await?.call(7).await?, 7);
//! assert!(service.ready().await?.call(0).await.is_err());
//! assert_eq!(engine.stats().attempts, 4, "one for the first call, three for the second");
//! # Ok(())
//! # }
//! ```
//!
//! # What is where
//!
//! - [`Engine`]: the state all calls to one dependency share, behind a small lock that is held for a decision and
//!   never over an await.
//! - [`Protocol`]: what the loop has to know of requests and responses: which results are failures and of which kind, what a
//!   request allows, its deadline, how it is copied. A closure over the result will do; [`Http`] reads the types of
//!   the `http` crate.
//! - [`PolicyLayer`], [`PolicyService`], [`CallFuture`]: the tower side.
//! - [`Observer`]: what happened, for metrics and traces; no request, response or error ever reaches it.
//!
//! # What holds
//!
//! - **A dropped future gives back all it holds**: permit, place in line, breaker trial, unused retry token. The attempt
//!   in flight is dropped with it.
//! - A call begins when its future is first polled.
//! - A request is cloned only if it may be sent again afterwards: never under a policy without retries, never for the
//!   last attempt.
//! - The first attempt goes to the inner service that [`poll_ready`](tower_service::Service::poll_ready) found ready; each
//!   later one waits for readiness anew, within its attempt timeout.
//! - The result of the last attempt comes back as it is, even if it is a failure; only a call that has none left to give
//!   ends with [`Error::Stopped`]. The result of a failed attempt is dropped when a wait for another begins, so that it
//!   does not hold a connection meanwhile.
//! - Tokio's timers are a millisecond coarse: a wait or a timeout may last up to one longer than the policy says.
//! - Judged is what the inner service's future gives: for HTTP the head of the response. A body that breaks off later
//!   is not seen.
#![warn(missing_docs)]

mod engine;
mod entropy;
mod error;
mod future;
#[cfg(feature = "http")]
mod http;
mod observe;
mod protocol;
mod service;
mod step;

pub use engine::Engine;
pub use entropy::SplitMix;
pub use error::{BoxError, Error};
pub use future::CallFuture;
#[cfg(feature = "http")]
pub use http::{Deadline, Http, reply_of_status, transport_failure};
pub use observe::{Event, Observer};
pub use protocol::{Attempt, Protocol};
pub use service::{PolicyLayer, PolicyService};
