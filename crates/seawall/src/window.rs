//! Sliding windows: what happened in the last so many results, or in the last so much time.

use alloc::vec;
use alloc::vec::Vec;

use crate::time::{Span, Time};

const SLICES: usize = 10;

/// Counts of `N` things over the last `window` of time, kept in ten slices.
///
/// Slices are aligned to the epoch. The sum covers the current slice and the nine before it, hence
/// between 0.9 and 1 window. A clock that ran back counts into the current slice.
#[derive(Clone, Debug)]
pub(crate) struct Slices<const N: usize> {
    width: u64,
    current: u64,
    slices: [[u64; N]; SLICES],
    sum: [u64; N],
}

impl<const N: usize> Slices<N> {
    pub(crate) fn new(window: Span, now: Time) -> Self {
        let width = (window.0 / SLICES as u64).max(1);
        Slices {
            width,
            current: now.0 / width,
            slices: [[0; N]; SLICES],
            sum: [0; N],
        }
    }

    /// The sums over the window that ends at `now`.
    pub(crate) fn sum(&mut self, now: Time) -> &[u64; N] {
        self.roll(now);
        &self.sum
    }

    /// Counts one more of thing `i`.
    pub(crate) fn add(&mut self, now: Time, i: usize) {
        self.roll(now);
        self.slices[(self.current % SLICES as u64) as usize][i] += 1;
        self.sum[i] += 1;
    }

    /// Takes back one of thing `i`, from the newest slice that has one.
    pub(crate) fn take_back(&mut self, now: Time, i: usize) {
        self.roll(now);
        for age in 0..SLICES as u64 {
            let slice = &mut self.slices[(self.current.wrapping_sub(age) % SLICES as u64) as usize];
            if slice[i] > 0 {
                slice[i] -= 1;
                self.sum[i] -= 1;
                return;
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.slices = [[0; N]; SLICES];
        self.sum = [0; N];
    }

    fn roll(&mut self, now: Time) {
        let target = now.0 / self.width;
        if target <= self.current {
            return;
        }
        if target - self.current >= SLICES as u64 {
            self.clear();
        } else {
            for slice in self.current + 1..=target {
                let old = &mut self.slices[(slice % SLICES as u64) as usize];
                for (sum, old) in self.sum.iter_mut().zip(old) {
                    *sum -= core::mem::take(old);
                }
            }
        }
        self.current = target;
    }
}

/// The last so many results, each failed or not and slow or not: two bits a result.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    size: u32,
    next: u32,
    filled: u32,
    bits: Vec<[u64; 2]>,
    failed: u32,
    slow: u32,
}

impl Ring {
    pub(crate) fn new(size: u32) -> Self {
        let size = size.max(1);
        Ring {
            size,
            next: 0,
            filled: 0,
            bits: vec![[0; 2]; size.div_ceil(64) as usize],
            failed: 0,
            slow: 0,
        }
    }

    /// Puts one result in, and the oldest out when the ring is full.
    pub(crate) fn push(&mut self, failed: bool, slow: bool) {
        let word = &mut self.bits[(self.next / 64) as usize];
        let place = self.next % 64;
        let put = |word: &mut u64, new: bool, count: &mut u32| {
            *count = *count + u32::from(new) - (*word >> place & 1) as u32;
            *word = *word & !(1 << place) | u64::from(new) << place;
        };
        put(&mut word[0], failed, &mut self.failed);
        put(&mut word[1], slow, &mut self.slow);
        self.next = (self.next + 1) % self.size;
        self.filled = (self.filled + 1).min(self.size);
    }

    /// Results held, failed ones, slow ones.
    pub(crate) fn tally(&self) -> [u64; 3] {
        [self.filled, self.failed, self.slow].map(u64::from)
    }

    pub(crate) fn clear(&mut self) {
        self.bits.fill([0; 2]);
        (self.next, self.filled, self.failed, self.slow) = (0, 0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;

    #[test]
    fn slices_hold_the_current_slice_and_nine_before() {
        let mut window = Slices::<1>::new(Span(100), Time(0));
        for t in 0..30 {
            window.add(Time(t * 10), 0);
            assert_eq!(window.sum(Time(t * 10 + 9))[0], (t + 1).min(10));
        }
        assert_eq!(window.sum(Time(290 + 99))[0], 1);
        assert_eq!(window.sum(Time(290 + 100))[0], 0);
    }

    #[test]
    fn slices_agree_with_a_list_of_everything_that_happened() {
        let mut list: Vec<(u64, usize)> = Vec::new();
        let mut window = Slices::<2>::new(Span(50), Time(3));
        let (mut t, mut seed) = (3u64, 7u64);
        for _ in 0..2000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
            t += [0, 0, 1, 3, 7, 60][(seed >> 33) as usize % 6];
            let i = (seed >> 40) as usize % 2;
            window.add(Time(t), i);
            list.push((t / 5, i));
            for i in 0..2 {
                let want = list.iter().filter(|e| e.0 + 10 > t / 5 && e.1 == i).count();
                assert_eq!(window.sum(Time(t))[i], want as u64);
            }
        }
    }

    #[test]
    fn a_clock_that_runs_back_or_jumps_to_the_end_of_time_does_no_harm() {
        let mut window = Slices::<1>::new(Span(1), Time::MAX);
        window.add(Time::ZERO, 0);
        window.add(Time::MAX, 0);
        assert_eq!(window.sum(Time::MAX)[0], 2);
        window.take_back(Time::ZERO, 0);
        window.take_back(Time::ZERO, 0);
        window.take_back(Time::ZERO, 0);
        assert_eq!(window.sum(Time::MAX)[0], 0);
    }

    #[test]
    fn the_ring_agrees_with_a_queue() {
        for size in [1, 2, 63, 64, 65, 130] {
            let mut ring = Ring::new(size);
            let mut queue = VecDeque::new();
            let mut seed = u64::from(size);
            for step in 0..1000 {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
                let result = (seed >> 40 & 1 == 1, seed >> 50 & 1 == 1);
                ring.push(result.0, result.1);
                queue.push_back(result);
                if queue.len() > size as usize {
                    queue.pop_front();
                }
                let failed = queue.iter().filter(|r| r.0).count() as u64;
                let slow = queue.iter().filter(|r| r.1).count() as u64;
                assert_eq!(ring.tally(), [queue.len() as u64, failed, slow]);
                if step == 500 {
                    ring.clear();
                    queue.clear();
                }
            }
        }
    }
}
