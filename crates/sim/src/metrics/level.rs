//! Numbers that go up and down, and their integral over time.

use seawall::Time;

/// How many of something there are, and the sum over all of them of how long each has been there.
///
/// One that comes at `s` and goes at `t` adds `t - s`: so each coming takes its instant off, each going adds its
/// own, and those still there are made up for when somebody asks. Nothing else has to be done as time passes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Level {
    count: u64,
    /// Instants of goings less those of comings, modulo 2^128.
    instants: u128,
}

impl Level {
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// One more from `now` on.
    #[inline]
    pub(crate) fn rise(&mut self, now: Time) {
        self.count += 1;
        self.instants = self.instants.wrapping_sub(u128::from(now.0));
    }

    /// One less from `now` on.
    #[inline]
    pub(crate) fn fall(&mut self, now: Time) {
        self.count -= 1;
        self.instants = self.instants.wrapping_add(u128::from(now.0));
    }

    /// So many from `now` on.
    pub(crate) fn set(&mut self, now: Time, count: u64) {
        let integral = self.integral(now);
        self.count = count;
        self.instants = integral.wrapping_sub(u128::from(count) * u128::from(now.0));
    }

    /// The integral up to `now`, in ns.
    pub(crate) fn integral(&self, now: Time) -> u128 {
        self.instants
            .wrapping_add(u128::from(self.count) * u128::from(now.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integral_is_the_sum_of_the_times_spent() {
        let mut level = Level::default();
        level.rise(Time(10));
        level.rise(Time(30));
        assert_eq!((level.count(), level.integral(Time(40))), (2, 30 + 10));
        level.fall(Time(50));
        assert_eq!(level.integral(Time(50)), 40 + 20);
        level.set(Time(60), 5);
        assert_eq!(level.integral(Time(60)), 60 + 10);
        assert_eq!((level.count(), level.integral(Time(62))), (5, 80));
    }
}
