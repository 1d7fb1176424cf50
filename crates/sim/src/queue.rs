//! The event queue: a heap for random delays, FIFO lanes for constant ones.
//!
//! Order is total: by time, then by rank. Faults and measuring come first, so that a window ends before
//! what happens at its end; call timers come last, so that **an answer that arrives in the very
//! nanosecond of the timeout is in time**; all other ties keep the order in which they were scheduled.
//!
//! Events scheduled with one constant delay come due in the order they were scheduled, so a plain queue
//! keeps them sorted at no cost; only the heads of the lanes compete with the top of the heap.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use seawall::{Span, Time};

/// Above this many distinct constant delays the rest share the heap: each pop looks at every lane's head.
const LANES_MAX: usize = 12;

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
    fn key(&self) -> (Time, u64) {
        (self.time, self.rank)
    }
}

// The heap is a max-heap, so the comparison is turned round: the earliest entry is the greatest.
impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}
impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl<E> Eq for Entry<E> {}

#[derive(Clone, Debug)]
struct LaneQueue<E> {
    rank: Rank,
    delay: Span,
    entries: VecDeque<Entry<E>>,
}

/// Events to come, each with its instant.
#[derive(Clone, Debug)]
pub(crate) struct EventQueue<E> {
    heap: BinaryHeap<Entry<E>>,
    lanes: Vec<LaneQueue<E>>,
    /// The key at the head of each lane, `END` when empty; beside each other so that one look finds the first.
    heads: Vec<(Time, u64)>,
    sequence: u64,
}

const END: (Time, u64) = (Time::MAX, u64::MAX);

impl<E: Copy> EventQueue<E> {
    pub(crate) fn new() -> Self {
        EventQueue {
            heap: BinaryHeap::new(),
            lanes: Vec::new(),
            heads: Vec::new(),
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
    #[inline]
    pub(crate) fn push(&mut self, time: Time, rank: Rank, event: E) {
        let rank = self.next_rank(rank);
        self.heap.push(Entry { time, rank, event });
    }

    /// Schedules `event` the lane's delay after `now`, which must never fall between two calls.
    #[inline]
    pub(crate) fn push_lane(&mut self, lane: Lane, now: Time, event: E) {
        match lane {
            Lane::Heap(rank, delay) => self.push(now.after(delay), rank, event),
            Lane::Own(i) => {
                let i = i as usize;
                let rank = self.next_rank(self.lanes[i].rank);
                let time = now.after(self.lanes[i].delay);
                if self.lanes[i].entries.is_empty() {
                    self.heads[i] = (time, rank);
                }
                self.lanes[i].entries.push_back(Entry { time, rank, event });
            }
        }
    }

    /// Takes out what comes first, unless it comes after `until`.
    #[inline]
    pub(crate) fn pop(&mut self, until: Time) -> Option<(Time, E)> {
        let (mut first, mut from) = (END, usize::MAX);
        for (i, &head) in self.heads.iter().enumerate() {
            if head < first {
                (first, from) = (head, i);
            }
        }
        match self.heap.peek() {
            Some(top) if top.key() < first => {
                if top.time > until {
                    return None;
                }
                self.heap.pop().map(|e| (e.time, e.event))
            }
            _ if from == usize::MAX || first.0 > until => None,
            _ => {
                let entries = &mut self.lanes[from].entries;
                let entry = entries.pop_front()?;
                self.heads[from] = entries.front().map_or(END, Entry::key);
                Some((entry.time, entry.event))
            }
        }
    }

    /// Whether nothing is to come.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many are to come.
    pub(crate) fn len(&self) -> usize {
        self.heap.len() + self.lanes.iter().map(|l| l.entries.len()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
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
