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

use seawall::Time;

use crate::rng::Stream;

mod steady;

use steady::Steady;

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
}

impl Arrivals {
    /// Independent arrivals, `rate` per second.
    pub fn poisson(rate: f64) -> Result<Arrivals, String> {
        Ok(Arrivals::Poisson {
            rate: checked(rate)?,
        })
    }

    /// Equal gaps, `rate` per second.
    pub fn paced(rate: f64) -> Result<Arrivals, String> {
        Ok(Arrivals::Paced {
            rate: checked(rate)?,
        })
    }
}

/// A running process of arrivals. A clone continues exactly as the original would.
#[derive(Clone, Debug)]
pub struct Source {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Steady(Steady),
}

impl Source {
    /// The process at its start, load factor 1.
    #[must_use]
    pub fn new(arrivals: &Arrivals) -> Source {
        let kind = match arrivals {
            Arrivals::Poisson { rate } => Kind::Steady(Steady::new(Gaps::Poisson, *rate)),
            Arrivals::Paced { rate } => Kind::Steady(Steady::new(Gaps::Paced, *rate)),
        };
        Source { kind }
    }

    /// The first arrival; `None` if there will be none.
    pub fn first(&mut self, stream: &mut Stream) -> Option<Time> {
        match &mut self.kind {
            Kind::Steady(steady) => steady.first(stream),
        }
    }

    /// The arrival after the one that happens `now`, which may be at the same instant; `None` if
    /// there will be none.
    #[inline]
    pub fn next(&mut self, now: Time, stream: &mut Stream) -> Option<Time> {
        match &mut self.kind {
            Kind::Steady(steady) => steady.next(now, stream),
        }
    }

    /// Makes the load `factor` times the written one from `now` on, and says when the pending arrival
    /// comes now (`None`: not under this load). It replaces the instant given before.
    ///
    /// Before [`first`](Source::first) it only takes note and answers `None`.
    pub fn set_factor(&mut self, now: Time, factor: f64, stream: &mut Stream) -> Option<Time> {
        let _ = stream;
        match &mut self.kind {
            Kind::Steady(steady) => steady.set_factor(now, factor),
        }
    }
}

/// How the gaps between arrivals are drawn, in operational time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gaps {
    /// Exponential with mean 1.
    Poisson,
    /// Always 1, the first 1/2.
    Paced,
}

impl Gaps {
    fn first(self, stream: &mut Stream) -> f64 {
        match self {
            Gaps::Poisson => self.next(stream),
            Gaps::Paced => 0.5,
        }
    }

    #[inline]
    fn next(self, stream: &mut Stream) -> f64 {
        match self {
            Gaps::Poisson => -libm::log(stream.unit_open()),
            Gaps::Paced => 1.0,
        }
    }
}

fn checked(rate: f64) -> Result<f64, String> {
    if rate >= 0.0 && rate.is_finite() {
        Ok(rate)
    } else {
        Err(format!("a rate must be 0/s or above, not {rate}/s"))
    }
}
