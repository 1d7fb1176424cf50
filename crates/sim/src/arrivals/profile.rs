//! Rates that change over time as written.

use std::sync::Arc;

use seawall::{Span, Time};

use super::checked_rate;

/// A piecewise linear rate.
///
/// Between two points the rate changes evenly; two points at the same time are a step. Before the
/// first point the first rate holds, after the last the last, unless the profile repeats: then it
/// starts over at the time of its last point.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    pieces: Arc<[Piece]>,
    /// Length of a round of a profile that repeats.
    period: Option<Span>,
}

/// A stretch of time in which the rate changes evenly.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    start: Time,
    /// Rate at its start.
    from: f64,
    /// Change of rate per second.
    slope: f64,
    /// Expected arrivals in all pieces before it.
    before: f64,
    /// Expected arrivals in it.
    arrivals: f64,
}

/// A position in operational time: a round, a piece, and how many expected arrivals into it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Position {
    round: u64,
    piece: usize,
    arrivals: f64,
}

impl Profile {
    /// From points (time, rate per second), times never descending.
    pub fn new(points: &[(Time, f64)], repeat: bool) -> Result<Profile, String> {
        let (Some(&first), Some(&last)) = (points.first(), points.last()) else {
            return Err("a profile needs at least one point".to_owned());
        };
        for &(_, rate) in points {
            checked_rate(rate)?;
        }
        if let Some(pair) = points.windows(2).find(|pair| pair[0].0 > pair[1].0) {
            let [earlier, later] = [pair[1], pair[0]].map(|(time, _)| time.since(Time::ZERO));
            return Err(format!(
                "points must be in order of time, but {earlier} follows {later}"
            ));
        }
        let period = repeat.then(|| last.0.since(Time::ZERO));
        if period == Some(Span::ZERO) {
            return Err("a profile that repeats must end after 0s".to_owned());
        }
        let mut corners = vec![(Time::ZERO, first.1)];
        corners.extend_from_slice(points);
        let mut pieces = Vec::with_capacity(corners.len());
        let mut before = 0.0;
        for pair in corners.windows(2) {
            let ((start, from), (end, to)) = (pair[0], pair[1]);
            let seconds = end.since(start).as_secs_f64();
            if seconds > 0.0 {
                let arrivals = (from + to) / 2.0 * seconds;
                let slope = (to - from) / seconds;
                pieces.push(Piece {
                    start,
                    from,
                    slope,
                    before,
                    arrivals,
                });
                before += arrivals;
            }
        }
        if !repeat {
            let (start, from) = last;
            let arrivals = if from > 0.0 { f64::INFINITY } else { 0.0 };
            pieces.push(Piece {
                start,
                from,
                slope: 0.0,
                before,
                arrivals,
            });
        }
        Ok(Profile {
            pieces: pieces.into(),
            period,
        })
    }

    /// Steps: each rate from its time until the next, the last until `end`; none before and after.
    pub fn steps(bins: &[(Time, f64)], end: Time, repeat: bool) -> Result<Profile, String> {
        let Some(&(begin, _)) = bins.first() else {
            return Err("a profile needs at least one step".to_owned());
        };
        let mut points = vec![(Time::ZERO, 0.0), (begin, 0.0)];
        let ends = bins.iter().skip(1).map(|(start, _)| *start).chain([end]);
        for (&(start, rate), end) in bins.iter().zip(ends) {
            points.extend([(start, rate), (end, rate)]);
        }
        points.push((end, 0.0));
        Profile::new(&points, repeat)
    }

    /// Expected arrivals before `time`.
    #[must_use]
    pub(super) fn expected_until(&self, time: Time) -> f64 {
        self.arrivals_before(self.position(time))
    }

    fn arrivals_before(&self, at: Position) -> f64 {
        self.per_round() * at.round as f64 + self.pieces[at.piece].before + at.arrivals
    }

    /// Expected arrivals in a round; 0 for a profile that does not repeat.
    fn per_round(&self) -> f64 {
        match self.period {
            Some(_) => {
                let last = self.pieces[self.pieces.len() - 1];
                last.before + last.arrivals
            }
            None => 0.0,
        }
    }

    /// Where in operational time an instant is.
    pub(super) fn position(&self, time: Time) -> Position {
        let (round, inside) = match self.period {
            Some(period) => (time.0 / period.0, Time(time.0 % period.0)),
            None => (0, time),
        };
        // The first piece starts at zero, so there is always one that has begun.
        let piece = self.pieces.partition_point(|piece| piece.start <= inside) - 1;
        let arrivals = self.pieces[piece].until(inside.since(self.pieces[piece].start));
        Position {
            round,
            piece,
            arrivals,
        }
    }

    /// Expected arrivals from one position to a later one.
    pub(super) fn between(&self, from: Position, to: Position) -> f64 {
        if (from.round, from.piece) == (to.round, to.piece) {
            to.arrivals - from.arrivals
        } else {
            self.arrivals_before(to) - self.arrivals_before(from)
        }
    }

    /// The position after `arrivals` more expected arrivals, and its instant; `None` if it is never
    /// reached.
    pub(super) fn advance(&self, from: Position, arrivals: f64) -> Option<(Position, Time)> {
        let mut at = from;
        let mut left = arrivals;
        loop {
            let piece = &self.pieces[at.piece];
            let room = piece.arrivals - at.arrivals;
            // Nothing arrives in a piece at rate 0, not even what is due at once.
            if left <= room && piece.arrivals > 0.0 {
                at.arrivals += left;
                let start = at
                    .round
                    .checked_mul(self.period.map_or(0, |period| period.0))?;
                let offset = piece.reach(at.arrivals)?;
                let time = start.checked_add(piece.start.0)?.checked_add(offset.0)?;
                return Some((at, Time(time)));
            }
            left = (left - room).max(0.0);
            at.arrivals = 0.0;
            at.piece += 1;
            if at.piece == self.pieces.len() {
                let per_round = self.per_round();
                if per_round <= 0.0 {
                    return None;
                }
                // Whole rounds at once: `left` may be many when the load is nearly nothing.
                let skipped = (left / per_round).floor();
                left -= skipped * per_round;
                at.round = at.round.checked_add(1)?.saturating_add(skipped as u64);
                at.piece = 0;
            }
        }
    }
}

impl Piece {
    /// Expected arrivals in its first `span`.
    fn until(&self, span: Span) -> f64 {
        let seconds = span.as_secs_f64();
        (self.from + self.slope * seconds / 2.0) * seconds
    }

    /// How long until `arrivals` are expected: the root of `from·s + slope·s²/2 = arrivals`, in the
    /// form that loses no digits when the slope is small.
    fn reach(&self, arrivals: f64) -> Option<Span> {
        if arrivals <= 0.0 {
            return Some(Span::ZERO);
        }
        let root = (self.from * self.from + 2.0 * self.slope * arrivals)
            .max(0.0)
            .sqrt();
        let nanos = 2.0 * arrivals / (self.from + root) * 1e9;
        (nanos < u64::MAX as f64).then_some(Span((nanos + 0.5) as u64))
    }
}
