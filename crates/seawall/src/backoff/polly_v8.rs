//! Polly v8's retry delays.
//!
//! Source: App-vNext/Polly@173d6d1d `src/Polly.Core/Retry/RetryHelper.cs`; the decorrelated jitter
//! comes from Polly.Contrib.WaitAndRetry `Backoff.DecorrelatedJitterV2.cs`.

use super::Progress;
use crate::time::Span;

/// Polly's `RetryStrategyOptions`, as far as the delay goes. `k` counts retries from 0.
///
/// | kind | without jitter | with |
/// | --- | --- | --- |
/// | constant | `d` | `d * (0.75 + 0.5 u)` |
/// | linear | `(k+1) d` | `(k+1) d * (0.75 + 0.5 u)` |
/// | exponential | `2^k d` | decorrelated jitter V2 |
///
/// Decorrelated jitter V2: with `f(t) = 2^t * tanh(sqrt(4t))` and `t = k + u`, the wait is
/// `(f(t_k) - f(t_(k-1))) / 1.4 * d`, `f` before the first being 0. What is carried from retry to
/// retry is `f`, not the wait. `max_delay` clips the result and does not feed back. Time counts in
/// ticks of 100 ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polly {
    /// `BackoffType`; default constant.
    pub kind: PollyKind,
    /// `UseJitter`; default false.
    pub jitter: bool,
    /// `Delay`; default 2 s. Zero means no wait.
    pub delay: Span,
    /// `MaxDelay`; default none.
    pub max_delay: Option<Span>,
}

/// `DelayBackoffType`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PollyKind {
    /// The same each time.
    #[default]
    Constant,
    /// Growing by `delay`.
    Linear,
    /// Doubling.
    Exponential,
}

impl Default for Polly {
    fn default() -> Self {
        Polly {
            kind: PollyKind::Constant,
            jitter: false,
            delay: Span::secs(2),
            max_delay: None,
        }
    }
}

const TICK: u64 = 100;
/// The largest `TimeSpan` a formula gives, in ticks.
const MAX_TICKS: f64 = i64::MAX as f64 - 1000.0;

impl Polly {
    /// The wait before retry `progress.retries`, for a unit draw `u`.
    ///
    /// `generated` is what a `DelayGenerator` says, for one the `Retry-After` of the .NET standard
    /// handler: it replaces the wait and is not clipped, while the jitter's state moves on.
    pub fn delay(&self, progress: &mut Progress, u: f64, generated: Option<Span>) -> Span {
        let own = self.own_delay(progress, u);
        generated.unwrap_or_else(|| own.min(self.max_delay.unwrap_or(Span::MAX)))
    }

    fn own_delay(&self, progress: &mut Progress, u: f64) -> Span {
        let base = (self.delay.0 / TICK) as f64;
        if base == 0.0 {
            return Span::ZERO;
        }
        let k = progress.retries;
        let spread = if self.jitter { 0.75 + 0.5 * u } else { 1.0 };
        match self.kind {
            PollyKind::Constant => rounded(base * spread),
            PollyKind::Linear => rounded(base * (f64::from(k) + 1.0) * spread),
            PollyKind::Exponential if self.jitter => {
                let before = f64::from_bits(progress.memory);
                let t = f64::from(k) + u;
                let after = libm::pow(2.0, t) * libm::tanh(libm::sqrt(4.0 * t));
                progress.memory = after.to_bits();
                // Two infinities apart by nothing: far beyond any `TimeSpan`.
                let grown = if after.is_finite() {
                    after - before
                } else {
                    after
                };
                ticks((grown * (1.0 / 1.4) * base).min(MAX_TICKS))
            }
            PollyKind::Exponential => rounded(base * libm::pow(2.0, f64::from(k))),
        }
    }
}

/// `TimeSpan * double`: the nearest tick, halves to even.
fn rounded(count: f64) -> Span {
    ticks(libm::rint(count))
}

fn ticks(count: f64) -> Span {
    Span((count as u64).saturating_mul(TICK))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(polly: Polly, u: f64, n: u32) -> Vec<Span> {
        let mut progress = Progress::default();
        (0..n)
            .map(|_| {
                let wait = polly.delay(&mut progress, u, None);
                progress.retries += 1;
                wait
            })
            .collect()
    }

    #[test]
    fn linear_jitter_is_a_quarter_either_way() {
        let linear = Polly {
            kind: PollyKind::Linear,
            jitter: true,
            delay: Span::secs(1),
            max_delay: None,
        };
        assert_eq!(
            waits(linear, 0.0, 2),
            [Span::millis(750), Span::millis(1500)]
        );
        assert_eq!(
            waits(linear, 1.0, 2),
            [Span::millis(1250), Span::millis(2500)]
        );
    }

    #[test]
    fn the_largest_delay_clips_the_result_but_not_the_state() {
        let free = Polly {
            kind: PollyKind::Exponential,
            jitter: true,
            delay: Span::secs(1),
            max_delay: None,
        };
        let clipped = Polly {
            max_delay: Some(Span::secs(3)),
            ..free
        };
        for (free, clipped) in waits(free, 0.4, 8).iter().zip(waits(clipped, 0.4, 8)) {
            assert_eq!(*free.min(&Span::secs(3)), clipped);
        }
    }

    #[test]
    fn a_generated_delay_is_not_clipped() {
        let polly = Polly {
            max_delay: Some(Span::secs(1)),
            ..Polly::default()
        };
        let mut progress = Progress::default();
        let asked = Some(Span::secs(30));
        assert_eq!(polly.delay(&mut progress, 0.5, asked), Span::secs(30));
        assert_eq!(polly.delay(&mut progress, 0.5, None), Span::secs(1));
    }

    #[test]
    fn a_zero_delay_never_waits() {
        for kind in [
            PollyKind::Constant,
            PollyKind::Linear,
            PollyKind::Exponential,
        ] {
            let polly = Polly {
                kind,
                jitter: true,
                delay: Span::ZERO,
                max_delay: None,
            };
            assert_eq!(waits(polly, 0.9, 3), [Span::ZERO; 3]);
        }
    }

    #[test]
    fn overflow_gives_the_largest_delay() {
        for jitter in [false, true] {
            let polly = Polly {
                kind: PollyKind::Exponential,
                jitter,
                delay: Span::secs(1),
                max_delay: Some(Span::secs(9)),
            };
            for retries in [5000, u32::MAX] {
                for memory in [0.0, f64::INFINITY] {
                    let mut progress = Progress {
                        retries,
                        memory: f64::to_bits(memory),
                    };
                    assert_eq!(polly.delay(&mut progress, 0.5, None), Span::secs(9));
                }
            }
        }
    }
}
