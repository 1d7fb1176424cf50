//! Slots that are used again, named by ids that notice.
//!
//! An [`Id`] is a slot and the generation it was handed out in. Removing raises the generation, so an
//! old id finds nothing: "already over", never somebody else. Memory grows with what lives at once.

use std::marker::PhantomData;

/// Names one value in an [`Arena`], for as long as it lives. Slot and generation in one number: it fits a register.
pub(crate) struct Id<T> {
    /// The slot below, the generation above.
    bits: u64,
    of: PhantomData<fn() -> T>,
}

impl<T> Id<T> {
    /// An id that never finds anything.
    pub(crate) const NONE: Id<T> = Id::from_bits(NO_SLOT as u64);

    /// Both halves in one number, for trajectories and engine keys.
    #[inline]
    pub(crate) fn bits(self) -> u64 {
        self.bits
    }

    /// The slot it is in, for what is kept beside an arena.
    #[inline]
    pub(crate) fn slot(self) -> usize {
        self.bits as u32 as usize
    }

    /// The id that `bits` was made from.
    #[inline]
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Id {
            bits,
            of: PhantomData,
        }
    }
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Id<T> {}
impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}
impl<T> Eq for Id<T> {}
impl<T> std::fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}#{}", self.slot(), self.bits >> 32)
    }
}

/// Values under ids. A removed value stays in its slot until the slot is used again, so `T` should
/// own little.
#[derive(Clone, Debug)]
pub(crate) struct Arena<T> {
    slots: Vec<Slot<T>>,
    /// The free slot that was freed last; the others follow by `next`.
    free: u32,
}

/// Begins a line of the cache, with what says whether it is in use and what its value has first: among a million slots
/// each line is a way of its own to memory.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Slot<T> {
    /// In use: the bits of its id, whose generation is odd. Free: an even generation above the slot that was freed
    /// before this one.
    bits: u64,
    value: T,
}

/// One generation later, with `below` for a slot; after the last generation comes the first.
#[inline]
fn next_generation(bits: u64, below: u32) -> u64 {
    (((bits >> 32) + 1) << 32) | u64::from(below)
}

/// Behind the last free slot.
const NO_SLOT: u32 = u32::MAX;

impl<T> Arena<T> {
    pub(crate) fn new() -> Self {
        Arena {
            slots: Vec::new(),
            free: NO_SLOT,
        }
    }

    /// What the slots take, used or free.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.len() * size_of::<Slot<T>>()
    }

    /// Keeps what `make` makes, which is built in its slot instead of being moved there.
    #[inline(always)]
    pub(crate) fn insert(&mut self, make: impl FnOnce() -> T) -> Id<T> {
        let slot = self.free;
        let Some(place) = self.slots.get_mut(slot as usize) else {
            return self.insert_in_new_slot(make());
        };
        self.free = place.bits as u32;
        place.bits = next_generation(place.bits, slot);
        place.value = make();
        Id::from_bits(place.bits)
    }

    #[cold]
    fn insert_in_new_slot(&mut self, value: T) -> Id<T> {
        let slot = u32::try_from(self.slots.len()).unwrap_or(NO_SLOT);
        assert!(slot != NO_SLOT, "fewer than 2^32 in flight at once");
        let bits = next_generation(0, slot);
        self.slots.push(Slot { bits, value });
        Id::from_bits(bits)
    }

    #[inline]
    pub(crate) fn contains(&self, id: Id<T>) -> bool {
        self.slots.get(id.slot()).is_some_and(|s| s.bits == id.bits)
    }

    #[inline]
    pub(crate) fn get(&self, id: Id<T>) -> Option<&T> {
        self.slots
            .get(id.slot())
            .filter(|s| s.bits == id.bits)
            .map(|s| &s.value)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: Id<T>) -> Option<&mut T> {
        self.slots
            .get_mut(id.slot())
            .filter(|s| s.bits == id.bits)
            .map(|s| &mut s.value)
    }

    /// Ends the life of `id`; false if it was over already.
    #[inline]
    pub(crate) fn remove(&mut self, id: Id<T>) -> bool {
        match self.slots.get_mut(id.slot()) {
            Some(place) if place.bits == id.bits => {
                place.bits = next_generation(id.bits, self.free);
                self.free = id.bits as u32;
                true
            }
            _ => false,
        }
    }

    /// All that live, in slot order.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let live = self.slots.iter_mut().filter(|s| s.is_in_use());
        live.map(|s| &mut s.value)
    }

    /// All that live with their names, in slot order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Id<T>, &T)> {
        let live = self.slots.iter().filter(|s| s.is_in_use());
        live.map(|s| (Id::from_bits(s.bits), &s.value))
    }
}

