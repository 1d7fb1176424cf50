//! How a cap becomes a wait.

use crate::entropy::Entropy;
use crate::spec::Jitter;
use crate::time::Span;

/// Spreads `cap` as [`Jitter`] says, one draw `u` of `U[0, 1)`: none `cap`; full `u * cap`; equal
/// `cap/2 + u * cap/2`; proportional `cap * (1 - ratio + 2 * ratio * u)`.
pub(super) fn spread(cap: Span, jitter: Jitter, entropy: &mut impl Entropy) -> Span {
    match jitter {
        // A check refuses decorrelated jitter where there is no base and max to work with.
        Jitter::None | Jitter::Decorrelated => cap,
        Jitter::Full => cap.times(entropy.unit()),
        Jitter::Equal => {
            let half = Span(cap.0 / 2);
            half.plus(cap.minus(half).times(entropy.unit()))
        }
        Jitter::Proportional { ratio } => cap.times(1.0 - ratio + 2.0 * ratio * entropy.unit()),
    }
}
