//! A column: one number that reports show, declared once with its name, unit and meaning.

use crate::number;

/// What a number counts or measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A whole number of things.
    Count,
    /// A number of things on average.
    Mean,
    /// Things per simulated second.
    PerSecond,
    /// A part of one.
    Share,
    /// A factor.
    Factor,
    /// Milliseconds of simulated time.
    Milliseconds,
    /// Seconds of simulated time.
    Seconds,
}

/// One number that can be read off a `C`.
pub struct Column<C> {
    /// Its key in JSON and its header in CSV; says its unit.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// What it is, in one sentence.
    pub meaning: String,
    get: Getter<C>,
}

type Getter<C> = Box<dyn Fn(&C) -> Option<f64> + Send + Sync>;

impl<C: 'static> Column<C> {
    /// A column that `get` reads; `None` is "no data".
    pub fn new(
        name: impl Into<String>,
        unit: Unit,
        meaning: impl Into<String>,
        get: impl Fn(&C) -> Option<f64> + Send + Sync + 'static,
    ) -> Self {
        Column {
            name: name.into(),
            unit,
            meaning: meaning.into(),
            get: Box::new(get),
        }
    }

    /// A column of whole numbers, which always has data.
    pub fn count(
        name: impl Into<String>,
        meaning: impl Into<String>,
        get: impl Fn(&C) -> u64 + Send + Sync + 'static,
    ) -> Self {
        Column::new(name, Unit::Count, meaning, move |c| Some(get(c) as f64))
    }

    /// Its value; never NaN or infinite.
    #[must_use]
    pub fn get(&self, from: &C) -> Option<f64> {
        (self.get)(from).filter(|x| x.is_finite()).map(rounded)
    }

    /// The same number read off a `D` that holds a `C`.
    #[must_use]
    pub fn within<D: 'static>(self, part: fn(&D) -> &C) -> Column<D> {
        let get = self.get;
        Column {
            name: self.name,
            unit: self.unit,
            meaning: self.meaning,
            get: Box::new(move |whole| get(part(whole))),
        }
    }
}

impl Unit {
    /// What stands at the end of the name of every column with this unit.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Unit::PerSecond => "_per_s",
            Unit::Milliseconds => "_ms",
            Unit::Seconds => "_s",
            Unit::Count | Unit::Mean | Unit::Share | Unit::Factor => "",
        }
    }

    /// Its name in the documentation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Count => "count",
            Unit::Mean => "mean count",
            Unit::PerSecond => "per second",
            Unit::Share => "share of 1",
            Unit::Factor => "factor",
            Unit::Milliseconds => "ms",
            Unit::Seconds => "s",
        }
    }

    /// A value of this unit as people read it.
    #[must_use]
    pub fn human(self, value: f64) -> String {
        match self {
            Unit::Count | Unit::Mean => number::prefixed(value),
            Unit::PerSecond => number::rate(value),
            Unit::Share => number::share(value),
            Unit::Factor => number::times(value),
            Unit::Milliseconds => number::duration(value / 1e3),
            Unit::Seconds => number::duration(value),
        }
    }
}

/// `x` to nine significant digits: what data files hold. Nobody needs more of a simulation, and the
/// last bits of a quotient are not worth a difference between two files. Whole numbers stay exact.
#[must_use]
pub fn rounded(x: f64) -> f64 {
    if x.fract() == 0.0 || !x.is_finite() {
        return x;
    }
    format!("{x:.8e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_hold_nine_digits_and_whole_numbers_exactly() {
        assert_eq!(rounded(0.1 + 0.2), 0.3);
        assert_eq!(rounded(1.0 / 3.0), 0.333_333_333);
        assert_eq!(rounded(12_345_678_901.0), 12_345_678_901.0);
        assert_eq!(rounded(0.0), 0.0);
    }

    #[test]
    fn what_cannot_be_said_is_no_data() {
        let column = Column::new("ratio", Unit::Factor, "x ÷ y", |&(x, y): &(f64, f64)| {
            Some(x / y)
        });
        assert_eq!(column.get(&(1.0, 4.0)), Some(0.25));
        assert_eq!(column.get(&(0.0, 0.0)), None);
        assert_eq!(column.get(&(1.0, 0.0)), None);
    }
}
