//! Everything that can happen: the table of contents of the simulation.

use crate::world::{MessageId, TaskId, Tick, TripId};

/// Something that happens at an instant. [`crate::world::World`] handles each kind in one place.
///
/// Ids may be stale by the time the event comes up; then it is over already and nothing happens. The numbers of the
/// kinds enter the trajectory hash: one that is given up is not given out again.
///
/// Each kind names one number of 64 bits and no more, so that an event is handed on in two registers and never
/// through memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Event {
    /// The next arrival of a client's source. A source that changed its mind (load fault) has a new epoch: client, epoch.
    Arrive(Pair) = 1,
    /// A closed client's instance begins its next iteration: client, instance.
    Iterate(Pair) = 2,
    /// A task goes on with its program: it has just begun, its delay is over, or its call.
    Resume(TaskId) = 3,
    /// A task's work is done.
    Worked(TaskId) = 4,
    /// The program of a task is over, since a call in it failed; the task knows how.
    Fail(TaskId) = 6,
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
    /// A replica may have a free worker and somebody waiting: service, replica.
    Dispatch(Pair) = 12,
    /// A job has waited as long as its service lets it.
    WaitedEnough(TaskId) = 31,
    /// Something that a service has planned.
    Tick(Tick) = 32,
    /// A leg of the way of an attempt is over.
    Leg(TripId) = 33,
    /// An attempt has waited for a connection as long as it may.
    WaitedForConnection(TripId) = 34,
    /// Some connections of a process may have been idle too long: its pool.
    IdleConnections(u64) = 35,
    /// Something is due for a message.
    Message(MessageId) = 36,
    /// Something is due for the session that a task holds.
    Session(TaskId) = 37,
    /// One of the few things that happen to the world as a whole.
    Rare(Rare) = 13,
}

/// Two numbers in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair(u64);

impl Pair {
    #[inline]
    pub(crate) fn new(first: u32, second: u32) -> Pair {
        Pair(u64::from(second) << 32 | u64::from(first))
    }

    #[inline]
    pub(crate) fn first(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    pub(crate) fn second(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// What happens a few times in a run, and to what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rare(u64);

/// The kinds of [`Rare`], by their numbers in the trajectory hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Occasion {
    /// A fault begins.
    FaultBegins = 13,
    /// A fault is over.
    FaultEnds = 14,
    /// A measurement window closes.
    WindowCloses = 15,
    /// Measuring begins.
    WarmupEnds = 16,
    /// Arrivals stop.
    ArrivalsEnd = 17,
    /// A change of policy reaches more processes, or a deployment more replicas.
    RollsOut = 18,
}

/// The number of [`Event::Rare`] itself, which that of the occasion takes the place of.
const RARE: u64 = 13;

/// By number, from [`RARE`] on.
const OCCASIONS: [Occasion; 6] = [
    Occasion::FaultBegins,
    Occasion::FaultEnds,
    Occasion::WindowCloses,
    Occasion::WarmupEnds,
    Occasion::ArrivalsEnd,
    Occasion::RollsOut,
];

impl Rare {
    /// `fault`: which one it is about, 0 for none.
    #[must_use]
    pub(crate) fn event(occasion: Occasion, fault: u32) -> Event {
        Event::Rare(Rare((occasion as u64 ^ RARE) << 56 | u64::from(fault)))
    }

    pub(crate) fn occasion(self) -> Occasion {
        let number = self.0 >> 56 ^ RARE;
        OCCASIONS[(number - RARE) as usize]
    }

    pub(crate) fn fault(self) -> u32 {
        self.0 as u32
    }
}

impl Event {
    /// One number that differs between events that differ, for the trajectory hash.
    #[inline]
    pub(crate) fn fingerprint(self) -> u64 {
        // All kinds keep what they name in the same place, so these matches cost next to nothing.
        let kind = match self {
            Event::Arrive(_) => 1,
            Event::Iterate(_) => 2,
            Event::Resume(_) => 3,
            Event::Worked(_) => 4,
            Event::Fail(_) => 6,
            Event::Poll(_) => 7,
            Event::Timer(_) => 8,
            Event::Deliver(_) => 9,
            Event::Answer(_) => 10,
            Event::Cancel(_) => 11,
            Event::Dispatch(_) => 12,
            Event::WaitedEnough(_) => 31,
            Event::Tick(_) => 32,
            Event::Leg(_) => 33,
            Event::WaitedForConnection(_) => 34,
            Event::IdleConnections(_) => 35,
            Event::Message(_) => 36,
            Event::Session(_) => 37,
            Event::Rare(_) => RARE,
        };
        let what = match self {
            Event::Arrive(pair) | Event::Iterate(pair) | Event::Dispatch(pair) => pair.0,
            Event::Resume(id)
            | Event::Worked(id)
            | Event::Fail(id)
            | Event::Poll(id)
            | Event::Timer(id)
            | Event::Deliver(id)
            | Event::Answer(id)
            | Event::Cancel(id)
            | Event::Session(id)
            | Event::WaitedEnough(id) => id.bits(),
            Event::Tick(tick) => tick.bits(),
            Event::Leg(trip) | Event::WaitedForConnection(trip) => trip.bits(),
            Event::IdleConnections(pool) => pool,
            Event::Message(id) => id.bits(),
            Event::Rare(rare) => rare.0,
        };
        (kind << 56) ^ what
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_fits_two_registers_and_so_does_its_absence() {
        assert_eq!(size_of::<Event>(), 16);
        assert_eq!(size_of::<Option<Event>>(), 16);
    }

    #[test]
    fn rare_events_have_the_numbers_of_their_occasions() {
        for occasion in OCCASIONS {
            let event = Rare::event(occasion, 5);
            assert_eq!(event.fingerprint(), (occasion as u64) << 56 ^ 5);
            let Event::Rare(rare) = event else { panic!() };
            assert_eq!((rare.occasion(), rare.fault()), (occasion, 5));
        }
    }

    #[test]
    fn a_pair_is_both_its_numbers() {
        let pair = Pair::new(u32::MAX - 1, 7);
        assert_eq!((pair.first(), pair.second()), (u32::MAX - 1, 7));
    }
}
