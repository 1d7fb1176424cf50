//! Who waits to be told where a block begins.

/// Where the address of a nested block goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slot {
    /// `branches[.0]`.
    Branch(usize),
    /// `arms[.0]`.
    Arm(usize),
    /// The body of the `Repeat` at `instrs[.0]`.
    Body(usize),
    /// `lookups[.0].hit`.
    Hit(usize),
    /// `lookups[.0].miss`.
    Miss(usize),
}
