//! gRPC's two backoffs: of the retry policy of proposal A6, and between connection attempts.
//!
//! Sources: grpc/proposal@1fd061ad A6-client-retries.md; grpc/grpc-go@4793ad04 `stream.go`,
//! `internal/backoff/backoff.go`; grpc/grpc-java@5fda0c7c `RetriableStream.java`,
//! `ExponentialBackoffPolicy.java`.

use super::Progress;
use crate::found::Found;
use crate::time::Span;

/// Whose reading of the rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrpcVariant {
    /// grpc-go.
    #[default]
    Go,
    /// grpc-java.
    Java,
}

/// The backoff of `retryPolicy`: `min(initialBackoff * backoffMultiplier^(n-1), maxBackoff)`, then
/// jitter, for the `n`-th retry since the start or the last pushback.
///
/// Jitter comes after the cap, so waits reach 1.2 times `maxBackoff`. The service config has no
/// defaults. grpc-go computes the power afresh and caps it; grpc-java goes step by step, cuts to
/// whole nanoseconds and does not cap the first wait, so they differ when `initialBackoff` is above
/// `maxBackoff`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grpc {
    /// `initialBackoff`, above 0.
    pub initial: Span,
    /// `maxBackoff`, above 0.
    pub max: Span,
    /// `backoffMultiplier`, above 0; may be below 1.
    pub multiplier: f64,
    /// How a wait is spread.
    pub jitter: GrpcJitter,
    /// Whose reading of the rule.
    pub variant: GrpcVariant,
}

/// How [`Grpc`] spreads a wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrpcJitter {
    /// `0.8 + 0.4 u` times the wait: proposal A6 as it reads now.
    #[default]
    PlusMinusFifth,
    /// `u` times the wait: the older text, which grpc-java keeps behind a switch.
    Full,
}

impl Grpc {
    pub(crate) fn check(&self, found: &mut Found) {
        found.span_above_zero("retry.backoff.initial", self.initial);
        found.span_above_zero("retry.backoff.max", self.max);
        found.growth("retry.backoff.multiplier", self.multiplier);
    }

    /// The next wait, for a unit draw `u`; with a pushback exactly that, and the exponent restarts.
    pub fn delay(&self, progress: &mut Progress, u: f64, pushback: Option<Span>) -> Span {
        if let Some(pushback) = pushback {
            progress.memory = 0;
            return pushback;
        }
        let since_pushback = progress.memory.min(u64::from(u32::MAX)) as u32;
        progress.memory = progress.memory.saturating_add(1);
        let bound = match self.variant {
            GrpcVariant::Go => {
                let power = libm::pow(self.multiplier, f64::from(since_pushback));
                (self.initial.0 as f64 * power).min(self.max.0 as f64)
            }
            GrpcVariant::Java => {
                stepwise(self.initial, self.multiplier, self.max, since_pushback) as f64
            }
        };
        let factor = match self.jitter {
            GrpcJitter::PlusMinusFifth => 0.8 + 0.4 * u,
            GrpcJitter::Full => u,
        };
        Span((bound * factor) as u64)
    }
}

/// The backoff between connection attempts: `min(base * multiplier^k, max) * (1 + jitter * (2u - 1))`
/// after `k` consecutive failures.
///
/// Jitter comes after the cap, so up to 144 s with the defaults. grpc-go does not spread the first
/// wait (`k = 0`), grpc-java does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrpcConnection {
    /// Default 1 s.
    pub base: Span,
    /// Default 1.6.
    pub multiplier: f64,
    /// Share of the wait it may differ by; default 0.2.
    pub jitter: f64,
    /// Default 120 s.
    pub max: Span,
    /// Whose reading of the rule.
    pub variant: GrpcVariant,
}

impl Default for GrpcConnection {
    fn default() -> Self {
        GrpcConnection {
            base: Span::secs(1),
            multiplier: 1.6,
            jitter: 0.2,
            max: Span::secs(120),
            variant: GrpcVariant::Go,
        }
    }
}

