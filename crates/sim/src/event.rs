//! Everything that can happen: the table of contents of the simulation.

use seawall::FailureKind;

use crate::world::{MessageId, TaskId, Tick, TripId};

/// Something that happens at an instant. [`crate::world::World`] handles each kind in one place.
///
/// Ids may be stale by the time the event comes up; then it is over already and nothing happens. The numbers of the
/// kinds enter the trajectory hash: one that is given up is not given out again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Event {
    /// The next arrival of a client's source. A source that changed its mind (load fault) has a new epoch.
    Arrive { client: u32, epoch: u32 } = 1,
    /// A closed client's instance begins its next iteration.
    Iterate { client: u32, instance: u32 } = 2,
    /// A task goes on with its program: it has just begun, its delay is over, or its call.
    Resume(TaskId) = 3,
    /// A task's work is done.
    Worked(TaskId) = 4,
    /// The program of a task is over, since a call in it failed like this.
    Fail(FailureKind, TaskId) = 6,
    /// The engine of the call that a task waits for is to be asked what to do.
    Poll(TaskId) = 7,
    /// That engine asked to be woken.
    Timer(TaskId) = 8,
    /// A request reaches its service.
    Deliver(TaskId) = 9,
    /// An answer reaches its caller.
    Answer(TaskId) = 10,
    /// A cancellation reaches the service of a job.
    Cancel(TaskId) = 11,
    /// A replica may have a free worker and somebody waiting.
    Dispatch { service: u32, replica: u32 } = 12,
    /// A job has waited as long as its service lets it.
    WaitedEnough(TaskId) = 31,
    /// Something that a service has planned.
    Tick(Tick) = 32,
    /// A leg of the way of an attempt is over.
    Leg(TripId) = 33,
    /// An attempt has waited for a connection as long as it may.
    WaitedForConnection(TripId) = 34,
    /// Some connections of a process may have been idle too long.
    IdleConnections(u32) = 35,
    /// Something is due for a message.
    Message(MessageId) = 36,
    /// Something is due for the session that a task holds.
    Session(TaskId) = 37,
    /// One of the few things that happen to the world as a whole.
    Rare(Rare) = 13,
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
    /// A change of policy reaches more processes.
    RollsOut(u32),
}

impl Event {
    /// One number that differs between events that differ, for the trajectory hash.
    #[inline]
    pub(crate) fn fingerprint(self) -> u64 {
        let pair = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        // All kinds keep what they name in the same place, so these matches cost next to nothing.
        let kind = match self {
            Event::Arrive { .. } => 1,
            Event::Iterate { .. } => 2,
            Event::Resume(_) => 3,
            Event::Worked(_) => 4,
            Event::Fail(..) => 6,
            Event::Poll(_) => 7,
            Event::Timer(_) => 8,
            Event::Deliver(_) => 9,
            Event::Answer(_) => 10,
            Event::Cancel(_) => 11,
            Event::Dispatch { .. } => 12,
            Event::WaitedEnough(_) => 31,
            Event::Tick(_) => 32,
            Event::Leg(_) => 33,
            Event::WaitedForConnection(_) => 34,
            Event::IdleConnections(_) => 35,
            Event::Message(_) => 36,
            Event::Session(_) => 37,
            Event::Rare(rare) => return rare.fingerprint(),
        };
        let what = match self {
            Event::Arrive { client, epoch } => pair(client, epoch),
            Event::Iterate { client, instance } => pair(client, instance),
            Event::Dispatch { service, replica } => pair(service, replica),
            Event::Resume(id)
            | Event::Worked(id)
            | Event::Fail(_, id)
            | Event::Poll(id)
            | Event::Timer(id)
            | Event::Deliver(id)
            | Event::Answer(id)
            | Event::Cancel(id)
            | Event::Session(id)
            | Event::WaitedEnough(id) => id.bits(),
            Event::Tick(tick) => tick.bits(),
            Event::Leg(trip) | Event::WaitedForConnection(trip) => trip.bits(),
            Event::IdleConnections(pool) => u64::from(pool),
            Event::Message(id) => id.bits(),
            Event::Rare(_) => 0,
        };
        (kind << 56) ^ what
    }
}

impl Rare {
    #[cold]
    fn fingerprint(self) -> u64 {
        let (kind, what) = match self {
            Rare::FaultBegins(n) => (13, u64::from(n)),
            Rare::FaultEnds(n) => (14, u64::from(n)),
            Rare::WindowCloses => (15, 0),
            Rare::WarmupEnds => (16, 0),
            Rare::ArrivalsEnd => (17, 0),
            Rare::RollsOut(n) => (18, u64::from(n)),
        };
        (kind << 56) ^ what
    }
}
