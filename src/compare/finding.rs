//! A comparison in a sentence, and the figures that it rests on.

use super::difference::{Difference, Verdict};
use super::run::{Comparison, Ran};
use crate::figure::Scope;
use sim::metrics::Ended;

/// Figures of a run that are looked at first.
const OF_RUN: [&str; 8] = [
    "success_rate",
    "goodput_per_s",
    "recovery_time_s",
    "call_mean_ms",
    "call_p50_ms",
    "call_p99_ms",
    "call_p999_ms",
    "attempts_per_call",
];
/// Figures of a service that are looked at first.
const OF_SERVICE: [&str; 3] = ["amplification", "utilisation", "wasted_share"];
/// Figures of an effect that are looked at first.
const OF_EFFECT: [&str; 3] = ["effects_duplicate", "effects_lost", "effects_unknown"];

/// Whether a figure is one of those that are looked at first; the others are in the files.
#[must_use]
pub fn key(difference: &Difference) -> bool {
    let names: &[&str] = match difference.scope {
        Scope::Run => &OF_RUN,
        Scope::Service => &OF_SERVICE,
        Scope::Effect => &OF_EFFECT,
        Scope::Client
        | Scope::Edge
        | Scope::Keys
        | Scope::Answers
        | Scope::Phases
        | Scope::Pool
        | Scope::Credential
        | Scope::Coalesce
        | Scope::Cache
        | Scope::Messages
        | Scope::Sessions => &[],
    };
    names.contains(&difference.figure.name) && difference.verdict != Verdict::NoData
}

/// How `other` compares with `base`, in a sentence.
#[must_use]
pub fn sentence(base: &Ran, other: &Ran, differences: &[Difference]) -> String {
    let (base, other) = (&base.name, &other.name);
    let keys: Vec<Verdict> = differences
        .iter()
        .filter(|d| key(d))
        .map(|d| d.verdict)
        .collect();
    let count = |verdict| keys.iter().filter(|v| **v == verdict).count();
    let (better, worse) = (count(Verdict::Better), count(Verdict::Worse));
    let all = keys.len();
    if count(Verdict::TooFewReplications) == all {
        return format!("Too few replications to tell {other} from {base}");
    }
    if count(Verdict::Same) == all {
        return format!("{other} is the same as {base} in all {all} figures");
    }
    match (better, worse) {
        (0, 0) => format!("No difference seen between {other} and {base} in {all} figures"),
        (_, 0) => {
            format!("{other} is better than {base} in {better} of {all} figures, and worse in none")
        }
        (0, _) => {
            format!("{other} is worse than {base} in {worse} of {all} figures, and better in none")
        }
        _ => format!(
            "{other} is better than {base} in {better} of {all} figures, and worse in {worse}"
        ),
    }
}

/// What became of a world, in a few words: `recovered in 9 of 10, metastable in 1`.
#[must_use]
pub fn fate(world: &Ran) -> String {
    let names = world.story.judgements.iter().map(|j| j.verdict.name());
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in names {
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, n)) => *n += 1,
            None => counts.push((name, 1)),
        }
    }
    // Stable: the first seen comes first among equals.
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let all = world.story.judgements.len();
    let mut parts = counts.iter().enumerate().map(|(i, (name, n))| match i {
        0 => format!("{name} in {n} of {all}"),
        _ => format!("{name} in {n}"),
    });
    let first = parts.next().unwrap_or_default();
    parts.fold(first, |text, part| format!("{text}, {part}"))
}

/// Which worlds reached a limit before their time, in words.
#[must_use]
pub fn cut_short(comparison: &Comparison) -> Vec<String> {
    let cut = |world: &Ran| {
        let cut = |ended: Ended| ended != Ended::Completed;
        let n = world.outcomes.iter().filter(|o| cut(o.ended)).count();
        let all = world.outcomes.len();
        (n > 0).then(|| {
            format!(
                "cut short: {} reached a limit in {n} of {all} replications; its figures are of the time before",
                world.name
            )
        })
    };
    comparison.worlds.iter().filter_map(cut).collect()
}
