//! `docs/scenario.md` is the whole language: a table for every definition of the schema, and for every key a
//! snippet that changes what comes out. What the tables say beside the snippets is made here.

mod page;
mod places;
mod table;
mod world;

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

const PAGE: &str = "docs/scenario.md";

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
    assert!(missing.is_empty(), "{PAGE} has no table for {missing:?}");
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
        if let Err(problems) = world.run(&page.files) {
            panic!("{}: {problems}", base.name);
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
    let (page, schema) = (Page::read(PAGE), schema());
    let (mut cases, mut wrong) = (Vec::new(), Vec::new());
    for table in &page.tables {
        for row in &table.rows {
            match case(&page, &schema, table, row) {
                Ok(case) => cases.push(case),
                Err(problem) => wrong.push(at(row, &problem)),
            }
        }
    }
    // Only keys can be in a snippet; whether there is a row for each of them is looked at above.
    assert!(cases.len() + wrong.len() > 500, "{} snippets", cases.len());

    let ran = |case: &&Case<'_>| case.row.shown == Shown::ByRunning;
    let worlds = cases
        .iter()
        .filter(ran)
        .flat_map(|case| [&case.with, &case.without]);
    let worlds: Vec<&World> = worlds.collect::<BTreeSet<_>>().into_iter().collect();
    let run = |world: &&World| {
        catch_unwind(|| world.run(&page.files)).unwrap_or(Err("it ends in a panic".into()))
    };
    let outputs = replicate::on_threads(replicate::threads(None), &worlds, run);
    let outputs: BTreeMap<&World, Result<String, String>> =
        worlds.into_iter().zip(outputs.expect("threads")).collect();
    for case in &cases {
        let changed = match case.row.shown {
            Shown::ByRunning => match (&outputs[&case.with], &outputs[&case.without]) {
                (Ok(with), Ok(without)) => Ok(with != without),
                (Err(problems), _) => Err(format!("it does not load: {problems}")),
                (_, Err(problems)) => Err(format!("the rest does not load: {problems}")),
            },
            Shown::ByLedger => {
                Ok(case.with.ledger(&page.files) != case.without.ledger(&page.files))
            }
            Shown::ByChecking => Ok(checked(&case.with) != checked(&case.without)),
            Shown::ByRefusing => Ok(case.with.load(&page.files).is_err()),
        };
        match changed {
            Ok(true) => {}
            Ok(false) => wrong.push(at(case.row, "nothing comes out otherwise")),
            Err(problem) => wrong.push(at(case.row, &problem)),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} rows:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
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
    let (last, given) = overrides.split_last().ok_or("there is no snippet")?;
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
    let mut candidates = vec![World::yaml(base, given), World::yaml(base, &[])];
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
