//! What is to be seen of the parts.

use super::Guards;
use crate::breaker::{BreakerState, Circuit};
use crate::call::Call;
use crate::scope::Keyed;
use crate::time::Time;

impl Guards {
    /// What the breaker that is shared by all, or by all keys beyond the cap, does with a call.
    pub(crate) fn breaker_state(&self, now: Time) -> Option<BreakerState> {
        Some(self.breaker.as_ref()?.at(0).circuit.state(now))
    }

    /// The breaker that a call is under: its key, and what it does with a call.
    pub(crate) fn breaker_of(&self, call: &Call, now: Time) -> Option<(Option<u64>, BreakerState)> {
        let breaker = self.breaker.as_ref()?;
        let slot = call.slots.breaker;
        Some((breaker.key_of(slot), breaker.at(slot).circuit.state(now)))
    }

    /// All breakers, each with its key.
    pub(crate) fn breakers(&self) -> impl Iterator<Item = (Option<u64>, &Circuit)> {
        let all = self.breaker.iter().flat_map(Keyed::all);
        all.map(|(key, breaker)| (key, &breaker.circuit))
    }

    /// Whether the breaker of a host is not known to refuse.
    pub(crate) fn admits_host(&self, now: Time, host: u64) -> bool {
        match &self.breaker {
            Some(breaker) if breaker.scope().is_host() => {
                !breaker.of_key(host).circuit.refuses(now)
            }
            _ => true,
        }
    }

    /// The balance of the budget; where keys are told apart, of the one that all keys beyond the cap share.
    pub(crate) fn balance(&mut self, now: Time) -> f64 {
        self.budget.at_mut(0).balance(now)
    }

    /// Permits out and calls in line, all bulkheads together.
    pub(crate) fn bulkhead_load(&self) -> Option<(u32, u32)> {
        let all = self.bulkhead.as_ref()?.all();
        Some(all.fold((0, 0), |(out, line), (_, part)| {
            (
                part.gate.in_use().saturating_add(out),
                part.gate.waiting().saturating_add(line),
            )
        }))
    }
}
