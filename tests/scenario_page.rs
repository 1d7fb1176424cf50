//! `docs/scenario.md` is the whole language: a table for every definition of the schema, and for every key a
//! snippet that changes what comes out. What the tables say beside the snippets is made here.

pub(crate) mod page;
pub(crate) mod places;
mod table;
mod ways;
pub(crate) mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::catch_unwind;

use retrystorm::replicate;
use serde_json::Value as Json;
use sim::scenario::{Override, schema};

use crate::docs;
use crate::program::Folder;
use page::{Page, Row, Shown};
use places::{Path, put, take};
use world::World;

pub(crate) const PAGE: &str = "docs/scenario.md";

/// To bring the tables up to date: `WRITE_DOCS=1 cargo test --test main scenario_page`. A key without a row gets one,
/// with an empty last cell: the snippet is to be written by hand.
#[test]
fn the_tables_say_what_the_schema_says() {
    let (page, schema) = (Page::read(PAGE), schema());
    let written: BTreeSet<&str> = page.tables.iter().map(|t| t.definition.as_str()).collect();
    assert_eq!(
        written.len(),
        page.tables.len(),
        "a definition has two tables"
    );
    let definitions = schema["$defs"].as_object().expect("definitions");
    let missing: Vec<_> = definitions
        .keys()
        .filter(|name| !written.contains(name.as_str()))
        .collect();
    assert!(
        missing.is_empty(),
        "{PAGE} has no table for {missing:?}: write `<!-- NAME -->` and `<!-- end of NAME -->` where it belongs"
    );
    let ways = ways::of(&schema);
    let reached = |name: &&String| ways.contains_key(*name) || *name == "Scenario";
    let lost: Vec<_> = definitions.keys().filter(|name| !reached(name)).collect();
    assert!(lost.is_empty(), "no key holds {lost:?}");
    let tables = page
        .tables
        .iter()
        .map(|of| (of.definition.as_str(), table::of(&schema, of)));
    docs::is_up_to_date(PAGE, tables.collect());
}

#[test]
fn every_scenario_of_the_page_runs() {
    let page = Page::read(PAGE);
    assert!(page.bases.len() > 5, "{} scenarios", page.bases.len());
    for base in &page.bases {
        let world = World::yaml(&base.text, &[]);
        match world.run(&page.files) {
            Ok(output) => assert!(!output.contains("\"kept\": false"), "{output}"),
            Err(problems) => panic!("{}: {problems}", base.name),
        }
    }
}

/// A snippet, the world it makes, and the world that differs from it by the key alone.
struct Case<'p> {
    row: &'p Row,
    with: World,
    without: World,
}

