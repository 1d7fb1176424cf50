//! Samples gathered before a limiter sees them. Source: `WindowedLimit.java`, `window/ImmutableAverageSampleWindow.java`.

use super::Sample;
use crate::found::Found;
use crate::time::{Span, Time};

/// `WindowedLimit` with average windows: a limiter sees one sample per window instead of every one.
///
/// A window ends with the first answer that comes *after* its end and belongs to it. If it has at least `samples`, the limiter
/// gets their mean latency (cut to whole nanoseconds), the most in flight, and whether any was dropped; otherwise they are
/// forgotten. The next window ends `clamp(2 * smallest latency, min, max)` later. The first answer of all makes a
/// window of its own. Answers faster than `min_rtt` are not gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleWindow {
    /// `minWindowTime`, at least 100 ms; default 1 s.
    pub min: Span,
    /// `maxWindowTime`, at least `min`; default 1 s.
    pub max: Span,
    /// `windowSize`: samples that make a window count, at least 10; default 10.
    pub samples: u32,
    /// `minRttThreshold`; default 100 us.
    pub min_rtt: Span,
}

impl Default for SampleWindow {
    fn default() -> Self {
        SampleWindow {
            min: Span::secs(1),
            max: Span::secs(1),
            samples: 10,
            min_rtt: Span::micros(100),
        }
    }
}

impl SampleWindow {
    pub(crate) fn check(&self, found: &mut Found) {
        let shortest = Span::millis(100);
        found.require(
            self.min >= shortest,
            "limiter.window.min",
            "at least 100ms",
            self.min,
        );
        found.require(
            self.max >= self.min,
            "limiter.window.max",
            "at least min",
            self.max,
        );
        found.require(
            self.samples >= 10,
            "limiter.window.samples",
            "at least 10",
            self.samples,
        );
    }
}

/// The running state of a [`SampleWindow`].
#[derive(Clone, Copy, Debug)]
pub struct Windowed {
    spec: SampleWindow,
    /// When the window ends; `None` before the first answer.
    ends: Option<Time>,
    count: u32,
    sum: u128,
    smallest: Span,
    in_flight: u32,
    dropped: bool,
}

impl Windowed {
    /// With nothing gathered.
    #[must_use]
    pub fn new(spec: &SampleWindow) -> Self {
        Windowed {
            spec: *spec,
            ends: None,
            count: 0,
            sum: 0,
            smallest: Span::MAX,
            in_flight: 0,
            dropped: false,
        }
    }

    /// An attempt finished now; what the limiter sees, if that ends a window that counts.
    pub fn gather(&mut self, now: Time, sample: Sample) -> Option<Sample> {
        if sample.rtt < self.spec.min_rtt {
            return None;
        }
        self.count = self.count.saturating_add(1);
        self.sum += u128::from(sample.rtt.0);
        self.smallest = self.smallest.min(sample.rtt);
        self.in_flight = self.in_flight.max(sample.in_flight);
        self.dropped |= sample.dropped;
        if self.ends.is_some_and(|ends| now <= ends) {
            return None;
        }
        let full = self.count >= self.spec.samples;
        let mean = self.sum / u128::from(self.count);
        let seen = full.then_some(Sample {
            rtt: Span(u64::try_from(mean).unwrap_or(u64::MAX)),
            in_flight: self.in_flight,
            dropped: self.dropped,
        });
        let twice = self.smallest.plus(self.smallest);
        let length = twice.max(self.spec.min).min(self.spec.max);
        *self = Windowed {
            ends: Some(now.after(length)),
            ..Windowed::new(&self.spec)
        };
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Time {
        Time(millis * 1_000_000)
    }

    fn sample(millis: u64) -> Sample {
        Sample {
            rtt: Span::millis(millis),
            in_flight: 3,
            dropped: false,
        }
    }

    #[test]
    fn a_window_gives_the_mean_the_most_in_flight_and_any_drop() {
        let mut window = Windowed::new(&SampleWindow::default());
        assert_eq!(
            window.gather(at(0), sample(10)),
            None,
            "alone in the first window"
        );
        for i in 1..=8 {
            assert_eq!(window.gather(at(i * 100), sample(10)), None);
        }
        let odd = Sample {
            in_flight: 9,
            dropped: true,
            ..sample(10)
        };
        assert_eq!(window.gather(at(1000), odd), None, "its end belongs to it");
        let seen = window.gather(Time(1_000_000_001), sample(35));
        let expected = Sample {
            // (9 * 10 + 35) / 10
            rtt: Span::micros(12_500),
            in_flight: 9,
            dropped: true,
        };
        assert_eq!(seen, Some(expected));
    }

    #[test]
    fn too_few_samples_are_forgotten() {
        let mut window = Windowed::new(&SampleWindow::default());
        window.gather(at(0), sample(10));
        for i in 1..=8 {
            window.gather(at(i * 100), sample(10));
        }
        assert_eq!(window.gather(at(1001), sample(10)), None, "nine");
        for i in 0..9 {
            assert_eq!(window.gather(at(1100 + i), sample(20)), None);
        }
        let seen = window.gather(at(2002), sample(20)).map(|seen| seen.rtt);
        assert_eq!(seen, Some(Span::millis(20)), "not the older ones");
    }

    #[test]
    fn slow_answers_make_longer_windows_up_to_the_longest() {
        let spec = SampleWindow {
            min: Span::millis(100),
            max: Span::secs(1),
            ..SampleWindow::default()
        };
        for (rtt, length) in [(10, 100), (300, 600), (700, 1000)] {
            let mut window = Windowed::new(&spec);
            window.gather(at(0), sample(rtt));
            for _ in 0..9 {
                window.gather(at(1), sample(rtt));
            }
            assert_eq!(window.gather(at(length), sample(rtt)), None, "{rtt}");
            assert!(
                window.gather(at(length + 1), sample(rtt)).is_some(),
                "{rtt}"
            );
        }
    }

    #[test]
    fn answers_that_are_too_fast_are_not_gathered_and_no_clock_does_harm() {
        let mut window = Windowed::new(&SampleWindow::default());
        let fast = Sample {
            rtt: Span(99_999),
            ..sample(0)
        };
        assert_eq!(window.gather(at(0), fast), None);
        assert_eq!(window.count, 0);
        let longest = Sample {
            rtt: Span::MAX,
            ..sample(0)
        };
        for now in [Time::MAX, Time::ZERO, Time(7), Time::MAX] {
            for _ in 0..12 {
                let _ = window.gather(now, longest);
            }
        }
    }
}
