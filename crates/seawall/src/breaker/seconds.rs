//! Results by whole second, as resilience4j's time-based windows hold them.

use alloc::vec;
use alloc::vec::Vec;

use crate::time::Time;

/// Where the seconds of a time-based window begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aligned {
    /// At whole seconds of the clock (the synchronized window).
    #[default]
    Epoch,
    /// At the creation of the breaker (the lock-free window).
    Creation,
}

/// Results by whole second: all, failed, slow.
#[derive(Clone, Debug)]
pub(super) struct Seconds {
    aligned: Aligned,
    /// Where a second begins.
    origin: Time,
    current: u64,
    buckets: Vec<[u64; 3]>,
    sum: [u64; 3],
}

impl Seconds {
    pub(super) fn new(count: u32, aligned: Aligned, now: Time) -> Self {
        let mut seconds = Seconds {
            aligned,
            origin: Time::ZERO,
            current: 0,
            buckets: vec![[0; 3]; count.max(1) as usize],
            sum: [0; 3],
        };
        seconds.clear(now);
        seconds
    }

    /// As newly created.
    pub(super) fn clear(&mut self, now: Time) {
        self.origin = match self.aligned {
            Aligned::Epoch => Time::ZERO,
            Aligned::Creation => now,
        };
        self.current = second(self.origin, now);
        self.buckets.fill([0; 3]);
        self.sum = [0; 3];
    }

    pub(super) fn push(&mut self, now: Time, failed: bool, slow: bool) {
        self.roll(now);
        let index = (self.current % self.buckets.len() as u64) as usize;
        for (i, count) in [true, failed, slow].into_iter().enumerate() {
            self.buckets[index][i] += u64::from(count);
            self.sum[i] += u64::from(count);
        }
    }

    pub(super) fn tally(&mut self, now: Time) -> [u64; 3] {
        self.roll(now);
        self.sum
    }

    fn roll(&mut self, now: Time) {
        let target = second(self.origin, now);
        let size = self.buckets.len() as u64;
        for age in 0..target.saturating_sub(self.current).min(size) {
            let bucket = &mut self.buckets[((target - age) % size) as usize];
            for (sum, old) in self.sum.iter_mut().zip(bucket) {
                *sum -= core::mem::take(old);
            }
        }
        self.current = self.current.max(target);
    }
}

fn second(origin: Time, now: Time) -> u64 {
    now.since(origin).0 / 1_000_000_000
}
