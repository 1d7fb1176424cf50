//! The yardstick: both reference workloads as somebody would write them by hand, for nothing else.
//!
//! One heap, plain structs, the same generator and the same logarithm as the simulator, latency into the
//! same kind of histogram; no scenario, no policies, no windows, no names. What the simulator costs
//! beyond this is the price of being general.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use hdrhistogram::Histogram;
use rand_core::Rng;
use rand_pcg::Pcg64;

const SECOND: f64 = 1e9;

struct Random(Pcg64);

impl Random {
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    fn exponential(&mut self, mean_s: f64) -> u64 {
        (-libm::log(1.0 - self.unit()) * mean_s * SECOND) as u64
    }
}

struct Entry<E> {
    at: u64,
    sequence: u64,
    event: E,
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.sequence).cmp(&(self.at, self.sequence))
    }
}
impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl<E> Eq for Entry<E> {}

struct Heap<E> {
    heap: BinaryHeap<Entry<E>>,
    sequence: u64,
}

impl<E> Heap<E> {
    fn new() -> Self {
        Heap {
            heap: BinaryHeap::new(),
            sequence: 0,
        }
    }

    fn push(&mut self, at: u64, event: E) {
        self.sequence += 1;
        self.heap.push(Entry {
            at,
            sequence: self.sequence,
            event,
        });
    }
}

/// What a run of a yardstick found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    /// Events taken from the heap.
    pub events: u64,
    /// Mean time a request took, in seconds.
    pub mean_latency_s: f64,
    /// Attempts per request.
    pub amplification: f64,
    /// Share of requests that were answered in time.
    pub success: f64,
}

/// (A) M/M/1 with arrival rate 0.8/s and service rate 1/s.
pub(crate) fn mm1(requests: u64, seed: u128) -> Found {
    enum Event {
        Arrival,
        Departure,
    }
    let mut random = Random(Pcg64::new(seed, 0xa02b_dbf7_bb3c_0a7a_c28f_a16a_64ab_f96f));
    let mut heap = Heap::new();
    let mut queue: VecDeque<u64> = VecDeque::new();
    let mut latency = Histogram::<u64>::new(3).expect("three digits");
    let (mut begun, mut events, mut total) = (0, 0, 0u128);
    heap.push(random.exponential(1.25), Event::Arrival);
    while let Some(Entry { at: now, event, .. }) = heap.heap.pop() {
        events += 1;
        match event {
            Event::Arrival => {
                begun += 1;
                if begun < requests {
                    heap.push(now + random.exponential(1.25), Event::Arrival);
                }
                queue.push_back(now);
                if queue.len() == 1 {
                    heap.push(now + random.exponential(1.0), Event::Departure);
                }
            }
            Event::Departure => {
                let arrived = queue.pop_front().expect("somebody departs");
                latency.saturating_record(now - arrived);
                total += u128::from(now - arrived);
                if !queue.is_empty() {
                    heap.push(now + random.exponential(1.0), Event::Departure);
                }
            }
        }
    }
    Found {
        events,
        mean_latency_s: total as f64 / SECOND / requests as f64,
        amplification: 1.0,
        success: latency.len() as f64 / requests as f64,
    }
}

/// (B) Poisson 3.2/s to 4 exponential servers with 8 waiting places; attempt timeout 3 s, at most 3
/// retries, full jitter `U(0, min(10, 0.5 * 2^k))` s, a full queue refuses at once, timed-out work is
/// not cancelled.
pub(crate) fn retry_storm(requests: u64, seed: u128) -> Found {
    enum Event {
        Arrival,
        Retry(u32),
        Timeout { request: u32, attempt: u32 },
        Departure { request: u32, attempt: u32 },
    }
    #[derive(Clone, Copy)]
    struct Request {
        begun: u64,
        /// Raised with each attempt and when the slot is given up, so that old events do not match.
        attempt: u32,
        retries: u32,
    }
    struct Model {
        random: Random,
        heap: Heap<Event>,
        requests: Vec<Request>,
        free: Vec<u32>,
        busy: u32,
        waiting: VecDeque<(u32, u32)>,
        latency: Histogram<u64>,
        total: u128,
        attempts: u64,
        ok: u64,
    }
    impl Model {
        fn send(&mut self, now: u64, request: u32) {
            self.attempts += 1;
            let slot = &mut self.requests[request as usize];
            slot.attempt += 1;
            let attempt = slot.attempt;
            if self.busy < 4 {
                self.busy += 1;
                self.serve(now, request, attempt);
            } else if self.waiting.len() < 8 {
                self.waiting.push_back((request, attempt));
            } else {
                return self.failed(now, request);
            }
            self.heap
                .push(now + 3_000_000_000, Event::Timeout { request, attempt });
        }

        fn serve(&mut self, now: u64, request: u32, attempt: u32) {
            let work = self.random.exponential(1.0);
            self.heap
                .push(now + work, Event::Departure { request, attempt });
        }

        fn failed(&mut self, now: u64, request: u32) {
            let slot = &mut self.requests[request as usize];
            slot.attempt += 1;
            if slot.retries == 3 {
                return self.end(now, request, false);
            }
            let cap = (0.5 * f64::from(1u32 << slot.retries)).min(10.0);
            slot.retries += 1;
            let wait = (self.random.unit() * cap * SECOND) as u64;
            self.heap.push(now + wait, Event::Retry(request));
        }

        fn end(&mut self, now: u64, request: u32, ok: bool) {
            let slot = &mut self.requests[request as usize];
            slot.attempt += 1;
            self.ok += u64::from(ok);
            self.latency.saturating_record(now - slot.begun);
            self.total += u128::from(now - slot.begun);
            self.free.push(request);
        }
    }
    let mut model = Model {
        random: Random(Pcg64::new(seed, 0xa02b_dbf7_bb3c_0a7a_c28f_a16a_64ab_f96f)),
        heap: Heap::new(),
        requests: Vec::new(),
        free: Vec::new(),
        busy: 0,
        waiting: VecDeque::new(),
        latency: Histogram::new(3).expect("three digits"),
        total: 0,
        attempts: 0,
        ok: 0,
    };
    let (mut begun, mut events) = (0, 0);
    model.heap.push(0, Event::Arrival);
    while let Some(Entry { at: now, event, .. }) = model.heap.heap.pop() {
        events += 1;
        match event {
            Event::Arrival => {
                begun += 1;
                if begun < requests {
                    let gap = model.random.exponential(1.0 / 3.2);
                    model.heap.push(now + gap, Event::Arrival);
                }
                let request = model.free.pop().unwrap_or_else(|| {
                    model.requests.push(Request {
                        begun: 0,
                        attempt: 0,
                        retries: 0,
                    });
                    (model.requests.len() - 1) as u32
                });
                let slot = &mut model.requests[request as usize];
                (slot.begun, slot.retries) = (now, 0);
                model.send(now, request);
            }
            Event::Retry(request) => model.send(now, request),
            Event::Timeout { request, attempt } => {
                if model.requests[request as usize].attempt == attempt {
                    model.failed(now, request);
                }
            }
            Event::Departure { request, attempt } => {
                if model.requests[request as usize].attempt == attempt {
                    model.end(now, request, true);
                }
                match model.waiting.pop_front() {
                    Some((request, attempt)) => model.serve(now, request, attempt),
                    None => model.busy -= 1,
                }
            }
        }
    }
    Found {
        events,
        mean_latency_s: model.total as f64 / SECOND / requests as f64,
        amplification: model.attempts as f64 / requests as f64,
        success: model.ok as f64 / requests as f64,
    }
}
