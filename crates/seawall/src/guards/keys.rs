//! Which of several parts of a kind are a call's.

use super::Guards;
use crate::request::Operation;
use crate::scope::{Keyed, Scope, Slots};

impl Guards {
    /// The parts of a call that begins, and how many of them are shared since there are too many keys.
    #[inline]
    pub(crate) fn slots(&mut self, operation: &Operation) -> (Slots, u64) {
        if self.keyed {
            self.find_slots(
                |scope| match scope {
                    Scope::Operation { .. } => Some(operation.group),
                    Scope::Tenant { .. } => Some(operation.tenant),
                    Scope::Process | Scope::Host { .. } => None,
                },
                Slots::default(),
            )
        } else {
            (Slots::default(), 0)
        }
    }

    /// The parts of an attempt to `host`.
    pub(crate) fn slots_of_host(&mut self, host: u64, slots: Slots) -> (Slots, u64) {
        self.find_slots(|scope| scope.is_host().then_some(host), slots)
    }

    #[inline(never)]
    fn find_slots(&mut self, key_of: impl Fn(Scope) -> Option<u64>, old: Slots) -> (Slots, u64) {
        fn find<T: Clone>(
            part: Option<&mut Keyed<T>>,
            key: &impl Fn(Scope) -> Option<u64>,
            old: u16,
            beyond: &mut u64,
        ) -> u16 {
            let found = part.and_then(|part| Some(part.slot(key(part.scope())?)));
            *beyond += u64::from(found == Some(0));
            found.unwrap_or(old)
        }
        let mut beyond = 0;
        let slots = Slots {
            budget: find(Some(&mut self.budget), &key_of, old.budget, &mut beyond),
            breaker: find(self.breaker.as_mut(), &key_of, old.breaker, &mut beyond),
            bulkhead: find(self.bulkhead.as_mut(), &key_of, old.bulkhead, &mut beyond),
            pace: find(self.pace.as_mut(), &key_of, old.pace, &mut beyond),
        };
        (slots, beyond)
    }
}
