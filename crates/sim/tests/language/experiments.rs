//! Experiments: grids, and what can be wrong with them.

use sim::expect::{Metric, Unit};
use sim::experiment::{Experiment, Plot, load, schema};
use sim::scenario::{Format, Problems, Source};

use crate::yaml;

fn read(text: &str) -> Result<Experiment, Problems> {
    load(&Source {
        name: "sweep.yaml",
        text,
        format: Format::Yaml,
    })
}

fn right(text: &str) -> Experiment {
    read(text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn wrong(text: &str) -> String {
    match read(text) {
        Ok(_) => panic!("nothing is wrong with it"),
        Err(problems) => problems.to_string(),
    }
}

fn varying(vary: &str) -> String {
    format!(
        "version: 1
question: What does it do?
model: three-layers
replications: 2
vary:
{vary}
measure: [ amplification(db), verdict ]
"
    )
}

#[test]
fn the_grid_is_every_combination_with_the_last_axis_fastest() {
    let experiment = right(&varying(
        "  faults.0.errors.share: { from: 0%, to: 100%, steps: 3 }
  policies.sdk.retry.max_attempts: [ 1, 4 ]",
    ));
    let points = experiment.points();
    let values: Vec<String> = points
        .iter()
        .map(|point| {
            point
                .overrides
                .iter()
                .map(|o| o.value.as_str())
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    assert_eq!(
        values,
        ["0% 1", "0% 4", "50% 1", "50% 4", "100% 1", "100% 4"]
    );
    assert_eq!(points[3].steps, [1, 1]);
    assert_eq!(points[3].overrides[0].path, "faults.0.errors.share");
    assert_eq!(experiment.axes[0].unit, Some(Unit::Share));
    assert_eq!(experiment.axes[0].steps[1].number, Some(0.5));
    assert_eq!(experiment.model(), "three-layers");
}

#[test]
fn ranges_keep_their_unit_and_their_ends() {
    let steps = |range: &str| -> Vec<String> {
        let experiment = right(&varying(&format!("  x: {range}")));
        experiment.axes[0]
            .steps
            .iter()
            .map(|step| step.label.clone())
            .collect()
    };
    assert_eq!(
        steps("{ from: 100/s, to: 200/s, steps: 3 }"),
        ["100/s", "150/s", "200/s"]
    );
    assert_eq!(
        steps("{ from: 1, to: 1000, steps: 4, log: true }"),
        ["1", "10", "100", "1000"]
    );
    assert_eq!(steps("{ from: 3s, to: 1s, steps: 3 }"), ["3s", "2s", "1s"]);
    assert_eq!(
        steps("{ from: 0, to: 1, steps: 4 }"),
        ["0", "0.333333", "0.666667", "1"]
    );
}

#[test]
fn variants_change_several_values_under_one_name() {
    let experiment = right(&varying(
        "  policy:
    variants:
      naive: { policies.sdk.budget: none }
      careful: { policies.sdk.budget: { ratio: { of: calls, percent: 10%, burst: 10 } }, clients.web.instances: 3 }",
    ));
    let axis = &experiment.axes[0];
    assert_eq!((axis.name.as_str(), axis.unit), ("policy", None));
    assert_eq!(axis.steps[1].label, "careful");
    let careful = &axis.steps[1].overrides;
    assert_eq!(careful.len(), 2);
    assert_eq!(
        careful[0].value,
        r#"{"ratio":{"of":"calls","percent":"10%","burst":10}}"#
    );
    assert_eq!(
        (careful[1].path.as_str(), careful[1].value.as_str()),
        ("clients.web.instances", "3")
    );
}

#[test]
fn values_that_hold_everywhere_come_first_so_that_points_can_change_them() {
    let experiment = right(&(varying("  run.window: [ 2s ]") + "set: { run.duration: 10s }\n"));
    let points = experiment.points();
    let paths: Vec<&str> = points[0]
        .overrides
        .iter()
        .map(|o| o.path.as_str())
        .collect();
    assert_eq!(paths, ["run.duration", "run.window"]);
}

#[test]
fn measures_are_read_against_the_scenario() {
    let scenario = yaml(
        "version: 1
run: { duration: 10s }
clients: { web: { arrivals: { poisson: 10/s }, calls: [ db ] } }
services: { db: { work: 1ms } }
",
    );
    let experiment = right(&varying("  run.window: [ 1s, 2s ]"));
    let measures = experiment.measures(&scenario).expect("both are right");
    let metrics: Vec<Metric> = measures.iter().map(|measure| measure.metric).collect();
    assert_eq!(metrics, [Metric::Amplification, Metric::Verdict]);
    let other = right(&varying("  run.window: [ 1s ]").replace("(db)", "(dbb)"));
    let problems = other
        .measures(&scenario)
        .expect_err("there is no dbb")
        .to_string();
    assert!(problems.starts_with("sweep.yaml:7:12: "), "{problems}");
    assert!(problems.contains("did you mean `db`?"), "{problems}");
}

#[test]
fn two_axes_of_numbers_and_a_verdict_make_a_map_unless_said_otherwise() {
    let axes = "  clients.web.arrivals.poisson: [ 1/s, 2/s ]\n  faults.0.for: [ 1s, 2s ]";
    assert!(matches!(
        right(&varying(axes)).plots[..],
        [Plot::Heatmap(_)]
    ));
    let named = "  policy: { variants: { a: {}, b: {} } }\n  faults.0.for: [ 1s, 2s ]";
    let [Plot::Line(line)] = &right(&varying(named)).plots[..] else {
        panic!("one line plot")
    };
    assert_eq!((line.x, line.series, line.y), (1, Some(0), 0));
    let written = varying(axes)
        + "plots:\n  - line: { x: faults.0.for, y: amplification(db), series: clients.web.arrivals.poisson }\n";
    assert!(matches!(right(&written).plots[..], [Plot::Line(_)]));
}

#[test]
fn every_mistake_is_found_at_once_and_at_its_place() {
    let problems = wrong(
        "version: 2
question: Q
model: m
replications: 0
vary:
  a: { from: 1s, to: 2ms, steps: 3 }
  b: { from: x, to: 2, steps: 1 }
  c: []
  d: { from: 0, to: 5, steps: 3, log: true }
  e: [ 1 ]
measur: [ calls ]
plots:
  - line: { x: f, y: call }
",
    );
    for part in [
        "sweep.yaml:1:10: version: this program reads version 1, got 2",
        "sweep.yaml:4:15: replications: ",
        "sweep.yaml:6:22: vary.a: `from` and `to` need the same unit",
        "sweep.yaml:7:14: vary.b: expected a number, with or without a unit, got \"x\"",
        "sweep.yaml:7:31: vary.b.steps: ",
        "sweep.yaml:8:6: vary.c: an empty list",
        "sweep.yaml:9:14: vary.d: with `log`, both ends must be above 0",
        "sweep.yaml:11:1: unknown key `measur`: did you mean `measure`?",
        "sweep.yaml:13:16: plots.0: nothing is varied under `f`",
        "sweep.yaml:13:22: plots.0: nothing is measured as `call`",
    ] {
        assert!(problems.contains(part), "{part}\n---\n{problems}");
    }
}

#[test]
fn a_plot_shows_every_axis() {
    let axes = "  a: [ 1, 2 ]\n  b: [ 1, 2 ]\n  c: [ 1, 2 ]";
    let problems = wrong(&(varying(axes) + "plots: [ line: { x: a, y: verdict, series: b } ]\n"));
    assert!(problems.contains("`c` is varied too"), "{problems}");
    assert!(
        right(&varying(axes)).plots.is_empty(),
        "three axes have no plot by default"
    );
}

#[test]
fn a_grid_that_never_ends_is_refused() {
    let axes = "  a: { from: 0, to: 1, steps: 2000 }\n  b: { from: 0, to: 1, steps: 2000 }";
    assert!(wrong(&varying(axes)).contains("more than 1000000 runs"));
}

#[test]
fn the_schema_describes_every_key() {
    let schema = schema();
    let keys = schema["$defs"]["Experiment"]["properties"]
        .as_object()
        .expect("a record");
    for (key, described) in keys {
        assert!(described["description"].is_string(), "{key}");
    }
    assert!(keys.contains_key("vary") && keys.contains_key("measure"));
}
