//! What bounds how often attempts are sent.

use seawall::rate_limit::{AwsAdaptive, Gcra, Resilience4jRate};
use seawall::{RateLimit, Span};

use crate::scenario::written::{Form, Rate, Share, Whole, members, mirror};

members! {
    /// What bounds how often attempts are sent. Each attempt, the first too, passes it before it lines up
    /// for a permit; a wait that leaves no time for the attempt is not begun.
    RateLimit as "RateLimit" {
        /// The generic cell rate algorithm.
        gcra: GcraLimit
            [RateLimit::Gcra { gcra: Gcra { period, burst }, max_wait }]
            [GcraLimit { rate: period, burst, max_wait }],
        /// resilience4j's RateLimiter.
        resilience4j: Resilience4jRate [RateLimit::Resilience4j(it)] [it],
        /// The adaptive mode of the AWS SDKs.
        aws_adaptive: AwsAdaptive [RateLimit::AwsAdaptive(it)] [it],
    }
}

#[derive(Clone, Debug)]
struct GcraLimit {
    /// The time of one.
    rate: Span,
    burst: u32,
    max_wait: Span,
}

mirror! {
    /// Conforming: no earlier than burst − 1 periods before its turn, where turns are a period apart.
    GcraLimit as "GcraLimit" {
        /// Attempts per time, to the nanosecond between two; above 0.
        rate: Rate,
        /// Attempts that may come at once.
        burst: Whole<1> = 1,
        /// The longest wait; 0s refuses at once. Who waits asks again afterwards.
        max_wait: Span = "0s",
    }
}

/// A rate by the time between two.
impl Form<Span> for Rate {
    fn mean(self) -> Span {
        Span::from_secs_f64(1.0 / self.0)
    }

    fn of(period: &Span) -> Self {
        Rate(1.0 / period.as_secs_f64())
    }
}

mirror! {
    /// resilience4j's RateLimiter: so many per cycle, counted from its creation; who waits reserves of
    /// later cycles.
    Resilience4jRate as "Resilience4jRateLimit" {
        /// limitForPeriod, at least 1.
        limit_for_period: Whole<0> = 50,
        /// limitRefreshPeriod, above 0s.
        limit_refresh_period: Span = "500ns",
        /// timeoutDuration: the longest wait.
        timeout: Span = "5s",
        /// Whether callers use the blocking interface, as the annotations do: who is refused sleeps through
        /// the timeout first.
        blocking: bool = true,
    }
}

mirror! {
    /// The adaptive mode of the AWS SDKs: a token bucket that begins with the first throttling response and
    /// whose rate follows a cubic.
    AwsAdaptive as "AwsAdaptiveRateLimit" {
        /// The share of the rate that is kept after a throttling response.
        beta: Share = 0.7,
        /// Growth of the cubic, above 0.
        scale: f64 = 0.4,
        /// Weight of the newest bucket in the measured rate.
        smoothing: Share = 0.8,
        /// Tokens for the first attempt of a call.
        cost: f64 = 1,
        /// Tokens for a retry: 1 in botocore, 5 in smithy.
        retry_cost: f64 = 1,
        /// Tokens for a retry after a transient error: 1 in botocore, 10 in smithy.
        transient_retry_cost: f64 = 1,
        /// Whether tokens that are not there are taken all the same and waited for (smithy), or asked for
        /// again after the wait (botocore).
        reserves: bool = false,
    }
}
