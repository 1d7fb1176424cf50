//! `models/incidents/`: each tells what happened and what would have helped, and keeps what it promises. The tables of
//! figures in `docs/incidents.md` are made here.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use retrystorm::input::Input;
use retrystorm::replicate;
use retrystorm::shipped::{self, Folder};
use sim::expect::{Checked, evaluate};
use sim::metrics::Outcome;
use sim::scenario::{Format, Override, Scenario, Source};

use crate::docs::is_up_to_date;
use crate::program;

const FIXED: &str = "-fixed";

/// One model, run once.
struct Ran {
    name: &'static str,
    text: &'static str,
    scenario: Arc<Scenario>,
    outcome: Outcome,
}

impl Ran {
    fn checked(&self) -> Vec<(&str, Checked)> {
        let promises = self.scenario.expect.iter();
        promises
            .map(|p| (p.text.as_str(), evaluate(p, &self.scenario, &self.outcome)))
            .collect()
    }

    /// Whether this world breaks at least one of the promises of `other`.
    fn breaks_a_promise_of(&self, other: &Ran) -> bool {
        let (world, _) = parts(self.text);
        let (_, promises) = parts(other.text);
        let text = format!("{world}{promises}");
        let source = Source {
            name: self.name,
            text: &text,
            format: Format::Yaml,
        };
        let mut fetch = |file: &str| -> Result<String, String> {
            let path = format!("models/incidents/{file}");
            shipped::text(&path).map(Into::into).ok_or(path)
        };
        let scenario = sim::scenario::load(&source, &[], &mut fetch);
        let scenario = scenario.unwrap_or_else(|problems| {
            panic!(
                "{} with what {} promises:\n{problems}",
                self.name, other.name
            )
        });
        let promises = scenario.expect.iter();
        promises
            .map(|p| evaluate(p, &scenario, &self.outcome))
            .any(|checked| !checked.holds)
    }
}

/// What comes before the promises, and they, which are last in every one of these files.
fn parts(text: &str) -> (&str, &str) {
    text.split_at(text.find("\nexpect:").expect("it promises something"))
}

fn names() -> Vec<&'static str> {
    let all = shipped::all(Folder::Models).map(|(name, ..)| name);
    all.filter(|name| name.starts_with("incidents/")).collect()
}

/// Every incident, by name.
static RAN: LazyLock<BTreeMap<&str, Ran>> = LazyLock::new(|| {
    let run = |name: &&'static str| {
        let input = Input::open(Path::new(name), Folder::Models).expect("found by name");
        let loaded = input.load(&[]).unwrap_or_else(|e| panic!("{name}: {e}"));
        let scenario = Arc::new(loaded.scenario);
        let outcome = sim::run(&scenario, scenario.run.seed);
        let text = shipped::text(&input.shown).expect("it comes with the program");
        Ran {
            name,
            text,
            scenario,
            outcome,
        }
    };
    let ran = replicate::on_threads(replicate::threads(None), &names(), run);
    let ran = ran.expect("threads are to be had");
    ran.into_iter().map(|ran| (ran.name, ran)).collect()
});

/// The incidents as they were, each with its remedy.
fn pairs() -> Vec<(&'static Ran, &'static Ran)> {
    let sick = RAN.values().filter(|ran| !ran.name.ends_with(FIXED));
    sick.map(|ran| {
        let well = format!("{}{FIXED}", ran.name);
        let well = RAN.get(well.as_str());
        (
            ran,
            well.unwrap_or_else(|| panic!("{} has no remedy", ran.name)),
        )
    })
    .collect()
}

#[test]
fn every_incident_comes_with_its_remedy_and_both_keep_what_they_promise() {
    let pairs = pairs();
    assert_eq!(2 * pairs.len(), RAN.len(), "a remedy without its incident");
    assert!(pairs.len() >= 20, "only {} incidents", pairs.len());
    let mut broken = String::new();
    for ran in RAN.values() {
        for (promise, checked) in ran.checked() {
            if !checked.holds {
                let _ = writeln!(broken, "{}: {promise}: {}", ran.name, checked.shown);
            }
        }
    }
    assert_eq!(broken, "");
}

