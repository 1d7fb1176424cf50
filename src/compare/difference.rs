//! How one world differs from another, figure by figure.

use super::run::{Comparison, Ran};
use super::sense::Sense;
use crate::figure::column::{Unit, rounded};
use crate::figure::{self, Declared, Scope, Subject};
use crate::stats::paired::{Change, Paired};

/// What a difference means to whoever has to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Different, the right way.
    Better,
    /// Different, the wrong way.
    Worse,
    /// Larger, which is neither good nor bad.
    Higher,
    /// Smaller, which is neither good nor bad.
    Lower,
    /// Equal in every replication.
    Same,
    /// The interval holds zero.
    NoDifferenceSeen,
    /// Fewer than three replications have it in both worlds.
    TooFewReplications,
    /// No replication has it in both worlds.
    NoData,
}

impl Verdict {
    /// All of them, with their meaning.
    pub const ALL: [(Verdict, &'static str); 8] = [
        (
            Verdict::Better,
            "The interval of the difference lies on the good side of zero.",
        ),
        (
            Verdict::Worse,
            "The interval of the difference lies on the bad side of zero.",
        ),
        (
            Verdict::Higher,
            "The interval lies above zero, and the figure is neither good nor bad by itself.",
        ),
        (
            Verdict::Lower,
            "The interval lies below zero, and the figure is neither good nor bad by itself.",
        ),
        (
            Verdict::Same,
            "Equal in every replication: the change does not reach this figure.",
        ),
        (
            Verdict::NoDifferenceSeen,
            "The interval holds zero. There may be a difference smaller than that.",
        ),
        (
            Verdict::TooFewReplications,
            "Fewer than three replications have the figure in both worlds.",
        ),
        (
            Verdict::NoData,
            "No replication has the figure in both worlds.",
        ),
    ];

    /// The words used in files and tables.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Higher => "higher",
            Verdict::Lower => "lower",
            Verdict::Same => "same",
            Verdict::NoDifferenceSeen => "no difference seen",
            Verdict::TooFewReplications => "too few replications",
            Verdict::NoData => "no data",
        }
    }

    /// Of a change in a figure that should go one way.
    #[must_use]
    pub const fn of(change: Change, sense: Sense) -> Verdict {
        match (change, sense) {
            (Change::NoData, _) => Verdict::NoData,
            (Change::TooFew, _) => Verdict::TooFewReplications,
            (Change::Same, _) => Verdict::Same,
            (Change::NotSeen, _) => Verdict::NoDifferenceSeen,
            (Change::Larger, Sense::High) | (Change::Smaller, Sense::Low) => Verdict::Better,
            (Change::Larger, Sense::Low) | (Change::Smaller, Sense::High) => Verdict::Worse,
            (Change::Larger, Sense::Neutral) => Verdict::Higher,
            (Change::Smaller, Sense::Neutral) => Verdict::Lower,
        }
    }
}

/// One figure of two worlds.
#[derive(Clone, Debug)]
pub struct Difference {
    /// What the figure is about.
    pub scope: Scope,
    /// Its name in both worlds: an edge goes without its policy, as that may be what was changed.
    pub name: String,
    /// The figure.
    pub figure: Declared,
    /// Both worlds, seed by seed.
    pub paired: Paired,
    /// What that means.
    pub verdict: Verdict,
}

/// How long it took to recover, which is no column of its own.
const RECOVERY: Declared = Declared {
    name: "recovery_time_s",
    unit: Unit::Seconds,
    meaning: "From the end of the trigger until all was well for good.",
};

/// Every figure of every subject that `base` and `other` have in common.
#[must_use]
pub fn differences(base: &Ran, other: &Ran) -> Vec<Difference> {
    let mut all = vec![difference(
        (Scope::Run, "all"),
        RECOVERY,
        &recoveries(base),
        &recoveries(other),
    )];
    let theirs = figure::subjects(&other.scenario);
    for subject in figure::subjects(&base.scenario) {
        let name = name(base, &subject);
        let twin = theirs
            .iter()
            .find(|t| t.scope == subject.scope && self::name(other, t) == name);
        let Some(twin) = twin else { continue };
        let (mine, its) = (values(base, &subject), values(other, twin));
        for (i, declared) in subject.scope.whole().into_iter().enumerate() {
            let column = |values: &[Vec<Option<f64>>]| -> Vec<Option<f64>> {
                values.iter().map(|of_run| of_run[i]).collect()
            };
            all.push(difference(
                (subject.scope, &name),
                declared,
                &column(&mine),
                &column(&its),
            ));
        }
    }
    all
}

/// The differences of every world from the first, in order.
#[must_use]
pub fn all(comparison: &Comparison) -> Vec<Vec<Difference>> {
    let others = comparison.worlds[1..].iter();
    others.map(|w| differences(comparison.base(), w)).collect()
}

fn difference(
    (scope, name): (Scope, &str),
    figure: Declared,
    base: &[Option<f64>],
    other: &[Option<f64>],
) -> Difference {
    let paired = Paired::of(base, other);
    let sense = Sense::of(figure.name).unwrap_or(Sense::Neutral);
    Difference {
        scope,
        name: name.into(),
        figure,
        verdict: Verdict::of(paired.change(), sense),
        paired,
    }
}

/// What a subject is called in both worlds.
fn name(world: &Ran, subject: &Subject) -> String {
    match subject.scope {
        Scope::Edge => world.scenario.edge_stream_name(subject.index),
        Scope::Run
        | Scope::Client
        | Scope::Service
        | Scope::Effect
        | Scope::Keys
        | Scope::Answers
        | Scope::Phases
        | Scope::Pool
        | Scope::Credential
        | Scope::Coalesce
        | Scope::Cache
        | Scope::Messages
        | Scope::Sessions => subject.name.clone(),
    }
}

/// Its figures, by replication.
fn values(world: &Ran, subject: &Subject) -> Vec<Vec<Option<f64>>> {
    let outcomes = world.outcomes.iter();
    outcomes
        .map(|outcome| figure::whole(&world.scenario, outcome, subject))
        .collect()
}

fn recoveries(world: &Ran) -> Vec<Option<f64>> {
    let judgements = world.story.judgements.iter();
    judgements
        .map(|j| {
            j.trigger?;
            Some(rounded(j.verdict.recovery()?.as_secs_f64()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_good_or_bad_by_the_sense_of_its_figure() {
        let verdict = |change, figure| Verdict::of(change, Sense::of(figure).expect("known"));
        assert_eq!(verdict(Change::Larger, "goodput_per_s"), Verdict::Better);
        assert_eq!(verdict(Change::Smaller, "goodput_per_s"), Verdict::Worse);
        assert_eq!(verdict(Change::Larger, "call_p99_ms"), Verdict::Worse);
        assert_eq!(verdict(Change::Smaller, "amplification"), Verdict::Better);
        assert_eq!(verdict(Change::Larger, "arrived"), Verdict::Higher);
        assert_eq!(
            verdict(Change::NotSeen, "arrived"),
            Verdict::NoDifferenceSeen
        );
    }

    #[test]
    fn every_verdict_is_listed_once() {
        let words: std::collections::BTreeSet<_> =
            Verdict::ALL.iter().map(|(v, _)| v.words()).collect();
        assert_eq!(words.len(), Verdict::ALL.len());
    }
}
