//! Scenarios: what was written, and what it means.

pub mod model;
mod problem;
mod text;

pub use model::Scenario;
pub use problem::{Problem, Problems};
pub use text::Format;
