//! Long sequences of inputs, drawn.

use seawall::{FailureKind, Span};

use crate::world::{Input, World, policies};

/// Knuth's MMIX generator; the seed is the test's.
pub(crate) struct Draws(pub u64);

impl Draws {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

#[test]
fn the_laws_hold_for_long_lives_of_many_calls() {
    for (p, spec) in policies().iter().enumerate() {
        for seed in 0..40 {
            let mut draws = Draws(seed * 1000 + p as u64);
            let mut world = World::new(spec);
            for _ in 0..200 {
                let recent = world.calls.len().saturating_sub(6);
                let i = recent + draws.below((world.calls.len() - recent).max(1));
                let input = match draws.below(16) {
                    _ if i == world.calls.len() => Input::Begin,
                    0..=2 => Input::Begin,
                    3..=5 => Input::Ok(i),
                    6..=8 => Input::Fail(i, FailureKind::Unavailable),
                    9 => Input::Fail(i, FailureKind::Invalid),
                    10 | 11 => Input::Timer(i),
                    12 => Input::Cancel(i),
                    13 => Input::Stale(i),
                    14 => Input::Kill(draws.below(4) == 0),
                    _ => Input::Wait(Span(draws.below(20) as u64)),
                };
                world.apply(input);
            }
            world.apply(Input::Kill(false));
            world.clone().wind_up(true);
            world.wind_up(false);
        }
    }
}
