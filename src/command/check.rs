//! `retrystorm check`.

mod tree;

use std::fmt::Write as _;

use sim::scenario::model::{Scenario, Service};
use sim::scenario::{Settings, Topology};

use serde_json::json;

use crate::advice::facts::Facts;
use crate::advice::{self, Advice};
use crate::cli::{Check, CheckFormat, Talk};
use crate::error::{Error, exit, tell};
use crate::input::Input;
use crate::number;
use crate::report::style::Style;
use crate::report::table::wrapped;
use crate::shipped::Folder;
use crate::wording;

/// No line of prose is longer.
const COLUMNS: usize = 100;

pub(super) fn check(check: &Check, talk: Talk) -> Result<u8, Error> {
    allowed(&check.allowed)?;
    let input = Input::open(&check.file, Folder::Models)?;
    let overrides = super::run::parsed(&check.overrides)?;
    let loaded = input.load(&overrides)?;
    let places = input.places(&overrides)?;
    let facts = Facts::of(&loaded.scenario, &places);
    let advice = advice::advise(&facts, &check.allowed);
    let denied = check.deny_advice && !advice.is_empty();
    match check.format {
        // What is denied is an error: it is told, as errors are, a line each.
        _ if talk.quiet => {
            let denied = advice.iter().filter(|_| denied);
            denied.for_each(|piece| tell(format_args!("{}", advice::line(piece))));
        }
        CheckFormat::Text => {
            let style = Style::of_stdout(talk.no_color);
            let settings = input.settings(&overrides)?;
            let view = View {
                scenario: &loaded.scenario,
                topology: Topology::of(&loaded.scenario),
                defaults: check.defaults,
                style,
            };
            let text = view.effective(&input.shown, &settings, &advice);
            super::print(&(text + &advice::text(&advice, style)))?;
        }
        CheckFormat::Json => super::print(&document(&input, &facts, &advice, &check.allowed))?,
    }
    Ok(if denied { exit::BROKEN } else { exit::OK })
}

/// Whether each name that is allowed is one that could be given.
fn allowed(names: &[String]) -> Result<(), Error> {
    let traps = advice::traps();
    match names
        .iter()
        .find(|name| !traps.iter().any(|trap| trap.name == **name))
    {
        None => Ok(()),
        Some(name) => Err(Error::Usage(format!(
            "--allow {name}: no advice is called so; all of them: {}",
            traps
                .iter()
                .map(|trap| trap.name)
                .collect::<Vec<_>>()
                .join(", ")
        ))),
    }
}

/// What `--format json` prints; keys as in [`advice::SUMMARY`].
fn document(input: &Input, facts: &Facts<'_>, advice: &[Advice], allowed: &[String]) -> String {
    let services = facts.scenario.services.iter();
    let worst: serde_json::Map<String, serde_json::Value> = services
        .zip(&facts.topology.worst_amplification)
        .map(|(service, worst)| (service.name.clone(), json!(worst)))
        .collect();
    let values = [
        json!(env!("CARGO_PKG_VERSION")),
        json!(input.shown),
        json!(facts.scenario.title),
        json!(worst),
        json!(advice.iter().map(advice::json).collect::<Vec<_>>()),
        json!(allowed),
    ];
    crate::report::json::document(advice::SUMMARY.iter().map(|(key, _)| *key).zip(values))
}

struct View<'a> {
    scenario: &'a Scenario,
    topology: Topology,
    /// Whether values that nobody set are shown.
    defaults: bool,
    style: Style,
}

