//! What is reported about effects and about idempotency keys. Only worlds that have any have these subjects.

use sim::metrics::{EffectCount, KeyCount};

use super::column::Column;

/// What is reported about an effect, over any time.
#[must_use]
pub fn effect() -> Vec<Column<EffectCount>> {
    vec![
        Column::count(
            "effects_committed",
            "Times the effect was done, duplicates included.",
            |c: &EffectCount| c.committed,
        ),
        Column::count(
            "effects_duplicate",
            "Of those, times it had been done already for the same call (the same item of it, if it has several).",
            |c: &EffectCount| c.duplicates,
        ),
        Column::count(
            "effects_lost",
            "Times it is missing though the caller was told that all went well.",
            |c: &EffectCount| c.lost,
        ),
        Column::count(
            "effects_unknown",
            "Calls that failed after an attempt without an answer: their callers cannot know whether it was done.",
            |c: &EffectCount| c.unknown,
        ),
        Column::count(
            "effects_hidden",
            "Effects, duplicates left out, of calls that did not end well: they are there, and nobody was told.",
            |c: &EffectCount| c.hidden,
        ),
        Column::count(
            "effects_half_done",
            "Times it is missing in calls that did not end well and had other effects or items of the same request done.",
            |c: &EffectCount| c.half_done,
        ),
        Column::count(
            "effects_skipped",
            "Times it was not done again because its key was recorded with it.",
            |c: &EffectCount| c.skipped,
        ),
    ]
}

/// What is reported about a store of idempotency keys, over any time.
#[must_use]
pub fn keys() -> Vec<Column<KeyCount>> {
    vec![
        Column::count(
            "keys_without",
            "Requests that came without a key.",
            |c: &KeyCount| c.without,
        ),
        Column::count(
            "keys_new",
            "Keys that were new, or no longer remembered.",
            |c: &KeyCount| c.new,
        ),
        Column::count(
            "keys_replayed",
            "Requests that got the answer given before; effects that were skipped, where keys are recorded with them.",
            |c: &KeyCount| c.replayed,
        ),
        Column::count(
            "keys_conflicts",
            "Requests refused since their key was known with another body.",
            |c: &KeyCount| c.conflicts,
        ),
        Column::count(
            "keys_in_progress",
            "Requests whose key was being worked on.",
            |c: &KeyCount| c.in_progress,
        ),
        Column::count(
            "keys_polls",
            "Times the store was asked again for keys that were being worked on.",
            |c: &KeyCount| c.polls,
        ),
        Column::count(
            "keys_taken_over",
            "Claims whose lease had ended and that another request took over.",
            |c: &KeyCount| c.taken_over,
        ),
    ]
}
