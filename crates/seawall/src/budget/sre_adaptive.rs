//! Client-side adaptive throttling of the Google SRE book.
//!
//! Source: *Site Reliability Engineering* (O'Reilly 2016), chapter 21 "Handling Overload". The
//! formula and K = 2 over two minutes are known from secondary texts; how the history is cut into
//! buckets is not said there.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use crate::failure::{FailureKind, FailureSet};
use crate::found::Found;
use crate::time::{Span, Time};
use crate::window::Slices;

/// Rejects a request before it is sent with probability
/// `p = max(0, (requests - K * accepts) / (requests + 1))`, both counted over the last `window`.
///
/// `requests` counts everything that was to be sent, what was rejected here included, so `p` keeps
/// rising while the backend accepts nothing. Rejected when `u < p`. A lower K rejects more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SreAdaptive {
    /// K, at least 1; typically 2.
    pub k: f64,
    /// Length of the history; typically two minutes.
    pub window: Span,
    /// How the history is kept.
    pub history: SreHistory,
    /// Failures that mean the backend did not accept the request. Any other answer is an accept.
    pub rejections: FailureSet,
}

/// How [`SreAdaptive`] keeps its history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SreHistory {
    /// Ten slices: constant memory, between 0.9 and one window.
    #[default]
    Slices,
    /// Every instant at which something happened: exact, memory as the traffic of one window.
    Exact,
}

impl Default for SreAdaptive {
    fn default() -> Self {
        SreAdaptive {
            k: 2.0,
            window: Span::secs(120),
            history: SreHistory::Slices,
            rejections: FailureSet::of(&[
                FailureKind::Dns,
                FailureKind::ConnectRefused,
                FailureKind::ConnectTimeout,
                FailureKind::Reset,
                FailureKind::Timeout,
                FailureKind::Unavailable,
                FailureKind::Overloaded,
            ]),
        }
    }
}

impl SreAdaptive {
    pub(crate) fn check(&self, found: &mut Found) {
        found.within("budget.k", self.k, 1.0, 1e6);
        found.window("budget.window", self.window);
    }

    /// The chance that a request is rejected here.
    #[must_use]
    pub fn reject_probability(&self, requests: u64, accepts: u64) -> f64 {
        let (requests, accepts) = (requests as f64, accepts as f64);
        ((requests - self.k * accepts) / (requests + 1.0)).max(0.0)
    }
}

/// The running state of [`SreAdaptive`].
#[derive(Clone, Debug)]
pub struct SreThrottle {
    pub(super) spec: SreAdaptive,
    history: History,
}

#[derive(Clone, Debug)]
enum History {
    Slices(Box<Slices<2>>),
    Exact {
        instants: VecDeque<(Time, [u64; 2])>,
        sum: [u64; 2],
    },
}

const REQUESTS: usize = 0;
const ACCEPTS: usize = 1;

impl SreThrottle {
    /// With an empty history.
    #[must_use]
    pub fn new(spec: &SreAdaptive, now: Time) -> Self {
        SreThrottle {
            spec: *spec,
            history: match spec.history {
                SreHistory::Slices => History::Slices(Box::new(Slices::new(spec.window, now))),
                SreHistory::Exact => History::Exact {
                    instants: VecDeque::new(),
                    sum: [0; 2],
                },
            },
        }
    }

    /// A request is to be sent; whether it may be, for a unit draw `u`.
    #[must_use]
    pub fn admit(&mut self, now: Time, u: f64) -> bool {
        let [requests, accepts] = self.counts(now);
        self.add(now, REQUESTS);
        u >= self.spec.reject_probability(requests, accepts)
    }

    /// The backend accepted a request.
    pub fn accepted(&mut self, now: Time) {
        self.counts(now);
        self.add(now, ACCEPTS);
    }

    /// Requests and accepts of the last window: those that happened less than its length ago.
    pub fn counts(&mut self, now: Time) -> [u64; 2] {
        match &mut self.history {
            History::Slices(slices) => *slices.sum(now),
            History::Exact { instants, sum } => {
                while let Some(&(at, counts)) = instants.front()
                    && now.since(at) >= self.spec.window
                {
                    instants.pop_front();
                    for (sum, count) in sum.iter_mut().zip(counts) {
                        *sum -= count;
                    }
                }
                *sum
            }
        }
    }

    fn add(&mut self, now: Time, what: usize) {
        match &mut self.history {
            History::Slices(slices) => slices.add(now, what),
            History::Exact { instants, sum } => {
                match instants.back_mut() {
                    // A clock that ran back counts into the latest instant.
                    Some((at, counts)) if *at >= now => counts[what] += 1,
                    _ => {
                        let mut counts = [0; 2];
                        counts[what] = 1;
                        instants.push_back((now, counts));
                    }
                }
                sum[what] += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lower_k_rejects_more() {
        let of = |k| {
            let spec = SreAdaptive {
                k,
                ..SreAdaptive::default()
            };
            spec.reject_probability(100, 60)
        };
        assert_eq!(of(2.0), 0.0);
        assert_eq!(of(1.1), 34.0 / 101.0);
    }

    #[test]
    fn both_histories_agree_where_slices_can_tell() {
        let slices = SreAdaptive {
            window: Span(100),
            ..SreAdaptive::default()
        };
        let exact = SreAdaptive {
            history: SreHistory::Exact,
            ..slices
        };
        let mut slices = SreThrottle::new(&slices, Time::ZERO);
        let mut exact = SreThrottle::new(&exact, Time::ZERO);
        // What happens at the beginning of a slice and is asked for at the end of one is the same.
        for slice in 0..50u64 {
            let start = Time(slice * 10);
            for throttle in [&mut slices, &mut exact] {
                let _ = throttle.admit(start, 0.5);
                if slice % 3 == 0 {
                    throttle.accepted(start);
                }
            }
            let end = Time(slice * 10 + 9);
            assert_eq!(slices.counts(end), exact.counts(end), "{slice}");
        }
    }

    #[test]
    fn a_clock_that_runs_back_does_no_harm() {
        for history in [SreHistory::Slices, SreHistory::Exact] {
            let spec = SreAdaptive {
                history,
                ..SreAdaptive::default()
            };
            let mut throttle = SreThrottle::new(&spec, Time::MAX);
            for now in [Time::MAX, Time::ZERO, Time(7), Time::MAX] {
                let _ = throttle.admit(now, 0.0);
                throttle.accepted(now);
            }
            assert_eq!(throttle.counts(Time::MAX), [4, 4]);
        }
    }
}
