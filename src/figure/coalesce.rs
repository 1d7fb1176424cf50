//! What is reported about calls that may share one. Only worlds with `coalesce` have these subjects.

use sim::metrics::CoalesceCount;

use super::column::{Column, Unit};

/// What is reported about the calls of one step that may share one, over any time.
#[must_use]
pub fn shared() -> Vec<Column<CoalesceCount>> {
    vec![
        Column::count(
            "coalesce_wanted",
            "Times a program came to a call that may share one.",
            |c: &CoalesceCount| c.wanted,
        ),
        Column::count(
            "coalesce_made",
            "Of those, the ones that made a call.",
            |c: &CoalesceCount| c.made,
        ),
        Column::count(
            "coalesced",
            "Of those, the ones that shared a call which was under way.",
            |c: &CoalesceCount| c.shared,
        ),
        Column::new(
            "coalesced_share",
            Unit::Share,
            "The part of them that shared one.",
            |c: &CoalesceCount| (c.wanted > 0).then(|| c.shared as f64 / c.wanted as f64),
        ),
    ]
}
