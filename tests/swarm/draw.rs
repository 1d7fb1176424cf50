//! A world of a number: a topology, and snippets of the language page that it accepts.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use sim::scenario::{Override, Scenario};

use super::dice::Dice;
use super::topology;
use crate::scenario_page::page::Page;
use crate::scenario_page::places::put;
use crate::scenario_page::world::{World, tree};

/// What can be put on top of a topology: a snippet for each key of the language.
pub(super) struct Snippets {
    rows: Vec<Vec<(String, String)>>,
    files: BTreeMap<String, String>,
}

impl Snippets {
    /// Those of the page that do not write whole sections anew.
    pub(super) fn of(page: &Page) -> Snippets {
        let rows = page.tables.iter().flat_map(|table| &table.rows);
        let parsed = rows.map(|row| {
            let parts = row.snippet.iter().map(|text| {
                let one = Override::parse(text).expect("the page is checked elsewhere");
                (one.path, one.value)
            });
            parts.collect::<Vec<_>>()
        });
        let small = |row: &Vec<(String, String)>| {
            let fits = |path: &str| path.contains('.') && !path.starts_with("run.duration");
            !row.is_empty() && row.iter().all(|(path, _)| fits(path))
        };
        Snippets {
            rows: parsed.filter(small).collect(),
            files: page.files.clone(),
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }
}

/// A snippet with the names it has in this world.
#[derive(Clone, Debug)]
pub(super) struct Part {
    row: usize,
    pub(super) overrides: Vec<(String, String)>,
}

/// A world.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    text: String,
    files: BTreeMap<String, String>,
    pub(super) parts: Vec<Part>,
}

impl Drawn {
    /// The same with more written on top.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn scenario(&self, more: &[Override]) -> Result<Scenario, String> {
        let mine = self.parts.iter().flat_map(|part| &part.overrides);
        let mine = mine.map(|(path, value)| Override::new(path, value));
        let all: Vec<Override> = mine.chain(more.iter().cloned()).collect();
        World::yaml(&self.text, &all).load(&self.files)
    }

    /// The same as [`Drawn::tree`] writes it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn as_json(&self) -> Result<Scenario, String> {
        World::json(&self.tree()).load(&self.files)
    }

    /// Whether it is a world at all.
    pub(super) fn loads(&self) -> bool {
        self.scenario(&[]).is_ok()
    }

    /// All of it as one scenario.
    pub(super) fn tree(&self) -> Json {
        let mut all = tree(&self.text).expect("it was loaded");
        for (path, value) in self.parts.iter().flat_map(|part| &part.overrides) {
            put(&mut all, path, tree(value).expect("it was loaded")).expect("it was loaded");
        }
        all
    }

    /// Numbers of the snippets it has.
    pub(super) fn rows(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().map(|part| part.row)
    }
}

/// The world of `seed`: as many snippets as it likes of some that it is offered.
///
/// # Panics
/// When the topology alone is refused.
pub(super) fn world(snippets: &Snippets, seed: u64) -> Drawn {
    let mut dice = Dice::new(seed);
    let mut drawn = Drawn {
        text: topology::yaml(&mut dice),
        files: snippets.files.clone(),
        parts: Vec::new(),
    };
    if let Err(problems) = drawn.scenario(&[]) {
        panic!("world {seed}: {problems}");
    }
    let mut faults = topology::faults_in(&drawn.text);
    for _ in 0..dice.between(4, 36) {
        let row = dice.below(snippets.len());
        let part = named(&snippets.rows[row], row, faults, &mut dice);
        let adds = (part.overrides.iter()).any(|(path, _)| *path == format!("faults.{faults}"));
        drawn.parts.push(part);
        match drawn.scenario(&[]) {
            Ok(_) => faults += usize::from(adds),
            Err(_) => drop(drawn.parts.pop()),
        }
    }
    drawn
}

/// A snippet under the names of this world: policies and services are any, a further fault is the next one.
fn named(snippet: &[(String, String)], row: usize, faults: usize, dice: &mut Dice) -> Part {
    let policy = dice.pick(topology::POLICIES);
    let service = dice.pick(topology::SERVICES);
    let another = dice.one_in(2);
    let renamed = |path: &str| {
        let steps: Vec<&str> = path.split('.').collect();
        let mut steps: Vec<String> = steps.into_iter().map(String::from).collect();
        match steps[0].as_str() {
            "policies" => steps[1] = policy.into(),
            // Programs have steps by number, and operations names: they stay where they are.
            "services"
                if another
                    && steps.len() > 2
                    && steps[2] != "program"
                    && steps[2] != "operations" =>
            {
                steps[1] = service.into();
            }
            "faults" if steps[1] == "1" => steps[1] = faults.to_string(),
            _ => {}
        }
        steps.join(".")
    };
    let overrides = snippet
        .iter()
        .map(|(path, value)| (renamed(path), value.clone()));
    Part {
        row,
        overrides: overrides.collect(),
    }
}
