//! Arrivals along a profile, by inverting the integral of the rate.

use seawall::Time;

use super::gaps::{Gaps, Process};
use super::profile::{Position, Profile};
use crate::rng::Stream;

/// The running process of a profile.
#[derive(Clone, Debug)]
pub(super) struct Varying {
    profile: Profile,
    gaps: Gaps,
    factor: f64,
    /// Where the present load was set, or the last arrival happened.
    since: Position,
    /// Operational time from there to the pending arrival; `None` before the first.
    left: Option<f64>,
    /// Where the pending arrival happens.
    pending: Position,
}

impl Varying {
    pub(super) fn new(profile: &Profile, process: Process) -> Varying {
        Varying {
            profile: profile.clone(),
            gaps: Gaps::Process(process),
            factor: 1.0,
            since: Position::default(),
            left: None,
            pending: Position::default(),
        }
    }

    pub(super) fn first(&mut self, stream: &mut Stream) -> Option<Time> {
        let gap = self.gaps.first(stream);
        self.wait(Time::ZERO, gap)
    }

    pub(super) fn next(&mut self, now: Time, stream: &mut Stream) -> Option<Time> {
        self.since = self.pending;
        let gap = self.gaps.next(stream);
        self.wait(now, gap)
    }

    pub(super) fn set_factor(&mut self, now: Time, factor: f64) -> Option<Time> {
        let Some(left) = self.left else {
            self.factor = factor;
            return None;
        };
        let here = self.profile.position(now);
        let passed = self.profile.between(self.since, here).max(0.0) * self.factor;
        self.factor = factor;
        self.since = here;
        self.wait(now, (left - passed).max(0.0))
    }

    /// The instant `left` further on, held to `now` against the last digit of the arithmetic.
    fn wait(&mut self, now: Time, left: f64) -> Option<Time> {
        self.left = Some(left);
        if self.factor <= 0.0 {
            return None;
        }
        let (position, time) = self.profile.advance(self.since, left / self.factor)?;
        self.pending = position;
        Some(time.max(now))
    }
}
