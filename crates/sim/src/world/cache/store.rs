//! What is in the caches of one step: entries in one arena, the least recently used of each cache last.

use seawall::Time;

use crate::world::index::Index;

/// No entry.
const NOBODY: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The cache, and the thing: see [`key`].
    key: u64,
    /// When it is good no more; `Time::MAX`: never.
    until: Time,
    /// The one that was used just after it, and just before it. Of a free entry: the next free one.
    newer: u32,
    older: u32,
    there: bool,
}

/// One cache: its entries by when they were last used.
#[derive(Clone, Copy, Debug)]
struct Place {
    newest: u32,
    oldest: u32,
    len: u32,
}

/// All caches of one step.
#[derive(Clone, Debug)]
pub(super) struct Store {
    capacity: u32,
    places: Vec<Place>,
    entries: Vec<Entry>,
    free: u32,
    index: Index,
    put_in: u64,
    taken_out: u64,
}

/// Names a thing in one cache.
pub(super) fn key(place: u32, thing: u32) -> u64 {
    u64::from(place) << 32 | u64::from(thing)
}

impl Store {
    pub(super) fn new(places: u32, capacity: u32) -> Store {
        let empty = Place {
            newest: NOBODY,
            oldest: NOBODY,
            len: 0,
        };
        Store {
            capacity,
            places: vec![empty; places as usize],
            entries: Vec::new(),
            free: NOBODY,
            index: Index::default(),
            put_in: 0,
            taken_out: 0,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.entries.len() * size_of::<Entry>() + self.index.bytes()
    }

    /// Until when what is there is good. Whoever asks uses it.
    pub(super) fn look_up(&mut self, key: u64) -> Option<Time> {
        let at = self.index.get(key)?;
        self.unlink(at);
        self.link(at);
        Some(self.entries[at as usize].until)
    }

    /// Until when what is there is good, for who only looks.
    pub(super) fn peek(&self, key: u64) -> Option<Time> {
        let at = self.index.get(key)?;
        Some(self.entries[at as usize].until)
    }

    /// Stores something. Whether another one had to make room.
    pub(super) fn put(&mut self, key: u64, until: Time) -> bool {
        if let Some(at) = self.index.get(key) {
            self.entries[at as usize].until = until;
            self.unlink(at);
            self.link(at);
            return false;
        }
        let place = self.places[(key >> 32) as usize];
        let full = place.len == self.capacity;
        if full {
            self.take_out(self.entries[place.oldest as usize].key);
        }
        let entry = Entry {
            key,
            until,
            newer: NOBODY,
            older: NOBODY,
            there: true,
        };
        let at = self.free;
        let at = match self.entries.get_mut(at as usize) {
            Some(old) => {
                self.free = old.older;
                *old = entry;
                at
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        self.index.insert(key, at);
        self.places[(key >> 32) as usize].len += 1;
        self.put_in += 1;
        self.link(at);
        full
    }

    /// Takes something out; whether it was there.
    pub(super) fn take_out(&mut self, key: u64) -> bool {
        let Some(at) = self.index.remove(key) else {
            return false;
        };
        self.unlink(at);
        let entry = &mut self.entries[at as usize];
        (entry.there, entry.older) = (false, self.free);
        self.free = at;
        self.places[(key >> 32) as usize].len -= 1;
        self.taken_out += 1;
        true
    }

    /// Takes out what `goes` says of the first `places` caches, from `first` on, in the order of the arena; how many those are.
    pub(super) fn empty(&mut self, first: u32, places: u32, mut goes: impl FnMut() -> bool) -> u64 {
        let mut gone = 0;
        for at in 0..self.entries.len() {
            let Entry { key, there, .. } = self.entries[at];
            let place = (key >> 32) as u32;
            let meant = place >= first && place - first < places;
            if there && meant && goes() {
                self.take_out(key);
                gone += 1;
            }
        }
        gone
    }

    /// What is wrong with it, if anything.
    pub(super) fn broken_law(&self) -> Option<String> {
        let there = self.entries.iter().filter(|entry| entry.there).count();
        let lens: u64 = self.places.iter().map(|place| u64::from(place.len)).sum();
        let most = self.places.iter().map(|place| place.len).max();
        let sound = there as u64 == lens
            && there == self.index.len()
            && self.put_in - self.taken_out == lens
            && most.is_none_or(|most| most <= self.capacity);
        (!sound).then(|| {
            format!(
                "what is put into a cache is there until it is taken out: {} in, {} out, {there} there, {lens} counted, room for {}",
                self.put_in, self.taken_out, self.capacity
            )
        })
    }

    fn unlink(&mut self, at: u32) {
        let Entry {
            key, newer, older, ..
        } = self.entries[at as usize];
        let place = &mut self.places[(key >> 32) as usize];
        match newer {
            NOBODY => place.newest = older,
            newer => self.entries[newer as usize].older = older,
        }
        match older {
            NOBODY => place.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
    }

    /// Makes it the one that was used last.
    fn link(&mut self, at: u32) {
        let place = &mut self.places[(self.entries[at as usize].key >> 32) as usize];
        let second = std::mem::replace(&mut place.newest, at);
        match second {
            NOBODY => place.oldest = at,
            second => self.entries[second as usize].newer = at,
        }
        let entry = &mut self.entries[at as usize];
        (entry.newer, entry.older) = (NOBODY, second);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Against the plainest cache there is: a list for each place, the last used in front.
        #[test]
        fn a_store_holds_what_was_used_last(steps in prop::collection::vec((0..3u8, 0..2u32, 0..6u32), 1..300)) {
            let mut store = Store::new(2, 3);
            let mut plain: [Vec<(u32, Time)>; 2] = Default::default();
            for (n, (what, place, thing)) in (0..).zip(steps) {
                let list = &mut plain[place as usize];
                let at = list.iter().position(|(there, _)| *there == thing);
                let name = key(place, thing);
                match what {
                    0 => {
                        let found = at.map(|at| list.remove(at));
                        list.splice(0..0, found);
                        prop_assert_eq!(store.look_up(name), found.map(|(_, until)| until));
                    }
                    1 => {
                        let full = at.is_none() && list.len() == 3;
                        at.map(|at| list.remove(at));
                        list.insert(0, (thing, Time(n)));
                        list.truncate(3);
                        prop_assert_eq!(store.put(name, Time(n)), full);
                    }
                    _ => {
                        prop_assert_eq!(store.take_out(name), at.is_some());
                        at.map(|at| list.remove(at));
                    }
                }
                for (place, list) in (0..).zip(&plain) {
                    for thing in 0..6 {
                        let there = list.iter().find(|(one, _)| *one == thing);
                        prop_assert_eq!(store.peek(key(place, thing)), there.map(|(_, until)| *until));
                    }
                }
                prop_assert_eq!(store.broken_law(), None);
            }
            prop_assert!(store.entries.len() <= 6, "it grows with what is in it at once");
        }
    }

    #[test]
    fn caches_are_emptied_one_by_one_and_in_part() {
        let mut store = Store::new(3, 10);
        for place in 0..3 {
            for thing in 0..10 {
                store.put(key(place, thing), Time::MAX);
            }
        }
        assert_eq!(store.empty(1, 1, || true), 10);
        let mut every_other = false;
        let flips = || {
            every_other = !every_other;
            every_other
        };
        assert_eq!(store.empty(0, u32::MAX, flips), 10);
        assert_eq!((store.index.len(), store.broken_law()), (10, None));
        assert_eq!(store.peek(key(1, 3)), None);
    }
}
