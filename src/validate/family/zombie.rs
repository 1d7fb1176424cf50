//! Work that nobody waits for any more: callers with deadlines drawn anew for each attempt, a server that does not know of
//! them, and how long it takes to get rid of such work, or full of it.

use seawall::Time;

use super::station;
use crate::validate::case::Case;
use crate::validate::measure::Occupancy;
use crate::validate::plan::{Experiment, loaded, logged};
use crate::validate::text::{Text, span};

/// First passages of one replication are as many worlds.
const WORLDS: f64 = 400.0;
/// How long each is run, in mean passages: what takes longer (e^-10 of them) counts as that long.
const LONGEST: f64 = 10.0;

/// The steady state, and the two passages.
pub(super) fn experiments(case: &Case, scale: f64) -> Result<Vec<Experiment>, String> {
    let steady = |name: &String| !name.starts_with("mean_time");
    let mut part = case.clone();
    part.metrics.retain(|name, _| steady(name));
    let mut experiments = station::experiments(&part, scale)?;
    let places = case.number("/stations/0/capacity");
    let at_once = vec!["0s"; places as usize].join(", ");
    let dead = format!(
        "dead: {{ arrivals: {{ at: [ {at_once} ] }}, calls: [ {{ to: s, policy: gone }} ] }}"
    );
    for (name, filled, level) in [
        ("mean_time_zombies_to_empty", true, 0),
        ("mean_time_empty_to_full", false, places as i64),
    ] {
        let horizon = LONGEST * case.metrics[name].expected().unwrap_or(1.0);
        let mut text = Text {
            duration: horizon,
            warmup: 0.0,
            drain: 0.0,
            ..station::world(case, scale)?
        };
        if filled {
            text.clients.push(dead.clone());
            text.policies
                .push(format!("gone: {{ attempt_timeout: {} }}", span(1e-9)));
        }
        let scenario = loaded(&text.to_string());
        let worlds = (WORLDS * scale.max(1.0)) as u64;
        let replications = case.size(1.0).replications;
        let passages = Experiment::library(replications, move |seed| {
            let passage = |i: u64| {
                let seed = seed.wrapping_mul(worlds).wrapping_add(i);
                logged(&scenario, seed, |run| {
                    let first = Occupancy::of_service(run, 0).first(Time(1), level);
                    first.map_or(horizon, |at| at.0 as f64 / 1e9)
                })
            };
            let sum: f64 = (0..worlds).map(passage).sum();
            vec![(name.into(), sum / worlds as f64)]
        });
        experiments.push(passages.showing(text));
    }
    Ok(experiments)
}
