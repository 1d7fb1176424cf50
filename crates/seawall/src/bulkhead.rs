//! What bounds calls in flight: so many permits, and a bounded first-come-first-served line for them.
//!
//! A permit that is given back goes straight to the first in line, so nobody who comes later can
//! take it. Places in line are slots of a list linked by index: joining, leaving from the middle and
//! being served take constant time, and nothing is allocated once the line has been at its longest.

use alloc::vec::Vec;

use crate::request::CallKey;
use crate::time::Span;

/// A bound on calls in flight, with a bounded waiting room in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bulkhead {
    /// Permits, at least 1. With a limiter, the most that it may give.
    pub max_in_flight: u32,
    /// Calls in flight from which on others line up first, and go in flight only when the line is
    /// full: the core size of a thread pool with a queue. At least 1; `None`: `max_in_flight`.
    pub queue_from: Option<u32>,
    /// Calls that may wait for a permit; 0 refuses at once.
    pub max_waiting: u32,
    /// The longest wait for a permit (also bounded by the deadline); above 0 if anybody may wait.
    pub max_wait: Span,
    /// Whether a call keeps its permit during backoff. If not, it queues anew for each attempt. `None`: by its place
    /// in [`Spec::order`](crate::Spec::order), and without one it does not. May not contradict the order.
    pub hold_during_backoff: Option<bool>,
}

const NONE: u32 = u32::MAX;

/// A place in line. A stale one (the slot was given to somebody else since) is harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    slot: u32,
    stamp: u32,
}

/// What the gate says to somebody who comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Has a permit.
    Entered,
    /// Has a place in line.
    Waits(Place),
    /// Neither.
    Full,
}

/// The running state of a [`Bulkhead`].
#[derive(Clone, Debug)]
pub struct Gate {
    permits: u32,
    /// Permits out up to which nobody lines up.
    direct: u32,
    queue_from: u32,
    places: u32,
    /// Permits out, those of granted slots included.
    in_use: u32,
    waiting: u32,
    slots: Vec<Slot>,
    line: Line,
    /// Those with a permit whose driver has not been told yet.
    granted: Line,
    /// Head of the list of free slots.
    free: u32,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    key: CallKey,
    /// Goes up each time the slot is vacated.
    stamp: u32,
    at: At,
    previous: u32,
    next: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Free,
    Waiting,
    /// Has a permit; in the `granted` list.
    Granted,
    /// Has a permit, and the driver was told.
    Told,
}

/// A list of slots.
#[derive(Clone, Copy, Debug)]
struct Line {
    first: u32,
    last: u32,
}

impl Gate {
    /// A gate with all permits free.
    #[must_use]
    pub fn new(bulkhead: &Bulkhead) -> Gate {
        let empty = Line {
            first: NONE,
            last: NONE,
        };
        let queue_from = bulkhead.queue_from.unwrap_or(u32::MAX);
        Gate {
            permits: bulkhead.max_in_flight,
            direct: bulkhead.max_in_flight.min(queue_from),
            queue_from,
            places: if bulkhead.max_wait.0 == 0 {
                0
            } else {
                bulkhead.max_waiting
            },
            in_use: 0,
            waiting: 0,
            slots: Vec::new(),
            line: empty,
            granted: empty,
            free: NONE,
        }
    }

    /// Asks for a permit, or else for a place in line.
    #[inline]
    pub fn enter(&mut self, key: CallKey) -> Entry {
        if self.in_use < self.direct {
            self.in_use += 1;
            return Entry::Entered;
        }
        if self.waiting < self.places {
            return self.join(key);
        }
        if self.in_use < self.permits {
            self.in_use += 1;
            return Entry::Entered;
        }
        Entry::Full
    }

    /// Takes a permit if one is free and nobody waits for it.
    pub fn try_enter(&mut self) -> bool {
        let free = self.in_use < self.permits && self.waiting == 0;
        self.in_use += u32::from(free);
        free
    }

    /// Changes the number of permits. Those that are out beyond it stay out until they are given back;
    /// new ones go to the first in line.
    pub fn set_permits(&mut self, permits: u32) {
        self.permits = permits;
        self.direct = permits.min(self.queue_from);
        while self.in_use < self.direct && self.line.first != NONE {
            self.in_use += 1;
            self.grant();
        }
    }

