//! Where something is written.

/// Where something was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Which text: 0 is the scenario, others are overrides in their order.
    pub source: u32,
    /// Line, from 1; 0 in an override, which has none.
    pub line: u32,
    /// Column in characters, from 1; 0 in an override.
    pub col: u32,
}

/// A value with the place where it was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct At<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub at: Position,
}
