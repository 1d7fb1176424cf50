//! `compare`: worlds under the same random numbers.

use serde_json::Value;

use crate::program::{Folder, SMALL};

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn a_variant_is_compared_with_the_scenario_as_it_is() {
    let folder = Folder::with_small();
    // A share of calls fails for two seconds; without retries more of them do.
    let run =
        "compare small.yaml --with policies.sdk.retry.max_attempts=1 --replications 6 --out here";
    let ran = folder.run(run).ended(0);
    assert!(ran.stdout.contains("success "), "{}", ran.stdout);
    assert!(ran.stdout.contains("worse"), "{}", ran.stdout);
    assert!(ran.stdout.lines().all(|l| l.chars().count() <= 100));
    assert_eq!(
        folder.files(),
        [
            "here/compare.csv",
            "here/compare.json",
            "here/compare.png",
            "here/compare.svg",
            "here/manifest.json",
            "small.yaml"
        ]
    );
    let compared = json(&folder.read("here/compare.json"));
    let differences = &compared["differences"]["policies.sdk.retry.max_attempts=1"];
    let calls = &differences["run"]["calls"];
    assert_eq!(
        (&calls["verdict"], &calls["difference"]),
        (&"same".into(), &0.into())
    );
    assert_eq!(calls["pairs"], 6);
    let success = &differences["run"]["success_rate"];
    assert_eq!(success["verdict"], "worse");
    assert!(success["high"].as_f64().expect("an interval") < 0.0);
    assert_eq!(
        differences["services"]["api"]["amplification"]["verdict"],
        "better"
    );
    // An edge is the same edge under another policy.
    assert!(differences["edges"]["web -> api"]["attempts_per_call"].is_object());
    let manifest = json(&folder.read("here/manifest.json"));
    assert_eq!(manifest["seeds"], serde_json::json!([7, 8, 9, 10, 11, 12]));
    assert_eq!(manifest["worlds"][1]["overrides"][0]["value"], "1");
}

#[test]
fn files_are_compared_by_name_and_any_number_of_threads_writes_the_same() {
    let folder = Folder::with_small();
    folder.write("slow.yaml", &SMALL.replace("mean: 10ms", "mean: 30ms"));
    for (out, jobs) in [("a", 1), ("b", 3)] {
        let run =
            format!("compare small.yaml slow.yaml --replications 3 --jobs {jobs} --out {out}");
        folder.run(&run).ended(0);
    }
    for file in ["compare.csv", "compare.json", "compare.svg"] {
        assert_eq!(
            folder.read(&format!("a/{file}")),
            folder.read(&format!("b/{file}"))
        );
    }
    let csv = folder.read("a/compare.csv");
    let row = csv
        .lines()
        .find(|l| l.starts_with("small,slow,run,all,call_mean_ms,"));
    assert!(row.expect("a row").ends_with(",worse"), "{row:?}");
    let printed = folder
        .run("compare small.yaml slow.yaml --replications 3 --no-plots --format csv")
        .ended(0);
    assert_eq!(printed.stdout, csv);
    assert!(
        folder
            .read("output/compare-small-slow/manifest.json")
            .contains("slow.yaml")
    );
}

#[test]
fn what_cannot_be_compared_is_refused_and_nothing_is_written() {
    let folder = Folder::with_small();
    folder.write(
        "longer.yaml",
        &SMALL.replace("duration: 20s", "duration: 30s"),
    );
    for (arguments, words) in [
        ("compare small.yaml", "--with PATH=VALUE"),
        ("compare small.yaml longer.yaml", "--set run.duration=20s"),
        (
            "compare small.yaml longer.yaml --with run.seed=1",
            "name only one",
        ),
        (
            "compare small.yaml small.yaml",
            "two worlds are called small.yaml",
        ),
        (
            "compare small.yaml --with services.api.concurency=1",
            "concurrency",
        ),
    ] {
        let ran = folder.run(arguments).ended(2);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    folder.run("compare small.yaml nonesuch.yaml").ended(3);
    assert_eq!(folder.files(), ["longer.yaml", "small.yaml"]);
}

#[test]
fn few_replications_are_said_to_be_too_few_and_a_limit_has_its_exit_code() {
    let folder = Folder::with_small();
    let run = "compare small.yaml --no-plots --with services.api.concurrency=1";
    let ran = folder.run(&format!("{run} --replications 2")).ended(0);
    assert!(
        ran.stdout.contains("Too few replications"),
        "{}",
        ran.stdout
    );
    let ran = folder
        .run(&format!(
            "{run} --replications 3 --set run.limits.events=1000"
        ))
        .ended(4);
    assert!(ran.stdout.contains("cut short"), "{}", ran.stdout);
}
