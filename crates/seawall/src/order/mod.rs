//! In which order a call passes the parts of its policy, and what follows from that.

mod refusal;

pub use refusal::{Refusal, RefusalSet};

use alloc::vec::Vec;

/// A part of a policy, as something that surrounds the parts inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The limit (or default) of the deadline. It counts from the instant in which it is passed: what waits outside
    /// it waits on the caller's time.
    TotalTimeout,
    /// Retries with their budget, or hedging. What is outside it is passed once per call and kept until its end; what is
    /// inside it once per try.
    Retry,
    /// The rate limit.
    RateLimit,
    /// The breaker: outside retry it counts calls, inside it attempts.
    Breaker,
    /// The bulkhead: outside retry a call keeps its permit during backoff, inside it does not.
    Bulkhead,
    /// The attempt timeout: waits of the layers inside it are part of the attempt, and a breaker inside it does
    /// not see that it fired.
    AttemptTimeout,
}

impl Layer {
    /// All of them, in the order that holds when nothing is said.
    pub const ALL: [Layer; 6] = [
        Layer::TotalTimeout,
        Layer::Retry,
        Layer::RateLimit,
        Layer::Breaker,
        Layer::Bulkhead,
        Layer::AttemptTimeout,
    ];

    /// The word used in scenarios and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Layer::TotalTimeout => "total_timeout",
            Layer::Retry => "retry",
            Layer::RateLimit => "rate_limit",
            Layer::Breaker => "breaker",
            Layer::Bulkhead => "bulkhead",
            Layer::AttemptTimeout => "attempt_timeout",
        }
    }
}

/// Layers, outermost first.
///
/// Every part that the policy has must be named, each once. The total timeout belongs outside retry, the attempt
/// timeout inside it. Checked by [`Spec::check`](crate::Spec::check).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order(Vec<Layer>);

impl Order {
    /// These, outermost first.
    #[must_use]
    pub fn of(layers: &[Layer]) -> Order {
        Order(layers.to_vec())
    }

    /// Them, outermost first.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        &self.0
    }

    /// resilience4j, by the order of its Spring aspects: retry, breaker, rate limiter, time limiter, bulkhead.
    ///
    /// Source: resilience4j@af9e7c97, `*AspectOrder` of the configuration properties.
    #[must_use]
    pub fn resilience4j() -> Order {
        use Layer as L;
        Order::of(&[
            L::TotalTimeout,
            L::Retry,
            L::Breaker,
            L::RateLimit,
            L::AttemptTimeout,
            L::Bulkhead,
        ])
    }

    /// .NET's standard handler: limiter, total timeout, retry, breaker, attempt timeout.
    ///
    /// Source: dotnet/extensions, `AddStandardResilienceHandler`.
    #[must_use]
    pub fn dotnet_standard() -> Order {
        use Layer as L;
        Order::of(&[
            L::RateLimit,
            L::Bulkhead,
            L::TotalTimeout,
            L::Retry,
            L::Breaker,
            L::AttemptTimeout,
        ])
    }

    /// Envoy: the filters once per request, then the router's timeout and retries, then what the cluster bounds
    /// per attempt; a try's timeout begins when it has its connection.
    #[must_use]
    pub fn envoy() -> Order {
        use Layer as L;
        Order::of(&[
            L::RateLimit,
            L::TotalTimeout,
            L::Retry,
            L::Breaker,
            L::Bulkhead,
            L::AttemptTimeout,
        ])
    }

    /// Finagle: retries above the balancer; failure accrual, the attempt's timeout and the pool below it.
    #[must_use]
    pub fn finagle() -> Order {
        use Layer as L;
        Order::of(&[
            L::TotalTimeout,
            L::RateLimit,
            L::Retry,
            L::Breaker,
            L::AttemptTimeout,
            L::Bulkhead,
        ])
    }

    /// All six, those that are not named put where they change nothing.
    pub(crate) fn complete(&self) -> Vec<Layer> {
        let mut all = self.0.clone();
        let has = |all: &[Layer], layer| all.contains(&layer);
        if !has(&all, Layer::TotalTimeout) {
            all.insert(0, Layer::TotalTimeout);
        }
        if !has(&all, Layer::AttemptTimeout) {
            all.push(Layer::AttemptTimeout);
        }
        if !has(&all, Layer::Retry) {
            let after = all.iter().position(|&layer| layer == Layer::TotalTimeout);
            all.insert(after.map_or(0, |at| at + 1), Layer::Retry);
        }
        all
    }
}
