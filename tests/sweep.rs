//! `retrystorm sweep` from outside: the same bytes whatever happens on the way, and every mistake at once.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::program::{Folder, Ran};

const WORLD: &str = "\
# A small world that can be brought down.
version: 1
run: { duration: 40s, window: 1s, warmup: 2s, seed: 7 }
clients:
  web: { instances: 4, arrivals: { poisson: 80/s }, calls: [ { to: api, policy: sdk } ] }
services:
  api: { concurrency: 1, queue: 200, work: { exponential: { mean: 10ms } } }
policies:
  sdk: { deadline: 2s, attempt_timeout: 200ms, retry: { max_attempts: 3, on: [timeout, unavailable] } }
faults:
  - { at: 8s, for: 2s, slow: { service: api, factor: 3 } }
";

const EXPERIMENT: &str = "\
# A small experiment.
version: 1
question: What does the load do?
model: world.yaml
replications: 2
vary:
  clients.web.arrivals.poisson: [ 20/s, 80/s ]
  policy:
    variants:
      as it is: {}
      two, at most: { policies.sdk.retry.max_attempts: 2 }
measure: [ amplification(api), verdict, recovery_time, success_rate(web) from 20s ]
labels: { clients.web.arrivals.poisson: load, amplification(api): attempts per call }
plots:
  - line: { x: clients.web.arrivals.poisson, y: amplification(api), series: policy }
  - heatmap: { x: clients.web.arrivals.poisson, y: policy, value: verdict }
  - heatmap: { x: policy, y: clients.web.arrivals.poisson, value: success_rate(web) from 20s }
expect:
  - { at: { clients.web.arrivals.poisson: 20/s }, holds: verdict != metastable }
";

const JOURNAL: &str = "sweep.journal";

fn world() -> Folder {
    let folder = Folder::new();
    folder.write("world.yaml", WORLD);
    folder.write("small.yaml", EXPERIMENT);
    folder
}

/// What is in `out` apart from the manifest.
fn bytes(folder: &Folder, out: &str) -> Vec<(String, Vec<u8>)> {
    let prefix = format!("{out}/");
    let files = folder.files().into_iter();
    files
        .filter(|file| file.starts_with(&prefix) && !file.ends_with("manifest.json"))
        .map(|file| {
            let bytes = fs::read(folder.path().join(&file)).expect("readable");
            (file[prefix.len()..].to_string(), bytes)
        })
        .collect()
}

#[track_caller]
fn same(folder: &Folder, a: &str, b: &str) {
    let (mine, theirs) = (bytes(folder, a), bytes(folder, b));
    let names = |files: &[(String, Vec<u8>)]| -> Vec<String> {
        files.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&mine), names(&theirs));
    for ((name, a), (_, b)) in mine.iter().zip(&theirs) {
        assert!(a == b, "{name} differs");
    }
}

fn manifest(folder: &Folder, out: &str) -> serde_json::Value {
    serde_json::from_str(&folder.read(&format!("{out}/manifest.json"))).expect("JSON")
}

#[test]
fn a_sweep_writes_its_files_and_says_what_it_found() {
    let folder = world();
    let ran = folder.run("sweep small.yaml").ended(0);
    assert_eq!(ran.stderr, "");
    for part in [
        "What does the load do?",
        "4 points × 2 replications",
        "attempts per call: from 1",
        "✓ verdict != metastable",
        "M metastable",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100));
    let plots = [
        "amplification--api",
        "success_rate--web--from--20s",
        "verdict",
    ];
    let mut files: Vec<String> = ["manifest.json".to_string()].into();
    files.extend(
        plots
            .iter()
            .flat_map(|p| [format!("plots/{p}.png"), format!("plots/{p}.svg")]),
    );
    files.extend(["results.csv", "summary.csv", "summary.json"].map(String::from));
    let written: Vec<String> = folder.files();
    let written: Vec<&str> = written
        .iter()
        .filter_map(|file| file.strip_prefix("output/small/"))
        .collect();
    assert_eq!(written, files, "and the journal is gone");

    let results = folder.read("output/small/results.csv");
    let mut lines = results.lines();
    assert_eq!(
        lines.next(),
        Some("clients.web.arrivals.poisson,policy,replication,seed,ended,measure,unit,value,word")
    );
    assert_eq!(lines.count(), 4 * 2 * 4);
    assert!(
        results.contains("\n20,\"two, at most\",1,8,completed,"),
        "{results}"
    );
    for file in ["results.csv", "summary.csv", "summary.json"] {
        assert!(!folder.read(&format!("output/small/{file}")).contains("NaN"));
    }
}

