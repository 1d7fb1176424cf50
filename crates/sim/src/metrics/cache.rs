//! What is counted about caches.

use super::counted::{Counted, counters};

counters! {
    /// Counted for one `cache` step, all its caches together.
    CacheCount {
        /// Times a program looked something up; those whose shared fetch was stopped do it again.
        lookups: u64,
        /// Of those, the ones that found it and it was good.
        hits: u64,
        /// Of those, the ones that did not.
        misses: u64,
        /// Of the misses, those that found an entry which had expired.
        expired: u64,
        /// Of the misses, those that went for it.
        fetches: u64,
        /// Of the misses, those that waited for another one's fetch.
        waits: u64,
        /// Fetches that ended well: what they brought was stored.
        stored: u64,
        /// Fetches that failed.
        failed: u64,
        /// Fetches that were stopped, since nobody wanted them any more or their replica died.
        stopped: u64,
        /// Failed fetches after which the program went on with an entry that had expired.
        stale: u64,
        /// Good entries that a failed fetch deleted.
        deleted: u64,
        /// Entries that made room for others.
        evicted: u64,
        /// Entries lost with their replica or by the fault `empty_cache`.
        emptied: u64,
        /// Waits that are over, whichever way.
        released: u64,
    }
}