impl GrpcConnection {
    /// The wait after `failures` earlier consecutive failures, for a unit draw `u`.
    #[must_use]
    pub fn delay(&self, failures: u32, u: f64) -> Span {
        match self.variant {
            GrpcVariant::Go if failures == 0 => self.base,
            GrpcVariant::Go => {
                let bound = multiplied(self.base, self.multiplier, self.max, failures);
                // The cast is the rule that a negative wait is none.
                Span((bound * (1.0 + self.jitter * (u * 2.0 - 1.0))) as u64)
            }
            GrpcVariant::Java => {
                let bound = stepwise(self.base, self.multiplier, self.max, failures);
                let most = self.jitter * bound as f64;
                // What is added is cut towards zero by itself.
                let added = (u * (most + most) - most) as i64;
                Span(bound.saturating_add_signed(added))
            }
        }
    }
}

/// grpc-go's loop: multiply until the bound is reached, then cap.
fn multiplied(base: Span, multiplier: f64, max: Span, times: u32) -> f64 {
    let (mut bound, max) = (base.0 as f64, max.0 as f64);
    for _ in 0..times {
        let next = bound * multiplier;
        if bound >= max || next == bound {
            break;
        }
        bound = next;
    }
    bound.min(max)
}

/// grpc-java's steps: whole nanoseconds, each capped, the first not.
fn stepwise(initial: Span, multiplier: f64, max: Span, times: u32) -> u64 {
    let mut bound = initial.0;
    for _ in 0..times {
        let next = ((bound as f64 * multiplier) as u64).min(max.0);
        if next == bound {
            break;
        }
        bound = next;
    }
    bound
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(variant: GrpcVariant, jitter: GrpcJitter) -> Grpc {
        Grpc {
            initial: Span(1001),
            max: Span(5000),
            multiplier: 1.5,
            jitter,
            variant,
        }
    }

    fn waits(grpc: Grpc, u: f64) -> Vec<u64> {
        let mut progress = Progress::default();
        (0..6)
            .map(|_| grpc.delay(&mut progress, u, None).0)
            .collect()
    }

    #[test]
    fn java_cuts_to_whole_nanoseconds_at_every_step() {
        let waits = waits(policy(GrpcVariant::Java, GrpcJitter::Full), 1.0);
        assert_eq!(waits, [1001, 1501, 2251, 3376, 5000, 5000]);
    }

    #[test]
    fn go_computes_the_power_afresh() {
        let waits = waits(policy(GrpcVariant::Go, GrpcJitter::Full), 1.0);
        assert_eq!(waits, [1001, 1501, 2252, 3378, 5000, 5000]);
    }

    #[test]
    fn a_multiplier_below_one_shrinks_the_wait() {
        let grpc = Grpc {
            multiplier: 0.5,
            ..policy(GrpcVariant::Go, GrpcJitter::PlusMinusFifth)
        };
        assert_eq!(waits(grpc, 0.5)[..3], [1001, 500, 250]);
    }

    #[test]
    fn java_spreads_the_first_connection_wait_and_go_does_not() {
        let java = GrpcConnection {
            variant: GrpcVariant::Java,
            ..GrpcConnection::default()
        };
        assert_eq!(java.delay(0, 0.0), Span::millis(800));
        assert_eq!(GrpcConnection::default().delay(0, 0.0), Span::secs(1));
    }

    #[test]
    fn java_cuts_what_it_adds_and_go_what_comes_out() {
        let of = |variant| GrpcConnection {
            base: Span(101),
            multiplier: 1.0,
            jitter: 0.5,
            max: Span::secs(1),
            variant,
        };
        // 101 - 50.5: Java takes 50 off, Go keeps 50.
        assert_eq!(of(GrpcVariant::Java).delay(1, 0.0), Span(51));
        assert_eq!(of(GrpcVariant::Go).delay(1, 0.0), Span(50));
        assert_eq!(of(GrpcVariant::Java).delay(1, 1.0), Span(151));
        assert_eq!(of(GrpcVariant::Go).delay(1, 1.0), Span(151));
    }

    #[test]
    fn a_jitter_above_one_never_makes_a_wait_negative() {
        let wild = GrpcConnection {
            jitter: 3.0,
            ..GrpcConnection::default()
        };
        assert_eq!(wild.delay(1, 0.0), Span::ZERO);
        assert_eq!(wild.delay(u32::MAX, 1.0), Span::secs(480));
    }
}
