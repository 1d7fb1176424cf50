//! Where random numbers come from: the caller.

/// A source of random bits, owned by the driver and lent to each verb that draws.
///
/// Production passes its generator, a simulator one named stream, a test a script.
pub trait Entropy {
    /// 64 independent uniform bits.
    fn next_u64(&mut self) -> u64;

    /// Uniform on `[0, 1)` with 53 bits: `(next_u64() >> 11) * 2^-53`.
    fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

impl<E: Entropy + ?Sized> Entropy for &mut E {
    fn next_u64(&mut self) -> u64 {
        (**self).next_u64()
    }
}
