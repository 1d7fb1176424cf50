//! Where the attempts of hedged calls are kept.

use alloc::vec::Vec;

use crate::action::Stopped;
use crate::breaker::Permit;
use crate::budget::Grant;
use crate::hedge::{HEDGED_ATTEMPTS_MAX, Hedge, HedgedCall};
use crate::time::Time;

const NONE: u32 = u32::MAX;

/// The hedged calls of a client that have attempts out, in slots that are used again.
#[derive(Clone, Debug)]
pub(crate) struct Races {
    pub(super) slots: Vec<Race>,
    free: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Race {
    pub(super) machine: HedgedCall,
    pub(super) copies: [Copied; HEDGED_ATTEMPTS_MAX as usize],
    /// Why no further copy is sent, once something else than their number forbids it.
    pub(super) no_more: Option<Stopped>,
    /// How the call ends, once that is decided.
    pub(super) end: Option<Option<Stopped>>,
    live: bool,
    next_free: u32,
}

/// One attempt of a hedged call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copied {
    pub(super) is: Is,
    pub(super) attempt: u32,
    pub(super) at: Time,
    pub(super) timer: Time,
    pub(super) in_flight: u32,
    pub(super) permit: Option<Permit>,
    pub(super) grant: Option<Grant>,
    pub(super) inside: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Is {
    /// Not sent, or over.
    Gone,
    /// Under way.
    Out,
    /// The driver is to be told that nobody waits for it.
    Unwanted,
}

pub(super) const GONE: Copied = Copied {
    is: Is::Gone,
    attempt: 0,
    at: Time::ZERO,
    timer: Time::MAX,
    in_flight: 0,
    permit: None,
    grant: None,
    inside: false,
};

impl Races {
    pub(crate) fn new() -> Races {
        Races {
            slots: Vec::new(),
            free: NONE,
        }
    }

    pub(super) fn begin(&mut self, hedge: &Hedge, now: Time) -> u32 {
        let fresh = Race {
            machine: HedgedCall::new(hedge, now),
            copies: [GONE; HEDGED_ATTEMPTS_MAX as usize],
            no_more: None,
            end: None,
            live: true,
            next_free: NONE,
        };
        if let Some(slot) = self.slots.get_mut(self.free as usize) {
            let index = self.free;
            self.free = slot.next_free;
            *slot = fresh;
            return index;
        }
        self.slots.push(fresh);
        (self.slots.len() - 1) as u32
    }

    pub(super) fn end(&mut self, index: u32) {
        if let Some(slot) = self.slots.get_mut(index as usize)
            && slot.live
        {
            slot.live = false;
            slot.next_free = self.free;
            self.free = index;
        }
    }
}
