//! Instants and lengths of time, both one `u64` of nanoseconds.
//!
//! The engine has no clock. A driver picks any epoch (process start, simulated zero) and hands the
//! time since then to every verb. All arithmetic saturates: no input can make it panic or wrap.

use core::fmt;
use core::time::Duration;

/// An instant: nanoseconds since the driver's epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

impl Time {
    /// The driver's epoch.
    pub const ZERO: Time = Time(0);
    /// Later than any instant that can be reached.
    pub const MAX: Time = Time(u64::MAX);

    /// The instant `span` later, `Time::MAX` if that cannot be expressed.
    #[must_use]
    pub const fn after(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }

    /// The length from `earlier` to here; zero if `earlier` is later (a clock that ran back).
    #[must_use]
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// The longest length that can be expressed (about 584 years).
    pub const MAX: Span = Span(u64::MAX);

    /// `n` microseconds.
    #[must_use]
    pub const fn micros(n: u64) -> Span {
        Span(n.saturating_mul(1_000))
    }

    /// `n` milliseconds.
    #[must_use]
    pub const fn millis(n: u64) -> Span {
        Span(n.saturating_mul(1_000_000))
    }

    /// `n` seconds.
    #[must_use]
    pub const fn secs(n: u64) -> Span {
        Span(n.saturating_mul(1_000_000_000))
    }

    /// `seconds`, rounded to the nearest nanosecond; negative and NaN give zero, too large saturates.
    #[must_use]
    pub fn from_secs_f64(seconds: f64) -> Span {
        // `as` saturates and maps NaN to zero, which is exactly the contract.
        Span((seconds * 1e9 + 0.5) as u64)
    }

    /// This length in seconds.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The sum, saturating.
    #[must_use]
    pub const fn plus(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }

    /// The difference, zero when `other` is longer.
    #[must_use]
    pub const fn minus(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// This length times `factor`, rounded to the nearest nanosecond and saturating; a negative or
    /// NaN factor gives zero.
    #[must_use]
    pub fn times(self, factor: f64) -> Span {
        Span((self.0 as f64 * factor + 0.5) as u64)
    }
}

impl From<Duration> for Span {
    /// Saturates at [`Span::MAX`].
    fn from(length: Duration) -> Span {
        Span(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Duration {
        Duration::from_nanos(span.0)
    }
}

impl fmt::Display for Span {
    /// The shortest exact unit: `250ms`, `1.5s`, `20us`, `7ns`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            0 => return f.write_str("0s"),
            n if n >= 1_000_000_000 => (1_000_000_000, "s"),
            n if n >= 1_000_000 => (1_000_000, "ms"),
            n if n >= 1_000 => (1_000, "us"),
            _ => (1, "ns"),
        };
        let (whole, rest) = (self.0 / unit, self.0 % unit);
        if rest == 0 {
            return write!(f, "{whole}{name}");
        }
        let mut digits = rest;
        let mut width = match unit {
            1_000_000_000 => 9,
            1_000_000 => 6,
            _ => 3,
        };
        while digits % 10 == 0 {
            digits /= 10;
            width -= 1;
        }
        write!(f, "{whole}.{digits:0width$}{name}")
    }
}
