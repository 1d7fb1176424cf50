//! Statistics over runs: what is said about a figure, and how sure that is.

mod estimate;
pub mod series;

pub use estimate::{CONFIDENCE, Estimate};
