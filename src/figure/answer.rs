//! What is reported about answers of calls that have a fallback. Only worlds with fallbacks have these subjects.

use sim::metrics::{AnswerCount, Source};

use super::column::{Column, Unit};

/// What is reported about the calls of one edge that have a fallback, over any time.
#[must_use]
pub fn answers() -> Vec<Column<AnswerCount>> {
    let counted = |source: Source| {
        let meaning = match source {
            Source::Live => "Calls answered by the service itself.",
            Source::Snapshot => "Calls answered with the last good answer.",
            Source::Generic => "Calls answered with what everybody gets.",
            Source::Omitted => "Calls whose part was left out.",
            Source::Direct => "Calls answered by the call made instead.",
            Source::Found => "Calls that failed, and of which a look-up found that they were done.",
            Source::Absent => {
                "Calls that failed, and of which a look-up found that they were not done."
            }
            Source::TooOld => "Calls rejected since the last good answer was too old.",
            Source::Future => "Calls rejected since the last good answer was from the future.",
            Source::Missing => "Calls rejected since there was no last good answer.",
            Source::Capacity => "Calls rejected since no permit was left.",
            Source::Rejected => "Calls rejected by rule.",
            Source::Failed => {
                "Calls that failed in a way no fallback stands in for, or whose fallback failed."
            }
        };
        let name = format!("answers_{}", source.name());
        Column::count(name, meaning, move |c: &AnswerCount| c.of(source))
    };
    let mut columns: Vec<Column<AnswerCount>> = Source::ALL.into_iter().map(counted).collect();
    columns.push(Column::new(
        "answers_fallback_share",
        Unit::Share,
        "Of the calls that were answered, those that were not by the service itself.",
        |c: &AnswerCount| {
            let answered = c.answered();
            (answered > 0).then(|| (answered - c.live) as f64 / answered as f64)
        },
    ));
    columns.push(Column::new(
        "data_age_mean_s",
        Unit::Seconds,
        "Mean age of the snapshots that were served.",
        |c: &AnswerCount| (c.snapshot > 0).then(|| c.age_ns as f64 / 1e9 / c.snapshot as f64),
    ));
    columns
}