#[test]
fn any_number_of_threads_writes_the_same_files() {
    let folder = world();
    for (out, jobs) in [("a", 1), ("b", 2), ("c", 5)] {
        folder
            .run(&format!(
                "sweep small.yaml --quiet --jobs {jobs} --out {out}"
            ))
            .ended(0);
    }
    same(&folder, "a", "b");
    same(&folder, "a", "c");
}

/// Points are run with the same seeds, and a point is what `run` makes of the same values.
#[test]
fn a_point_is_a_run_of_the_scenario_with_its_values() {
    let folder = world();
    folder.run("sweep small.yaml --quiet --no-plots").ended(0);
    let sweep: serde_json::Value =
        serde_json::from_str(&folder.read("output/small/summary.json")).expect("JSON");
    folder
        .run("run world.yaml --quiet --no-plots --replications 2 --out run --set clients.web.arrivals.poisson=20/s --set policies.sdk.retry.max_attempts=2")
        .ended(0);
    let run: serde_json::Value =
        serde_json::from_str(&folder.read("run/summary.json")).expect("JSON");
    let point = &sweep["points"][1];
    assert_eq!(point["at"]["policy"], "two, at most");
    assert_eq!(point["trajectories"], run["trajectories"]);
    assert_eq!(
        point["figures"]["amplification(api)"]["mean"],
        run["figures"]["services"]["api"]["amplification"]["mean"]
    );
}

/// A journal cut anywhere leads to the same files; what is before the cut is not run again.
#[test]
fn a_torn_journal_is_continued() {
    let folder = world();
    folder.run("sweep small.yaml --quiet --out whole").ended(0);
    // A journal is only left behind by a sweep that did not end, so one is made with a folder in the way.
    fs::create_dir_all(folder.path().join("cut/results.csv")).expect("writable");
    folder.run("sweep small.yaml --quiet --out cut").ended(3);
    let journal = fs::read(folder.path().join("cut").join(JOURNAL)).expect("it is still there");
    let lines: Vec<usize> = (0..journal.len())
        .filter(|&i| journal[i] == b'\n')
        .collect();
    assert_eq!(lines.len(), 1 + 8);
    // In the header, after it, in a line, before its end, after it, and not at all.
    let cuts = [
        10,
        lines[0] + 1,
        lines[2] + 20,
        lines[4],
        lines[4] + 1,
        journal.len(),
    ];
    for (cut, taken) in cuts.into_iter().zip([0, 0, 2, 3, 4, 8]) {
        let out = format!("cut-at-{cut}");
        folder.write(&format!("{out}/keep"), "");
        fs::remove_file(folder.path().join(&out).join("keep")).expect("it was just written");
        fs::write(folder.path().join(&out).join(JOURNAL), &journal[..cut]).expect("writable");
        let ran = folder
            .run(&format!("sweep small.yaml --out {out}"))
            .ended(0);
        assert_eq!(
            manifest(&folder, &out)["runs_taken_over"],
            taken,
            "cut at {cut}"
        );
        let says = format!("going on: {taken} of 8 runs");
        assert_eq!(ran.stderr.contains(&says), taken > 0, "{}", ran.stderr);
        same(&folder, "whole", &out);
    }
}

#[test]
fn nothing_is_taken_over_into_another_world() {
    let folder = world();
    fs::create_dir_all(folder.path().join("a/results.csv")).expect("writable");
    folder.run("sweep small.yaml --quiet --out a").ended(3);
    fs::remove_dir(folder.path().join("a/results.csv")).expect("it is empty");
    let taken_over = |arguments: &str| -> i64 {
        let journal = fs::read(folder.path().join("a").join(JOURNAL)).expect("it is there");
        fs::create_dir_all(folder.path().join("b")).expect("writable");
        fs::write(folder.path().join("b").join(JOURNAL), journal).expect("writable");
        folder
            .run(&format!("sweep {arguments} --quiet --no-plots --out b"))
            .ended(0);
        manifest(&folder, "b")["runs_taken_over"]
            .as_i64()
            .expect("a number")
    };
    assert_eq!(taken_over("small.yaml"), 8);
    assert_eq!(taken_over("small.yaml --fresh"), 0);
    assert_eq!(
        taken_over("small.yaml --seed 8"),
        4,
        "seed 8 was the second before"
    );
    assert_eq!(taken_over("small.yaml --replications 3"), 8);
    assert_eq!(taken_over("small.yaml --set services.api.queue=100"), 0);
    folder.write(
        "more.yaml",
        &EXPERIMENT.replace("[ 20/s, 80/s ]", "[ 20/s, 40/s, 80/s ]"),
    );
    assert_eq!(
        taken_over("more.yaml"),
        8,
        "points that were added are run, the others were"
    );
    folder.write(
        "other.yaml",
        &EXPERIMENT.replace("amplification(api)", "attempts(api)"),
    );
    assert_eq!(taken_over("other.yaml"), 0, "something else is measured");
    folder.write(
        "words.yaml",
        &EXPERIMENT.replace("What does the load do", "What now"),
    );
    assert_eq!(taken_over("words.yaml"), 8, "words are no world");
    folder.write("world.yaml", &WORLD.replace("10ms", "11ms"));
    assert_eq!(taken_over("small.yaml"), 0);
}

