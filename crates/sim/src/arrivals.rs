//! When work arrives from outside.

/// A process of arrivals.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// Independent arrivals.
    Poisson {
        /// Arrivals per second, above 0.
        rate: f64,
    },
}
