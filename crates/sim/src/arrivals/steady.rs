//! A constant rate: the quick case.

use seawall::{Span, Time};

use super::Gaps;
use crate::rng::Stream;

/// Arrivals whose rate only changes when a fault says so.
#[derive(Clone, Debug)]
pub(super) struct Steady {
    gaps: Gaps,
    /// Nanoseconds per unit of operational time as written; infinite at rate 0.
    written: f64,
    /// The same under the present load.
    stretch: f64,
    /// When the present load was set, or the last arrival happened.
    since: Time,
    /// Operational time from `since` to the pending arrival; `None` before the first.
    left: Option<f64>,
    /// What rounding to whole nanoseconds has cut off so far, in nanoseconds: without it equal gaps
    /// of a third of a second would drift.
    carry: f64,
}

impl Steady {
    pub(super) fn new(gaps: Gaps, rate: f64) -> Steady {
        let written = 1e9 / rate;
        Steady {
            gaps,
            written,
            stretch: written,
            since: Time::ZERO,
            left: None,
            carry: 0.0,
        }
    }

    pub(super) fn first(&mut self, stream: &mut Stream) -> Option<Time> {
        self.left = Some(self.gaps.first(stream));
        self.pending()
    }

    #[inline]
    pub(super) fn next(&mut self, now: Time, stream: &mut Stream) -> Option<Time> {
        if let Some(left) = self.left {
            let rest = left * self.stretch + self.carry - now.since(self.since).0 as f64;
            // Beyond half a nanosecond it is not rounding: the caller came at another instant.
            self.carry = if rest.abs() <= 0.5 { rest } else { 0.0 };
        }
        self.since = now;
        self.left = Some(self.gaps.next(stream));
        self.pending()
    }

    pub(super) fn set_factor(&mut self, now: Time, factor: f64) -> Option<Time> {
        if let Some(left) = &mut self.left {
            let passed = (now.since(self.since).0 as f64 - self.carry) / self.stretch;
            *left = (*left - passed).max(0.0);
            self.carry = 0.0;
            self.since = now;
        }
        self.stretch = if factor > 0.0 && factor.is_finite() {
            self.written / factor
        } else {
            f64::INFINITY
        };
        self.pending()
    }

    #[inline]
    fn pending(&self) -> Option<Time> {
        let gap = self.left? * self.stretch + self.carry;
        // Rate 0 gives an infinite gap, or NaN when nothing is left of it.
        (gap < u64::MAX as f64).then(|| self.since.after(Span((gap + 0.5) as u64)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use crate::rng::Purpose;

    fn stream() -> Stream {
        Stream::new(11, Purpose::Arrivals, "web")
    }

    /// All arrivals before `end`, with the factors put in force at their instants.
    fn run(arrivals: &Arrivals, end: Time, factors: &[(Time, f64)]) -> Vec<Time> {
        let (mut source, mut stream) = (Source::new(arrivals), stream());
        let mut factors = factors.iter().peekable();
        let mut out = Vec::new();
        let mut pending = source.first(&mut stream);
        loop {
            let due = pending.unwrap_or(Time::MAX);
            if let Some(&&(at, factor)) = factors.peek()
                && at <= due
            {
                factors.next();
                pending = source.set_factor(at, factor, &mut stream);
                continue;
            }
            if due >= end {
                return out;
            }
            out.push(due);
            pending = source.next(due, &mut stream);
        }
    }

    #[test]
    fn paced_arrivals_keep_equal_gaps_from_half_a_gap_without_drift() {
        let times = run(
            &Arrivals::paced(3.0).unwrap(),
            Time(100_000_000_000_000),
            &[],
        );
        assert_eq!(times.len(), 300_000);
        for (n, time) in times.iter().enumerate() {
            let exact = (n as f64 + 0.5) * 1e9 / 3.0;
            assert!(
                (time.0 as f64 - exact).abs() <= 0.501,
                "arrival {n} at {time:?}"
            );
        }
    }

    #[test]
    fn poisson_arrivals_have_exponential_gaps() {
        let seconds = 1000u64;
        let times = run(
            &Arrivals::poisson(50.0).unwrap(),
            Time(seconds * 1_000_000_000),
            &[],
        );
        // 50 000 ± 3.3 standard deviations of 223.6.
        assert!((49_263..=50_737).contains(&times.len()), "{}", times.len());
        // The share of gaps above the mean is 1/e: 3.3 standard deviations are 0.0071.
        let long = times
            .windows(2)
            .filter(|w| w[1].since(w[0]).0 > 20_000_000)
            .count();
        let share = long as f64 / (times.len() - 1) as f64;
        assert!((share - 0.36788).abs() < 0.0072, "{share}");
    }

    #[test]
    fn a_change_of_load_keeps_the_order_of_arrivals_and_draws_nothing() {
        let end = Time(60_000_000_000);
        for arrivals in [
            Arrivals::poisson(20.0).unwrap(),
            Arrivals::paced(20.0).unwrap(),
        ] {
            let base = run(&arrivals, end, &[]);
            let (from, to) = (Time(10_000_000_000), Time(20_000_000_000));
            let spiked = run(&arrivals, end, &[(from, 5.0), (to, 1.0)]);
            for (n, &time) in spiked.iter().enumerate() {
                // Operational seconds that passed until then are those of the n-th arrival as written.
                let inside = time.min(to).since(from).0 as f64;
                let outside = time.0 as f64 - inside;
                let written = outside + 5.0 * inside;
                if let Some(&expected) = base.get(n) {
                    assert!((written - expected.0 as f64).abs() < 5.0, "arrival {n}");
                } else {
                    assert!(written >= end.0 as f64 - 5.0);
                }
            }
        }
    }

    #[test]
    fn a_load_of_zero_holds_the_pending_arrival_until_the_load_returns() {
        let arrivals = Arrivals::paced(1.0).unwrap();
        let (mut source, mut stream) = (Source::new(&arrivals), stream());
        assert_eq!(source.first(&mut stream), Some(Time(500_000_000)));
        assert_eq!(source.set_factor(Time(300_000_000), 0.0, &mut stream), None);
        assert_eq!(
            source.set_factor(Time(10_000_000_000), 2.0, &mut stream),
            Some(Time(10_100_000_000))
        );
        assert_eq!(
            source.next(Time(10_100_000_000), &mut stream),
            Some(Time(10_600_000_000))
        );
    }

    #[test]
    fn a_factor_before_the_first_arrival_is_kept_for_it() {
        let (mut source, mut stream) = (Source::new(&Arrivals::paced(1.0).unwrap()), stream());
        assert_eq!(source.set_factor(Time::ZERO, 4.0, &mut stream), None);
        assert_eq!(source.first(&mut stream), Some(Time(125_000_000)));
    }

    #[test]
    fn no_rate_is_no_arrival_and_a_wrong_rate_is_refused() {
        let mut source = Source::new(&Arrivals::poisson(0.0).unwrap());
        assert_eq!(source.first(&mut stream()), None);
        assert_eq!(source.set_factor(Time(5), 10.0, &mut stream()), None);
        for wrong in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(Arrivals::poisson(wrong).is_err());
            assert!(Arrivals::paced(wrong).is_err());
        }
    }
}
