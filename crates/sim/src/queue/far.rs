//! A heap with four children to a node, for those events that do not come next.
//!
//! Half as deep as one with two, and the keys of four children lie side by side in one line of the cache, apart from the events,
//! of which only the one that moves is touched. That matters once a heap is larger than what is near: with few events
//! it is as quick as any other.

/// Slots before the root that stay empty: large blocks of memory begin sixteen bytes into a line of the cache, so that with
/// two of them each four children share one line.
const PAD: usize = 2;

/// Entries by key, the least first. No two keys are equal.
#[derive(Clone, Debug)]
pub(super) struct Far<E> {
    keys: Vec<u128>,
    /// Beside the keys, without the empty slots.
    events: Vec<E>,
}

impl<E: Copy> Far<E> {
    pub(super) fn new() -> Self {
        Far {
            keys: vec![0; PAD],
            events: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    /// The memory it has taken.
    pub(super) fn bytes(&self) -> usize {
        self.keys.len() * size_of::<u128>() + self.events.len() * size_of::<E>()
    }

    /// The least key.
    pub(super) fn first(&self) -> Option<u128> {
        self.keys.get(PAD).copied()
    }

    pub(super) fn push(&mut self, key: u128, event: E) {
        self.keys.push(key);
        self.events.push(event);
        self.rise(self.events.len() - 1, key, event);
    }

    /// Takes out what has the least key.
    pub(super) fn pop(&mut self) -> Option<(u128, E)> {
        let last = self.events.pop()?;
        let last_key = self.keys.pop()?;
        let Some(&first) = self.events.first() else {
            return Some((last_key, last));
        };
        let key = self.keys[PAD];
        // The gap sinks to the bottom, where what was last nearly belongs, and rises from there.
        let gap = self.sink();
        self.rise(gap, last_key, last);
        Some((key, first))
    }

    /// Moves all entries to `to`, in no order.
    pub(super) fn take_all(&mut self, to: &mut Vec<(u128, E)>) {
        let keys = self.keys.drain(PAD..);
        to.extend(keys.zip(self.events.drain(..)));
    }

    /// Moves the gap at the root down along the least children; where it ends up.
    fn sink(&mut self) -> usize {
        let mut gap = 0;
        loop {
            let first = 4 * gap + 1;
            let Some(keys) = self.keys.get(PAD + first..) else {
                return gap;
            };
            let children = match keys {
                [] => return gap,
                [a, b, c, d, ..] => {
                    let (left, right) = (usize::from(b < a), 2 + usize::from(d < c));
                    if keys[right] < keys[left] {
                        right
                    } else {
                        left
                    }
                }
                few => {
                    (1..few.len()).fold(0, |least, i| if few[i] < few[least] { i } else { least })
                }
            };
            let child = first + children;
            self.keys[PAD + gap] = self.keys[PAD + child];
            self.events[gap] = self.events[child];
            gap = child;
        }
    }

    /// Fills the gap at `place`, which rises as far as `key` is less.
    fn rise(&mut self, mut place: usize, key: u128, event: E) {
        while place > 0 {
            let above = (place - 1) / 4;
            if self.keys[PAD + above] < key {
                break;
            }
            self.keys[PAD + place] = self.keys[PAD + above];
            self.events[place] = self.events[above];
            place = above;
        }
        self.keys[PAD + place] = key;
        self.events[place] = event;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// `None`: take one out.
        #[test]
        fn it_is_a_sorted_map(steps in prop::collection::vec(prop::option::weighted(0.6, any::<u32>()), 0..400)) {
            let (mut far, mut map) = (Far::new(), BTreeMap::new());
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Some(time) => {
                        let key = u128::from(time % 50) << 64 | number as u128;
                        far.push(key, number);
                        map.insert(key, number);
                    }
                    None => prop_assert_eq!(far.pop(), map.pop_first()),
                }
                prop_assert_eq!(far.len(), map.len());
                prop_assert_eq!(far.is_empty(), map.is_empty());
                prop_assert_eq!(far.first(), map.keys().next().copied());
            }
            while let Some(first) = map.pop_first() {
                prop_assert_eq!(far.pop(), Some(first));
            }
            prop_assert_eq!(far.pop(), None);
        }
    }
}
