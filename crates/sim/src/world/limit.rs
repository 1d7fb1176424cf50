//! Limits that end a run by name before it exhausts the machine.

use seawall::Time;

use super::World;
use crate::metrics::Ended;

/// How many more calls in flight than ever before make it worth a look at memory.
const LOOK_EVERY: u64 = 4096;

/// How far a world may go before it is looked at again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watch {
    /// Events after which it is to be seen whether time passes.
    look_at: u64,
    /// When it was looked at last; `None`: never.
    looked: Option<Time>,
}

impl Watch {
    pub(super) fn new(standstill: u64) -> Watch {
        Watch {
            look_at: standstill,
            looked: None,
        }
    }
}

impl World {
    /// Events that may be handled before [`World::limit_events`] is to be asked.
    pub(super) fn events_until_a_look(&self) -> u64 {
        self.watch.look_at.min(self.scenario.run.limits.events)
    }

    /// Whether so many events were too many, or did not make time pass.
    #[cold]
    pub(super) fn limit_events(&mut self) {
        let limits = &self.scenario.run.limits;
        if self.events >= limits.events {
            self.stop = Some(Ended::EventLimit);
        } else if self.events >= self.watch.look_at {
            if self.watch.looked == Some(self.now) {
                self.stop = Some(Ended::StandstillLimit);
            }
            self.watch = Watch {
                look_at: self.events.saturating_add(limits.standstill),
                looked: Some(self.now),
            };
        }
    }

    /// More calls are in flight than ever before.
    #[cold]
    pub(super) fn more_calls_than_ever(&mut self) {
        self.calls_in_flight_max = self.calls_in_flight;
        if self.calls_in_flight > self.scenario.run.limits.calls {
            self.stop = Some(Ended::CallLimit);
        } else if self.calls_in_flight.is_multiple_of(LOOK_EVERY) {
            self.limit_memory();
        }
    }

    /// Ends the run if it takes more memory than it may.
    pub(super) fn limit_memory(&mut self) {
        if self.memory() > self.scenario.run.limits.memory {
            self.stop = Some(Ended::MemoryLimit);
        }
    }

    /// Bytes of what grows with what is in flight or with time: tasks and what is noted beside them, events to come, waiting rooms,
    /// caches, messages, windows, and the engines that a change of policy leaves behind. Everything else is as large at the end as at the start, or small
    /// beside the tasks it belongs to. What is there is counted and not the room that lists keep for more, so that a copy of a world meets
    /// its limit where the world does.
    fn memory(&self) -> u64 {
        let rooms: usize = self.services.iter().map(|s| s.waiting_bytes()).sum();
        let ways = self.passages.as_ref().map_or(0, |state| state.bytes());
        let caches = self.caches.as_ref().map_or(0, |state| state.bytes());
        let messages = self.messages.as_ref().map_or(0, |state| state.bytes());
        let sessions = self.sessions.as_ref().map_or(0, |state| state.bytes());
        let effects = self.effects.as_ref().map_or(0, |state| state.bytes());
        let shared = self.coalescing.as_ref().map_or(0, |state| state.bytes());
        let left_behind = self.engines.len() * size_of::<seawall::Client>();
        let bytes = left_behind
            + self.tasks.bytes()
            + self.queue.bytes()
            + rooms
            + ways
            + caches
            + messages
            + sessions
            + effects
            + shared
            + self.recorder.bytes();
        bytes as u64
    }
}
