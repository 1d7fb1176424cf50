//! What this side refuses.

use crate::action::Stopped;

/// Something that this side refuses, and that a retry outside of it may try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The breaker refuses: [`Stopped::BreakerOpen`].
    BreakerOpen,
    /// No permit: [`Stopped::BulkheadFull`] or [`Stopped::BulkheadTimeout`].
    BulkheadFull,
    /// Too often: [`Stopped::RateLimited`].
    RateLimited,
}

impl Refusal {
    /// All of them.
    pub const ALL: [Refusal; 3] = [
        Refusal::BreakerOpen,
        Refusal::BulkheadFull,
        Refusal::RateLimited,
    ];
}

/// Some of the refusals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefusalSet(pub(super) u8);

impl RefusalSet {
    /// None of them.
    pub const NONE: RefusalSet = RefusalSet(0);
    /// All of them.
    pub const ALL: RefusalSet = RefusalSet::of(&Refusal::ALL);

    /// These.
    #[must_use]
    pub const fn of(refusals: &[Refusal]) -> RefusalSet {
        let (mut bits, mut next) = (0, 0);
        while next < refusals.len() {
            bits |= 1 << refusals[next] as u8;
            next += 1;
        }
        RefusalSet(bits)
    }

    /// These and one more.
    #[must_use]
    pub const fn with(self, refusal: Refusal) -> RefusalSet {
        RefusalSet(self.0 | 1 << refusal as u8)
    }

    /// Whether it is one of them.
    #[must_use]
    pub const fn contains(self, refusal: Refusal) -> bool {
        self.0 & 1 << refusal as u8 != 0
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Them, in the order of [`Refusal::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Refusal> {
        Refusal::ALL
            .into_iter()
            .filter(move |&refusal| self.contains(refusal))
    }
}

impl Stopped {
    /// What this side refused, if that was the reason.
    #[must_use]
    pub const fn refusal(self) -> Option<Refusal> {
        match self {
            Stopped::BreakerOpen => Some(Refusal::BreakerOpen),
            Stopped::BulkheadFull | Stopped::BulkheadTimeout => Some(Refusal::BulkheadFull),
            Stopped::RateLimited => Some(Refusal::RateLimited),
            _ => None,
        }
    }
}
