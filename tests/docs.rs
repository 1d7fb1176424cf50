//! `docs/output.md` says every file, key and column there is, and no other: its tables are made here. The
//! schema that editors read is what the program prints.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use retrystorm::compare;
use retrystorm::error::exit;
use retrystorm::figure::{Declared, Scope};
use retrystorm::report::{csv, folder, json, ledger, manifest};
use retrystorm::stats::Basis;
use retrystorm::sweep;
use retrystorm::{precision, story, warmup};
use sim::expect::{Metric, Of, Unit};

use crate::program::Folder;

const PAGE: &str = "docs/output.md";

/// To bring page and schema up to date: `WRITE_DOCS=1 cargo test --test main docs`.
const WRITE: &str = "WRITE_DOCS";

#[test]
fn the_page_on_output_is_complete() {
    is_up_to_date(PAGE, tables());
}

#[test]
fn the_page_on_promises_is_complete() {
    let mut table = String::from("| metric | of | unit | what |\n|---|---|---|---|\n");
    for metric in Metric::ALL {
        let of = match metric.of() {
            Of::Calls => "client, edge, all",
            Of::Service => "service",
            Of::CallsOrService => "client, edge, service",
            Of::Run => "the run",
            Of::Effects => "service, effect, all",
            Of::Keys => "service with keys",
            Of::Programs => "client, all",
        };
        let unit = match metric.unit() {
            Unit::Count => "number",
            Unit::Share => "share",
            Unit::Rate => "per second",
            Unit::Time => "length of time",
            Unit::Factor => "factor",
            Unit::Verdict => "word",
        };
        let (name, doc) = (metric.name(), metric.doc().replace('\n', " "));
        writeln!(table, "| `{name}` | {of} | {unit} | {} |", doc.trim())
            .expect("writing to a string");
    }
    is_up_to_date("docs/promises.md", vec![("metrics", table)]);
}

/// Holds the tables of a page against what they should be.
pub(crate) fn is_up_to_date(page: &str, tables: Vec<(&str, String)>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let old = fs::read_to_string(&path).expect("the page is there");
    let mut new = old.clone();
    for (name, table) in tables {
        new = replaced(page, &new, name, &table);
    }
    if env::var_os(WRITE).is_some() {
        fs::write(&path, &new).expect("writable");
    }
    for (old, new) in old.lines().zip(new.lines()) {
        assert_eq!(
            old, new,
            "{page} is not up to date; {WRITE}=1 cargo test --test main"
        );
    }
    assert_eq!(old.len(), new.len(), "{page} is not up to date");
}

#[test]
fn the_schemas_in_the_repository_are_what_the_program_prints() {
    for of in ["scenario", "experiment"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schema/{of}.json"));
        let now = Folder::new().run(&format!("schema {of}")).ended(0).stdout;
        if env::var_os(WRITE).is_some() {
            fs::write(&path, &now).expect("writable");
        }
        let then = fs::read_to_string(&path).expect("the schema is there");
        assert!(
            now == then,
            "schema/{of}.json is not up to date; {WRITE}=1 cargo test --test main docs"
        );
    }
}

/// `text` of the page called `page`, with `table` between the marks that say `name`.
fn replaced(page: &str, text: &str, name: &str, table: &str) -> String {
    let (begin, end) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end of {name} -->"),
    );
    let from = text
        .find(&begin)
        .unwrap_or_else(|| panic!("{page} has no {begin}"))
        + begin.len();
    let to = text
        .find(&end)
        .unwrap_or_else(|| panic!("{page} has no {end}"));
    format!("{}\n{table}\n{}", &text[..from], &text[to..])
}

