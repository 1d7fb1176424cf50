//! Buckets ahead of a heap, for crowds of events.
//!
//! A heap of a million touches a dozen far places of memory for each event that comes and goes. So as soon as there
//! are many, only those of the next short while are kept in one, and the later ones lie unsorted in buckets, each for
//! a while of its own, until its turn comes. How long a while is follows from the times of a sample, anew whenever all
//! buckets are used up, so that a few events in years to come do not matter. What comes after the last bucket waits
//! for the next time. (A ladder queue with a single rung and a heap at its foot: Tang, Goh and Thng 2005.)

use super::far::Far;
use super::time_of;

/// From so many on the heap is spread over buckets; with a quarter left there are none again.
const CROWD: usize = 2048;

/// Events that a bucket is meant to have.
const SHARE: usize = 32;

/// Not so many buckets as events in the largest crowds.
const BUCKETS_MAX: usize = 1 << 17;

/// Events looked at to see how long a while is.
const SAMPLE: usize = 64;

/// Events of a bucket that lie together.
const TOGETHER: usize = 7;

/// Where a list of chunks ends.
const NO_CHUNK: u32 = u32::MAX;

/// Entries by key, the least first. No two keys are equal, and the upper half of a key is a time.
#[derive(Clone, Debug)]
pub(super) struct Later<E> {
    /// What comes before all buckets that are left; empty only if there is nothing at all.
    heap: Far<E>,
    buckets: Buckets<E>,
    /// What comes after all buckets.
    rest: Vec<(u128, E)>,
    /// Room for `rest` while it is dealt out.
    spare: Vec<(u128, E)>,
}

#[derive(Clone, Debug)]
struct Buckets<E> {
    /// The first of the chunks of each; none at all while there is no crowd.
    lists: Vec<u32>,
    /// Buckets whose turn has come.
    used: usize,
    /// When the first begins.
    base: u64,
    /// Each takes `1 << shift` nanoseconds.
    shift: u32,
    chunks: Vec<Chunk<E>>,
    free: u32,
    len: usize,
}

#[derive(Clone, Debug)]
struct Chunk<E> {
    entries: [(u128, E); TOGETHER],
    len: u32,
    next: u32,
}

impl<E: Copy> Buckets<E> {
    /// The bucket of an instant, which may be one whose turn has come, or one behind the last.
    #[inline]
    fn of(&self, key: u128) -> usize {
        let since = time_of(key).0.saturating_sub(self.base);
        usize::try_from(since >> self.shift).unwrap_or(usize::MAX)
    }

    fn put(&mut self, bucket: usize, key: u128, event: E) {
        self.len += 1;
        let first = self.lists[bucket];
        if let Some(chunk) = self.chunks.get_mut(first as usize)
            && let Some(place) = chunk.entries.get_mut(chunk.len as usize)
        {
            *place = (key, event);
            chunk.len += 1;
            return;
        }
        let new = Chunk {
            entries: [(key, event); TOGETHER],
            len: 1,
            next: first,
        };
        self.lists[bucket] = match self.chunks.get_mut(self.free as usize) {
            Some(chunk) => {
                let place = std::mem::replace(&mut self.free, chunk.next);
                *chunk = new;
                place
            }
            None => {
                self.chunks.push(new);
                self.chunks.len() as u32 - 1
            }
        };
    }

    /// Moves the next bucket to `heap`.
    fn take_next(&mut self, heap: &mut Far<E>) {
        let mut place = std::mem::replace(&mut self.lists[self.used], NO_CHUNK);
        self.used += 1;
        while let Some(chunk) = self.chunks.get_mut(place as usize) {
            for &(key, event) in &chunk.entries[..chunk.len as usize] {
                heap.push(key, event);
            }
            self.len -= chunk.len as usize;
            let next = std::mem::replace(&mut chunk.next, self.free);
            self.free = std::mem::replace(&mut place, next);
        }
    }

    /// Prepares for a crowd, after which `of` says where each belongs. The earlier half is to fill an eighth of the
    /// buckets.
    fn prepare(&mut self, crowd: &[(u128, E)]) {
        let time = |entry: &(u128, E)| time_of(entry.0).0;
        let mut sample = [0; SAMPLE];
        for (i, at) in sample.iter_mut().enumerate() {
            *at = time(&crowd[i * crowd.len() / SAMPLE]);
        }
        sample.sort_unstable();
        self.base = crowd.iter().map(time).min().unwrap_or(0);
        let half = sample[SAMPLE / 2] - self.base;
        let wanted = (crowd.len() / SHARE / 2).max(1) as u64;
        self.shift = (half / wanted).max(1).ilog2();
        let count = (4 * crowd.len() / SHARE)
            .next_power_of_two()
            .min(BUCKETS_MAX);
        self.lists.clear();
        self.lists.resize(count, NO_CHUNK);
        self.used = 0;
    }
}

