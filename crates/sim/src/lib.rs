//! The kernel of retrystorm: scenario text in, numbers out. No IO, one thread, no clock.

#![warn(missing_docs)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod arena;
pub mod arrivals;
mod event;
pub mod expect;
pub mod experiment;
pub mod law;
pub mod metrics;
mod queue;
pub mod rng;
pub mod scenario;
pub mod step;
pub mod text;
pub mod trace;
pub mod verdict;
mod world;

pub use scenario::Scenario;
pub use world::{Draw, Tape, World, run};
