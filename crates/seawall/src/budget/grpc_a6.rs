//! gRPC's `retryThrottling`, per server name.
//!
//! Sources: grpc/proposal@1fd061ad A6-client-retries.md; grpc/grpc-go@4793ad04 `clientconn.go`;
//! grpc/grpc-java@5fda0c7c `RetriableStream.java`.

use crate::backoff::GrpcVariant;
use crate::found::Found;

/// `retryThrottling`: `tokens` starts at `maxTokens`; each qualifying failure takes 1, each success
/// adds `tokenRatio`, within `[0, maxTokens]`. Retries and hedges are allowed while
/// `tokens > maxTokens / 2`.
///
/// A failure is charged first and compared then: with 10 and 0.1 the fifth failure in a row (5 left)
/// is not retried. A failure qualifies when its status is retryable, or when the server says not to
/// retry; every such attempt is charged, the last allowed one too. grpc-go keeps floats, grpc-java
/// thousandths, and so cuts the ratio after three decimals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrpcThrottling {
    /// `maxTokens`, above 0, at most 1000.
    pub max_tokens: f64,
    /// `tokenRatio`, above 0.
    pub token_ratio: f64,
    /// Whose arithmetic.
    pub variant: GrpcVariant,
}

impl GrpcThrottling {
    pub(crate) fn check(&self, found: &mut Found) {
        found.require(
            self.max_tokens > 0.0 && self.max_tokens <= 1000.0,
            "budget.max_tokens",
            "above 0, at most 1000",
            self.max_tokens,
        );
        found.growth("budget.token_ratio", self.token_ratio);
    }
}

/// The running state of [`GrpcThrottling`].
#[derive(Clone, Copy, Debug)]
pub struct GrpcThrottle(Tokens);

#[derive(Clone, Copy, Debug)]
enum Tokens {
    Floats { now: f64, max: f64, ratio: f64 },
    Thousandths { now: i32, max: i32, ratio: i32 },
}

const THOUSAND: f64 = 1000.0;

/// grpc-java scales 32-bit floats, so 1.001 is 1001 thousandths there, but 0.251 only 250.
fn thousandths(number: f64) -> i32 {
    (number as f32 * THOUSAND as f32) as i32
}

impl GrpcThrottle {
    /// With all tokens.
    #[must_use]
    pub fn new(spec: &GrpcThrottling) -> Self {
        let (max, ratio) = (spec.max_tokens, spec.token_ratio);
        GrpcThrottle(match spec.variant {
            GrpcVariant::Go => Tokens::Floats {
                now: max,
                max,
                ratio,
            },
            GrpcVariant::Java => {
                let max = thousandths(max);
                Tokens::Thousandths {
                    now: max,
                    max,
                    ratio: thousandths(ratio),
                }
            }
        })
    }

    /// A qualifying failure; ask [`GrpcThrottle::allows_retry`] afterwards.
    pub fn failure(&mut self) {
        match &mut self.0 {
            Tokens::Floats { now, .. } => *now = (*now - 1.0).max(0.0),
            Tokens::Thousandths { now, .. } => *now = (*now - THOUSAND as i32).max(0),
        }
    }

    /// A call that ended well.
    pub fn success(&mut self) {
        match &mut self.0 {
            Tokens::Floats { now, max, ratio } => *now = (*now + *ratio).min(*max),
            Tokens::Thousandths { now, max, ratio } => {
                *now = now.saturating_add(*ratio).min(*max);
            }
        }
    }

    /// Whether more than half of the tokens are left.
    #[must_use]
    pub fn allows_retry(&self) -> bool {
        match self.0 {
            Tokens::Floats { now, max, .. } => now > max / 2.0,
            Tokens::Thousandths { now, max, .. } => now > max / 2,
        }
    }

    /// Tokens left.
    #[must_use]
    pub fn tokens(&self) -> f64 {
        match self.0 {
            Tokens::Floats { now, .. } => now,
            Tokens::Thousandths { now, .. } => f64::from(now) / THOUSAND,
        }
    }

    /// Failures in a row after which a retry would still be allowed.
    #[must_use]
    pub fn balance(&self) -> f64 {
        let (now, max) = match self.0 {
            Tokens::Floats { now, max, .. } => (now, max),
            Tokens::Thousandths { now, max, .. } => {
                (f64::from(now) / THOUSAND, f64::from(max) / THOUSAND)
            }
        };
        libm::ceil(now - max / 2.0 - 1.0).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn throttle(max_tokens: f64, token_ratio: f64, variant: GrpcVariant) -> GrpcThrottle {
        GrpcThrottle::new(&GrpcThrottling {
            max_tokens,
            token_ratio,
            variant,
        })
    }

    #[test]
    fn java_halves_an_odd_number_of_tokens_exactly_as_go_does() {
        for variant in [GrpcVariant::Go, GrpcVariant::Java] {
            let mut throttle = throttle(5.0, 1.0, variant);
            throttle.failure();
            throttle.failure();
            assert!(throttle.allows_retry(), "3 > 2.5");
            throttle.failure();
            assert!(!throttle.allows_retry(), "2 < 2.5");
        }
    }

    #[test]
    fn java_scales_in_32_bits() {
        // 1.001 * 1000 is 1000.9999999999999 in 64 bits and 1001 in 32; with 0.251 it is the other way.
        for (ratio, tokens) in [(1.001, 8.001), (0.251, 7.25), (0.5466, 7.546)] {
            let mut java = throttle(10.0, ratio, GrpcVariant::Java);
            for _ in 0..3 {
                java.failure();
            }
            java.success();
            assert_eq!(java.tokens(), tokens, "{ratio}");
        }
    }

    #[test]
    fn nothing_leaves_the_range_from_zero_to_all_tokens() {
        for variant in [GrpcVariant::Go, GrpcVariant::Java] {
            let mut throttle = throttle(3.0, 2.5, variant);
            throttle.success();
            assert_eq!(throttle.tokens(), 3.0);
            for left in [2.0, 1.0, 0.0, 0.0] {
                throttle.failure();
                assert_eq!(throttle.tokens(), left);
                assert_eq!(throttle.allows_retry(), left > 1.5);
            }
            throttle.success();
            assert_eq!(throttle.tokens(), 2.5);
            throttle.success();
            assert_eq!(throttle.tokens(), 3.0, "not 5");
        }
    }

    #[test]
    fn a_ratio_below_a_thousandth_never_earns_in_java() {
        let mut java = throttle(10.0, 0.0009, GrpcVariant::Java);
        java.failure();
        java.success();
        assert_eq!(java.tokens(), 9.0);
    }

    #[test]
    fn the_balance_is_the_failures_that_would_still_be_retried() {
        for variant in [GrpcVariant::Go, GrpcVariant::Java] {
            let mut throttle = throttle(10.0, 0.1, variant);
            let balance = throttle.balance();
            let mut retried = 0.0;
            loop {
                throttle.failure();
                if !throttle.allows_retry() {
                    break;
                }
                retried += 1.0;
            }
            assert_eq!(balance, retried);
        }
    }
}
