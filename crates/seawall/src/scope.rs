//! Which calls share a part of the policy: all of the process, or those that have a key in common.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// Which calls share one breaker, budget, bulkhead or rate limit.
///
/// A key beyond the first `cap` has no entry of its own: all such share one, so that memory stays bounded whatever
/// the keys are. Entries are made when a key is first seen, and kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// All calls of the client.
    #[default]
    Process,
    /// Attempts to the same host. The driver is asked for the host of each attempt
    /// ([`crate::Action::Choose`]) before the attempt passes what is inside retry.
    Host {
        /// Hosts told apart, at least 1.
        cap: u16,
    },
    /// Calls with the same [`crate::Operation::group`].
    Operation {
        /// Groups told apart, at least 1.
        cap: u16,
    },
    /// Calls with the same [`crate::Operation::tenant`].
    Tenant {
        /// Tenants told apart, at least 1.
        cap: u16,
    },
}

impl Scope {
    /// Entries there may be beside the shared one.
    #[must_use]
    pub const fn cap(self) -> Option<u16> {
        match self {
            Scope::Process => None,
            Scope::Host { cap } | Scope::Operation { cap } | Scope::Tenant { cap } => Some(cap),
        }
    }

    /// Whether it is [`Scope::Host`].
    #[must_use]
    pub const fn is_host(self) -> bool {
        matches!(self, Scope::Host { .. })
    }
}

/// The scope of each part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes {
    /// Of the breaker.
    pub breaker: Scope,
    /// Of the retry budget. Not [`Scope::Host`]: a retry may go to another one.
    pub budget: Scope,
    /// Of the bulkhead and its limiter.
    pub bulkhead: Scope,
    /// Of the rate limit.
    pub rate_limit: Scope,
}

impl Scopes {
    /// Whether a host has to be known before an attempt passes them.
    #[must_use]
    pub const fn asks_for_host(&self) -> bool {
        self.breaker.is_host() || self.bulkhead.is_host() || self.rate_limit.is_host()
    }
}

/// Where the parts of one call are among those of its client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slots {
    pub(crate) budget: u16,
    pub(crate) breaker: u16,
    pub(crate) bulkhead: u16,
    pub(crate) pace: u16,
}

/// One part for everybody, or one for each key.
#[derive(Clone, Debug)]
pub(crate) struct Keyed<T> {
    /// Slot 0: everybody's, or that of all keys beyond the cap.
    shared: T,
    scope: Scope,
    more: Option<Box<More<T>>>,
    /// Whether a key had to share.
    crowded: bool,
}

#[derive(Clone, Debug)]
struct More<T> {
    /// What a key begins with.
    fresh: T,
    /// Keys in order, each with its slot.
    keys: Vec<(u64, u16)>,
    /// Slots from 1.
    parts: Vec<T>,
    /// Whose they are.
    names: Vec<u64>,
}

impl<T: Clone> Keyed<T> {
    pub(crate) fn new(part: T, scope: Scope) -> Keyed<T> {
        let more = scope.cap().map(|_| {
            Box::new(More {
                fresh: part.clone(),
                keys: Vec::new(),
                parts: Vec::new(),
                names: Vec::new(),
            })
        });
        Keyed {
            shared: part,
            scope,
            more,
            crowded: false,
        }
    }

    pub(crate) fn scope(&self) -> Scope {
        self.scope
    }

    /// The slot of a key, made if it is new and there is room; 0 is the shared one.
    pub(crate) fn slot(&mut self, key: u64) -> u16 {
        let (Some(more), Some(cap)) = (&mut self.more, self.scope.cap()) else {
            return 0;
        };
        let at = match more.keys.binary_search_by_key(&key, |&(key, _)| key) {
            Ok(at) => return more.keys.get(at).map_or(0, |&(_, slot)| slot),
            Err(at) => at,
        };
        if more.parts.len() >= usize::from(cap) {
            self.crowded = true;
            return 0;
        }
        more.parts.push(more.fresh.clone());
        more.names.push(key);
        let slot = more.parts.len() as u16;
        more.keys.insert(at, (key, slot));
        slot
    }

    /// The part of a key that has one; without one, what it would begin with or share.
    pub(crate) fn of_key(&self, key: u64) -> &T {
        let Some(more) = &self.more else {
            return &self.shared;
        };
        match more.keys.binary_search_by_key(&key, |&(key, _)| key) {
            Ok(at) => more
                .keys
                .get(at)
                .map_or(&self.shared, |&(_, slot)| self.at(slot)),
            Err(_) => &self.shared,
        }
    }

    /// The key whose slot it is; `None`: the shared one.
    pub(crate) fn key_of(&self, slot: u16) -> Option<u64> {
        let index = usize::from(slot).checked_sub(1)?;
        self.more.as_ref()?.names.get(index).copied()
    }

    /// The part in a slot.
    #[inline]
    pub(crate) fn at(&self, slot: u16) -> &T {
        match &self.more {
            None => &self.shared,
            Some(more) => (usize::from(slot).checked_sub(1))
                .and_then(|index| more.parts.get(index))
                .unwrap_or(&self.shared),
        }
    }

    /// The part in a slot.
    #[inline]
    pub(crate) fn at_mut(&mut self, slot: u16) -> &mut T {
        match &mut self.more {
            None => &mut self.shared,
            Some(more) => (usize::from(slot).checked_sub(1))
                .and_then(|index| more.parts.get_mut(index))
                .unwrap_or(&mut self.shared),
        }
    }

    /// All that are in use: the shared one, with no key, first, unless each key so far has its own.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Option<u64>, &T)> {
        let keyed = self.more.iter().flat_map(|more| &more.keys);
        (self.more.is_none() || self.crowded)
            .then_some((None, &self.shared))
            .into_iter()
            .chain(keyed.map(|&(key, slot)| (Some(key), self.at(slot))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_beyond_the_cap_share_the_one_of_the_others() {
        let mut keyed = Keyed::new(0, Scope::Tenant { cap: 2 });
        let slots = [7, 3, 9, 7, 8].map(|key| keyed.slot(key));
        assert_eq!(slots, [1, 2, 0, 1, 0]);
        for slot in slots {
            *keyed.at_mut(slot) += 1;
        }
        let all: Vec<_> = keyed.all().map(|(key, n)| (key, *n)).collect();
        assert_eq!(all, [(None, 2), (Some(3), 1), (Some(7), 2)]);
        assert_eq!((*keyed.of_key(7), *keyed.of_key(1000)), (2, 2));
        assert_eq!(
            *keyed.at(999),
            2,
            "a slot of somebody else's client is harmless"
        );
    }

    #[test]
    fn one_for_the_process_knows_no_keys() {
        let mut keyed = Keyed::new(0, Scope::Process);
        assert_eq!([5, 6].map(|key| keyed.slot(key)), [0, 0]);
        assert_eq!(keyed.all().count(), 1);
    }
}
