//! What passes between a call's future and the engine.

use seawall::{HEDGED_ATTEMPTS_MAX, Reply, Span, Time, Verdict};

/// What happened to a call.
pub(crate) enum Input {
    /// Nothing, or it may have been given a permit.
    Look,
    /// This attempt of it was answered.
    Answer(u32, Reply),
    /// Its timer has come.
    Timer,
    /// The host of its next attempt is this one.
    Host(u64),
    /// Its caller left.
    Cancel,
}

/// What is to be done about a call now.
pub(crate) struct Step {
    /// Attempts under way that are to be dropped first.
    pub(crate) abandon: Abandoned,
    pub(crate) then: Then,
}

/// Attempts that nobody waits for any more.
#[derive(Clone, Copy, Default)]
pub(crate) struct Abandoned {
    attempts: [u32; HEDGED_ATTEMPTS_MAX as usize],
    count: usize,
}

impl Abandoned {
    pub(crate) fn push(&mut self, attempt: u32) {
        if let Some(place) = self.attempts.get_mut(self.count) {
            *place = attempt;
            self.count += 1;
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        self.attempts.into_iter().take(self.count)
    }
}

/// How a call goes on.
pub(crate) enum Then {
    Send {
        attempt: u32,
        timeout: Option<Span>,
        deadline: Option<Time>,
    },
    Finish(Verdict),
    /// The host of this attempt is to be named.
    Choose(u32),
    Wait,
}
