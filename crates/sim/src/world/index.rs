//! Numbers by key: a table of fixed order, which takes new memory only when more is in it than ever before.

/// Numbers by key. Open addressing with linear probing; what is taken out is closed up behind.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// A power of two of places, at most half of them taken.
    places: Vec<Option<(u64, u32)>>,
    len: usize,
}

impl Index {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn bytes(&self) -> usize {
        self.places.len() * size_of::<Option<(u64, u32)>>()
    }

    /// Where a key would be if nobody was in its way (Fibonacci hashing).
    fn home(&self, key: u64) -> usize {
        let bits = self.places.len().trailing_zeros();
        let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (hash.rotate_left(bits) as usize) & (self.places.len() - 1)
    }

    /// Where a key is, or else the free place where it would be.
    fn find(&self, key: u64) -> (usize, Option<u32>) {
        let mut at = self.home(key);
        loop {
            match self.places[at] {
                Some((other, value)) if other == key => return (at, Some(value)),
                Some(_) => at = (at + 1) & (self.places.len() - 1),
                None => return (at, None),
            }
        }
    }

    pub(super) fn get(&self, key: u64) -> Option<u32> {
        match self.len {
            0 => None,
            _ => self.find(key).1,
        }
    }

    /// Puts in a key that is not there.
    pub(super) fn insert(&mut self, key: u64, value: u32) {
        if 2 * (self.len + 1) > self.places.len() {
            let more = vec![None; (2 * self.places.len()).max(16)];
            let old = std::mem::replace(&mut self.places, more);
            for (key, value) in old.into_iter().flatten() {
                let (at, _) = self.find(key);
                self.places[at] = Some((key, value));
            }
        }
        let (at, there) = self.find(key);
        debug_assert!(there.is_none(), "a key is put in once");
        self.places[at] = Some((key, value));
        self.len += 1;
    }

    /// Takes a key out; what was under it.
    pub(super) fn remove(&mut self, key: u64) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        let (mut free, value) = self.find(key);
        value?;
        self.places[free] = None;
        self.len -= 1;
        let mask = self.places.len() - 1;
        let mut at = free;
        loop {
            at = (at + 1) & mask;
            let Some((other, _)) = self.places[at] else {
                return value;
            };
            // It may move up unless its home lies behind the free place.
            let from_home = at.wrapping_sub(self.home(other)) & mask;
            if from_home >= (at.wrapping_sub(free) & mask) {
                self.places[free] = self.places[at].take();
                free = at;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn an_index_is_a_map(steps in prop::collection::vec((any::<bool>(), 0u64..40), 1..400)) {
            let (mut index, mut map) = (Index::default(), BTreeMap::new());
            for (n, (comes, key)) in (0..).zip(steps) {
                // Keys of several places, as caches have them.
                let key = (key % 4) << 32 | key;
                if comes && !map.contains_key(&key) {
                    index.insert(key, n);
                    map.insert(key, n);
                } else if !comes {
                    prop_assert_eq!(index.remove(key), map.remove(&key));
                }
                prop_assert_eq!(index.len(), map.len());
                for key in 0..40 {
                    let key = (key % 4) << 32 | key;
                    prop_assert_eq!(index.get(key), map.get(&key).copied());
                }
            }
            prop_assert!(index.places.len() <= 128, "it grows with what is in it at once");
        }
    }
}