/// Stopped by Ctrl-C or killed outright, it goes on where it was and ends with the same files.
#[cfg(unix)]
#[test]
fn an_interrupted_sweep_goes_on_where_it_was() {
    use std::os::unix::process::ExitStatusExt as _;

    let folder = world();
    // Long enough to be caught in the middle.
    folder.write(
        "long.yaml",
        &EXPERIMENT.replace("replications: 2", "replications: 40"),
    );
    folder.run("sweep long.yaml --quiet --out whole").ended(0);
    for signal in ["INT", "KILL"] {
        let out = format!("stopped-by-{signal}");
        let mut command = folder.command(&format!("sweep long.yaml --jobs 1 --out {out}"));
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let child = child.expect("it starts");
        let journal = folder.path().join(&out).join(JOURNAL);
        let lines = || fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
        while lines() < 3 {
            sleep(Duration::from_millis(2));
        }
        let mut kill = std::process::Command::new("kill");
        let killed = kill
            .arg(format!("-{signal}"))
            .arg(child.id().to_string())
            .status();
        assert!(killed.expect("there is a kill").success());
        let output = child.wait_with_output().expect("it ends");
        let before = lines();
        if signal == "INT" {
            let ran = Ran::of(output).ended(130);
            assert!(ran.stdout.contains("interrupted: "), "{}", ran.stdout);
            let summary: serde_json::Value =
                serde_json::from_str(&folder.read(&format!("{out}/summary.json"))).expect("JSON");
            assert_eq!(summary["complete"], false);
            assert_eq!(summary["runs"], before - 1, "a line each, and the header");
        } else {
            assert_eq!(output.status.signal(), Some(9));
        }
        assert!((3..=160).contains(&before), "{before} lines");
        folder
            .run(&format!("sweep long.yaml --quiet --out {out}"))
            .ended(0);
        let taken = manifest(&folder, &out)["runs_taken_over"]
            .as_u64()
            .expect("a number");
        assert!(taken >= before as u64 - 2, "{taken} of {before}");
        same(&folder, "whole", &out);
    }
}

