//! What a scenario promises, and whether a run kept it.

/// One promise.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// As written.
    pub text: String,
}
