//! Verbs, streams and exit codes.

use crate::program::{Folder, SMALL};

#[test]
fn check_says_what_a_call_goes_through() {
    let folder = Folder::new();
    let shown = folder.run("check pool-exhausted-impatient").ended(0).stdout;
    let way = "connect 1 ms, tls 2 ms · at most 20 connections, waited for 50 ms at most";
    assert!(shown.contains(way), "{shown}");
    let shown = folder.run("check token-stampede").ended(0).stdout;
    assert!(shown.contains("needs token"), "{shown}");
}

#[test]
fn a_run_that_keeps_its_promises_ends_with_zero_and_leaves_its_files() {
    let folder = Folder::with_small();
    let ran = folder.run("run small.yaml").ended(0);
    assert!(ran.stdout.contains("A small world"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("✓ success_rate >= 90%"),
        "{}",
        ran.stdout
    );
    assert_eq!(
        ran.stderr, "",
        "nothing but results, and no progress without a terminal"
    );
    let mut files = vec![
        "output/small/latency/attempts-web--api--sdk.hgrm".to_string(),
        "output/small/latency/client-web.hgrm".into(),
        "output/small/latency/edge-web--api--sdk.hgrm".into(),
        "output/small/latency/service-api.hgrm".into(),
        "output/small/manifest.json".into(),
    ];
    for plot in ["amplification", "latency", "load", "queues"] {
        files.extend(["png", "svg"].map(|suffix| format!("output/small/plots/{plot}.{suffix}")));
    }
    files.extend(
        ["summary.csv", "summary.json", "windows.csv"].map(|f| format!("output/small/{f}")),
    );
    files.push("small.yaml".into());
    assert_eq!(folder.files(), files);
}

#[test]
fn breakers_are_drawn_where_a_policy_has_one() {
    let folder = Folder::with_small();
    let breaker = "breaker: { window: 40, minimum_calls: 20, failure_rate: 20%, open_for: 5s, half_open_calls: 2 }";
    folder.write(
        "guarded.yaml",
        &SMALL.replace("deadline: 1s,", &format!("deadline: 1s, {breaker},")),
    );
    folder
        .run("run guarded.yaml --quiet --set expect=[]")
        .ended(0);
    let files = folder.files();
    for suffix in ["png", "svg"] {
        let drawn = format!("output/guarded/plots/breakers.{suffix}");
        assert!(files.contains(&drawn), "{files:?}");
    }
}

#[test]
fn a_broken_promise_ends_with_one_and_is_named() {
    let folder = Folder::new();
    folder.write(
        "small.yaml",
        &SMALL.replace("success_rate >= 90%", "amplification(api) >= 2"),
    );
    let ran = folder.run("run small.yaml --no-plots").ended(1);
    assert!(
        ran.stdout.contains("✗ amplification(api) >= 2"),
        "{}",
        ran.stdout
    );
    assert!(
        folder
            .read("output/small/summary.json")
            .contains("\"kept\": false")
    );
}

#[test]
fn every_mistake_is_named_at_its_place_and_nothing_is_written() {
    let folder = Folder::new();
    let wrong = SMALL
        .replace("poisson: 50/s", "poison: 50/s")
        .replace("concurrency: 4", "concurrency: many")
        .replace("deadline: 1s", "deadline: 1");
    folder.write("wrong.yaml", &wrong);
    for verb in ["run", "check"] {
        let ran = folder.run(&format!("{verb} wrong.yaml")).ended(2);
        assert_eq!(ran.stdout, "");
        for place in [
            "\nwrong.yaml:6:36: ",
            "\nwrong.yaml:8:23: ",
            "\nwrong.yaml:10:20: ",
        ] {
            let stderr = format!("\n{}", ran.stderr);
            assert!(stderr.contains(place), "{place}: {stderr}");
        }
        assert!(
            ran.stderr.contains("did you mean `poisson`?"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(folder.files(), ["wrong.yaml"]);
}

#[test]
fn wrong_arguments_are_told_from_wrong_files() {
    let folder = Folder::with_small();
    folder.run("run").ended(2);
    folder.run("run small.yaml --replications 0").ended(2);
    folder
        .run("run small.yaml --set services.api.concurency=3")
        .ended(2);
    let ran = folder.run("run none.yaml").ended(3);
    assert!(ran.stderr.contains("none.yaml"), "{}", ran.stderr);
    let ran = folder.run("run nonesuch").ended(2);
    assert!(
        ran.stderr.contains("nonesuch: no such file"),
        "{}",
        ran.stderr
    );
    folder.write("readme.txt", "");
    folder.run("run readme.txt").ended(2);
}

#[test]
fn a_folder_that_cannot_be_made_is_an_io_error() {
    let folder = Folder::with_small();
    folder.write("taken", "a file, no folder");
    let ran = folder.run("run small.yaml --out taken/here").ended(3);
    assert!(ran.stderr.contains("taken/here"), "{}", ran.stderr);
}

#[test]
fn standard_output_holds_the_format_that_was_asked_for_and_nothing_else() {
    let folder = Folder::with_small();
    let json = folder
        .run("run small.yaml --no-plots --format json")
        .ended(0);
    assert_eq!(json.stdout, folder.read("output/small/summary.json"));
    let csv = folder
        .run("run small.yaml --no-plots --format csv")
        .ended(0);
    assert_eq!(csv.stdout, folder.read("output/small/summary.csv"));
    let quiet = folder.run("run small.yaml --no-plots --quiet").ended(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
}

#[test]
fn overrides_seed_and_replications_take_effect_and_are_in_the_manifest() {
    let folder = Folder::with_small();
    folder
        .run("run small.yaml --no-plots --out here --seed 99 --replications 3 --set services.api.concurrency=2 --jobs 1")
        .ended(0);
    let manifest: serde_json::Value =
        serde_json::from_str(&folder.read("here/manifest.json")).expect("JSON");
    assert_eq!(manifest["seeds"], serde_json::json!([99, 100, 101]));
    assert_eq!(manifest["jobs"], 1);
    let expected = serde_json::json!([{ "path": "services.api.concurrency", "value": "2" }]);
    assert_eq!(manifest["overrides"], expected);
    let command = manifest["command"].as_str().expect("text");
    assert!(
        command.starts_with("retrystorm run small.yaml"),
        "{command}"
    );
}

#[test]
fn output_without_a_terminal_has_no_colour() {
    let folder = Folder::with_small();
    let coloured = |arguments: &str, variables: &[(&str, &str)]| {
        let mut command = folder.command(arguments);
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        let output = command.envs(variables.iter().copied()).output();
        output.expect("it starts").stdout.contains(&0x1b)
    };
    let run = "run small.yaml --no-plots";
    assert!(!coloured(run, &[]));
    let forced = ("CLICOLOR_FORCE", "1");
    assert!(
        coloured(run, &[forced]),
        "forced where there is no terminal"
    );
    assert!(!coloured(run, &[forced, ("NO_COLOR", "1")]));
    assert!(!coloured(&format!("{run} --no-color"), &[forced]));
}

#[test]
fn a_limit_that_cuts_a_run_short_is_said_and_has_an_exit_code() {
    for (limit, words) in [
        ("events=1000", "run.limits.events (1 k events)"),
        ("calls=1", "run.limits.calls (1 calls in flight)"),
        ("queue=0", "run.limits.queue (0 jobs waiting"),
        ("memory=1kB", "run.limits.memory (1 k bytes taken)"),
    ] {
        let folder = Folder::with_small();
        let ran = folder
            .run(&format!(
                "run small.yaml --no-plots --set run.limits.{limit}"
            ))
            .ended(4);
        let said = ran.stdout.replace("\n  ", " ");
        assert!(said.contains("cut short"), "{said}");
        assert!(said.contains(words), "{said}");
        let name = limit
            .split_once('=')
            .expect("a pair")
            .0
            .trim_end_matches('s');
        let summary = folder.read("output/small/summary.json");
        assert!(summary.contains(&format!("\"{name}_limit\"")), "{summary}");
    }
}

#[test]
fn a_world_in_which_no_time_passes_is_ended_and_said_to_be_one() {
    let folder = Folder::new();
    folder.write(
        "still.yaml",
        "version: 1\nrun: { duration: 60s, limits: { standstill: 100000 } }\n\
         clients: { web: { loop: [ { call: api } ] } }\nservices: { api: { work: 0s } }\n",
    );
    let ran = folder.run("run still.yaml --no-plots").ended(4);
    let said = ran.stdout.replace("\n  ", " ");
    assert!(said.contains("run.limits.standstill (100 k events in which no time passed: is there a loop without a pause"), "{said}");
    let summary = folder.read("output/still/summary.json");
    assert!(summary.contains("\"standstill_limit\""), "{summary}");
}

#[test]
fn check_shows_what_a_scenario_comes_down_to() {
    let folder = Folder::with_small();
    let ran = folder.run("check small.yaml").ended(0);
    for part in [
        "web → api",
        "up to 3 attempts (2 retries)",
        "deadline 1 s",
        "api  3×",
        "8 s to 10 s",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    assert_eq!(folder.files(), ["small.yaml"], "check writes nothing");
}

#[test]
fn check_shows_what_a_scenario_says_of_itself() {
    let folder = Folder::with_small();
    let set = "--set title=Small --set description=Told-by-hand.";
    let ran = folder.run(&format!("check small.yaml {set}")).ended(0);
    assert!(
        ran.stdout.contains("small.yaml: Small\n  Told-by-hand.\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn schema_and_completions_go_to_standard_output() {
    let folder = Folder::new();
    let schema = folder.run("schema").ended(0).stdout;
    let schema: serde_json::Value = serde_json::from_str(&schema).expect("JSON");
    let root = schema["$ref"].as_str().expect("a reference");
    let root = root.strip_prefix("#/$defs/").expect("into the definitions");
    assert!(schema["$defs"][root]["properties"]["clients"].is_object());
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.run(&format!("completions {shell}")).ended(0).stdout;
        assert!(script.contains("retrystorm"), "{shell}");
    }
}

#[test]
fn help_and_version_are_results() {
    let folder = Folder::new();
    let version = folder.run("--version").ended(0).stdout;
    assert_eq!(
        version.trim(),
        format!("retrystorm {}", env!("CARGO_PKG_VERSION"))
    );
    for verb in ["run", "compare", "check"] {
        let help = folder.run(&format!("{verb} --help")).ended(0).stdout;
        assert!(help.contains("Examples:"), "{verb}: {help}");
    }
    assert!(folder.run("--help").ended(0).stdout.contains("Exit codes"));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let folder = Folder::new();
    let mut command = folder.command("schema");
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

/// Whether the process has something to do on Ctrl-C yet.
#[cfg(target_os = "linux")]
fn catches_interrupts(id: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|l| l.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // SIGINT is signal 2, the second bit.
    caught.is_some_and(|mask| mask & 0b10 != 0)
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_a_run_where_it_is_and_writes_what_there_is() {
    use std::process::Stdio;

    let folder = Folder::with_small();
    // Years of simulated time, of which one window is over at once.
    let run = "run small.yaml --no-plots --replications 1 --set run.duration=50000h --set run.window=1h \
               --set run.limits.events=1000000000000";
    let child = folder
        .command(run)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.expect("it starts");
    while !catches_interrupts(child.id()) {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.expect("there is a kill").success());
    let ran = crate::program::Ran::of(child.wait_with_output().expect("it ends")).ended(130);
    // Asked before the first event, there is nothing to write, and that is said.
    if ran.stderr.contains("there are no results") {
        return;
    }
    assert!(ran.stdout.contains("interrupted at "), "{}", ran.stdout);
    let summary: serde_json::Value =
        serde_json::from_str(&folder.read("output/small/summary.json")).expect("JSON");
    assert_eq!(summary["complete"], false);
    assert_eq!(summary["ended"][0], "interrupted");
}

#[cfg(target_os = "linux")]
#[test]
fn where_nobody_can_be_told_the_exit_code_still_says_it() {
    let folder = Folder::new();
    folder.write("bad.yaml", "version: 1\nclinets: {}\n");
    for (command, code) in [("check bad.yaml", 2), ("run nothing.yaml", 3)] {
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("there is one");
        let status = folder.command(command).stderr(full).status();
        assert_eq!(status.expect("it starts").code(), Some(code), "{command}");
    }
}