impl<T> Slot<T> {
    fn is_in_use(&self) -> bool {
        (self.bits >> 32) % 2 == 1
    }
}

impl<T> std::ops::Index<Id<T>> for Arena<T> {
    type Output = T;
    #[inline]
    fn index(&self, id: Id<T>) -> &T {
        let place = &self.slots[id.slot()];
        assert!(place.bits == id.bits, "a live id");
        &place.value
    }
}

impl<T> std::ops::IndexMut<Id<T>> for Arena<T> {
    #[inline]
    fn index_mut(&mut self, id: Id<T>) -> &mut T {
        let place = &mut self.slots[id.slot()];
        assert!(place.bits == id.bits, "a live id");
        &mut place.value
    }
}

/// What is kept beside an arena for one id, in a table by slot: made with `new` when the table first gets that far.
#[inline]
pub(crate) fn beside<T, N>(table: &mut Vec<N>, id: Id<T>, new: impl Fn() -> N) -> &mut N {
    let slot = id.slot();
    if table.len() <= slot {
        table.resize_with(slot + 1, new);
    }
    &mut table[slot]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever comes and goes, an id finds what it was given for, as long as that lives, and nothing afterwards.
        #[test]
        fn an_arena_is_a_map_under_keys_of_its_own(steps in prop::collection::vec((any::<bool>(), any::<u16>()), 1..300)) {
            let mut arena = Arena::new();
            // By number in the order of coming, so that ids of the dead are tried too.
            let (mut ids, mut living) = (Vec::new(), BTreeMap::new());
            let mut most = 0;
            for (comes, pick) in steps {
                if comes || ids.is_empty() {
                    let value = ids.len();
                    ids.push(arena.insert(|| value));
                    living.insert(value, ());
                    most = most.max(living.len());
                } else {
                    let number = usize::from(pick) % ids.len();
                    prop_assert_eq!(arena.remove(ids[number]), living.remove(&number).is_some());
                }
                for (number, &id) in ids.iter().enumerate() {
                    let lives = living.contains_key(&number);
                    prop_assert_eq!(arena.get(id).copied(), lives.then_some(number));
                    prop_assert_eq!(arena.contains(id), lives);
                    prop_assert_eq!(Id::from_bits(id.bits()), id);
                }
                let mut seen: Vec<_> = arena.iter().map(|(_, &value)| value).collect();
                seen.sort_unstable();
                prop_assert_eq!(seen, living.keys().copied().collect::<Vec<_>>());
            }
            prop_assert_eq!(arena.slots.len(), most, "slots grow with what lives at once");
        }
    }

    #[test]
    fn an_old_id_never_finds_the_next_tenant() {
        let mut arena = Arena::new();
        let first = arena.insert(|| 'a');
        assert!(arena.remove(first));
        assert!(!arena.remove(first));
        let second = arena.insert(|| 'b');
        assert_eq!(second.slot(), first.slot());
        assert_eq!(arena.get(first), None);
        assert_eq!(arena[second], 'b');
        assert_eq!(arena.iter().count(), 1);
        assert_eq!(Id::from_bits(second.bits()), second);
        assert!(!arena.contains(Id::NONE));
    }

    #[test]
    fn slots_are_reused_before_new_ones_are_made() {
        let mut arena = Arena::new();
        let ids: Vec<_> = (0..10).map(|n| arena.insert(|| n)).collect();
        for &id in &ids {
            arena.remove(id);
        }
        for n in 0..10 {
            arena.insert(|| n);
        }
        assert_eq!(arena.slots.len(), 10);
        assert_eq!(arena.iter().count(), 10);
    }
}
