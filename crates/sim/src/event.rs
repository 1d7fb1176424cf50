//! Everything that can happen: the table of contents of the simulation.

use seawall::FailureKind;

use crate::world::{TaskId, Tick};

/// Something that happens at an instant. [`crate::world::World`] handles each kind in one place.
///
/// Ids may be stale by the time the event comes up; then it is over already and nothing happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The next arrival of a client's source. A source that changed its mind (load fault) has a new epoch.
    Arrive { client: u32, epoch: u32 },
    /// A closed client's instance begins its next iteration.
    Iterate { client: u32, instance: u32 },
    /// A task goes on with its program: it has just begun, its delay is over, or its call.
    Resume(TaskId),
    /// A task's work is done.
    Worked(TaskId),
    /// The program of a task is over.
    End(TaskId),
    /// The program of a task is over, since a call in it failed like this.
    Fail(TaskId, FailureKind),
    /// The engine of the call that a task waits for is to be asked what to do.
    Poll(TaskId),
    /// That engine asked to be woken.
    Timer(TaskId),
    /// A request reaches its service.
    Deliver(TaskId),
    /// An answer reaches its caller.
    Answer(TaskId),
    /// A cancellation reaches the service of a job.
    Cancel(TaskId),
    /// A replica may have a free worker and somebody waiting.
    Dispatch { service: u32, replica: u32 },
    /// A job has waited as long as its service lets it.
    WaitedEnough(TaskId),
    /// Something that a service has planned.
    Tick(Tick),
    /// One of the few things that happen to the world as a whole.
    Rare(Rare),
}

/// What happens a few times in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rare {
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
    #[inline]
    pub(crate) fn fingerprint(self) -> u64 {
        let pair = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        let (kind, what) = match self {
            Event::Arrive { client, epoch } => (1, pair(client, epoch)),
            Event::Iterate { client, instance } => (2, pair(client, instance)),
            Event::Resume(id) => (3, id.bits()),
            Event::Worked(id) => (4, id.bits()),
            Event::End(id) => (5, id.bits()),
            Event::Fail(id, _) => (6, id.bits()),
            Event::Poll(id) => (7, id.bits()),
            Event::Timer(id) => (8, id.bits()),
            Event::Deliver(id) => (9, id.bits()),
            Event::Answer(id) => (10, id.bits()),
            Event::Cancel(id) => (11, id.bits()),
            Event::Dispatch { service, replica } => (12, pair(service, replica)),
            Event::WaitedEnough(id) => (31, id.bits()),
            Event::Tick(tick) => (32, tick.bits()),
            Event::Rare(rare) => match rare {
                Rare::FaultBegins(n) => (13, u64::from(n)),
                Rare::FaultEnds(n) => (14, u64::from(n)),
                Rare::WindowCloses => (15, 0),
                Rare::WarmupEnds => (16, 0),
                Rare::ArrivalsEnd => (17, 0),
            },
        };
        (kind << 56) ^ what
    }
}
