//! Arrivals at recorded instants.

use std::sync::Arc;

use seawall::{Entropy, Span, Time};

use crate::rng::Stream;

/// Recorded instants, played once or again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Ascending, not empty.
    instants: Arc<[Time]>,
    /// Length of a round of a trace that repeats.
    period: Option<Span>,
}

impl Trace {
    /// From instants in any order, played `speed` times as fast as recorded.
    ///
    /// When it repeats, a round ends one mean gap after its last instant.
    pub fn new(instants: &[Time], speed: f64, repeat: bool) -> Result<Trace, String> {
        if instants.is_empty() {
            return Err("a trace needs at least one arrival".to_owned());
        }
        if !(speed > 0.0 && speed.is_finite()) {
            return Err(format!("the speed must be above 0, not {speed}"));
        }
        let mut played: Vec<Time> = instants
            .iter()
            .map(|time| Time::ZERO.after(time.since(Time::ZERO).times(1.0 / speed)))
            .collect();
        played.sort();
        let mut period = None;
        if repeat {
            let (first, last) = (played[0], played[played.len() - 1]);
            if first == last {
                return Err("a trace that repeats needs two arrivals at different times".to_owned());
            }
            let gap = last.since(first).0 as f64 / (played.len() - 1) as f64;
            period = Some(last.since(Time::ZERO).plus(Span((gap + 0.5) as u64)));
        }
        Ok(Trace {
            instants: played.into(),
            period,
        })
    }

    /// How many arrivals a round has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.instants.len()
    }

    /// Never: a trace has at least one arrival.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.instants.is_empty()
    }

    /// Arrivals before `time`.
    pub(super) fn count_until(&self, time: Time) -> f64 {
        let (round, inside) = match self.period {
            Some(period) => (time.0 / period.0, Time(time.0 % period.0)),
            None => (0, time),
        };
        let inside = self.instants.partition_point(|instant| *instant < inside);
        round as f64 * self.len() as f64 + inside as f64
    }
}

/// Loads below this count as none: a run would only search for an arrival that never comes.
const LEAST_FACTOR: f64 = 1e-9;

/// The running process of a trace.
///
/// At load `k` every recorded arrival happens `floor(k)` times, and once more with probability
/// `k − floor(k)`, all at its instant. Each recorded arrival takes one draw, whatever the load.
#[derive(Clone, Debug)]
pub(super) struct Replay {
    trace: Trace,
    factor: f64,
    round: u64,
    /// Index of the recorded arrival at hand.
    index: usize,
    /// Its draw; `None` until it is looked at.
    draw: Option<f64>,
    /// How many of its copies have happened.
    happened: u64,
    started: bool,
}

impl Replay {
    pub(super) fn new(trace: &Trace) -> Replay {
        Replay {
            trace: trace.clone(),
            factor: 1.0,
            round: 0,
            index: 0,
            draw: None,
            happened: 0,
            started: false,
        }
    }

    pub(super) fn first(&mut self, stream: &mut Stream) -> Option<Time> {
        self.started = true;
        self.pending(Time::ZERO, stream)
    }

    pub(super) fn next(&mut self, now: Time, stream: &mut Stream) -> Option<Time> {
        self.happened += 1;
        self.pending(now, stream)
    }

    pub(super) fn set_factor(
        &mut self,
        now: Time,
        factor: f64,
        stream: &mut Stream,
    ) -> Option<Time> {
        self.factor = factor;
        if !self.started {
            return None;
        }
        self.pending(now, stream)
    }

    /// The next copy that happens at `now` or later.
    fn pending(&mut self, now: Time, stream: &mut Stream) -> Option<Time> {
        if self.factor < LEAST_FACTOR {
            return None;
        }
        loop {
            let instant = self.instant()?;
            let draw = *self.draw.get_or_insert_with(|| stream.unit());
            let whole = self.factor.floor();
            let copies = whole as u64 + u64::from(draw < self.factor - whole);
            if instant >= now && self.happened < copies {
                return Some(instant);
            }
            self.index += 1;
            self.draw = None;
            self.happened = 0;
        }
    }