#[test]
fn every_mistake_is_named_at_its_place_before_anything_runs() {
    let folder = Folder::new();
    folder.write("world.yaml", &WORLD.replace("queue: 200", "queue: lots"));
    folder.write(
        "wrong.yaml",
        "\
version: 1
question: What is wrong?
model: world.yaml
set: { services.apo.concurrency: 3 }
vary:
  clients.web.arrivals.poisson: [ 20/s, fast ]
  policies.sdk.retry.max_attempts: { from: 0, to: 3, steps: 2 }
  policy: { variants: { a: {}, b: { policies.sdk.dedline: 3s }, c: { policies.none: 1 } } }
  seed: [ 1, 2 ]
measure: [ amplification(dbb), verdict, verdict ]
labels: { verdikt: what became of it }
plots: [ line: { x: load, y: verdict } ]
expect:
  - { at: { policy: d }, holds: verdict == healthy }
  - { holds: success_rate(wob) >= 1% }
",
    );
    let ran = folder.run("sweep wrong.yaml").ended(2);
    let stderr = format!("\n{}", ran.stderr);
    for place in [
        "\nwrong.yaml:4:34: `services` has no name `apo`",
        "\nwrong.yaml:6:41: ",
        "\nwrong.yaml:7:36: ",
        "\nwrong.yaml:8:59: ",
        "\nwrong.yaml:9:3: vary.seed: this is the name of another column",
        "\nwrong.yaml:10:41: measure: `verdict` is there twice",
        "\nwrong.yaml:11:11: labels: nothing is varied or measured under `verdikt`",
        "\nwrong.yaml:12:21: plots.0: nothing is varied under `load`",
        "\nwrong.yaml:14:21: expect.0: `policy` is never `d`",
        "\nworld.yaml:7:",
    ] {
        assert!(stderr.contains(place), "{place}: {stderr}");
    }
    assert_eq!(
        folder.files(),
        ["world.yaml", "wrong.yaml"],
        "nothing is written"
    );
    // What can only be asked of a world that is right is asked when it is.
    folder.write("world.yaml", WORLD);
    folder.write(
        "wrong.yaml",
        &EXPERIMENT
            .replace("amplification(api)", "amplification(dbb)")
            .replace("verdict != metastable", "success_rate(wob) >= 1%"),
    );
    let ran = folder.run("sweep wrong.yaml").ended(2);
    assert!(
        ran.stderr.contains("no service is called `dbb`"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("expect.0: \"success_rate(wob) >= 1%\""),
        "{}",
        ran.stderr
    );
}

#[test]
fn wrong_arguments_are_told_from_wrong_files() {
    let folder = world();
    folder.run("sweep").ended(2);
    folder.run("sweep small.yaml --jobs 0").ended(2);
    folder.run("sweep none.yaml").ended(3);
    let ran = folder.run("sweep nonesuch").ended(2);
    assert!(ran.stderr.contains("metastable-map"), "{}", ran.stderr);
    folder.write(
        "lost.yaml",
        &EXPERIMENT.replace("world.yaml", "worlds.yaml"),
    );
    let ran = folder.run("sweep lost.yaml").ended(2);
    assert!(
        ran.stderr.starts_with("lost.yaml:4:8: model: "),
        "{}",
        ran.stderr
    );
    let ran = folder
        .run("sweep small.yaml --set policies.sdk.retry.max_attempts=1")
        .ended(2);
    assert!(
        ran.stderr.contains("the experiment varies"),
        "{}",
        ran.stderr
    );
    let ran = folder
        .run("sweep small.yaml --set services.api.concurency=1")
        .ended(2);
    assert!(
        ran.stderr.contains("did you mean `concurrency`?"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_broken_promise_ends_with_one_and_says_where() {
    let folder = world();
    folder.write(
        "broken.yaml",
        &EXPERIMENT.replace("verdict != metastable", "verdict == metastable"),
    );
    let ran = folder.run("sweep broken.yaml --no-plots").ended(1);
    assert!(
        ran.stdout.contains("✗ verdict == metastable"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("load = 20/s"), "{}", ran.stdout);
}

#[test]
fn a_run_that_a_limit_cut_short_is_marked() {
    let folder = world();
    let ran = folder
        .run("sweep small.yaml --no-plots --set run.limits.events=2000")
        .ended(4);
    assert!(ran.stdout.contains("cut 8 runs short"), "{}", ran.stdout);
    assert!(
        folder
            .read("output/small/results.csv")
            .contains(",event_limit,")
    );
}

#[test]
fn standard_output_holds_the_format_that_was_asked_for_and_nothing_else() {
    let folder = world();
    let json = folder
        .run("sweep small.yaml --no-plots --format json")
        .ended(0);
    assert_eq!(json.stdout, folder.read("output/small/summary.json"));
    let csv = folder
        .run("sweep small.yaml --no-plots --format csv")
        .ended(0);
    assert_eq!(csv.stdout, folder.read("output/small/summary.csv"));
    let quiet = folder.run("sweep small.yaml --no-plots --quiet").ended(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
}

#[test]
fn two_sweeps_do_not_write_to_one_folder() {
    let folder = world();
    folder.write(
        "long.yaml",
        &EXPERIMENT.replace("replications: 2", "replications: 40"),
    );
    let mut command = folder.command("sweep long.yaml --quiet --no-plots --jobs 1 --out here");
    let mut first = command.spawn().expect("it starts");
    while !folder.path().join("here").join(JOURNAL).exists() {
        sleep(Duration::from_millis(2));
    }
    // It has its header once it is locked.
    while fs::read_to_string(folder.path().join("here").join(JOURNAL)).is_ok_and(|t| t.is_empty()) {
        sleep(Duration::from_millis(2));
    }
    let second = folder.run("sweep long.yaml --quiet --no-plots --out here");
    let refused = second.code == 2 && second.stderr.contains("another sweep is writing to here");
    let going_on = first.try_wait().expect("it can be asked").is_none();
    assert!(refused || !going_on, "{second:?}");
    assert!(going_on, "160 runs are over before one process has started");
    first.kill().expect("it can be ended");
    first.wait().expect("it ends");
}
