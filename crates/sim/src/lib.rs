//! The kernel of retrystorm: scenario text in, numbers out. No IO, one thread, no clock.

pub mod arrivals;
pub mod expect;
pub mod law;
pub mod metrics;
pub mod rng;
pub mod scenario;
pub mod step;
