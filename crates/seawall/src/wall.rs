//! The one clock call of this crate, for drivers on std.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::time::Instant;

use crate::time::Time;

/// Turns the monotonic clock of std into [`Time`], with the epoch at [`Wall::start`].
#[derive(Clone, Copy, Debug)]
pub struct Wall(Instant);

impl Wall {
    /// Begins at `Time::ZERO` now.
    #[must_use]
    pub fn start() -> Wall {
        Wall(Instant::now())
    }

    /// Time since the start.
    #[must_use]
    pub fn now(&self) -> Time {
        Time::ZERO.after(self.0.elapsed().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_starts_at_zero_and_does_not_run_back() {
        let wall = Wall::start();
        let first = wall.now();
        assert!(first >= Time::ZERO && wall.now() >= first);
    }
}
