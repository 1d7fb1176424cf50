//! The wait before a retry. One file per member of the family; the verb is [`Backoff::next`].
//!
//! A backoff is stateless data; what it remembers of a call is the call's [`Progress`].

mod aws_jitter;
mod aws_sdk;
mod envoy;
mod exponential;
mod finagle;
mod fixed;
mod google_api_core;
mod grpc;
pub(crate) mod jitter;
mod polly_v8;
mod resilience4j;

pub use aws_jitter::{AwsJitter, AwsJitterKind};
pub use aws_sdk::{AwsMode, AwsRetryAfter, AwsSdk, AwsService, parse_x_amz_retry_after};
pub use envoy::{Envoy, EnvoyRateLimited, ResetFormat};
pub use finagle::{Finagle, FinagleKind};
pub use google_api_core::GoogleApiCore;
pub use grpc::{Grpc, GrpcConnection, GrpcJitter, GrpcVariant};
pub use jitter::Jitter;
pub use polly_v8::{Polly, PollyKind};
pub use resilience4j::Resilience4j;

use crate::entropy::Entropy;
use crate::time::Span;

/// The wait before a retry. `n` counts retries from 0: the wait before the first is `n = 0`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Backoff {
    /// At once.
    #[default]
    None,
    /// The same each time: `delay`, then jitter.
    Fixed {
        /// The cap the jitter works on.
        delay: Span,
        /// How it is spread.
        jitter: Jitter,
    },
    /// `cap = min(max, base * multiplier^n)`, then jitter.
    Exponential {
        /// The cap of the first retry.
        base: Span,
        /// Growth per retry, at least 1.
        multiplier: f64,
        /// The largest cap.
        max: Span,
        /// How it is spread.
        jitter: Jitter,
    },
    /// The AWS Architecture Blog's four kinds.
    AwsJitter(AwsJitter),
    /// The AWS SDKs, by retry mode.
    AwsSdk(AwsSdk),
    /// Envoy's router.
    Envoy(Envoy),
    /// Finagle's `Backoff`.
    Finagle(Finagle),
    /// google.api_core's `Retry`.
    GoogleApiCore(GoogleApiCore),
    /// gRPC's `retryPolicy`.
    Grpc(Grpc),
    /// Polly v8's `RetryStrategyOptions`.
    Polly(Polly),
    /// resilience4j's `IntervalFunction`.
    Resilience4j(Resilience4j),
}

/// How far one call is in its backoff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Retries waited for so far.
    pub retries: u32,
    /// What the member wants to remember, in its own encoding; 0 at first.
    pub memory: u64,
}

/// What the failure says about the wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hint {
    /// Whether it was a throttling error.
    pub throttled: bool,
    /// The wait the server asked for.
    pub asked: Option<Span>,
}

impl Backoff {
    /// Whether the member has a rule of its own for a wait the server asks for, instead of the
    /// longer of the two.
    #[must_use]
    pub const fn reads_asked(&self) -> bool {
        match self {
            Backoff::AwsSdk(_) | Backoff::Envoy(_) | Backoff::Grpc(_) | Backoff::Polly(_) => true,
            Backoff::None
            | Backoff::Fixed { .. }
            | Backoff::Exponential { .. }
            | Backoff::AwsJitter(_)
            | Backoff::Finagle(_)
            | Backoff::GoogleApiCore(_)
            | Backoff::Resilience4j(_) => false,
        }
    }

    /// Whether the member makes anything of this wait that the server asks for. What it does not hear neither stops a
    /// call nor is spread.
    #[must_use]
    pub fn hears(&self, asked: Span) -> bool {
        match self {
            Backoff::AwsSdk(backoff) => backoff.retry_after != AwsRetryAfter::Ignore,
            // The draw does not matter for whether there is a wait.
            Backoff::Envoy(backoff) => backoff.rate_limited(asked, 0).is_some(),
            _ => true,
        }
    }

    /// Whether the longest wait that can be asked for, which elsewhere says not to retry at all, is cut like any other.
    #[must_use]
    pub const fn cuts_asked(&self) -> bool {
        matches!(self, Backoff::AwsSdk(_))
    }

    /// The wait before the next retry of a call. Draws at most once.
    pub fn next(&self, progress: &mut Progress, hint: Hint, entropy: &mut impl Entropy) -> Span {
        let wait = match *self {
            Backoff::None => Span::ZERO,
            Backoff::Fixed { delay, jitter } => fixed::next(delay, jitter, entropy),
            Backoff::Exponential {
                base,
                multiplier,
                max,
                jitter,
            } => exponential::next(base, multiplier, max, jitter, progress, entropy),
            Backoff::AwsJitter(ref backoff) => backoff.delay(progress, entropy.unit()),
            Backoff::AwsSdk(ref backoff) => {
                backoff.delay(progress, entropy.unit(), hint.throttled, hint.asked)
            }
            Backoff::Envoy(ref backoff) => {
                let random = entropy.next_u64();
                let limited = hint
                    .asked
                    .and_then(|asked| backoff.rate_limited(asked, random));
                limited.unwrap_or_else(|| backoff.delay(progress, random))
            }
            Backoff::Finagle(ref backoff) => backoff.delay(progress, entropy.unit()),
            Backoff::GoogleApiCore(ref backoff) => backoff.delay(progress, entropy.unit()),
            Backoff::Grpc(ref backoff) => backoff.delay(progress, entropy.unit(), hint.asked),
            Backoff::Polly(ref backoff) => backoff.delay(progress, entropy.unit(), hint.asked),
            Backoff::Resilience4j(ref backoff) => backoff.delay(progress, entropy.unit()),
        };
        progress.retries = progress.retries.saturating_add(1);
        wait
    }
}
