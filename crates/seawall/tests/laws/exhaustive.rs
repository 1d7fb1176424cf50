//! Every sequence of inputs up to a length.

use seawall::{FailureKind, Span};

use crate::world::{Input, World, policies};

/// Visits every sequence of `depth` inputs and winds each of them up.
fn visit(world: &World, calls: usize, depth: u32, visited: &mut u64) {
    *visited += 1;
    if depth == 0 {
        world.clone().wind_up(false);
        world.clone().wind_up(true);
        return;
    }
    for input in world.inputs(calls) {
        let mut next = world.clone();
        next.apply(input);
        visit(&next, calls, depth - 1, visited);
    }
}

#[test]
fn the_laws_hold_for_every_short_life_of_three_calls_that_share_a_client() {
    for spec in policies() {
        let mut visited = 0;
        visit(&World::new(&spec), 3, 7, &mut visited);
        assert!(visited > 1000, "{visited} states are no enumeration");
    }
}

#[test]
fn the_laws_hold_for_every_short_life_of_one_call_with_all_that_can_go_wrong() {
    fn all(world: &World, depth: u32) {
        if depth == 0 {
            world.clone().wind_up(false);
            return;
        }
        for input in [
            Input::Ok(0),
            Input::Fail(0, FailureKind::Unavailable),
            Input::Fail(0, FailureKind::Invalid),
            Input::Timer(0),
            Input::Early(0),
            Input::Cancel(0),
            Input::Stale(0),
            Input::Wait(Span(7)),
            Input::Kill(true),
        ] {
            let mut next = world.clone();
            next.apply(input);
            // After the end, whatever comes is ignored; three more inputs show it.
            let over = next.calls[0].call.is_finished();
            all(&next, if over { (depth - 1).min(2) } else { depth - 1 });
        }
    }
    for spec in policies() {
        let mut world = World::new(&spec);
        world.apply(Input::Begin);
        all(&world, 6);
    }
}
