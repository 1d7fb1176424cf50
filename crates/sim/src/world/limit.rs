//! Limits that end a run by name before it exhausts the machine.

use super::World;
use crate::metrics::Ended;

/// How many more calls in flight than ever before make it worth a look at memory.
const LOOK_EVERY: u64 = 4096;

impl World {
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

    /// Bytes of what grows: tasks, events to come, waiting rooms, windows. Engines and histograms are as large at the
    /// end as at the start.
    fn memory(&self) -> u64 {
        let rooms: usize = self.services.iter().map(|s| s.waiting_bytes()).sum();
        let ways = self.passages.as_ref().map_or(0, |state| state.bytes());
        let bytes = self.tasks.bytes() + self.queue.bytes() + rooms + ways + self.recorder.bytes();
        bytes as u64
    }
}
