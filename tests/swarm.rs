//! Worlds that nobody would think of: random topologies under random combinations of everything the language has, each
//! run several times and held to what is true of every world.
//!
//! `draw` makes a world of a number: services that call each other, callers, links and disturbances written by
//! `topology`, and on top some twenty snippets of docs/scenario.md, which has one for every key there is. So a new key
//! is in the swarm on the day it is in the language. `laws` says what must hold.
//!
//! ```sh
//! cargo test --test main swarm                                    # what every test run does
//! SWARM=0..5000 cargo test --test main swarm -- --nocapture       # more of it
//! SWARM=17 cargo test --test main swarm -- --nocapture            # one of them, with what it is
//! ```

mod dice;
mod draw;
mod laws;
mod topology;

use std::collections::BTreeSet;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{env, fs};

use retrystorm::replicate;

use crate::scenario_page::page::Page;
use draw::{Drawn, Snippets};

/// Worlds of every test run.
const USUAL: Range<u64> = 0..200;

/// So many broken worlds are made small; of the others it is only said what is wrong.
const EXPLAINED: usize = 3;

/// Of the keys of the language, in percent, that so many worlds must have among them: a swarm that draws nothing finds nothing.
const KEYS_USED: usize = 90;

#[test]
fn whatever_is_combined_the_laws_hold() {
    let snippets = Snippets::of(&Page::read(crate::scenario_page::PAGE));
    let asked = env::var("SWARM").ok();
    let seeds: Vec<u64> = asked.as_deref().map_or(USUAL, range).collect();
    let tried = |&seed: &u64| {
        let drawn = draw::world(&snippets, seed);
        let problem = problem(&drawn, seed);
        (drawn, problem)
    };
    let worlds = replicate::on_threads(replicate::threads(None), &seeds, tried).expect("threads");

    let mut broken = Vec::new();
    for (seed, (drawn, problem)) in seeds.iter().zip(&worlds) {
        if let Some(problem) = problem {
            broken.push(match broken.len() < EXPLAINED {
                true => told(*seed, drawn, problem),
                false => format!("world {seed}: {problem}"),
            });
        }
    }
    if let [(drawn, _)] = worlds.as_slice() {
        println!("{}", drawn.tree());
    }
    let used: BTreeSet<usize> = worlds.iter().flat_map(|(drawn, _)| drawn.rows()).collect();
    println!(
        "{} worlds, {} of {} keys, {} broken",
        worlds.len(),
        used.len(),
        snippets.len(),
        broken.len()
    );
    assert!(broken.is_empty(), "{}", broken.join("\n\n"));
    if asked.is_none() {
        let share = used.len() * 100 / snippets.len();
        assert!(share >= KEYS_USED, "only {share} % of the keys were drawn");
    }
}

/// `17` or `0..5000`.
fn range(text: &str) -> Range<u64> {
    let number = |text: &str| text.parse::<u64>().expect("SWARM is 17 or 0..5000");
    match text.split_once("..") {
        Some((from, to)) => number(from)..number(to),
        None => number(text)..number(text) + 1,
    }
}

/// What is wrong with a world, a panic included.
fn problem(drawn: &Drawn, seed: u64) -> Option<String> {
    let told = catch_unwind(AssertUnwindSafe(|| laws::broken(drawn, seed)));
    told.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_string()));
        Some(text.unwrap_or_else(|| "a panic".into()))
    })
}

/// A broken world in words: what to type to see it again, and as few snippets as still break it.
fn told(seed: u64, drawn: &Drawn, first: &str) -> String {
    let mut least = drawn.clone();
    let mut at = 0;
    while at < least.parts.len() {
        let mut fewer = least.clone();
        fewer.parts.remove(at);
        if fewer.loads() && problem(&fewer, seed).is_some() {
            least = fewer;
        } else {
            at += 1;
        }
    }
    let file = format!("{}/swarm-{seed}.json", env!("CARGO_TARGET_TMPDIR"));
    fs::write(&file, least.tree().to_string()).expect("a writable target folder");
    let parts: Vec<String> = (least.parts.iter().flat_map(|part| &part.overrides))
        .map(|(path, value)| format!("    {path}={value}"))
        .collect();
    format!(
        "world {seed}: {first}\n  again:    SWARM={seed} cargo test --test main swarm -- --nocapture\n  \
         as small: retrystorm run {file} --seed {seed}\n  needs:\n{}",
        parts.join("\n")
    )
}
