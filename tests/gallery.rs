//! The gallery and the README show what the program writes today.

use std::collections::HashSet;
use std::path::Path;
use std::{env, fs};

use retrystorm::shipped;

use crate::program::Folder;

/// What the gallery keeps of a run (and .gitignore lets through).
const KEPT: [&str; 3] = ["summary.csv", "plots/load.svg", "plots/amplification.svg"];

#[test]
fn the_gallery_shows_what_the_program_writes() {
    let gallery = Path::new(env!("CARGO_MANIFEST_DIR")).join("output/gallery");
    let mut compared = 0;
    for entry in fs::read_dir(&gallery).expect("there is a gallery") {
        let kept = entry.expect("readable").path();
        if !kept.is_dir() {
            continue;
        }
        let name = kept.file_name().expect("named").to_str().expect("plain");
        if shipped::all(shipped::Folder::Experiments).any(|(known, ..)| known == name) {
            continue;
        }
        let folder = Folder::new();
        folder
            .run(&format!("run {name} --quiet --out now"))
            .ended(0);
        for file in KEPT {
            let Ok(then) = fs::read_to_string(kept.join(file)) else {
                continue;
            };
            let now = folder.read(&format!("now/{file}"));
            // A figure that is new is no reason to renew the gallery; one that changed is.
            let now_lines: HashSet<&str> = now.lines().collect();
            let same = match file {
                "summary.csv" => then.lines().all(|line| now_lines.contains(line)),
                _ => now == then,
            };
            assert!(
                same,
                "output/gallery/{name}/{file} is not what `retrystorm run {name}` writes; \
                 output/gallery/README.md says how to renew it"
            );
            compared += 1;
        }
    }
    assert!(compared >= 10, "only {compared} files in the gallery");
}

/// One experiment stands for all; `.ci/run` makes every one again.
#[test]
fn the_gallery_shows_what_a_sweep_writes() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("output/gallery/jitter");
    let folder = Folder::new();
    folder.run("sweep jitter --quiet --out now").ended(0);
    for file in [
        "summary.csv",
        "plots/max--devices.svg",
        "plots/attempts_per_call--devices.svg",
    ] {
        let then = fs::read_to_string(kept.join(file)).expect("it is kept");
        assert!(
            then == folder.read(&format!("now/{file}")),
            "output/gallery/jitter/{file} is not what `retrystorm sweep jitter` writes; \
             output/gallery/README.md says how to renew it"
        );
    }
}

/// The text block in README.md is what its first command prints.
#[test]
fn the_readme_shows_what_its_first_command_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(&path).expect("there is a README");
    let printed = Folder::new().run("run real-traffic").ended(0).stdout;
    let (before, rest) = readme.split_once("```text\n").expect("it shows a run");
    let (shown, after) = rest.split_once("```\n").expect("and ends it");
    if env::var_os("WRITE_DOCS").is_some() {
        fs::write(&path, format!("{before}```text\n{printed}```\n{after}")).expect("writable");
    }
    assert!(
        shown == printed,
        "README.md is not up to date; WRITE_DOCS=1 cargo test --test main gallery"
    );
}
