//! Statistics over runs: what is said about a figure, and how sure that is.

mod basis;
pub mod batch;
mod estimate;
pub mod mser;
pub mod paired;
pub mod series;
mod student;

pub use basis::Basis;
pub use estimate::{CONFIDENCE, Estimate};
