//! What is counted about effects and idempotency keys.

use super::counted::{Counted, counters};

counters! {
    /// Counted for one effect.
    EffectCount {
        /// Times it was done.
        committed: u64,
        /// Of those, times it had been done already for the same call.
        duplicates: u64,
        /// Times it is missing though the caller was told that all went well.
        lost: u64,
        /// Calls that ended without an answer to one of their attempts, and not well: the caller cannot know.
        unknown: u64,
        /// Effects (duplicates left out) of calls that did not end well: they are there, and the caller was told no
        /// such thing.
        hidden: u64,
        /// Times it is missing where the caller was not told that all went well and other effects of the same request
        /// are there.
        half_done: u64,
        /// Times it was not done again, since its key was recorded with it.
        skipped: u64,
    }
}

counters! {
    /// Counted for one store of idempotency keys.
    KeyCount {
        /// Requests that came without a key.
        without: u64,
        /// Keys that were new, or no longer known.
        new: u64,
        /// Requests that got the answer given before.
        replayed: u64,
        /// Requests whose key was known with another body.
        conflicts: u64,
        /// Requests whose key was being worked on.
        in_progress: u64,
        /// Looks at keys that were being worked on, after the first of each request.
        polls: u64,
        /// Claims taken over, since their lease had ended.
        taken_over: u64,
    }
}
