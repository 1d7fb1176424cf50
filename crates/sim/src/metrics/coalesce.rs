//! What is counted about calls that may share one.

use super::counted::{Counted, counters};

counters! {
    /// Counted for the calls of one step that may share one, all processes together.
    CoalesceCount {
        /// Times a program came to the step; those whose shared call was cancelled come to it again.
        wanted: u64,
        /// Of those, the ones that made a call.
        made: u64,
        /// Of those, the ones that shared one which was under way.
        shared: u64,
    }
}