    /// When the recorded arrival at hand happens.
    fn instant(&mut self) -> Option<Time> {
        if self.index == self.trace.len() {
            self.trace.period?;
            self.round += 1;
            self.index = 0;
        }
        let start = self
            .round
            .checked_mul(self.trace.period.map_or(0, |period| period.0))?;
        start
            .checked_add(self.trace.instants[self.index].0)
            .map(Time)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{count, run, secs, stream};
    use super::super::{Arrivals, Source};
    use super::*;

    #[test]
    fn a_trace_is_played_as_recorded_faster_and_again() {
        let instants = [secs(0), secs(4), secs(4), secs(6)];
        let once = Arrivals::trace(&instants, 1.0, false).unwrap();
        assert_eq!(run(&once, Time::MAX, &[]), instants);
        let fast = Arrivals::trace(&[secs(4), secs(6), secs(0), secs(4)], 2.0, false).unwrap();
        assert_eq!(
            run(&fast, Time::MAX, &[]),
            [secs(0), secs(2), secs(2), secs(3)]
        );
        // The mean gap is 2 s, so a round is 8 s.
        let again = Arrivals::trace(&instants, 1.0, true).unwrap();
        assert_eq!(
            run(&again, secs(13), &[]),
            [0, 4, 4, 6, 8, 12, 12].map(secs)
        );
        assert_eq!(again.expected(secs(4), secs(81)), 40.0);
        assert_eq!(once.expected(secs(4), secs(81)), 3.0);
    }

    #[test]
    fn load_on_a_trace_repeats_each_arrival_at_its_instant() {
        let instants: Vec<Time> = (0..10_000).map(|n| Time(n * 1_000_000)).collect();
        let arrivals = Arrivals::trace(&instants, 1.0, false).unwrap();
        let loaded = |factor| run(&arrivals, Time::MAX, &[(Time::ZERO, factor)]);
        assert_eq!(loaded(1.0), instants);
        assert_eq!(loaded(0.0), []);
        assert_eq!(loaded(1e-12), []);
        let triple = loaded(3.0);
        assert!(
            triple
                .chunks(3)
                .zip(&instants)
                .all(|(copies, &instant)| copies == [instant; 3])
        );
        assert_eq!(triple.len(), 30_000);
        // 25 000 and 5 000, each ± 4 standard deviations of 50.
        let (more, fewer) = (loaded(2.5), loaded(0.5));
        assert!((24_800..=25_200).contains(&more.len()), "{}", more.len());
        assert!((4_800..=5_200).contains(&fewer.len()), "{}", fewer.len());
        // The same draw decides: who is there at half the load has its third copy at two and a half.
        let thirds: Vec<Time> = more
            .chunk_by(|a, b| a == b)
            .filter(|copies| copies.len() == 3)
            .map(|copies| copies[0])
            .collect();
        assert_eq!(thirds, fewer);
    }

    #[test]
    fn a_change_of_load_on_a_trace_leaves_other_arrivals_alone() {
        let instants: Vec<Time> = (0..1000).map(|n| Time(n * 10_000_000)).collect();
        let arrivals = Arrivals::trace(&instants, 1.0, true).unwrap();
        let end = secs(20);
        let half = run(&arrivals, end, &[(Time::ZERO, 0.5)]);
        let (from, to) = (secs(3), secs(5));
        let gap = run(&arrivals, end, &[(Time::ZERO, 0.5), (from, 0.0), (to, 0.5)]);
        let outside = |time: &&Time| !(from..to).contains(*time);
        assert!(gap.iter().eq(half.iter().filter(outside)));
        let spike = run(&arrivals, end, &[(Time::ZERO, 0.5), (from, 7.0), (to, 0.5)]);
        assert!(spike.iter().filter(outside).eq(half.iter().filter(outside)));
        assert_eq!(count(&spike, from, to), 1400.0);
    }

    #[test]
    fn a_trace_whose_load_changes_at_an_arrival_keeps_the_copies_that_happened() {
        let arrivals = Arrivals::trace(&[secs(1), secs(2)], 1.0, false).unwrap();
        let (mut source, mut stream) = (Source::new(&arrivals), stream());
        source.first(&mut stream);
        assert_eq!(source.set_factor(secs(0), 3.0, &mut stream), Some(secs(1)));
        assert_eq!(source.next(secs(1), &mut stream), Some(secs(1)));
        assert_eq!(source.set_factor(secs(1), 2.0, &mut stream), Some(secs(1)));
        assert_eq!(source.next(secs(1), &mut stream), Some(secs(2)));
    }
}
