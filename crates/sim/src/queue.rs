//! The event queue: a short sorted list in front of a heap for random delays, FIFO lanes for constant ones.
//!
//! Order is total: by time, then by rank. Faults and measuring come first, so that a window ends before
//! what happens at its end; call timers come last, so that **an answer that arrives in the very
//! nanosecond of the timeout is in time**; all other ties keep the order in which they were scheduled.
//!
//! Events scheduled with one constant delay come due in the order they were scheduled, so a plain queue
//! keeps them sorted at no cost; only the heads of the lanes compete with the rest.
//!
//! Of the others the earliest few are kept sorted (`near`), all later ones in a heap (`far`), behind which crowds of them lie
//! in buckets. A small world never needs the heap, and a large one takes from it in batches.

mod far;
mod later;

use std::collections::VecDeque;

use seawall::{Span, Time};

use later::Later;

/// Above this many distinct constant delays the rest share the heap: each pop looks at every lane's head.
const LANES_MAX: usize = 12;

/// At most this many events are kept sorted; half of them are moved to or from the heap at a time.
const NEAR_MAX: usize = 32;

/// What is scheduled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rank {
    /// Before everything else of the same instant.
    First,
    /// In order of scheduling.
    Normal,
    /// After everything else of the same instant.
    Timer,
}

/// A constant delay, registered once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Its own queue.
    Own(u8),
    /// No lane was left; the heap takes it.
    Heap(Rank, Span),
}

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    time: Time,
    rank: u64,
    event: E,
}

const NORMAL_BIT: u64 = 1 << 62;
const TIMER_BIT: u64 = 1 << 63;

impl<E> Entry<E> {
    /// Time and rank in one number.
    #[inline]
    fn key(&self) -> u128 {
        key(self.time, self.rank)
    }
}

#[inline]
fn key(time: Time, rank: u64) -> u128 {
    u128::from(time.0) << 64 | u128::from(rank)
}

#[inline]
fn time_of(key: u128) -> Time {
    Time((key >> 64) as u64)
}

#[derive(Clone, Debug)]
struct LaneQueue<E> {
    rank: Rank,
    delay: Span,
    entries: VecDeque<Entry<E>>,
}

/// Events to come, each with its instant.
#[derive(Clone, Debug)]
pub(crate) struct EventQueue<E> {
    /// The earliest events outside the lanes, latest first: the next one is at the end.
    near: Vec<Entry<E>>,
    /// Those that come after all of `near`.
    far: Later<E>,
    lanes: Vec<LaneQueue<E>>,
    /// The key at the head of each lane, `END` when empty; beside each other so that one look finds the first.
    heads: Vec<u128>,
    /// The least of `heads`, and whose it is: most of what happens leaves it as it is.
    first_head: u128,
    first_lane: usize,
    sequence: u64,
}

const END: u128 = u128::MAX;

impl<E: Copy> EventQueue<E> {
    pub(crate) fn new() -> Self {
        EventQueue {
            near: Vec::with_capacity(NEAR_MAX),
            far: Later::new(),
            lanes: Vec::new(),
            heads: Vec::new(),
            first_head: END,
            first_lane: 0,
            sequence: 0,
        }
    }

    /// The lane for a constant `delay`; the same delay gives the same lane.
    pub(crate) fn lane(&mut self, delay: Span, rank: Rank) -> Lane {
        if let Some(i) = self
            .lanes
            .iter()
            .position(|l| l.delay == delay && l.rank == rank)
        {
            return Lane::Own(i as u8);
        }
        if self.lanes.len() == LANES_MAX {
            return Lane::Heap(rank, delay);
        }
        self.lanes.push(LaneQueue {
            rank,
            delay,
            entries: VecDeque::new(),
        });
        self.heads.push(END);
        Lane::Own((self.lanes.len() - 1) as u8)
    }

    #[inline]
    fn next_rank(&mut self, rank: Rank) -> u64 {
        self.sequence += 1;
        match rank {
            Rank::First => self.sequence,
            Rank::Normal => self.sequence | NORMAL_BIT,
            Rank::Timer => self.sequence | TIMER_BIT,
        }
    }

    /// Schedules `event` at `time`.
    ///
    /// Compiled into its callers: an event that is handed over in memory is written in parts and read as a whole, for
    /// which the processor has to wait.
    #[inline(always)]
    pub(crate) fn push(&mut self, time: Time, rank: Rank, event: E) {
        let rank = self.next_rank(rank);
        if self.near.len() == NEAR_MAX {
            self.spill();
        }
        let key = key(time, rank);
        let is_near =
            self.far.is_empty() || (self.near.first()).is_some_and(|latest| key < latest.key());
        if is_near {
            self.push_near(Entry { time, rank, event });
        } else {
            self.far.push(key, event);
        }
    }

