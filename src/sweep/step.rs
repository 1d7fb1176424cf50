//! Steps of an axis as people read them.

use sim::expect::Unit;
use sim::experiment::{Axis, Step};

use crate::number;

/// A step as people read it: numbers without their unit's spelling in the language.
#[must_use]
pub(super) fn step_name(axis: &Axis, step: usize) -> String {
    let Step { label, number, .. } = &axis.steps[step];
    match (axis.unit, number) {
        (Some(unit), Some(value)) => axis_value(unit, *value),
        _ => label.clone(),
    }
}

/// A value of an axis.
#[must_use]
pub(super) fn axis_value(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Share => number::share(value),
        Unit::Time => number::duration(value),
        Unit::Rate | Unit::Count | Unit::Factor | Unit::Verdict => number::prefixed(value),
    }
}
