//! The wait before a retry. One file per member of the family; the verb is [`Backoff::next`].
//!
//! A backoff is stateless data; what it remembers of a call is the call's [`Progress`].

mod exponential;
mod fixed;
mod jitter;

use crate::entropy::Entropy;
use crate::spec::Backoff;
use crate::time::Span;

/// How far one call is in its backoff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Retries waited for so far.
    pub retries: u32,
    /// What the member wants to remember, in its own encoding; 0 at first.
    pub memory: u64,
}

impl Backoff {
    /// The wait before the next retry of a call. Draws at most once.
    pub fn next(&self, progress: &mut Progress, entropy: &mut impl Entropy) -> Span {
        let wait = match *self {
            Backoff::None => Span::ZERO,
            Backoff::Fixed { delay, jitter } => fixed::next(delay, jitter, entropy),
            Backoff::Exponential {
                base,
                multiplier,
                max,
                jitter,
            } => exponential::next(base, multiplier, max, jitter, progress, entropy),
        };
        progress.retries = progress.retries.saturating_add(1);
        wait
    }
}