impl View<'_> {
    /// What a scenario comes down to: who calls whom, under which policy, and how bad it can get.
    fn effective(&self, shown: &str, settings: &[Settings], advice: &[Advice]) -> String {
        let View {
            scenario, style, ..
        } = self;
        let mut out = String::new();
        let title = if scenario.title.is_empty() {
            "a scenario"
        } else {
            &scenario.title
        };
        let _ = writeln!(
            out,
            "{} {}",
            style.good("✓"),
            style.bold(&format!("{shown}: {title}"))
        );
        for paragraph in scenario.description.lines() {
            for line in wrapped(paragraph, COLUMNS - 2) {
                let _ = writeln!(out, "  {line}");
            }
        }
        let _ = writeln!(out, "  {}", style.dim(&self.run()));
        if !advice.is_empty() {
            let words = format!("advice below: {}", advice::count(advice));
            let _ = writeln!(out, "  {}", style.warn(&words));
        }
        out.push('\n');
        out.push_str(&tree::tree(scenario, &self.topology, *style));
        self.policies(&mut out);
        self.settings(&mut out, settings);
        self.faults(&mut out);
        self.worst(&mut out);
        out
    }

    fn run(&self) -> String {
        let run = &self.scenario.run;
        let span = |span: seawall::Span| number::duration(span.as_secs_f64());
        let replications = match run.replications {
            1 => "1 replication".into(),
            n => format!("{n} replications"),
        };
        format!(
            "{} simulated in windows of {}, measured after {} · {replications} from seed {}",
            span(run.duration),
            span(run.window),
            match run.detect_warmup {
                true => "a warm-up that is detected".into(),
                false => span(run.warmup),
            },
            run.seed
        )
    }

    /// The effective policy of each edge.
    fn policies(&self, out: &mut String) {
        for (i, edge) in self.scenario.edges.iter().enumerate() {
            let policy = &self.scenario.policies[edge.policy as usize];
            let name = self.style.bold(&wording::arrow(self.scenario, edge));
            let sites = self.scenario.sites.iter().zip(&self.topology.reach.called);
            let mut along = sites.filter(|(site, _)| site.edge as usize == i);
            let unused = if along.any(|(_, called)| *called) {
                ""
            } else {
                " · never called"
            };
            let _ = writeln!(
                out,
                "  {name}  {}",
                self.style.dim(&format!("policy {}{unused}", policy.name))
            );
            let deadline = match self.topology.deadlines[i] {
                Some(longest) => format!(
                    "given up after {} at the latest",
                    number::duration(longest.as_secs_f64())
                ),
                None => "never given up for lack of time".into(),
            };
            for line in wording::policy(policy.policy.spec())
                .into_iter()
                .chain([deadline])
                .chain(wording::ways(self.scenario, i))
            {
                for line in wrapped(&line, 94) {
                    let _ = writeln!(out, "      {line}");
                }
            }
        }
        out.push('\n');
    }

    /// Each value of each policy in use, and where it comes from; what nobody set only if that was asked for.
    fn settings(&self, out: &mut String, settings: &[Settings]) {
        let used = |name: &str| {
            let policies = &self.scenario.policies;
            let edges = &mut self.scenario.edges.iter();
            edges.any(|edge| policies[edge.policy as usize].name == name)
        };
        for settings in settings.iter().filter(|settings| used(&settings.policy)) {
            let _ = writeln!(
                out,
                "  {}",
                self.style.bold(&format!("policy {}", settings.policy))
            );
            let (set, usual) = wording::settings(settings);
            let width = |column: usize| {
                let widths = set.iter().map(|row| row[column].chars().count());
                widths.max().unwrap_or(0)
            };
            let (paths, origins) = (width(0), width(1));
            for [path, origin, value] in &set {
                // Padded before it is dressed.
                let origin = self.style.dim(&format!("{origin:origins$}"));
                let _ = writeln!(out, "      {path:paths$}  {origin}  {value}");
            }
            let usual = if self.defaults {
                format!("by default: {}", usual.join(" · "))
            } else {
                format!("{} more by default: --defaults shows them", usual.len())
            };
            for line in wrapped(&usual, 94) {
                let _ = writeln!(out, "      {}", self.style.dim(&line));
            }
        }
        if !settings.is_empty() {
            out.push('\n');
        }
    }

    fn faults(&self, out: &mut String) {
        for fault in &self.scenario.faults {
            let words = wording::fault(self.scenario, fault);
            let _ = writeln!(out, "  {}  {words}", self.style.dim(&wording::when(fault)));
        }
        if !self.scenario.faults.is_empty() {
            out.push('\n');
        }
    }

    /// The most attempts one call can cause at each service.
    fn worst(&self, out: &mut String) {
        let dim = |text: &str| self.style.dim(text);
        let _ = writeln!(
            out,
            "  {}",
            dim("worst case: attempts that one call of a client can cause")
        );
        let name = |s: &Service| s.name.chars().count();
        let widest = self.scenario.services.iter().map(name).max().unwrap_or(0);
        for (service, worst) in self
            .scenario
            .services
            .iter()
            .zip(&self.topology.worst_amplification)
        {
            let times = if worst.is_finite() {
                number::times(*worst)
            } else {
                "without limit".into()
            };
            let times = if *worst > 10.0 {
                self.style.bad(&times)
            } else {
                times
            };
            let _ = writeln!(out, "  {:widest$}  {times}", service.name);
        }
    }
}