impl<E: Copy> Later<E> {
    pub(super) fn new() -> Self {
        Later {
            heap: Far::new(),
            buckets: Buckets {
                lists: Vec::new(),
                used: 0,
                base: 0,
                shift: 0,
                chunks: Vec::new(),
                free: NO_CHUNK,
                len: 0,
            },
            rest: Vec::new(),
            spare: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.heap.len() + self.buckets.len + self.rest.len()
    }

    /// The memory it has taken.
    pub(super) fn bytes(&self) -> usize {
        self.heap.bytes()
            + self.buckets.lists.len() * size_of::<u32>()
            + self.buckets.chunks.len() * size_of::<Chunk<E>>()
            + (self.rest.len() + self.spare.len()) * size_of::<(u128, E)>()
    }

    /// The least key.
    pub(super) fn first(&self) -> Option<u128> {
        self.heap.first()
    }

    pub(super) fn push(&mut self, key: u128, event: E) {
        if self.buckets.lists.is_empty() {
            self.heap.push(key, event);
            if self.heap.len() > CROWD {
                self.spread();
            }
            return;
        }
        let bucket = self.buckets.of(key);
        if bucket < self.buckets.used {
            self.heap.push(key, event);
        } else if bucket < self.buckets.lists.len() {
            self.buckets.put(bucket, key, event);
        } else {
            self.rest.push((key, event));
        }
    }

    /// Takes out what has the least key.
    pub(super) fn pop(&mut self) -> Option<(u128, E)> {
        let first = self.heap.pop();
        if self.heap.is_empty() && !self.buckets.lists.is_empty() {
            self.refill();
        }
        first
    }

    /// The heap has become a crowd.
    #[cold]
    fn spread(&mut self) {
        self.heap.take_all(&mut self.rest);
        self.deal();
        self.refill();
    }

    /// Fills the heap, which is empty.
    #[cold]
    fn refill(&mut self) {
        while self.heap.is_empty() {
            if self.buckets.len > 0 {
                self.buckets.take_next(&mut self.heap);
            } else if self.rest.len() > CROWD / 4 {
                self.deal();
            } else {
                self.buckets.lists.clear();
                for (key, event) in self.rest.drain(..) {
                    self.heap.push(key, event);
                }
                return;
            }
        }
    }

    /// Deals `rest` out to buckets, which are all empty.
    fn deal(&mut self) {
        std::mem::swap(&mut self.rest, &mut self.spare);
        self.buckets.prepare(&self.spare);
        for &(key, event) in &self.spare {
            let bucket = self.buckets.of(key);
            if bucket < self.buckets.lists.len() {
                self.buckets.put(bucket, key, event);
            } else {
                self.rest.push((key, event));
            }
        }
        self.spare.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 32, ..ProptestConfig::default() })]

        /// Crowds that come and go, near and far, in one instant and at the end of time.
        #[test]
        fn it_is_a_sorted_map(
            phases in prop::collection::vec((0..60u32, 1..10_000usize, prop::bool::weighted(0.6)), 1..8),
            seed in any::<u64>(),
        ) {
            let (mut later, mut map) = (Later::new(), BTreeMap::new());
            let (mut now, mut bits, mut number) = (0u64, seed, 0u64);
            for (spread, steps, grows) in phases {
                for _ in 0..steps {
                    bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let (random, chance) = (bits >> 11, (bits >> 40) % 8);
                    if (chance < 3) != grows {
                        let time = match random % 101 {
                            0 => u64::MAX,
                            1 => now,
                            _ => now.saturating_add((random >> 4) % (1 << spread)),
                        };
                        number += 1;
                        let key = u128::from(time) << 64 | u128::from(number);
                        later.push(key, number);
                        map.insert(key, number);
                    } else {
                        let popped = later.pop();
                        prop_assert_eq!(popped, map.pop_first());
                        now = popped.map_or(now, |(key, _)| time_of(key).0);
                    }
                    prop_assert_eq!(later.len(), map.len());
                    prop_assert_eq!(later.is_empty(), map.is_empty());
                    prop_assert_eq!(later.first(), map.keys().next().copied());
                }
            }
            while let Some(first) = map.pop_first() {
                prop_assert_eq!(later.pop(), Some(first));
            }
            prop_assert_eq!(later.pop(), None);
        }
    }
}
