//! What attempts go through besides their link and their service, in a few words.

use std::collections::BTreeSet;

use seawall::Phase;
use sim::scenario::Scenario;
use sim::scenario::passage::{Passage, PoolRule};

use crate::number;

/// `phases: connect 2 ms, tls 4 ms · at most 20 connections · needs token`: one line for each way that the attempts of
/// an edge take; none for an ordinary link.
#[must_use]
pub fn ways(scenario: &Scenario, edge: usize) -> Vec<String> {
    let sites = scenario.sites.iter();
    let links = sites.filter(|site| site.edge as usize == edge);
    let links: BTreeSet<u32> = links.map(|site| site.link).collect();
    let passages = links.into_iter().filter_map(|link| {
        let passage = scenario.links[link as usize].passage.as_deref()?;
        Some(way(scenario, passage))
    });
    passages.filter(|words| !words.is_empty()).collect()
}

fn way(scenario: &Scenario, passage: &Passage) -> String {
    let mut words = Vec::new();
    let phases: Vec<String> = Phase::ALL
        .into_iter()
        .filter_map(|phase| {
            let rule = passage.phase(phase)?;
            let takes = rule.takes.mean();
            let takes = takes.map_or("?".into(), number::duration);
            let fails = match rule.fails {
                0.0 => String::new(),
                fails => format!(" ({} fail)", number::share(fails)),
            };
            Some(format!("{} {takes}{fails}", phase.name()))
        })
        .collect();
    if !phases.is_empty() {
        words.push(phases.join(", "));
    }
    words.extend(passage.pool.as_ref().map(pool));
    let all = scenario.credentials.iter().flat_map(|used| &used.all);
    let credential = passage
        .credential
        .and_then(|it| all.clone().nth(it as usize));
    words.extend(credential.map(|credential| format!("needs {}", credential.name)));
    words.join(" · ")
}

fn pool(rule: &PoolRule) -> String {
    let most = match rule.size {
        Some(size) => format!("at most {size} connections"),
        None => "any number of connections".into(),
    };
    let shared = match rule.streams {
        1 => String::new(),
        streams => format!(" of {streams} streams"),
    };
    let wait = match rule.acquire_timeout {
        Some(wait) => format!(
            ", waited for {} at most",
            number::duration(wait.as_secs_f64())
        ),
        None => String::new(),
    };
    format!("{most}{shared}{wait}")
}
