//! What is reported about caches. Only worlds with a `cache` step have these subjects.

use sim::metrics::CacheCount;

use super::column::{Column, Unit};

/// What is reported about the caches of one step, over any time.
#[must_use]
pub fn caches() -> Vec<Column<CacheCount>> {
    vec![
        Column::count(
            "cache_lookups",
            "Times a program looked something up in a cache.",
            |c: &CacheCount| c.lookups,
        ),
        Column::count(
            "cache_hits",
            "Of those, the ones that found it.",
            |c: &CacheCount| c.hits,
        ),
        Column::new(
            "hit_ratio",
            Unit::Share,
            "The part of them that did.",
            |c: &CacheCount| (c.lookups > 0).then(|| c.hits as f64 / c.lookups as f64),
        ),
        Column::count(
            "cache_misses",
            "Look-ups that did not find what they wanted, or found that it had expired.",
            |c: &CacheCount| c.misses,
        ),
        Column::count(
            "cache_expired",
            "Of those, the ones that found that it had expired.",
            |c: &CacheCount| c.expired,
        ),
        Column::count(
            "cache_fetches",
            "Misses that went for it.",
            |c: &CacheCount| c.fetches,
        ),
        Column::count(
            "cache_waits",
            "Misses that waited for another one's fetch.",
            |c: &CacheCount| c.waits,
        ),
        Column::count(
            "cache_fetches_failed",
            "Fetches that failed.",
            |c: &CacheCount| c.failed,
        ),
        Column::count(
            "cache_stale",
            "Of those, the ones after which the program went on with an entry that had expired.",
            |c: &CacheCount| c.stale,
        ),
        Column::count(
            "cache_deleted",
            "Good entries that a failed fetch deleted.",
            |c: &CacheCount| c.deleted,
        ),
        Column::count(
            "cache_evicted",
            "Entries that made room for others.",
            |c: &CacheCount| c.evicted,
        ),
        Column::count(
            "cache_emptied",
            "Entries lost with their replica or by the fault `empty_cache`.",
            |c: &CacheCount| c.emptied,
        ),
    ]
}
