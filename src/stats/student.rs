//! Student's t.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The quantile of Student's t that leaves `1 − confidence` outside on both sides together. Rounded, so
/// that platforms whose logarithms differ in the last bit write the same files.
pub(super) fn t_quantile(freedom: usize, confidence: f64) -> f64 {
    let t = StudentsT::new(0.0, 1.0, freedom as f64).expect("freedom is at least one");
    let quantile = t.inverse_cdf(0.5 + confidence / 2.0);
    (quantile * 1e6).round() / 1e6
}
