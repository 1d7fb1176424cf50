//! What an experiment promises about some of its points.

use super::axis::{Axis, Raw};
use super::plot::find;
use crate::scenario::problem::Problems;
use crate::scenario::tree::{At, Node, Position, Value};
use crate::scenario::written::{Table, Tried, mend, record};

/// A promise about the points whose axes have some of these values.
#[derive(Clone, Debug, PartialEq)]
pub struct Promise {
    /// What holds there in every replication, as written.
    pub holds: String,
    /// By axis, the steps at which it does; axes not named here may be anywhere.
    pub at: Vec<(usize, Vec<usize>)>,
    /// Where it is written.
    pub(super) place: Position,
}

record! {
    /// A promise about some points.
    pub(crate) struct PromiseFile {
        /// Where it holds: by axis, one of its values or a list of them, as written in `vary`. By default
        /// everywhere.
        at: Table<Raw>,
        /// What holds there in every replication, as in the promises of a scenario:
        /// "amplification(api) <= 1.2".
        holds: Tried<At<String>>,
    }
}

impl Promise {
    /// Whether it is about the point with these steps.
    #[must_use]
    pub fn is_about(&self, steps: &[usize]) -> bool {
        let mut named = self.at.iter();
        named.all(|(axis, allowed)| allowed.contains(&steps[*axis]))
    }
}

/// What is written means this; the wrong ones are left out and reported.
pub(super) fn mean(
    promises: Vec<PromiseFile>,
    axes: &[Axis],
    problems: &mut Problems,
) -> Vec<Promise> {
    let mut meant = Vec::new();
    for (i, promise) in promises.into_iter().enumerate() {
        problems.within(&format!("expect.{i}"), |problems| {
            let at = places(promise.at, axes, problems);
            if let (Some(holds), Some(at)) = (promise.holds.0, at) {
                meant.push(Promise {
                    holds: holds.value,
                    at,
                    place: holds.at,
                });
            }
        });
    }
    meant
}

fn places(
    at: Table<Raw>,
    axes: &[Axis],
    problems: &mut Problems,
) -> Option<Vec<(usize, Vec<usize>)>> {
    let mut named = Vec::with_capacity(at.0.len());
    let mut right = true;
    for entry in at.0 {
        let names = axes.iter().map(|axis| axis.name.as_str());
        let axis = find(problems, "nothing is varied under", &entry.name, names);
        let steps = axis
            .zip(entry.value)
            .and_then(|(axis, Raw(node))| Some((axis, steps(&node, &axes[axis], problems)?)));
        right &= steps.is_some();
        named.extend(steps);
    }
    right.then_some(named)
}

/// The steps that a value or a list of values names.
fn steps(node: &Node, axis: &Axis, problems: &mut Problems) -> Option<Vec<usize>> {
    let nodes = match &node.value {
        Value::Seq(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let mut found = Vec::with_capacity(nodes.len());
    for node in nodes {
        let label = node.scalar().unwrap_or_default();
        let known = axis.steps.iter().map(|step| step.label.as_str());
        match known.clone().position(|known| known == label) {
            Some(step) => found.push(step),
            None => {
                let mend = mend(label, known);
                let message = format!("`{}` is never `{label}`: {mend}", axis.name);
                problems.report(node.at, message);
            }
        }
    }
    (found.len() == nodes.len()).then_some(found)
}
