//! Scenarios: what was written, and what it means.

pub mod model;

pub use model::Scenario;
