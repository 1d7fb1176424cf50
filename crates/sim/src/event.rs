//! Everything that can happen: the table of contents of the simulation.

use crate::world::{CallId, JobId, TaskId};

/// Something that happens at an instant. [`crate::world::World`] handles each kind in one place.
///
/// Ids may be stale by the time the event comes up; then it is over already and nothing happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The next arrival of a client's source. A source that changed its mind (load fault) has a new epoch.
    Arrive { client: u32, epoch: u32 },
    /// A closed client's instance begins its next iteration.
    Iterate { client: u32, instance: u32 },
    /// A request reaches its service.
    Deliver(JobId),
    /// A cancellation reaches the service of a job.
    Cancel(JobId),
    /// An answer reaches its caller.
    Answer(JobId),
    /// A program's work or delay is over.
    Done(TaskId),
    /// A call's engine asked to be woken.
    Timer(CallId),
    /// A waiting call got its permit.
    Admitted(CallId),
    /// A replica may have a free worker and somebody waiting.
    Dispatch { service: u32, replica: u32 },
    /// A fault begins.
    FaultBegins(u32),
    /// A fault is over.
    FaultEnds(u32),
    /// A measurement window closes.
    WindowCloses,
    /// Measuring begins.
    WarmupEnds,
    /// Arrivals stop.
    ArrivalsEnd,
}

impl Event {
    /// One number that differs between events that differ, for the trajectory hash.
    pub(crate) fn fingerprint(self) -> u64 {
        let (kind, what) = match self {
            Event::Arrive { client, .. } => (1, u64::from(client)),
            Event::Iterate { client, instance } => {
                (2, u64::from(client) << 32 | u64::from(instance))
            }
            Event::Deliver(id) => (3, id.bits()),
            Event::Cancel(id) => (4, id.bits()),
            Event::Answer(id) => (5, id.bits()),
            Event::Done(id) => (6, id.bits()),
            Event::Timer(id) => (7, id.bits()),
            Event::Admitted(id) => (13, id.bits()),
            Event::Dispatch { service, replica } => {
                (14, u64::from(service) << 32 | u64::from(replica))
            }
            Event::FaultBegins(n) => (8, u64::from(n)),
            Event::FaultEnds(n) => (9, u64::from(n)),
            Event::WindowCloses => (10, 0),
            Event::WarmupEnds => (11, 0),
            Event::ArrivalsEnd => (12, 0),
        };
        (kind << 56) ^ what
    }
}
