//! What is counted about credentials.

use super::counted::{Counted, counters};

counters! {
    /// Counted for the tokens of one caller, all its processes together.
    CredentialCount {
        /// Requests for a new token begun.
        asked: u64,
        /// Of those, the ones begun while the old one was still good.
        ahead: u64,
        /// Requests that brought one.
        issued: u64,
        /// Requests that failed.
        refused: u64,
        /// Requests that went with their process.
        lost: u64,
        /// Attempts that had to wait for a token.
        waited: u64,
        /// Of those, the ones that got none.
        turned_away: u64,
        /// Attempts whose token the service did not take.
        rejected: u64,
        /// Attempts sent once more with a new one.
        replayed: u64,
    }
}
