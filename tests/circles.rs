//! No two files import each other, not even in a round-about way: a room can be read without the next one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Circles that are left, by crate: how many files are in one, of which the largest has so many. They only get fewer.
const LEFT: [(&str, usize, usize); 4] = [
    ("crates/seawall/src", 0, 0),
    ("crates/seawall-tower/src", 0, 0),
    ("crates/sim/src", 34, 16),
    ("src", 0, 0),
];

#[test]
fn files_do_not_import_each_other() {
    for (crate_, files, largest) in LEFT {
        let circles = circles(&imports(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(crate_),
        ));
        let all: usize = circles.iter().map(Vec::len).sum();
        let most = circles.iter().map(Vec::len).max().unwrap_or(0);
        assert!(
            all <= files && most <= largest,
            "{crate_}: {all} files in circles, at most {most} in one: {circles:#?}"
        );
        assert_eq!(
            (all, most),
            (files, largest),
            "{crate_}: fewer than before: write it down"
        );
    }
}

#[test]
fn a_circle_is_found() {
    let of = |pairs: &[(&str, &str)]| {
        let mut imports: Imports = BTreeMap::new();
        for (from, to) in pairs {
            imports
                .entry((*from).into())
                .or_default()
                .insert((*to).into());
        }
        circles(&imports)
    };
    assert!(of(&[("a", "b"), ("b", "c"), ("a", "c")]).is_empty());
    assert_eq!(
        of(&[("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")]),
        [["a", "b", "c"]]
    );
    let used =
        uses("use super::{a::{B, c as d}, e}; pub use crate::f::*; fn x() { crate::g::h(); }");
    let expected = [
        "super::a::B",
        "super::a::c",
        "super::e",
        "crate::f::*",
        "crate::g::h",
    ];
    assert_eq!(used, expected);
}

/// By module, the modules whose things it names.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// What the files below a folder import of each other. A module and those inside it are one family: they may.
fn imports(folder: &Path) -> Imports {
    let mut files = Vec::new();
    walk(folder, &mut files);
    let module = |file: &PathBuf| {
        let inside = file
            .strip_prefix(folder)
            .expect("below the folder")
            .with_extension("");
        let parts = inside
            .iter()
            .map(|part| part.to_string_lossy().into_owned());
        let mut parts: Vec<String> = parts.collect();
        if parts
            .last()
            .is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str()))
        {
            parts.pop();
        }
        parts
    };
    let modules: BTreeMap<String, Vec<String>> = files
        .iter()
        .map(|file| (module(file).join("::"), module(file)))
        .collect();
    let mut imports = Imports::new();
    for file in &files {
        let here = module(file);
        let text = fs::read_to_string(file).expect("readable");
        let code = text
            .split("\n#[cfg(test)]\nmod tests")
            .next()
            .unwrap_or_default();
        for path in uses(&without_comments(code)) {
            let mut parts: Vec<&str> = path.split("::").collect();
            let mut at = here.clone();
            match parts[0] {
                "crate" => {
                    at.clear();
                    parts.remove(0);
                }
                "self" => drop(parts.remove(0)),
                _ => {}
            }
            while parts.first() == Some(&"super") {
                at.pop();
                parts.remove(0);
            }
            at.extend(parts.into_iter().map(str::to_owned));
            // The longest part of the path that is a module.
            let there = (1..=at.len()).rev().map(|n| &at[..n]);
            let there = there
                .map(|at| at.join("::"))
                .find(|at| modules.contains_key(at));
            let Some(there) = there else { continue };
            let parts = &modules[&there];
            if !here.is_empty() && !parts.starts_with(&here) && !here.starts_with(parts) {
                imports.entry(here.join("::")).or_default().insert(there);
            }
        }
    }
    imports
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            walk(&path, files);
        } else if path.extension().is_some_and(|suffix| suffix == "rs") {
            files.push(path);
        }
    }
}

fn without_comments(code: &str) -> String {
    let lines = code
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// The paths that a text names: those of its `use` lines, taken apart, and those within its code that begin with `crate` or `super`.
fn uses(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = String::new();
    for (nth, statement) in code.split_inclusive(';').enumerate() {
        let words = statement.trim_start();
        let at = match nth {
            0 => words
                .find("use ")
                .filter(|&at| at == 0 || words[..at].ends_with([' ', '\n'])),
            _ => words
                .split_whitespace()
                .take(2)
                .position(|word| word == "use")
                .and(words.find("use ")),
        };
        match at {
            Some(at) => take_apart("", words[at + 4..].trim_end_matches(';'), &mut found),
            None => rest.push_str(statement),
        }
    }
    for word in rest.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
        if word.starts_with("crate::") || word.starts_with("super::") {
            found.push(word.trim_end_matches(':').into());
        }
    }
    found
}

/// `a::{b, c as d}` is `a::b` and `a::c`.
fn take_apart(before: &str, tree: &str, found: &mut Vec<String>) {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let path = tree.split(" as ").next().unwrap_or_default().trim();
        if !path.is_empty() {
            found.push(format!("{before}{path}"));
        }
        return;
    };
    let before = format!("{before}{}", &tree[..open]);
    let inside = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
    let (mut depth, mut begin) = (0, 0);
    for (at, c) in inside.char_indices().chain([(inside.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                take_apart(&before, &inside[begin..at], found);
                begin = (at + 1).min(inside.len());
            }
            _ => {}
        }
    }
}

/// Sets of modules each of which leads to each other, sorted.
fn circles(imports: &Imports) -> Vec<Vec<String>> {
    let reached = |from: &String| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(at) = next.pop() {
            for to in imports.get(at).into_iter().flatten() {
                if seen.insert(to) {
                    next.push(to);
                }
            }
        }
        seen
    };
    let all: BTreeMap<&String, BTreeSet<&String>> =
        imports.keys().map(|at| (at, reached(at))).collect();
    let mut circles: Vec<Vec<String>> = Vec::new();
    for (at, seen) in &all {
        if !seen.contains(at) || circles.iter().flatten().any(|known| known == *at) {
            continue;
        }
        let back = seen
            .iter()
            .filter(|to| all.get(**to).is_some_and(|seen| seen.contains(at)));
        circles.push(back.map(|name| (*name).clone()).collect());
    }
    circles
}
