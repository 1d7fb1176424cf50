//! `delay`, then jitter.

use super::jitter::{self, Jitter};
use crate::entropy::Entropy;
use crate::time::Span;

pub(super) fn next(delay: Span, jitter: Jitter, entropy: &mut impl Entropy) -> Span {
    jitter::spread(delay, jitter, entropy)
}
