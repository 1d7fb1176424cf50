//! Laws of random lengths of time: work, delays, gaps.

use seawall::Span;

/// A distribution of lengths of time.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// Always the same.
    Constant(Span),
}
