//! Envoy's retry backoff: jittered exponential in whole milliseconds, and the one that follows a
//! reset header of the response.
//!
//! Sources: envoyproxy/envoy `source/common/common/backoff_strategy.{h,cc}`,
//! `source/common/router/retry_state_impl.cc`, `reset_header_parser.cc`.

use super::Progress;
use crate::found::Found;
use crate::time::Span;

const MILLI: u64 = 1_000_000;

/// `JitteredExponentialBackOffStrategy`: the wait is `r mod next` whole milliseconds for a raw
/// 64-bit draw `r`; `next` starts at the base and doubles while it is below `max / 2` (integer
/// division), otherwise it becomes `max`.
///
/// So the ranges are `[0, B)`, `[0, 2B)`, `[0, 4B)` ... `[0, max)`. The router documentation still
/// gives `[0, (2^N - 1) B)`, which an older class did; a measurement of Envoy 1.40.0 agrees with the
/// code. A base below 1 ms counts as 1 ms, and then the first retry never waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envoy {
    /// `base_interval`, default 25 ms. Cut to whole milliseconds, at least 1.
    pub base: Span,
    /// `max_interval`, at least `base`, default ten times `base`. Cut to whole milliseconds.
    pub max: Span,
    /// `rate_limited_retry_back_off`; default none.
    pub rate_limited: Option<EnvoyRateLimited>,
}

impl Default for Envoy {
    fn default() -> Self {
        Envoy {
            base: Span::millis(25),
            max: Span::millis(250),
            rate_limited: None,
        }
    }
}

impl Envoy {
    pub(crate) fn check(&self, found: &mut Found) {
        found.span_above_zero("retry.backoff.base", self.base);
        found.require(
            self.max >= self.base,
            "retry.backoff.max",
            "at least base",
            self.max,
        );
    }

    /// The next wait, for 64 random bits.
    pub fn delay(&self, progress: &mut Progress, random: u64) -> Span {
        let max = (self.max.0 / MILLI).max(1);
        let next = match progress.memory {
            0 => (self.base.0 / MILLI).max(1),
            next => next,
        };
        progress.memory = if next < max / 2 { next * 2 } else { max };
        Span::millis(random % next)
    }

    /// The wait for what a reset header asked; `None`: use [`Envoy::delay`].
    #[must_use]
    pub fn rate_limited(&self, asked: Span, random: u64) -> Option<Span> {
        let limited = self.rate_limited.as_ref()?;
        if asked > limited.max_interval {
            return None;
        }
        limited.delay(asked, random)
    }
}

/// `rate_limited_retry_back_off`: a wait taken from a header of the response.
///
/// A header's interval `i` is used when it is at most `max_interval`; the wait is
/// `i + r mod (i/2)`, that is `[i, 1.5 i)`. An interval of 0 or 1 ms falls back to the exponential
/// backoff, and so does an HTTP date, which Envoy does not read. It counts for that one retry and
/// does not make a response retriable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvoyRateLimited {
    /// Longest interval accepted; default 300 s.
    pub max_interval: Span,
}

impl Default for EnvoyRateLimited {
    fn default() -> Self {
        EnvoyRateLimited {
            max_interval: Span::secs(300),
        }
    }
}

/// How a reset header is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetFormat {
    /// Whole seconds from now.
    Seconds,
    /// Whole seconds since 1970.
    UnixTimestamp,
}

impl EnvoyRateLimited {
    /// The interval that one header asks for; `None`: not readable, past, or above the maximum, and
    /// the next header is to be tried.
    #[must_use]
    pub fn interval(&self, format: ResetFormat, value: &str, unix_now: Span) -> Option<Span> {
        let number = parse_unsigned(value)?;
        let seconds = match format {
            ResetFormat::Seconds => number,
            ResetFormat::UnixTimestamp => number.checked_sub(unix_now.0 / 1_000_000_000)?,
        };
        let interval = Span(seconds.checked_mul(1_000_000_000)?);
        (interval <= self.max_interval).then_some(interval)
    }

    /// The wait for an interval and 64 random bits; `None`: use the exponential backoff.
    #[must_use]
    pub fn delay(&self, interval: Span, random: u64) -> Option<Span> {
        let millis = interval.0 / MILLI;
        (millis > 1).then(|| Span::millis(millis.saturating_add(random % (millis / 2))))
    }
}

/// An unsigned decimal integer, blanks around it and a plus sign allowed, as `absl::SimpleAtoi`.
fn parse_unsigned(value: &str) -> Option<u64> {
    let digits = value.trim_ascii();
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_below_a_millisecond_never_waits_before_the_first_retry() {
        let envoy = Envoy {
            base: Span::micros(300),
            max: Span::millis(8),
            rate_limited: None,
        };
        for random in 0..50 {
            let mut progress = Progress::default();
            assert_eq!(envoy.delay(&mut progress, random), Span::ZERO);
            assert_eq!(envoy.delay(&mut progress, random), Span::millis(random % 2));
        }
    }

    #[test]
    fn the_range_reaches_the_maximum_however_odd_and_stays_there() {
        let envoy = Envoy {
            base: Span::millis(3),
            max: Span::millis(13),
            rate_limited: None,
        };
        let mut progress = Progress::default();
        let ranges: Vec<u64> = (0..5)
            .map(|_| {
                let before = progress;
                let range = (1..=13)
                    .filter(|&r| envoy.delay(&mut before.clone(), r - 1).0 == (r - 1) * MILLI)
                    .max();
                envoy.delay(&mut progress, 0);
                range.unwrap()
            })
            .collect();
        assert_eq!(ranges, [3, 6, 13, 13, 13]);
    }

    #[test]
    fn a_unix_timestamp_counts_from_now_and_the_past_is_no_interval() {
        let limited = EnvoyRateLimited::default();
        let now = Span::secs(1_000_000);
        let read = |value| limited.interval(ResetFormat::UnixTimestamp, value, now);
        assert_eq!(read("1000010"), Some(Span::secs(10)));
        assert_eq!(read("1000000"), Some(Span::ZERO));
        assert_eq!(read("999999"), None);
        assert_eq!(read("1000301"), None);
        assert_eq!(read("18446744073709551615"), None);
        assert_eq!(limited.delay(Span::ZERO, 9), None);
        assert_eq!(limited.delay(Span::millis(1), 9), None);
        assert_eq!(limited.delay(Span::millis(2), 9), Some(Span::millis(2)));
    }

    #[test]
    fn only_whole_seconds_are_read() {
        let limited = EnvoyRateLimited::default();
        let read = |value| limited.interval(ResetFormat::Seconds, value, Span::ZERO);
        assert_eq!(read(" 7 "), Some(Span::secs(7)));
        for bad in ["", "-1", "1.5", "1s", "x"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
