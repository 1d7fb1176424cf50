//! Advice: mistakes that a scenario shows before anything is run.
//!
//! Each [`Trap`] is one kind of mistake: a function from the [facts](facts::Facts) of a scenario to the places
//! where it is made. A family of traps is a file. docs/advice.md is made from their declarations.

mod budget;
mod capacity;
mod deadline;
mod effects;
pub mod facts;
mod isolation;
mod jitter;
mod layers;
mod measurement;
mod messages;
mod operation;
mod queue;
mod retry_after;
mod show;
mod timeout;

use sim::scenario::Location;

use facts::Facts;
pub use show::{KEYS, SUMMARY, count, json, line, text};

/// How bad it is, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It contradicts itself, or it does harm as soon as something fails.
    Mistake,
    /// It does harm under circumstances that the reason names.
    Risk,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Mistake => "mistake",
            Severity::Risk => "risk",
        }
    }
}

/// One kind of mistake.
#[derive(Clone, Copy, Debug)]
pub struct Trap {
    /// What it is called by; stable.
    pub name: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// When it is seen.
    pub seen: &'static str,
    /// Why it does harm.
    pub why: &'static str,
    /// Where this is known from.
    pub source: &'static str,
    /// Finds it.
    find: fn(&Facts<'_>) -> Vec<Finding>,
}

/// One place where the mistake is made.
#[derive(Clone, Debug, PartialEq)]
struct Finding {
    place: Location,
    /// What it is about: an edge, a service.
    subject: String,
    reason: String,
    /// What was computed; units are in the names.
    figures: Vec<(&'static str, f64)>,
    mend: String,
}

/// A piece of advice.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// The name of the trap.
    pub name: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where it is written.
    pub place: Location,
    /// What it is about, the first in the order of the file: an edge, a service.
    pub subject: String,
    /// Of what the same is to be said: what the same place also does it to.
    pub also: Vec<String>,
    /// What is the matter, with the numbers.
    pub reason: String,
    /// The numbers by name; units are in the names.
    pub figures: Vec<(&'static str, f64)>,
    /// What to change.
    pub mend: String,
}

/// All traps, family by family.
#[must_use]
pub fn traps() -> Vec<Trap> {
    [
        &timeout::TRAPS[..],
        &deadline::TRAPS,
        &layers::TRAPS,
        &budget::TRAPS,
        &jitter::TRAPS,
        &retry_after::TRAPS,
        &operation::TRAPS,
        &effects::TRAPS,
        &queue::TRAPS,
        &messages::TRAPS,
        &capacity::TRAPS,
        &isolation::TRAPS,
        &measurement::TRAPS,
    ]
    .concat()
}

/// All there is to say about a scenario, mistakes before risks, each in the order of the text; what `allowed` names is
/// left out.
#[must_use]
pub fn advise(facts: &Facts<'_>, allowed: &[String]) -> Vec<Advice> {
    let mut all: Vec<Advice> = Vec::new();
    for trap in traps() {
        if allowed.iter().any(|name| name == trap.name) {
            continue;
        }
        for finding in (trap.find)(facts) {
            // One line of a policy may do the same to many edges; it is said once.
            let known = all
                .iter_mut()
                .find(|known| known.name == trap.name && known.place == finding.place);
            match known {
                Some(known) => known.also.push(finding.subject),
                None => all.push(Advice {
                    name: trap.name,
                    severity: trap.severity,
                    place: finding.place,
                    subject: finding.subject,
                    also: Vec::new(),
                    reason: finding.reason,
                    figures: finding.figures,
                    mend: finding.mend,
                }),
            }
        }
    }
    // By weight, then by the order of the text: the file from its top, then the overrides.
    all.sort_by_key(|advice| {
        let position = advice.place.line_and_column;
        (advice.severity, position.is_none(), position)
    });
    all
}
