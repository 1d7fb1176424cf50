//! The breaker against a list of everything that happened.

use seawall::breaker::{Circuit, Permit};
use seawall::{Breaker, BreakerRule, BreakerState, Entropy, FailureSet, Rates, Span, Time, Window};

const RATES: Rates = Rates {
    window: Window::Count(3),
    failure_rate: 0.6,
    slow_rate: Some(0.5),
    slow_after: Span(5),
    minimum_calls: 2,
    open_for: Span(10),
    half_open_calls: 2,
    ramp: None,
};

const SPEC: Breaker = Breaker {
    rule: BreakerRule::Rates(RATES),
    counts: None,
    count_refusals: false,
    on: FailureSet::NONE,
    ignored: FailureSet::NONE,
};

/// This member draws nothing.
struct NoDraw;

impl Entropy for NoDraw {
    fn next_u64(&mut self) -> u64 {
        unreachable!()
    }
}

/// The state, written down naively.
#[derive(Clone)]
enum Model {
    Closed {
        results: Vec<(bool, bool)>,
    },
    Open {
        until: Time,
    },
    HalfOpen {
        out: u32,
        results: Vec<(bool, bool)>,
    },
}

#[derive(Clone)]
struct Both {
    circuit: Circuit,
    model: Model,
    /// How often the state changed; a permit counts only in the state that gave it.
    era: u32,
    permits: Vec<(Permit, u32)>,
    now: Time,
}

impl Both {
    fn enter(&mut self, model: Model) {
        self.model = model;
        self.era += 1;
    }

    fn too_bad(results: &[(bool, bool)]) -> bool {
        let share = |count: usize| count as f64 / results.len() as f64;
        share(results.iter().filter(|r| r.0).count()) >= 0.6
            || share(results.iter().filter(|r| r.1).count()) >= 0.5
    }

    fn open(&mut self) {
        let until = self.now.after(RATES.open_for);
        self.enter(Model::Open { until });
    }

    fn admit(&mut self) {
        if matches!(self.model, Model::Open { until } if self.now >= until) {
            self.enter(Model::HalfOpen {
                out: 0,
                results: Vec::new(),
            });
        }
        let expected = match &mut self.model {
            Model::Closed { .. } => true,
            Model::Open { .. } => false,
            Model::HalfOpen { out, results } => {
                let free = *out + (results.len() as u32) < RATES.half_open_calls;
                *out += u32::from(free);
                free
            }
        };
        assert_eq!(!self.circuit.refuses(self.now), expected);
        let permit = self.circuit.admit(self.now, &mut NoDraw);
        assert_eq!(permit.is_some(), expected);
        self.permits.extend(permit.map(|permit| (permit, self.era)));
    }

    fn record(&mut self, permit: Permit, era: u32, failed: bool, slow: bool) {
        let took = if slow { Span(6) } else { Span(5) };
        self.circuit.record(self.now, permit, failed, took);
        if era != self.era {
            return;
        }
        match &mut self.model {
            Model::Closed { results } => {
                results.push((failed, slow));
                let recent = &results[results.len().saturating_sub(3)..];
                if recent.len() >= 2 && Self::too_bad(recent) {
                    self.open();
                }
            }
            Model::Open { .. } => unreachable!("an open breaker gives no permits"),
            Model::HalfOpen { out, results } => {
                *out -= 1;
                results.push((failed, slow));
                if results.len() == 2 {
                    if Self::too_bad(results) {
                        self.open();
                    } else {
                        self.enter(Model::Closed {
                            results: Vec::new(),
                        });
                    }
                }
            }
        }
    }

    /// `false`: the input means nothing in this state.
    fn apply(&mut self, input: usize) -> bool {
        match input {
            0 => self.admit(),
            1 => self.now = self.now.after(Span(10)),
            _ => {
                // Oldest permit first, or newest first: stragglers and trials.
                let permit = if input < 5 || input == 8 {
                    (!self.permits.is_empty()).then(|| self.permits.remove(0))
                } else {
                    self.permits.pop()
                };
                let Some((permit, era)) = permit else {
                    return false;
                };
                match input {
                    2 | 5 => self.record(permit, era, false, false),
                    3 | 6 => self.record(permit, era, true, false),
                    4 => self.record(permit, era, false, true),
                    _ => {
                        self.circuit.release(self.now, permit);
                        if let (Model::HalfOpen { out, .. }, true) =
                            (&mut self.model, era == self.era)
                        {
                            *out -= 1;
                        }
                    }
                }
            }
        }
        let expected = match self.model {
            Model::Closed { .. } => BreakerState::Closed,
            Model::Open { until } if self.now < until => BreakerState::Open,
            Model::Open { .. } | Model::HalfOpen { .. } => BreakerState::HalfOpen,
        };
        assert_eq!(self.circuit.state(self.now), expected);
        true
    }
}

fn visit(both: &Both, depth: u32) {
    if depth == 0 {
        return;
    }
    for input in 0..9 {
        let mut next = both.clone();
        if next.apply(input) {
            visit(&next, depth - 1);
        }
    }
}

fn closed() -> Both {
    Both {
        circuit: Circuit::new(&SPEC, Time::ZERO),
        model: Model::Closed {
            results: Vec::new(),
        },
        era: 0,
        permits: Vec::new(),
        now: Time::ZERO,
    }
}

#[test]
fn the_breaker_agrees_with_its_definition_for_every_short_sequence() {
    visit(&closed(), 7);
}

#[test]
fn the_breaker_agrees_with_its_definition_for_every_short_sequence_once_open() {
    let mut both = closed();
    // Three permits out; two failures open it; the third permit is a straggler.
    for input in [0, 0, 0, 3, 3, 1] {
        assert!(both.apply(input));
    }
    visit(&both, 7);
}
