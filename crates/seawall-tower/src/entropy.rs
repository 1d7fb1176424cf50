//! Random bits for jitter.

use std::hash::{BuildHasher, Hasher, RandomState};

use seawall::Entropy;

/// SplitMix64: small, fast, and enough to spread retries. Not for secrets.
///
/// Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// The same bits for the same seed.
    #[must_use]
    pub fn seeded(seed: u64) -> SplitMix {
        SplitMix(seed)
    }

    /// Seeded by the operating system, other bits in each process: what production wants, since processes that draw the
    /// same jitter come back in the same instant.
    #[must_use]
    pub fn from_os() -> SplitMix {
        // Std seeds its hash maps from the system's generator; a hash of nothing is as good as the seed.
        SplitMix(RandomState::new().build_hasher().finish())
    }
}

impl Entropy for SplitMix {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_published_sequence() {
        // The first outputs for seed 0, as in the reference implementation's test values.
        let mut draws = SplitMix::seeded(0);
        assert_eq!(draws.next_u64(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(draws.next_u64(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn two_generators_of_the_system_differ() {
        assert_ne!(
            SplitMix::from_os().next_u64(),
            SplitMix::from_os().next_u64()
        );
    }
}
