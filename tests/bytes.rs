//! The same seed gives the same bytes: in two processes, on any number of threads.

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
    assert_eq!(a.len(), 3 + 4 + 10);
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