    fn join(&mut self, key: CallKey) -> Entry {
        let slot = if self.free == NONE {
            self.slots.push(Slot {
                key,
                stamp: 0,
                at: At::Free,
                previous: NONE,
                next: NONE,
            });
            self.slots.len() as u32 - 1
        } else {
            let slot = self.free;
            self.free = self.slots[slot as usize].next;
            slot
        };
        self.slots[slot as usize].key = key;
        self.slots[slot as usize].at = At::Waiting;
        self.line.append(&mut self.slots, slot);
        self.waiting += 1;
        Entry::Waits(Place {
            slot,
            stamp: self.slots[slot as usize].stamp,
        })
    }

    /// Takes the permit that was granted to a place, and vacates the place. `false`: not granted yet.
    pub fn claim(&mut self, place: Place) -> bool {
        match self.at(place) {
            At::Granted => {
                self.granted.remove(&mut self.slots, place.slot);
                self.vacate(place.slot);
                true
            }
            At::Told => {
                self.vacate(place.slot);
                true
            }
            At::Waiting | At::Free => false,
        }
    }

    /// Leaves the line. A permit granted meanwhile goes to the next.
    pub fn leave(&mut self, place: Place) {
        match self.at(place) {
            At::Waiting => {
                self.line.remove(&mut self.slots, place.slot);
                self.waiting -= 1;
                self.vacate(place.slot);
            }
            At::Granted | At::Told => {
                self.claim(place);
                self.release();
            }
            At::Free => {}
        }
    }

    /// Whether a permit was granted to the place.
    #[must_use]
    pub fn is_granted(&self, place: Place) -> bool {
        matches!(self.at(place), At::Granted | At::Told)
    }

    /// Gives a permit back; it goes to the first in line.
    #[inline]
    pub fn release(&mut self) {
        if self.line.first == NONE || self.in_use > self.permits {
            self.in_use = self.in_use.saturating_sub(1);
        } else {
            self.grant();
        }
    }

    /// Gives a permit to the first in line.
    fn grant(&mut self) {
        let first = self.line.first;
        self.line.remove(&mut self.slots, first);
        self.waiting -= 1;
        self.slots[first as usize].at = At::Granted;
        self.granted.append(&mut self.slots, first);
    }

    /// The next call to which a permit was granted while it waited; each is named once.
    #[inline]
    pub fn next_admitted(&mut self) -> Option<CallKey> {
        let first = self.granted.first;
        if first == NONE {
            return None;
        }
        self.granted.remove(&mut self.slots, first);
        self.slots[first as usize].at = At::Told;
        Some(self.slots[first as usize].key)
    }

    /// Whether somebody was given a permit whose driver has not been told.
    #[inline]
    #[must_use]
    pub fn has_granted(&self) -> bool {
        self.granted.first != NONE
    }

    /// Permits out.
    #[must_use]
    pub fn in_use(&self) -> u32 {
        self.in_use
    }

    /// Calls in line.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    fn at(&self, place: Place) -> At {
        match self.slots.get(place.slot as usize) {
            Some(slot) if slot.stamp == place.stamp => slot.at,
            _ => At::Free,
        }
    }

    fn vacate(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        slot.at = At::Free;
        slot.stamp = slot.stamp.wrapping_add(1);
        slot.next = self.free;
        self.free = index;
    }
}

impl Line {
    fn append(&mut self, slots: &mut [Slot], slot: u32) {
        slots[slot as usize].previous = self.last;
        slots[slot as usize].next = NONE;
        match self.last {
            NONE => self.first = slot,
            last => slots[last as usize].next = slot,
        }
        self.last = slot;
    }

    fn remove(&mut self, slots: &mut [Slot], slot: u32) {
        let Slot { previous, next, .. } = slots[slot as usize];
        match previous {
            NONE => self.first = next,
            previous => slots[previous as usize].next = next,
        }
        match next {
            NONE => self.last = previous,
            next => slots[next as usize].previous = previous,
        }
    }
}