fn tables() -> Vec<(&'static str, String)> {
    let keys = |keys: &[(&str, &str)]| two_columns(["key", "meaning"], keys.iter().copied());
    let columns = |keys: &[(&str, &str)]| two_columns(["column", "meaning"], keys.iter().copied());
    let codes: Vec<(String, &str)> = exit::ALL
        .map(|(code, meaning)| (code.to_string(), meaning))
        .into();
    let plots: Vec<(String, &str)> = folder::PLOTS
        .iter()
        .map(|p| (format!("plots/{}.svg, .png", p.name), p.meaning))
        .collect();
    let files = folder::FILES
        .into_iter()
        .map(|(name, meaning)| (name.to_string(), meaning))
        .chain([(folder::LEDGER.0.to_string(), folder::LEDGER.1)])
        .chain(plots);
    let files: Vec<(String, &str)> = files.collect();
    vec![
        (
            "exit codes",
            two_columns(
                ["code", "meaning"],
                codes.iter().map(|(a, b)| (a.as_str(), *b)),
            ),
        ),
        (
            "files",
            two_columns(
                ["file", "what it holds"],
                files.iter().map(|(a, b)| (a.as_str(), *b)),
            ),
        ),
        ("keys of summary.json", keys(&json::KEYS)),
        (
            "warm-up",
            two_columns(["warmup", "meaning"], warmup::Warmup::NAMES.into_iter()),
        ),
        ("keys of verdict", keys(&story::VERDICT_KEYS)),
        ("keys of precision", keys(&precision::KEYS)),
        ("interval_from", {
            let all = Basis::ALL
                .iter()
                .map(|(basis, meaning)| (basis.name(), *meaning));
            two_columns(["interval_from", "meaning"], all)
        }),
        ("columns of summary.csv", columns(&csv::SUMMARY_KEYS)),
        ("figures", figures(Scope::whole)),
        ("columns of windows.csv", columns(&csv::WINDOW_KEYS)),
        ("figures of a window", figures(Scope::window)),
        ("columns of ledger.csv", columns(&ledger::KEYS)),
        ("keys of manifest.json", keys(&manifest::KEYS)),
        (
            "files of a sweep",
            two_columns(
                ["file", "what it holds"],
                sweep::folder::FILES.iter().copied(),
            ),
        ),
        (
            "columns of results.csv of a sweep",
            columns(&sweep::csv::RESULT_KEYS),
        ),
        (
            "columns of summary.csv of a sweep",
            columns(&sweep::csv::SUMMARY_KEYS),
        ),
        ("keys of summary.json of a sweep", keys(&sweep::json::KEYS)),
        ("keys of a point", keys(&sweep::json::POINT_KEYS)),
        (
            "keys of manifest.json of a sweep",
            keys(&sweep::manifest::KEYS),
        ),
        (
            "files of a comparison",
            two_columns(
                ["file", "what it holds"],
                compare::folder::FILES.iter().copied(),
            ),
        ),
        ("columns of compare.csv", columns(&compare::csv::KEYS)),
        ("verdicts of a comparison", {
            let verdicts = compare::difference::Verdict::ALL.iter();
            two_columns(
                ["verdict", "meaning"],
                verdicts.map(|(verdict, meaning)| (verdict.words(), *meaning)),
            )
        }),
        ("keys of compare.json", keys(&compare::json::KEYS)),
        (
            "keys of the manifest of a comparison",
            keys(&compare::manifest::KEYS),
        ),
    ]
}

pub(crate) fn two_columns<'t>(
    header: [&str; 2],
    rows: impl Iterator<Item = (&'t str, &'t str)>,
) -> String {
    let mut table = format!("| {} | {} |\n|---|---|\n", header[0], header[1]);
    for (name, meaning) in rows {
        let names: Vec<String> = name.split(", ").map(|n| format!("`{n}`")).collect();
        writeln!(table, "| {} | {meaning} |", names.join(", ")).expect("writing to a string");
    }
    table
}

/// Every figure once, with the scopes it is given for.
fn figures(of: fn(Scope) -> Vec<Declared>) -> String {
    let mut rows: Vec<(Declared, Vec<&str>)> = Vec::new();
    for scope in Scope::ALL {
        for figure in of(scope) {
            match rows.iter_mut().find(|(known, _)| *known == figure) {
                Some((_, scopes)) => scopes.push(scope.name()),
                None => rows.push((figure, vec![scope.name()])),
            }
        }
    }
    let mut table = String::from("| figure | unit | of | meaning |\n|---|---|---|---|\n");
    for (figure, scopes) in rows {
        let (name, unit, of) = (figure.name, figure.unit.name(), scopes.join(", "));
        writeln!(table, "| `{name}` | {unit} | {of} | {} |", figure.meaning).expect("writing");
    }
    table
}