/// A promise that both worlds keep says nothing about the remedy; at least one does.
#[test]
fn neither_world_of_a_pair_keeps_all_that_the_other_promises() {
    for (sick, well) in pairs() {
        for (one, other) in [(sick, well), (well, sick)] {
            assert!(
                one.breaks_a_promise_of(other),
                "{} keeps all that {} promises",
                one.name,
                other.name
            );
        }
    }
}

#[test]
fn every_incident_names_its_source_what_is_ours_and_the_key_that_decides() {
    for (sick, well) in pairs() {
        for word in [
            "\n# What happened: ",
            "\n# Source: ",
            "\n# Ours: ",
            "\n# Try:",
            "\n# The key that decides: ",
        ] {
            assert!(sick.text.contains(word), "{} has no {word:?}", sick.name);
        }
        let file = sick.name.trim_start_matches("incidents/");
        let back = format!("{file}.yaml.");
        assert!(
            well.text.contains(&back),
            "{} does not name {back}",
            well.name
        );
        assert!(
            well.text.contains("\n# The key that decides: "),
            "{}",
            well.name
        );
    }
}

#[test]
fn incidents_are_listed_under_a_heading_of_their_own_and_run_by_name() {
    let folder = program::Folder::new();
    let list = folder.run("list").ended(0).stdout;
    let (models, incidents) = list
        .split_once("models/incidents: retrystorm run NAME\n")
        .expect("a heading");
    assert!(models.contains("  three-layers "), "{models}");
    assert!(!models.contains("incidents/"), "{models}");
    assert!(
        incidents.contains("  incidents/duo-unbounded-queue "),
        "{incidents}"
    );
    assert!(incidents.contains("experiments: retrystorm sweep NAME"));
    folder
        .run("run incidents/coredns-forward --no-plots")
        .ended(0);
    let written = "output/incidents/coredns-forward/summary.json";
    assert!(
        folder.files().iter().any(|f| f == written),
        "{:?}",
        folder.files()
    );
    let unknown = folder.run("run incidents/nothing").ended(2).stderr;
    assert!(
        unknown.contains("incidents/duo-unbounded-queue"),
        "{unknown}"
    );
    assert!(!unknown.contains("three-layers"), "{unknown}");
    let unknown = folder.run("run nothing").ended(2).stderr;
    assert!(unknown.contains("three-layers"), "{unknown}");
    assert!(!unknown.contains("incidents/"), "{unknown}");
}

#[test]
fn every_command_in_the_comment_of_an_incident_can_be_run() {
    let mut commands = 0;
    for ran in RAN.values() {
        let lines = ran.text.lines();
        for line in lines.filter_map(|line| line.strip_prefix("#   retrystorm run ")) {
            let words = words(line);
            let input = Input::open(Path::new(&words[0]), Folder::Models);
            let input = input.unwrap_or_else(|e| panic!("{}: {e}", ran.name));
            let set = words[1..].chunks(2).take_while(|two| two[0] == "--set");
            let overrides: Vec<Override> = set
                .map(|two| Override::parse(&two[1]).unwrap_or_else(|e| panic!("{line}: {e}")))
                .collect();
            if let Err(problems) = input.load(&overrides) {
                panic!("{}: {line}\n{problems}", ran.name);
            }
            commands += 1;
        }
    }
    assert!(commands >= 40, "only {commands} commands");
}

/// The words of a command as a shell sees them, where only single quotes are used.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => {
                if words.last().is_some_and(|word| !word.is_empty()) {
                    words.push(String::new());
                }
            }
            _ => words.last_mut().expect("never empty").push(c),
        }
    }
    words
}

#[test]
fn the_page_on_incidents_shows_what_the_runs_show() {
    let mut figures = String::from(
        "| model | promise | as it was | promise | with the remedy |\n|---|---|---|---|---|\n",
    );
    for (sick, well) in pairs() {
        let (sick_checked, well_checked) = (sick.checked(), well.checked());
        for i in 0..sick_checked.len().max(well_checked.len()) {
            let cell = |all: &[(&str, Checked)]| match all.get(i) {
                Some((promise, checked)) => format!("`{promise}` | {}", checked.shown),
                None => " | ".into(),
            };
            let name = sick.name.trim_start_matches("incidents/");
            let name = if i == 0 { name } else { "" };
            let _ = writeln!(
                figures,
                "| {name} | {} | {} |",
                cell(&sick_checked),
                cell(&well_checked)
            );
        }
    }
    is_up_to_date("docs/incidents.md", vec![("figures", figures)]);
}
