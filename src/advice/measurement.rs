//! Whether a run can tell what it is asked.

use seawall::{Span, Time};
use sim::scenario::model::FaultKind;
use sim::verdict::Trigger;

use super::facts::Facts;
use super::{Finding, Severity, Trap};
use crate::number::{duration, plain};

/// Windows that make a state, before and after a trigger; the verdict asks for as many.
const WINDOWS: f64 = 10.0;

pub(super) const TRAPS: [Trap; 3] = [
    Trap {
        name: "no-baseline",
        severity: Severity::Risk,
        seen: "A trigger that ends begins less than ten windows after the warm-up.",
        why: "There is hardly a time in which all was well to compare with, so the verdict is a guess.",
        source: "the rule of the verdict",
        find: no_baseline,
    },
    Trap {
        name: "no-aftermath",
        severity: Severity::Risk,
        seen: "After the trigger the run goes on for less than ten windows, or less than an attempt may take.",
        why: "A storm that stays cannot be told from one that has not ended yet.",
        source: "the rule of the verdict; users' trap 18: the test is that the trigger is gone and it is still bad",
        find: no_aftermath,
    },
    Trap {
        name: "fault-without-effect",
        severity: Severity::Mistake,
        seen: "A fault changes nothing: a factor of 1, a share of 0, a link that no call goes over.",
        why: "A world that is not disturbed comes through well, and that says nothing about it.",
        source: "the meaning of the faults, docs/scenario.md",
        find: without_effect,
    },
];

fn without_effect(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, fault) in facts.scenario.faults.iter().enumerate() {
        let services = &facts.scenario.services;
        let (what, value, subject) = match fault.kind {
            FaultKind::Slow { service, factor } if factor == 1.0 => {
                ("factor", factor, &services[service as usize].name)
            }
            FaultKind::Load { client, factor } if factor == 1.0 => (
                "factor",
                factor,
                &facts.scenario.clients[client as usize].name,
            ),
            FaultKind::Errors { service, share, .. }
            | FaultKind::LoseCapacity { service, share }
                if share == 0.0 =>
            {
                ("share", share, &services[service as usize].name)
            }
            FaultKind::ChangeLink { link, .. } => {
                let links = &facts.scenario.links;
                let mut called = facts.hops.iter().flat_map(|hop| &hop.sites);
                let used = called.any(|site| facts.scenario.sites[*site as usize].link == link);
                if !used {
                    found.push(Finding {
                        place: facts.places.find(&["faults", &index.to_string()]),
                        subject: links[link as usize].name.clone(),
                        reason: "no call goes over the link whose place is taken".into(),
                        figures: Vec::new(),
                        mend: "the link that the calls go over".into(),
                    });
                }
                continue;
            }
            _ => continue,
        };
        found.push(Finding {
            place: facts.places.find(&["faults", &index.to_string()]),
            subject: subject.clone(),
            reason: format!(
                "{} with a {what} of {} leaves it as it is",
                fault.kind.name(),
                plain(value)
            ),
            figures: vec![(what, value)],
            mend: format!("another {what}, or no fault"),
        });
    }
    found
}

/// Where the trigger is written.
fn place(facts: &Facts<'_>) -> sim::scenario::Location {
    if facts.scenario.run.trigger.is_some() {
        facts.places.find(&["run", "trigger"])
    } else {
        facts.places.find(&["faults"])
    }
}

fn no_baseline(facts: &Facts<'_>) -> Vec<Finding> {
    let run = &facts.scenario.run;
    let trigger = Trigger::of(facts.scenario).filter(|trigger| trigger.end.is_some());
    let Some(begin) = trigger.map(|trigger| trigger.begin) else {
        return Vec::new();
    };
    let before = begin.since(Time::ZERO.after(run.warmup)).as_secs_f64();
    let window = run.window.as_secs_f64();
    if before >= WINDOWS * window {
        return Vec::new();
    }
    vec![Finding {
        place: place(facts),
        subject: "the trigger".into(),
        reason: format!(
            "it begins {} after the warm-up of {}; ten windows are {}",
            duration(before),
            duration(run.warmup.as_secs_f64()),
            duration(WINDOWS * window)
        ),
        figures: vec![("baseline_s", before), ("ten_windows_s", WINDOWS * window)],
        mend: format!(
            "begin it at {} or later",
            duration(run.warmup.as_secs_f64() + WINDOWS * window)
        ),
    }]
}

fn no_aftermath(facts: &Facts<'_>) -> Vec<Finding> {
    let run = &facts.scenario.run;
    let Some(end) = Trigger::of(facts.scenario).and_then(|trigger| trigger.end) else {
        return Vec::new();
    };
    let after = Time::ZERO.after(run.duration).since(end).as_secs_f64();
    let longest = facts.hops.iter().filter_map(|hop| hop.attempt_limit).max();
    let longest = longest.map_or(0.0, Span::as_secs_f64);
    let needed = (WINDOWS * run.window.as_secs_f64()).max(longest);
    if after >= needed {
        return Vec::new();
    }
    vec![Finding {
        place: place(facts),
        subject: "the trigger".into(),
        reason: format!(
            "the run ends {} after it, and {} are needed to see whether it comes back",
            duration(after),
            duration(needed)
        ),
        figures: vec![("aftermath_s", after), ("needed_s", needed)],
        mend: format!(
            "`run.duration` of {} or more",
            duration(end.since(Time::ZERO).as_secs_f64() + needed)
        ),
    }]
}