    #[inline(always)]
    fn push_near(&mut self, entry: Entry<E>) {
        let mut place = self.near.len();
        self.near.push(entry);
        while let Some(above) = place.checked_sub(1)
            && self.near[above].key() < entry.key()
        {
            self.near[place] = self.near[above];
            place = above;
        }
        self.near[place] = entry;
    }

    /// Moves the later half of `near` to the heap.
    #[cold]
    fn spill(&mut self) {
        for entry in self.near.drain(..NEAR_MAX / 2) {
            self.far.push(entry.key(), entry.event);
        }
    }

    /// Takes the earliest of the heap into `near`, which is empty.
    #[cold]
    fn refill(&mut self) {
        while self.near.len() < NEAR_MAX / 2
            && let Some((key, event)) = self.far.pop()
        {
            self.near.push(Entry {
                time: time_of(key),
                rank: key as u64,
                event,
            });
        }
        self.near.reverse();
    }

    /// Schedules `event` the lane's delay after `now`, which must never fall between two calls.
    #[inline(always)] // as `push`
    pub(crate) fn push_lane(&mut self, lane: Lane, now: Time, event: E) {
        match lane {
            Lane::Heap(rank, delay) => self.push(now.after(delay), rank, event),
            Lane::Own(i) => {
                let i = i as usize;
                let rank = self.next_rank(self.lanes[i].rank);
                let time = now.after(self.lanes[i].delay);
                let entry = Entry { time, rank, event };
                let lane = &mut self.lanes[i];
                if lane.entries.is_empty() {
                    let head = entry.key();
                    self.heads[i] = head;
                    if head < self.first_head {
                        (self.first_head, self.first_lane) = (head, i);
                    }
                }
                lane.entries.push_back(entry);
            }
        }
    }

    /// Takes out what comes first, unless it comes after `until`.
    #[inline]
    pub(crate) fn pop(&mut self, until: Time) -> Option<(Time, E)> {
        if self.near.is_empty() && !self.far.is_empty() {
            self.refill();
        }
        match self.near.last() {
            Some(&entry) if entry.key() < self.first_head => {
                if entry.time > until {
                    return None;
                }
                self.near.pop();
                Some((entry.time, entry.event))
            }
            _ => self.pop_lane(until),
        }
    }

    /// Takes out the first of the lanes, unless it comes after `until`.
    #[inline]
    fn pop_lane(&mut self, until: Time) -> Option<(Time, E)> {
        if time_of(self.first_head) > until {
            return None;
        }
        let lane = self.first_lane;
        let entries = &mut self.lanes.get_mut(lane)?.entries;
        let entry = entries.pop_front()?;
        self.heads[lane] = entries.front().map_or(END, Entry::key);
        self.first_head = END;
        for (i, &head) in self.heads.iter().enumerate() {
            if head < self.first_head {
                (self.first_head, self.first_lane) = (head, i);
            }
        }
        Some((entry.time, entry.event))
    }

    /// What all that is to come takes.
    pub(crate) fn bytes(&self) -> usize {
        let lanes: usize = self.lanes.iter().map(|l| l.entries.len()).sum();
        self.far.bytes() + lanes * size_of::<Entry<E>>()
    }

    /// The instant of what comes first.
    pub(crate) fn next_time(&self) -> Option<Time> {
        let near = self.near.last().map(|entry| entry.time);
        let first = near.or_else(|| self.far.first().map(time_of));
        let lanes = self.lanes.iter().filter_map(|lane| lane.entries.front());
        first.into_iter().chain(lanes.map(|entry| entry.time)).min()
    }

