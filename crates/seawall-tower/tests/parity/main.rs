//! Parity: what simulated clients decided, this driver decides.
//!
//! A world is simulated and everything said between its kernel and its policy engines written down. Then the callers'
//! side is played again to the production driver, on tokio's paused clock: calls begin, answers come, callers leave, each at
//! its nanosecond. The driver has its own engines and its own timers, and must send, give up and finish the very
//! same things at the very same times.

mod composed;
mod policies;
mod replay;
mod worlds;

use std::collections::BTreeSet;

use seawall::{Action, Spec, Stopped};
use sim::metrics::{Exchange, Said};

/// Exchanges of one run, after they have been replayed.
fn replayed(spec: &Spec, seed: u64) -> Vec<Exchange> {
    let scenario = worlds::under(spec, seed);
    let log = sim::World::new(scenario.clone(), seed).with_log().run().log;
    let exchanges = log.expect("asked for").exchanges;
    replay::replay(&scenario, seed, &exchanges);
    exchanges
}

/// One word for each kind of thing that was said.
fn words(exchanges: &[Exchange]) -> BTreeSet<&'static str> {
    let word = |exchange: &Exchange| match exchange.said {
        Said::Begin { deadline: None, .. } => "begin",
        Said::Begin { .. } => "begin with a deadline",
        Said::Answer { .. } => "answer",
        Said::Timer => "timer",
        Said::Look => "look",
        Said::Host(_) => "host",
        Said::Do(Action::Choose(_)) => "choose",
        Said::Cancel => "cancel",
        Said::KillSwitch(_) => "kill switch",
        Said::Do(Action::Send { attempt: 1, .. }) => "send",
        Said::Do(Action::Send { .. }) => "retry",
        Said::Do(Action::Abandon(_)) => "abandon",
        Said::Do(Action::Finish(verdict)) => verdict.stopped.map_or("ok", |why| why.name()),
    };
    exchanges.iter().map(word).collect()
}

#[test]
fn the_driver_decides_what_simulated_clients_decided_under_every_policy() {
    let mut said = BTreeSet::new();
    for (index, (name, spec)) in policies::all().into_iter().enumerate() {
        for round in 0..3 {
            let seed = 100 * index as u64 + round;
            println!("{name}, seed {seed}");
            let exchanges = replayed(&spec, seed);
            assert!(exchanges.len() > 1000, "{name} did too little");
            said.extend(words(&exchanges));
        }
    }
    // Between them they came through everything that can happen to a call.
    let exchanges = [
        "begin",
        "begin with a deadline",
        "answer",
        "timer",
        "choose",
        "host",
        "cancel",
        "kill switch",
        "send",
        "retry",
        "abandon",
        "ok",
    ];
    for word in exchanges.into_iter().chain(Stopped::NAMES) {
        assert!(said.contains(word), "no call met {word}: {said:?}");
    }
}

#[test]
#[should_panic(expected = "the driver does what was decided")]
fn a_changed_decision_is_noticed() {
    let (_, spec) = policies::all().swap_remove(0);
    let scenario = worlds::under(&spec, 1);
    let log = sim::World::new(scenario.clone(), 1).with_log().run().log;
    let mut exchanges = log.expect("asked for").exchanges;
    let retry = |e: &&mut Exchange| matches!(e.said, Said::Do(Action::Send { attempt: 2.., .. }));
    let one = exchanges.iter_mut().filter(retry).nth(10).expect("retries");
    one.said = Said::Do(Action::Abandon(1));
    replay::replay(&scenario, 1, &exchanges);
}
