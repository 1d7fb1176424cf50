//! docs/requirements.md: every requirement is there, and whatever it names to show it is there as well. That the models keep
//! their promises is looked at where all of them are run (`determinism`), the experiments in `gallery`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use retrystorm::shipped;

const PAGE: &str = "docs/requirements.md";
/// Families of requirements, and how many there are of each.
const FAMILIES: [(char, usize); 4] = [('A', 21), ('B', 7), ('C', 7), ('D', 6)];

struct Row {
    state: String,
    shown_by: String,
}

fn rows() -> BTreeMap<String, Row> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join(PAGE)).expect("the page is there");
    let mut rows = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [id, _, state, shown_by] = cells[..] else {
            panic!("{line}: not four cells");
        };
        if id != "id" && !id.starts_with("---") {
            let (state, shown_by) = (state.into(), shown_by.into());
            let known = rows.insert(id.to_string(), Row { state, shown_by });
            assert!(known.is_none(), "{id} is there twice");
        }
    }
    rows
}

/// What stands between backticks.
fn named(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn comes_with_the_program(name: &str) -> bool {
    let folders = [shipped::Folder::Models, shipped::Folder::Experiments];
    let mut all = folders.into_iter().flat_map(shipped::all);
    all.any(|(known, ..)| known == name)
}

/// Whether what a row names can be found.
fn is_there(name: &str) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let words: Vec<&str> = name.split_whitespace().collect();
    match words[..] {
        ["retrystorm", "run" | "check" | "trace" | "sweep", name, ..] => {
            comes_with_the_program(name)
        }
        [name] if name.starts_with("crates/") || name.starts_with("tests/") => {
            let path = root.join(name);
            path.exists() || path.with_extension("rs").exists()
        }
        [folder] if folder.ends_with('/') => true,
        [start] if start.ends_with("-*") => shipped::all(shipped::Folder::Models)
            .any(|(known, ..)| known.starts_with(start.trim_end_matches('*'))),
        // Models have hyphens or a folder in their names, keys and figures have neither.
        [name] if name.contains(['-', '/']) && !name.starts_with('-') => {
            comes_with_the_program(name)
        }
        _ => true,
    }
}

#[test]
fn every_requirement_has_a_row_that_is_complete() {
    let rows = rows();
    let wanted = FAMILIES.iter();
    let wanted = wanted.flat_map(|&(family, most)| (1..=most).map(move |n| format!("{family}{n}")));
    let wanted: Vec<String> = wanted.collect();
    for id in &wanted {
        let row = rows.get(id).unwrap_or_else(|| panic!("{id} has no row"));
        assert!(row.state.starts_with("yes"), "{id}: {}", row.state);
        assert!(!row.shown_by.is_empty(), "{id} is shown by nothing");
    }
    assert_eq!(rows.len(), wanted.len(), "a row without a requirement");
}

#[test]
fn what_shows_a_requirement_is_there() {
    for (id, row) in rows() {
        let missing: Vec<&str> = named(&row.shown_by)
            .filter(|name| !is_there(name))
            .collect();
        assert!(
            missing.is_empty(),
            "{id} names what is not there: {missing:?}"
        );
    }
    assert!(!is_there("retrystorm run lab-nothing") && !is_there("tests/nothing.rs"));
}