    /// Whether nothing is to come.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many are to come.
    pub(crate) fn len(&self) -> usize {
        self.near.len() + self.far.len() + self.lanes.iter().map(|l| l.entries.len()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn ties_keep_the_order_of_scheduling_between_windows_and_timers() {
        let mut queue = EventQueue::new();
        let timers = queue.lane(Span(5), Rank::Timer);
        let hops = queue.lane(Span(5), Rank::Normal);
        queue.push_lane(timers, Time(0), "timeout");
        queue.push(Time(5), Rank::Normal, "first");
        queue.push_lane(hops, Time(0), "second");
        queue.push(Time(5), Rank::Normal, "third");
        queue.push(Time(5), Rank::First, "window");
        let order: Vec<_> = std::iter::from_fn(|| queue.pop(Time::MAX))
            .map(|(_, e)| e)
            .collect();
        assert_eq!(order, ["window", "first", "second", "third", "timeout"]);
    }

    #[test]
    fn one_delay_has_one_lane_and_a_crowd_of_delays_falls_back_to_the_heap() {
        let mut queue = EventQueue::<u8>::new();
        let lane = queue.lane(Span(7), Rank::Normal);
        assert_eq!(queue.lane(Span(7), Rank::Normal), lane);
        assert_ne!(queue.lane(Span(7), Rank::Timer), lane);
        for n in 0..LANES_MAX as u64 {
            queue.lane(Span(100 + n), Rank::Normal);
        }
        assert_eq!(
            queue.lane(Span(999), Rank::Timer),
            Lane::Heap(Rank::Timer, Span(999))
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

        /// Thousands pending, so that events move between the sorted front and the heap in both directions: what comes out is
        /// ordered by (time, rank, order of scheduling), and nothing comes before its time.
        #[test]
        fn crowds_come_out_in_order(
            spread in 1u64..200_000,
            steps in prop::collection::vec((0u8..8, any::<u64>()), 1..3000),
        ) {
            let mut queue = EventQueue::new();
            let lane = queue.lane(Span(spread / 3), Rank::Timer);
            let mut expected: BTreeMap<(Time, u8, usize), usize> = BTreeMap::new();
            let mut now = Time(0);
            for (number, (what, bits)) in steps.into_iter().enumerate() {
                let time = Time(now.0 + bits % spread);
                match what {
                    0 | 1 => {
                        let until = Time(now.0 + bits % (spread / 50 + 1));
                        let first = expected.first_key_value().filter(|(key, _)| key.0 <= until);
                        let first = first.map(|(key, &event)| (*key, event));
                        prop_assert_eq!(queue.pop(until), first.map(|(key, event)| (key.0, event)));
                        if let Some((key, _)) = first {
                            expected.remove(&key);
                            now = key.0;
                        }
                    }
                    2 => {
                        queue.push_lane(lane, now, number);
                        expected.insert((now.after(Span(spread / 3)), 2, number), number);
                    }
                    3 => {
                        queue.push(time, Rank::First, number);
                        expected.insert((time, 0, number), number);
                    }
                    4 => {
                        queue.push(time, Rank::Timer, number);
                        expected.insert((time, 2, number), number);
                    }
                    _ => {
                        queue.push(time, Rank::Normal, number);
                        expected.insert((time, 1, number), number);
                    }
                }
                prop_assert_eq!(queue.len(), expected.len());
                prop_assert_eq!(queue.next_time(), expected.keys().next().map(|key| key.0));
            }
            while let Some((key, event)) = expected.pop_first() {
                prop_assert_eq!(queue.pop(Time::MAX), Some((key.0, event)));
            }
            prop_assert!(queue.is_empty());
        }
    }

    /// Any mix of heap and lanes comes out as a stable sort by (time, timers last) would have it.
    #[test]
    fn the_queue_is_a_stable_sort() {
        let mut random = Stream::new(7, Purpose::Work, "queue");
        for round in 0..200 {
            let mut queue = EventQueue::new();
            let lanes: Vec<_> = (0..20u64)
                .map(|n| {
                    (
                        Span(n % 7),
                        if n % 2 == 0 {
                            Rank::Timer
                        } else {
                            Rank::Normal
                        },
                    )
                })
                .map(|(delay, rank)| (queue.lane(delay, rank), delay, rank))
                .collect();
            let mut expected: Vec<(Time, bool, u64)> = Vec::new();
            let mut popped = Vec::new();
            let mut now = Time(0);
            for n in 0..300u64 {
                match random.below(4) {
                    0 => {
                        let time = Time(now.0 + random.below(10));
                        queue.push(time, Rank::Normal, n);
                        expected.push((time, false, n));
                    }
                    3 => {
                        if let Some((time, event)) = queue.pop(Time::MAX) {
                            now = time;
                            popped.push(event);
                            let first = expected.iter().copied().min().expect("as many as queued");
                            assert_eq!((time, event), (first.0, first.2), "round {round}");
                            expected.retain(|e| e.2 != event);
                        }
                    }
                    _ => {
                        let (lane, delay, rank) = lanes[random.below(20) as usize];
                        queue.push_lane(lane, now, n);
                        expected.push((now.after(delay), rank == Rank::Timer, n));
                    }
                }
            }
            assert_eq!(queue.len(), expected.len());
            expected.sort();
            let rest: Vec<_> = std::iter::from_fn(|| queue.pop(Time::MAX))
                .map(|(_, e)| e)
                .collect();
            assert_eq!(rest, expected.iter().map(|e| e.2).collect::<Vec<_>>());
        }
    }
}
