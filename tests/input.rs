//! What a command can be given to work on, and what it says to the rest.

use std::io::Write as _;
use std::process::Stdio;

use crate::program::{Folder, Ran, SMALL};

/// The program with `arguments` and `text` on standard input.
fn fed(folder: &Folder, arguments: &str, text: &str) -> Ran {
    let mut child = folder
        .command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    stdin.write_all(text.as_bytes()).expect("it reads");
    drop(stdin);
    Ran::of(child.wait_with_output().expect("it ends"))
}

#[test]
fn a_scenario_may_come_from_standard_input() {
    let folder = Folder::with_small();
    let shown = |ran: Ran| ran.ended(0).stdout;
    let from_file = shown(folder.run("run small.yaml --no-plots --format csv"));
    let from_pipe = shown(fed(&folder, "run - --no-plots --format csv", SMALL));
    assert_eq!(from_pipe, from_file);
    assert!(
        folder
            .read("output/stdin/summary.json")
            .contains("\"scenario\": \"stdin\"")
    );
    let json = "{\"version\": 1, \"run\": {\"duration\": \"5 s\"}, \"services\": {\"api\": {\"work\": \"1 ms\"}}, \
                \"clients\": {\"web\": {\"arrivals\": {\"poisson\": \"10/s\"}, \"calls\": [\"api\"]}}}";
    shown(fed(&folder, "check -", json));
    let wrong = fed(&folder, "check -", &SMALL.replace("clients:", "clinets:")).ended(2);
    assert!(wrong.stderr.contains("<stdin>:5:1: "), "{}", wrong.stderr);
}

#[test]
fn a_suffix_may_be_written_in_capitals() {
    let folder = Folder::new();
    folder.write("SMALL.YML", SMALL);
    folder.run("check SMALL.YML").ended(0);
}

#[test]
fn what_is_not_there_is_answered_with_what_may_have_been_meant() {
    let folder = Folder::with_small();
    folder.write(
        "grid.yaml",
        "version: 1\nquestion: Which?\nmodel: small.yaml\nvary: { run.seed: [1, 2] }\nmeasure: [goodput]\n",
    );
    folder.write("grid.txt", "");
    for (command, words) in [
        ("run metastabel", "did you mean `metastable`"),
        ("sweep attempts-mpa", "did you mean `attempts-map`"),
        (
            "run attempts-map",
            "attempts-map is an experiment: `retrystorm sweep attempts-map` runs it",
        ),
        (
            "sweep metastable",
            "metastable is a model: `retrystorm run metastable` runs it",
        ),
        (
            "check grid.yaml",
            "grid.yaml is an experiment, not a scenario: `retrystorm sweep grid.yaml` runs it",
        ),
        (
            "sweep small.yaml",
            "small.yaml is a scenario, not an experiment: `retrystorm run small.yaml` runs it",
        ),
        ("run .", ". is a folder: name a file in it"),
        (
            "run grid.txt",
            "expected a name that ends in .yaml, .yml, .toml or .json, or `-`",
        ),
        (
            "run nothing-like-any",
            "none of the models that come with the program: ",
        ),
    ] {
        let ran = folder.run(command).ended(2);
        assert!(ran.stderr.contains(words), "{command}: {}", ran.stderr);
    }
}
