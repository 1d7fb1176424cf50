//! The range of a backoff, whatever library it is of: asked with the smallest, the middle and the largest draw.

use seawall::backoff::{Hint, Progress};
use seawall::{Backoff, Entropy, Span};

/// A draw that is always the same.
#[derive(Clone, Copy, Debug)]
pub enum Draw {
    /// 0.
    Smallest,
    /// One half.
    Middle,
    /// Just below 1.
    Largest,
}

impl Entropy for Draw {
    fn next_u64(&mut self) -> u64 {
        match self {
            Draw::Smallest => 0,
            Draw::Middle => 1 << 63,
            Draw::Largest => u64::MAX,
        }
    }
}

impl Draw {
    /// The waits before each retry under this draw.
    pub fn waits(self, backoff: &Backoff) -> impl Iterator<Item = Span> {
        let (mut progress, mut draw) = (Progress::default(), self);
        std::iter::repeat_with(move || backoff.next(&mut progress, Hint::default(), &mut draw))
    }

    /// All waits of a call that makes `retries` of them, as far as a hundred of them go.
    #[must_use]
    pub fn total(self, backoff: &Backoff, retries: u32) -> Span {
        let waits = self.waits(backoff).take(retries.min(100) as usize);
        waits.fold(Span::ZERO, Span::plus)
    }
}
