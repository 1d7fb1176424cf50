//! Attempts whose way has more to it than a link, and calls that need none of their own, in worlds small enough to reckon by hand.

mod caches;
mod changed_links;
mod coalescing;
mod credentials;
mod laws;
mod phases;
mod pools;

use std::sync::Arc;

use seawall::Time;
use sim::World;
use sim::metrics::{Leg, Outcome};
use sim::scenario::{Format, Source, load};

/// Runs a scenario with a log. Arrivals of the client `web` are `arrivals`, in seconds.
fn run(text: &str, arrivals: &str) -> Outcome {
    let source = Source {
        name: "world.yaml",
        text,
        format: Format::Yaml,
    };
    let scenario = load(&source, &[], &mut |_| Ok(arrivals.to_owned()));
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    World::new(Arc::new(scenario), 1).with_log().run()
}

/// A client `web` that calls `api` under the policy `p` over the only link, with the rest as given.
fn world(link: &str, api: &str, policy: &str, more: &str) -> String {
    format!(
        "
version: 1
run: {{ duration: 1000s, window: 100s, drain: 1000s }}
clients: {{ web: {{ arrivals: {{ trace: a.csv }}, calls: [ {{ to: api, policy: p }} ] }} }}
services: {{ api: {{ {api} }} }}
links: {{ default: {{ {link} }} }}
policies: {{ p: {{ {policy} }} }}
{more}
"
    )
}

/// What is wrong with a scenario.
fn wrong(text: &str) -> String {
    let source = Source {
        name: "world.yaml",
        text,
        format: Format::Yaml,
    };
    match load(&source, &[], &mut |_| Ok("0".into())) {
        Ok(_) => panic!("nothing is wrong with it"),
        Err(problems) => problems.to_string(),
    }
}

/// How long each call took, in seconds, in the order in which they ended.
fn calls(outcome: &Outcome) -> Vec<f64> {
    let log = outcome.log.as_ref().expect("a log");
    let took = |began: Time, ended: Time| ended.since(began).as_secs_f64();
    (log.calls.iter())
        .map(|call| took(call.began, call.ended))
        .collect()
}

/// Seconds spent in a leg by the attempts of the first edge.
fn spent(outcome: &Outcome, leg: Leg) -> f64 {
    outcome.drained.passages[0].leg_ns[leg as usize] as f64 / 1e9
}
