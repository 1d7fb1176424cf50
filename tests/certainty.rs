//! How sure results are: `--precision`, `run.warmup: auto`, intervals of one replication.

use serde_json::Value;

use crate::program::Folder;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn replications_are_added_until_the_interval_is_tight_enough() {
    let folder = Folder::with_small();
    let run = "run small.yaml --no-plots --precision calls=1.5% --precision p50(web)=20ms --max-replications 80";
    for (out, jobs) in [("a", 1), ("b", 3)] {
        let ran = folder
            .run(&format!("{run} --jobs {jobs} --out {out}"))
            .ended(0);
        assert!(ran.stdout.contains("✓ calls=1.5%"), "{}", ran.stdout);
    }
    let summary = json(&folder.read("a/summary.json"));
    let replications = summary["replications"].as_u64().expect("a number");
    assert!((11..=80).contains(&replications), "{replications}");
    let calls = &summary["precision"][0];
    assert_eq!(
        (&calls["text"], &calls["reached"]),
        (&"calls=1.5%".into(), &true.into())
    );
    let number = |key: &str| calls[key].as_f64().expect("a number");
    assert!(number("half_width") <= 0.015 * number("mean"));
    assert_eq!(summary["precision"][1]["reached"], true);
    for file in ["summary.json", "summary.csv", "windows.csv"] {
        assert_eq!(
            folder.read(&format!("a/{file}")),
            folder.read(&format!("b/{file}"))
        );
    }
}

#[test]
fn a_precision_that_is_not_reached_is_said_and_has_an_exit_code() {
    let folder = Folder::with_small();
    let run = "run small.yaml --no-plots --precision goodput=0.001% --max-replications 12";
    let ran = folder.run(run).ended(5);
    assert!(ran.stdout.contains("✗ goodput=0.001%"), "{}", ran.stdout);
    assert!(ran.stdout.contains("not reached"), "{}", ran.stdout);
    let summary = json(&folder.read("output/small/summary.json"));
    assert_eq!(summary["replications"], 12);
    assert_eq!(summary["precision"][0]["reached"], false);
    for (wrong, words) in [
        ("goodput", "METRIC=HALF-WIDTH"),
        ("godput=1%", "did you mean `goodput`"),
        ("goodput=0%", "above 0"),
    ] {
        let ran = folder
            .run(&format!("run small.yaml --precision {wrong}"))
            .ended(2);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
}

const QUEUE: &str = "run mm1 --no-plots --quiet --set expect=[] --set run.duration=25min --seed 3";

#[test]
fn a_detected_warmup_gives_the_figures_of_the_same_warmup_given() {
    let folder = Folder::new();
    folder
        .run(&format!(
            "{QUEUE} --replications 4 --set run.warmup=auto --out a"
        ))
        .ended(0);
    let detected = json(&folder.read("a/summary.json"));
    assert_eq!(detected["warmup"], "detected");
    let seconds = detected["warmup_s"].as_u64().expect("whole seconds");
    assert!(seconds.is_multiple_of(50) && seconds <= 750, "{seconds}");
    let given = format!("{QUEUE} --replications 4 --set run.warmup={seconds}s --out b");
    folder.run(&given).ended(0);
    let given = json(&folder.read("b/summary.json"));
    assert_eq!(given["warmup"], "given");
    for key in ["figures", "trajectories", "verdict", "warmup_s"] {
        assert_eq!(detected[key], given[key], "{key}");
    }
}

#[test]
fn a_start_up_without_an_end_is_said_and_has_an_exit_code() {
    let folder = Folder::with_small();
    // Eight windows before the trigger are too few.
    let ran = folder
        .run("run small.yaml --no-plots --set run.warmup=auto")
        .ended(5);
    let said = ran.stdout.replace("\n  ", " ");
    assert!(said.contains("50 are needed"), "{said}");
    // More load than the worker can take: the queue grows for ever.
    let growing = "--set run.warmup=auto --set clients.source.arrivals.poisson=200/s --set run.duration=10min";
    let run = format!("run mm1 --no-plots --set expect=[] {growing}");
    let ran = folder.run(&run).ended(5);
    let said = ran.stdout.replace("\n  ", " ");
    assert!(
        said.contains("the number of jobs in server is still on its way"),
        "{said}"
    );
    let summary = json(&folder.read("output/mm1/summary.json"));
    assert_eq!(summary["warmup"], "not_settled");
    assert_eq!(summary["warmup_s"], 300);
}

#[test]
fn all_worlds_of_a_comparison_leave_out_the_same_and_a_sweep_refuses_to() {
    let folder = Folder::new();
    let run = "compare mm1 --no-plots --set run.duration=20min --set run.window=1s --set run.warmup=auto --replications 3";
    let with = "--with services.server.concurrency=2";
    folder
        .run(&format!("{run} {with} --out here --quiet"))
        .ended(0);
    let compared = json(&folder.read("here/compare.json"));
    assert_eq!(compared["warmup"], "detected");
    let calls = &compared["differences"]["services.server.concurrency=2"]["run"]["calls"];
    assert_eq!(calls["verdict"], "same");
    let experiment = "version: 1\nquestion: Q?\nmodel: mm1\nvary: { load: { path: clients.source.arrivals.poisson, values: [50/s, 60/s] } }\nmeasure: [ goodput ]\n";
    folder.write("sweep.yaml", experiment);
    let ran = folder.run("sweep sweep.yaml --set run.warmup=auto");
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn one_replication_has_intervals_where_its_world_is_steady() {
    let folder = Folder::with_small();
    let ran = folder.run(&QUEUE.replace("--quiet ", "")).ended(0);
    assert!(ran.stdout.contains("± from 20 batches"), "{}", ran.stdout);
    let summary = json(&folder.read("output/mm1/summary.json"));
    let server = &summary["figures"]["services"]["server"];
    let served = &server["served_per_s"];
    assert_eq!(served["interval_from"], "batch_means");
    let end = |key: &str| served[key].as_f64().expect("a number");
    assert!(end("low") < 80.0 && 80.0 < end("high") && end("high") - end("low") < 4.0);
    assert_eq!(server["sojourn_p99_ms"]["interval_from"], "none_not_a_mean");
    assert_eq!(server["sojourn_p99_ms"]["low"], Value::Null);

    folder
        .run("run small.yaml --no-plots --replications 1")
        .ended(0);
    let summary = json(&folder.read("output/small/summary.json"));
    let calls = &summary["figures"]["run"]["calls"];
    assert_eq!(calls["interval_from"], "none_not_steady");
    folder
        .run("run small.yaml --no-plots --replications 3")
        .ended(0);
    let summary = json(&folder.read("output/small/summary.json"));
    let calls = &summary["figures"]["run"]["calls"];
    assert_eq!(calls["interval_from"], "replications");
}
