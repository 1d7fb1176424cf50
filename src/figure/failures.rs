//! Calls given up and attempts that failed, by reason, kind and phase.

use seawall::{ErrorKind, FailureKind, Phase, Stopped};
use sim::metrics::EdgeCount;

use super::column::Column;

/// A column for each.
pub(super) fn failures() -> Vec<Column<EdgeCount>> {
    let mut columns = Vec::new();
    for (i, reason) in Stopped::NAMES.iter().enumerate() {
        let meaning = format!("Calls given up because of `{reason}`.");
        columns.push(Column::count(
            format!("stopped_{reason}"),
            meaning,
            move |c: &EdgeCount| c.stopped[i],
        ));
    }
    for kind in ErrorKind::ALL {
        let (i, code) = (kind as usize, kind.code());
        let again = match kind.is_retryable() {
            true => "another time it may go better",
            false => "it would go no better another time",
        };
        let meaning = format!("Calls given up whose caller is told `{code}`: {again}.");
        columns.push(Column::count(
            format!("errors_{code}"),
            meaning,
            move |c: &EdgeCount| c.errors[i],
        ));
    }
    for kind in FailureKind::ALL {
        let (i, name) = (*kind as usize, kind.name());
        let meaning = format!("Calls given up whose last attempt failed with `{name}`.");
        columns.push(Column::count(
            format!("calls_failed_{name}"),
            meaning,
            move |c: &EdgeCount| c.failed[i],
        ));
    }
    for kind in FailureKind::ALL {
        let (i, name) = (*kind as usize, kind.name());
        let meaning = format!("Attempts that failed with `{name}`.");
        columns.push(Column::count(
            format!("attempts_failed_{name}"),
            meaning,
            move |c: &EdgeCount| c.attempt_failed[i],
        ));
    }
    for phase in Phase::ALL {
        let (i, name) = (phase as usize, phase.name());
        let meaning = format!("Attempts that failed in the phase `{name}`.");
        columns.push(Column::count(
            format!("attempts_failed_in_{name}"),
            meaning,
            move |c: &EdgeCount| c.attempt_failed_in[i],
        ));
    }
    columns
}
