//! The same seed gives the same bytes: in two processes, on any number of threads, today and with the next version.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use retrystorm::shipped;

use crate::program::Folder;

const DATED: &str = "manifest.json";

fn bytes(folder: &Folder, out: &str) -> Vec<(String, Vec<u8>)> {
    let files = folder
        .files()
        .into_iter()
        .filter(|f| f.starts_with(&format!("{out}/")));
    files
        .filter(|f| !f.ends_with(DATED))
        .map(|f| {
            let bytes = std::fs::read(folder.path().join(&f)).expect("readable");
            (f[out.len()..].to_string(), bytes)
        })
        .collect()
}

#[test]
fn two_processes_and_any_number_of_threads_write_the_same_files() {
    let folder = Folder::with_small();
    for (out, jobs) in [("a", 1), ("b", 1), ("c", 2), ("d", 5)] {
        folder
            .run(&format!(
                "run small.yaml --replications 4 --jobs {jobs} --out {out}"
            ))
            .ended(0);
    }
    let a = bytes(&folder, "a");
    assert_eq!(a.len(), 3 + 4 + 8);
    for other in ["b", "c", "d"] {
        for ((name, mine), (other_name, theirs)) in a.iter().zip(&bytes(&folder, other)) {
            assert_eq!(name, other_name);
            assert!(mine == theirs, "{name} differs in {other}");
        }
    }
}

#[test]
fn another_seed_makes_another_run() {
    let folder = Folder::with_small();
    let trajectory = |seed: u64| {
        let ran = folder
            .run(&format!(
                "run small.yaml --no-plots --format json --seed {seed}"
            ))
            .ended(0);
        let summary: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        summary["trajectories"].clone()
    };
    assert_ne!(trajectory(1), trajectory(2));
    assert_eq!(trajectory(3), trajectory(3));
}

/// Name and trajectory hash of each shipped model, with the scenario's own seed.
const GOLDEN: &str = "models/trajectories.txt";

/// A hash that changed is a trajectory that changed: a versioned event, named under **Trajectories** in
/// CHANGELOG.md. Then, and for a new model: `WRITE_DOCS=1 cargo test --test main determinism`.
#[test]
fn the_shipped_models_take_the_trajectories_they_always_took() {
    let folder = Folder::new();
    let mut now = String::new();
    for (name, ..) in shipped::all(shipped::Folder::Models) {
        let command = format!("run {name} --replications 1 --no-plots --format json");
        let summary: serde_json::Value =
            serde_json::from_str(&folder.run(&command).ended(0).stdout).expect("JSON");
        let trajectory = summary["trajectories"][0].as_str().expect("a hash");
        writeln!(now, "{trajectory} {name}").expect("writing to a string");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    if env::var_os("WRITE_DOCS").is_some() {
        fs::write(&path, &now).expect("writable");
    }
    let golden = fs::read_to_string(&path).expect("the golden set is there");
    for (then, now) in golden.lines().zip(now.lines()) {
        assert_eq!(then, now, "{GOLDEN}: another trajectory, or another model");
    }
    assert_eq!(golden.lines().count(), now.lines().count(), "{GOLDEN}");
}

#[test]
fn a_tape_against_itself_has_no_difference_and_against_another_world_the_first_one() {
    let folder = Folder::with_small();
    let tape = folder.run("draws small.yaml").ended(0).stdout;
    folder.write("tape.csv", &tape);
    let same = folder
        .run("draws small.yaml --against tape.csv")
        .ended(0)
        .stdout;
    let draws = tape.lines().count() - 1;
    assert!(draws > 100, "{draws}");
    assert_eq!(same, format!("all {draws} draws are the same\n"));
    // Twice the arrivals draw the same numbers, but at other instants: the second draw of the source is the first to differ.
    let other = "draws small.yaml --set clients.web.arrivals.poisson=100/s --against tape.csv";
    let differs = folder.run(other).ended(1).stdout;
    assert!(differs.starts_with("draw "), "{differs}");
    assert!(differs.contains("on tape "), "{differs}");
    assert!(differs.contains(",arrivals,web,"), "{differs}");
    // A tape that ends too soon, and one that is none.
    let cut: Vec<&str> = tape.lines().take(11).collect();
    folder.write("cut.csv", &(cut.join("\n") + "\n"));
    let longer = folder.run("draws small.yaml --against cut.csv").ended(1);
    assert!(longer.stdout.contains("draw 11 is the first"));
    assert!(longer.stdout.contains("(no further draw)"));
    folder.run("draws small.yaml --against small.yaml").ended(2);
    let first = folder.run("draws small.yaml --first 3").ended(0).stdout;
    assert_eq!(first.lines().count(), 4);
    assert!(tape.starts_with(&first));
}

/// What the engine is told about another client must not change what this one draws.
#[test]
fn another_client_changes_nobody_elses_draws() {
    let folder = Folder::with_small();
    let of_web = |file: &str| -> Vec<String> {
        let tape = folder.run(&format!("draws {file}")).ended(0).stdout;
        let web = tape.lines().filter(|line| line.contains(",arrivals,web,"));
        web.map(|line| line.split_once(',').expect("fields").1.to_string())
            .collect()
    };
    let small = folder.read("small.yaml");
    let more = small.replacen(
        "clients:\n",
        "clients:\n  another: { arrivals: { poisson: 5/s }, calls: [ { to: api } ] }\n",
        1,
    );
    assert_ne!(small, more);
    folder.write("more.yaml", &more);
    assert_eq!(of_web("small.yaml"), of_web("more.yaml"));
    // Nor does the order in which they are written.
    let last = small.replacen(
        "services:\n",
        "  another: { arrivals: { poisson: 5/s }, calls: [ { to: api } ] }\nservices:\n",
        1,
    );
    folder.write("last.yaml", &last);
    assert_eq!(of_web("more.yaml"), of_web("last.yaml"));
}
