//! The house is in order: arrows between crates, sizes of files, models that run, no paths of a machine.

use std::fs;
use std::path::{Path, PathBuf};

use retrystorm::input::Input;
use retrystorm::shipped::{self, Folder};
use retrystorm::sweep::plan::{Asked, Plan};

/// A file is read in one sitting: so much code, before its unit tests begin.
const LINES_MAX: usize = 400;
/// And so much with its tests, or in a file of tests.
const WITH_TESTS_MAX: usize = 700;

/// Files that may hold more code: one rule each, which would not be clearer in two places.
const LONGER: [&str; 6] = [
    "crates/seawall/src/breaker/gobreaker.rs",
    "crates/seawall/src/breaker/resilience4j.rs",
    "crates/seawall/src/client.rs",
    "crates/seawall/src/outlier.rs",
    "crates/sim/src/scenario/policy/breaker.rs",
    "crates/sim/src/scenario/written/layer.rs",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every text file of the repository, by path from the root; built things and results left out.
fn files() -> Vec<PathBuf> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        const SKIPPED: [&str; 6] = [
            "target",
            ".git",
            "output",
            "__pycache__",
            ".ipynb_checkpoints",
            ".venv",
        ];
        for entry in fs::read_dir(folder).expect("readable") {
            let path = entry.expect("readable").path();
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if path.is_dir() {
                if !SKIPPED.contains(&name.as_str()) {
                    walk(&path, files);
                }
            } else if fs::read_to_string(&path).is_ok() {
                files.push(
                    path.strip_prefix(root())
                        .expect("below the root")
                        .to_path_buf(),
                );
            }
        }
    }
    let mut all = Vec::new();
    walk(root(), &mut all);
    all.sort();
    all
}

fn text(path: &Path) -> String {
    fs::read_to_string(root().join(path)).expect("readable")
}

#[test]
fn arrows_between_the_crates_point_down() {
    let manifest = |path: &str| text(Path::new(path));
    let seawall = manifest("crates/seawall/Cargo.toml");
    assert!(
        !seawall.contains("path ="),
        "seawall depends on nothing of ours"
    );
    let sim = manifest("crates/sim/Cargo.toml");
    let ours: Vec<&str> = sim
        .lines()
        .filter(|line| line.contains("path = \".."))
        .collect();
    assert!(
        ours.iter().all(|line| line.starts_with("seawall =")),
        "{ours:?}"
    );
}

#[test]
fn a_file_is_read_in_one_sitting() {
    let mut long = Vec::new();
    for path in files() {
        if path.extension().is_none_or(|e| e != "rs" && e != "py") {
            continue;
        }
        let (name, text) = (path.display().to_string(), text(&path));
        let all = text.lines().count();
        let code = text
            .lines()
            .take_while(|line| !line.starts_with("#[cfg(test)]"))
            .count();
        let tests = name.contains("tests");
        let allowed = tests || code <= LINES_MAX || LONGER.contains(&name.as_str());
        if !allowed || all > WITH_TESTS_MAX {
            long.push(format!("{name}: {code} lines, {all} with tests"));
        }
    }
    assert!(long.is_empty(), "too long: {long:#?}");
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    // Put together here, so that this file does not hold them itself.
    let homes = ["/home", "/root", "/Users", "/tmp"].map(|home| format!("{home}/"));
    for path in files() {
        let text = text(&path);
        for home in &homes {
            assert!(
                !text.contains(home.as_str()),
                "{} holds {home}",
                path.display()
            );
        }
    }
}

#[test]
fn every_model_that_comes_with_the_program_is_right_and_says_what_it_is() {
    for (name, path, text) in shipped::all(Folder::Models) {
        let input = Input::open(Path::new(name), Folder::Models).expect("it is found by name");
        if let Err(problems) = input.load(&[]) {
            panic!("{path}:\n{problems}");
        }
        assert!(text.starts_with('#'), "{path} begins with no comment");
        assert!(text.contains("$schema"), "{path} names no schema");
        let loaded = input.load(&[]).expect("it was right before");
        assert!(
            !loaded.scenario.expect.is_empty(),
            "{path} promises nothing"
        );
    }
}

#[test]
fn every_experiment_that_comes_with_the_program_is_right_and_says_what_it_is() {
    let mut experiments = 0;
    for (name, path, text) in shipped::all(Folder::Experiments) {
        let input = Input::open(Path::new(name), Folder::Experiments).expect("found by name");
        let plan = Plan::of(&input, Asked::default(), 1);
        let plan = plan.unwrap_or_else(|problems| panic!("{path}:\n{problems}"));
        assert!(text.starts_with('#'), "{path} begins with no comment");
        assert!(text.contains("$schema"), "{path} names no schema");
        let experiment = &plan.experiment;
        assert!(!experiment.promises.is_empty(), "{path} promises nothing");
        assert!(!experiment.plots.is_empty(), "{path} draws nothing");
        for axis in plan.axes() {
            let named = axis.label != axis.name || !axis.name.contains('.');
            assert!(named, "{path}: {} has no label for people", axis.name);
        }
        experiments += 1;
    }
    assert!(experiments >= 5, "only {experiments} experiments");
}

/// What `deny.toml` allows, without the tool that reads it: an expression of licences is fine if one of its
/// alternatives needs allowed ones only.
fn allows(allowed: &[&str], expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    if let Some((group, rest)) = expression
        .strip_prefix('(')
        .and_then(|e| e.split_once(") AND "))
    {
        return allows(allowed, group) && allows(allowed, rest);
    }
    let known = |licence: &str| allowed.contains(&licence.trim());
    let mut alternatives = expression.split(" OR ");
    alternatives.any(|alternative| alternative.split(" AND ").all(known))
}

#[test]
fn every_dependency_has_an_allowed_licence_and_comes_from_the_registry() {
    let deny = text(Path::new("deny.toml"));
    let (_, list) = deny.split_once("allow = [").expect("a list");
    let (list, _) = list.split_once(']').expect("it ends");
    let allowed: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    let cargo = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO"))
            .args(arguments)
            .current_dir(root())
            .output();
        let output = output.expect("there is a cargo");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).expect("text")
    };
    let version = cargo(&["-vV"]);
    let host = version.lines().find_map(|l| l.strip_prefix("host: "));
    let metadata = cargo(&[
        "metadata",
        "--format-version=1",
        "--locked",
        "--filter-platform",
        host.expect("cargo knows where it is"),
    ]);
    let metadata: serde_json::Value = serde_json::from_str(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("a list");
    assert!(packages.len() > 50, "only {} packages", packages.len());
    for package in packages {
        let name = &package["name"];
        let licence = package["license"].as_str().unwrap_or("none");
        assert!(allows(&allowed, licence), "{name}: {licence}");
        let source = package["source"].as_str();
        let registry = "registry+https://github.com/rust-lang/crates.io-index";
        assert!(
            source.is_none_or(|source| source == registry),
            "{name}: {source:?}"
        );
    }
}

#[test]
fn licences_are_read_as_expressions() {
    let allowed = ["MIT", "Zlib"];
    for (expression, fine) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("Unlicense/MIT", true),
        ("MIT AND Zlib", true),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR GPL-3.0) AND Zlib", true),
        ("(MIT OR Zlib) AND GPL-3.0", false),
    ] {
        assert_eq!(allows(&allowed, expression), fine, "{expression}");
    }
}
