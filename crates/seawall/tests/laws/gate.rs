//! The bulkhead against a queue that is obviously right.

use std::collections::VecDeque;

use seawall::bulkhead::{Entry, Gate, Place};
use seawall::{Bulkhead, CallKey, Span};

#[derive(Clone)]
struct Both {
    gate: Gate,
    /// Calls inside, whether they claimed yet or not.
    inside: u32,
    line: VecDeque<(CallKey, Place)>,
    /// Granted and not claimed, in the order of granting; whether the driver was told.
    granted: VecDeque<(CallKey, Place, bool)>,
    /// A place that was vacated.
    stale: Option<Place>,
    next: u64,
}

const PERMITS: u32 = 2;
const PLACES: usize = 3;

impl Both {
    fn grant_or_free(&mut self) {
        match self.line.pop_front() {
            Some((key, place)) => self.granted.push_back((key, place, false)),
            None => self.inside -= 1,
        }
    }

    /// `false`: the input means nothing in this state.
    fn apply(&mut self, input: usize) -> bool {
        match input {
            0 => {
                let key = CallKey(self.next);
                self.next += 1;
                match self.gate.enter(key) {
                    Entry::Entered => {
                        assert!(self.inside < PERMITS);
                        self.inside += 1;
                    }
                    Entry::Waits(place) => {
                        assert!(self.inside == PERMITS && self.line.len() < PLACES);
                        self.line.push_back((key, place));
                    }
                    Entry::Full => {
                        assert!(self.inside == PERMITS && self.line.len() == PLACES);
                    }
                }
            }
            1 => {
                // Somebody who has claimed a permit gives it back.
                if self.inside as usize == self.granted.len() {
                    return false;
                }
                self.gate.release();
                self.grant_or_free();
            }
            2 => {
                let told = self.gate.next_admitted();
                let expected = self.granted.iter_mut().find(|g| !g.2);
                assert_eq!(told, expected.as_ref().map(|g| g.0));
                match expected {
                    Some(granted) => granted.2 = true,
                    None => return false,
                }
            }
            3 => {
                let Some((_, place, _)) = self.granted.pop_back() else {
                    return false;
                };
                assert!(self.gate.is_granted(place));
                assert!(self.gate.claim(place));
                self.stale = Some(place);
            }
            4 | 5 => {
                // From the middle of the line, and from its end.
                let at = if input == 4 {
                    self.line.len() / 2
                } else {
                    self.line.len().wrapping_sub(1)
                };
                let Some((_, place)) = self.line.remove(at) else {
                    return false;
                };
                assert!(!self.gate.claim(place), "not granted yet");
                self.gate.leave(place);
                self.stale = Some(place);
            }
            6 => {
                let Some((_, place, _)) = self.granted.pop_front() else {
                    return false;
                };
                self.gate.leave(place);
                self.grant_or_free();
                self.stale = Some(place);
            }
            _ => {
                let Some(place) = self.stale else {
                    return false;
                };
                assert!(!self.gate.claim(place) && !self.gate.is_granted(place));
                self.gate.leave(place);
            }
        }
        assert_eq!(self.gate.in_use(), self.inside);
        assert_eq!(self.gate.waiting() as usize, self.line.len());
        true
    }
}

#[test]
fn the_bulkhead_is_a_fair_queue_for_every_short_sequence() {
    fn visit(both: &Both, depth: u32, visited: &mut u64) {
        *visited += 1;
        if depth == 0 {
            return;
        }
        for input in 0..8 {
            let mut next = both.clone();
            if next.apply(input) {
                visit(&next, depth - 1, visited);
            }
        }
    }
    let spec = Bulkhead {
        max_in_flight: PERMITS,
        queue_from: None,
        max_waiting: PLACES as u32,
        max_wait: Span(1),
        hold_during_backoff: Some(true),
    };
    let mut both = Both {
        gate: Gate::new(&spec),
        inside: 0,
        line: VecDeque::new(),
        granted: VecDeque::new(),
        stale: None,
        next: 0,
    };
    // Full to the last permit, with two in line: from here every branch is near.
    for _ in 0..4 {
        both.apply(0);
    }
    let mut visited = 0;
    visit(&both, 8, &mut visited);
    assert!(visited > 100_000, "{visited} states are no enumeration");
}