#[test]
fn every_key_of_the_language_changes_what_comes_out() {
    let page = Page::read(PAGE);
    // That each key of the schema has a row is looked at above.
    let rows: usize = page.tables.iter().map(|table| table.rows.len()).sum();
    assert!(rows > 500, "{rows} rows");
    let wrong = complaints(&page);
    assert!(
        wrong.is_empty(),
        "{} rows:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_row_that_shows_nothing_is_found_out() {
    let page = |row: &str| {
        let base = "version: 1
run: { duration: 10s, seed: 7 }
clients: { web: { arrivals: { poisson: 10/s }, calls: [ api ] } }
services: { api: { work: 1ms } }";
        Page::of(&format!(
            "```yaml small.yaml\n{base}\n```\n<!-- Run -->\n{row}\n<!-- end of Run -->"
        ))
    };
    for (row, problem) in [
        ("| `seed` | | | | `run.seed=8` |", None),
        (
            "| `window` | | | | `run={ duration: 10s, window: 2s }` |",
            None,
        ),
        (
            "| `seed` | | | | `run.seed=7` |",
            Some("nothing comes out otherwise"),
        ),
        // The seed changes much, the length of a window is what it is anyway.
        (
            "| `window` | | | | `run={ duration: 10s, seed: 8, window: 1s }` |",
            Some("nothing comes out otherwise"),
        ),
        (
            "| `window` | | | | `run.seed=8` |",
            Some("does not write this key"),
        ),
        ("| `window` | | | | |", Some("there is no snippet")),
        (
            "| `window` | | | | `run.window=0s` |",
            Some("it does not load"),
        ),
        (
            "| `window` | | | | `run.seed=-1` `run.window=2s` |",
            Some("does not load"),
        ),
        (
            "| `window` | | | | `run.window=2s` (is refused) |",
            Some("nothing comes out otherwise"),
        ),
    ] {
        let found = complaints(&page(row));
        match problem {
            None => assert!(found.is_empty(), "{row}: {found:?}"),
            Some(problem) => assert!(
                found.len() == 1 && found[0].contains(problem),
                "{row}: {found:?}"
            ),
        }
    }
}

/// What is wrong with the rows of a page.
fn complaints(page: &Page) -> Vec<String> {
    let schema = schema();
    let (mut cases, mut wrong) = (Vec::new(), Vec::new());
    for table in &page.tables {
        for row in &table.rows {
            match case(page, &schema, table, row) {
                Ok(case) => cases.push(case),
                Err(problem) => wrong.push(at(row, &problem)),
            }
        }
    }
    let outputs = outputs(page, &cases);
    for case in &cases {
        let changed = match case.row.shown {
            Shown::InFiles => match (&outputs[&case.with], &outputs[&case.without]) {
                (Ok(with), Ok(without)) => Ok(with != without),
                (Err(problems), _) => Err(format!("it does not load: {problems}")),
                (_, Err(problems)) => Err(format!("the rest does not load: {problems}")),
            },
            Shown::InLedger => {
                Ok(case.with.ledger(&page.files) != case.without.ledger(&page.files))
            }
            Shown::InCheck => Ok(checked(&case.with) != checked(&case.without)),
            Shown::Refused => Ok(case.with.load(&page.files).is_err()),
        };
        match changed {
            Ok(true) => {}
            Ok(false) => wrong.push(at(case.row, "nothing comes out otherwise")),
            Err(problem) => wrong.push(at(case.row, &problem)),
        }
    }
    wrong
}

/// What comes out of every world that is run, each once.
fn outputs<'c>(page: &Page, cases: &'c [Case<'_>]) -> BTreeMap<&'c World, Result<String, String>> {
    let ran = |case: &&Case<'_>| case.row.shown == Shown::InFiles;
    let worlds = (cases.iter().filter(ran)).flat_map(|case| [&case.with, &case.without]);
    let worlds: Vec<&World> = worlds.collect::<BTreeSet<_>>().into_iter().collect();
    let run = |world: &&World| {
        catch_unwind(|| world.run(&page.files)).unwrap_or(Err("it ends in a panic".into()))
    };
    let outputs = replicate::on_threads(replicate::threads(None), &worlds, run);
    worlds.into_iter().zip(outputs.expect("threads")).collect()
}

fn at(row: &Row, problem: &str) -> String {
    format!(
        "{PAGE}:{}: {}: {}: {problem}",
        row.line,
        row.key,
        row.snippet.join(" ")
    )
}

/// The two worlds of a row, once it is sure that the last part of its snippet writes its key.
fn case<'p>(
    page: &Page,
    schema: &Json,
    table: &page::Table,
    row: &'p Row,
) -> Result<Case<'p>, String> {
    let base = &page.bases[table.base.ok_or("no scenario stands above the table")?].text;
    let overrides: Result<Vec<Override>, String> = row
        .snippet
        .iter()
        .map(|text| Override::parse(text))
        .collect();
    let overrides = overrides?;
    let last = overrides.last().ok_or("there is no snippet")?;
    let mut tree = world::tree(base)?;
    for one in &overrides {
        put(&mut tree, &one.path, world::tree(&one.value)?)?;
    }
    let target: Path = last.path.split('.').map(String::from).collect();
    let all = places::of(&tree, schema);
    let named = all
        .iter()
        .filter(|(place, _)| *place == (table.definition.clone(), row.key.clone()));
    let mut ways: Vec<&Path> = named
        .map(|(_, way)| way)
        .filter(|way| way.starts_with(&target) || target.starts_with(way))
        .collect();
    ways.sort_by_key(|way| way.len());
    let way = ways
        .first()
        .ok_or("the last part of the snippet does not write this key")?;
    let with = World::yaml(base, &overrides);
    // Keys that make sense together only are refused alone: as much of the ground as there can be without this one.
    let grounds = (0..overrides.len())
        .rev()
        .map(|parts| World::yaml(base, &overrides[..parts]));
    let mut candidates: Vec<World> = grounds.collect();
    if way.len() > target.len() {
        // The key is one of several that are written at once: without it alone, unless it is needed.
        take(&mut tree, way);
        candidates.insert(0, World::json(&tree));
    }
    let without = candidates
        .into_iter()
        .find(|world| world.load(&page.files).is_ok());
    let without = without.ok_or("what it is compared with does not load")?;
    Ok(Case { row, with, without })
}

/// What `retrystorm check` prints about a world.
fn checked(world: &World) -> String {
    let folder = Folder::new();
    folder.write("base.yaml", &world.text);
    let mut command = folder.command("check base.yaml");
    for (path, value) in &world.overrides {
        command.args(["--set", &format!("{path}={value}")]);
    }
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{world:?}");
    String::from_utf8(output.stdout).expect("text")
}
