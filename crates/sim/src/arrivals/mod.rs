//! When work arrives from outside.
//!
//! [`Arrivals`] is what a scenario says; a [`Source`] is the process that runs. The kernel asks for
//! the [`first`](Source::first) arrival, schedules it, and at each arrival asks for the
//! [`next`](Source::next). When a fault changes the load it calls [`set_factor`](Source::set_factor)
//! and moves the pending arrival to the answer.
//!
//! One draw, one arrival: the draw is a gap in *operational time*, of which `rate` units pass per
//! second. A change of load stretches or squeezes what is left of the gap instead of drawing anew, so
//! runs with and without the change stay paired: the n-th arrival is the n-th in both.

mod gaps;
mod profile;
mod steady;
mod trace;
mod varying;

use seawall::Time;

pub use gaps::Process;
pub use profile::Profile;
pub use trace::Trace;

use crate::law::Law;
use crate::rng::Stream;
use gaps::Gaps;
use steady::Steady;
use trace::Replay;
use varying::Varying;

/// A process of arrivals, from [`Time::ZERO`] on. Build with the constructors, which check.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// Independent arrivals at a constant rate.
    Poisson {
        /// Arrivals per second; 0 is none at all.
        rate: f64,
    },
    /// Equal gaps, the first arrival after half a gap.
    Paced {
        /// Arrivals per second; 0 is none at all.
        rate: f64,
    },
    /// Independent gaps of a law, the first from time zero on.
    Renewal {
        /// Between one arrival and the next.
        gap: Law,
    },
    /// A rate that changes as written.
    Profile {
        /// The rate.
        profile: Profile,
        /// What makes arrivals of it.
        process: Process,
    },
    /// Recorded instants.
    Trace(Trace),
}

impl Arrivals {
    /// Independent arrivals, `rate` per second.
    pub fn poisson(rate: f64) -> Result<Arrivals, String> {
        checked_rate(rate)?;
        Ok(Arrivals::Poisson { rate })
    }

    /// Equal gaps, `rate` per second.
    pub fn paced(rate: f64) -> Result<Arrivals, String> {
        checked_rate(rate)?;
        Ok(Arrivals::Paced { rate })
    }

    /// Independent gaps of this law.
    pub fn renewal(gap: Law) -> Result<Arrivals, String> {
        if gap.mean() == Some(0.0) {
            return Err("the gap between arrivals must not always be 0s".to_owned());
        }
        Ok(Arrivals::Renewal { gap })
    }

    /// Arrivals at a piecewise linear rate per second; see [`Profile`].
    pub fn profile(
        points: &[(Time, f64)],
        process: Process,
        repeat: bool,
    ) -> Result<Arrivals, String> {
        Ok(Arrivals::Profile {
            profile: Profile::new(points, repeat)?,
            process,
        })
    }

    /// Arrivals at recorded instants, `speed` times as fast; see [`Trace`].
    pub fn trace(instants: &[Time], speed: f64, repeat: bool) -> Result<Arrivals, String> {
        Ok(Arrivals::Trace(Trace::new(instants, speed, repeat)?))
    }

    /// How many arrivals are expected from `from` until just before `to`, at load factor 1.
    ///
    /// Exact but for renewals, where it is the long-run average.
    #[must_use]
    pub fn expected(&self, from: Time, to: Time) -> f64 {
        let seconds = to.since(from).as_secs_f64();
        match self {
            Arrivals::Poisson { rate } | Arrivals::Paced { rate } => rate * seconds,
            Arrivals::Renewal { gap } => gap.mean().map_or(0.0, |mean| seconds / mean),
            Arrivals::Profile { profile, .. } => {
                (profile.expected_until(to) - profile.expected_until(from)).max(0.0)
            }
            Arrivals::Trace(trace) => (trace.count_until(to) - trace.count_until(from)).max(0.0),
        }
    }
}

/// A running process of arrivals. A clone continues exactly as the original would.
#[derive(Clone, Debug)]
pub struct Source(Running);

#[derive(Clone, Debug)]
enum Running {
    Steady(Steady),
    Varying(Varying),
    Replay(Replay),
}

impl Source {
    /// The process at its start, load factor 1.
    #[must_use]
    pub fn new(arrivals: &Arrivals) -> Source {
        let steady =
            |process, rate| Running::Steady(Steady::new(Gaps::Process(process), 1e9 / rate));
        Source(match arrivals {
            Arrivals::Poisson { rate } => steady(Process::Poisson, *rate),
            Arrivals::Paced { rate } => steady(Process::Paced, *rate),
            Arrivals::Renewal { gap } => {
                Running::Steady(Steady::new(Gaps::Renewal(gap.clone()), 1.0))
            }
            Arrivals::Profile { profile, process } => {
                Running::Varying(Varying::new(profile, *process))
            }
            Arrivals::Trace(trace) => Running::Replay(Replay::new(trace)),
        })
    }

    /// The first arrival; `None` if there will be none.
    pub fn first(&mut self, stream: &mut Stream) -> Option<Time> {
        match &mut self.0 {
            Running::Steady(steady) => steady.first(stream),
            Running::Varying(varying) => varying.first(stream),
            Running::Replay(replay) => replay.first(stream),
        }
    }

    /// The arrival after the one that happens `now`, which may be at the same instant; `None` if
    /// there will be none.
    #[inline]
    pub fn next(&mut self, now: Time, stream: &mut Stream) -> Option<Time> {
        match &mut self.0 {
            Running::Steady(steady) => steady.next(now, stream),
            Running::Varying(varying) => varying.next(now, stream),
            Running::Replay(replay) => replay.next(now, stream),
        }
    }

    /// Makes the load `factor` times the written one from `now` on, and says when the pending arrival
    /// comes now (`None`: not under this load). It replaces the instant given before. Anything but a
    /// finite factor above 0 means no load.
    ///
    /// A recorded trace repeats each arrival instead, at its instant: at factor 2.5 twice for certain
    /// and a third time with probability one half.
    ///
    /// Before [`first`](Source::first) it only takes note and answers `None`.
    pub fn set_factor(&mut self, now: Time, factor: f64, stream: &mut Stream) -> Option<Time> {
        let factor = if factor > 0.0 && factor.is_finite() {
            factor
        } else {
            0.0
        };
        match &mut self.0 {
            Running::Steady(steady) => steady.set_factor(now, factor),
            Running::Varying(varying) => varying.set_factor(now, factor),
            Running::Replay(replay) => replay.set_factor(now, factor, stream),
        }
    }
}

fn checked_rate(rate: f64) -> Result<(), String> {
    if rate >= 0.0 && rate.is_finite() {
        Ok(())
    } else {
        Err(format!("a rate must be 0/s or above, not {rate}/s"))
    }
}

#[cfg(test)]
mod tests;
