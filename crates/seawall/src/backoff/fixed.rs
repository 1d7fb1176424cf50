//! `delay`, then jitter.

use super::jitter;
use crate::entropy::Entropy;
use crate::spec::Jitter;
use crate::time::Span;

pub(super) fn next(delay: Span, jitter: Jitter, entropy: &mut impl Entropy) -> Span {
    jitter::spread(delay, jitter, entropy)
}
