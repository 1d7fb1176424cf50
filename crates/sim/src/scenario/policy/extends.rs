//! Policies that extend others or begin with a preset, merged before they are read.
//!
//! The keys of the extended policy hold where the other does not say otherwise, key by key as far down as
//! both say the same kind of thing; where they do not, everything below is replaced. A preset comes last.

use seawall::Spec;

use super::preset::lay_preset;
use crate::scenario::problem::Problems;
use crate::scenario::tree::{At, Node, Value};
use crate::scenario::written::{Layered, mend};

/// Replaces each policy that extends another by both merged. Unknown names and circles are reported.
pub(crate) fn resolve(root: &mut Node, problems: &mut Problems) {
    let Value::Map(blocks) = &mut root.value else {
        return;
    };
    let policies = blocks.iter_mut().find(|(key, _)| key.value == "policies");
    let Some(Value::Map(policies)) = policies.map(|(_, policies)| &mut policies.value) else {
        return;
    };
    let written = policies.clone();
    for (name, policy) in policies {
        *policy = merged(name, policy, &written, problems);
    }
}

/// `policy` with all that it extends, directly or not.
fn merged(
    name: &At<String>,
    policy: &Node,
    written: &[(At<String>, Node)],
    problems: &mut Problems,
) -> Node {
    let mut result = policy.clone();
    let mut chain = vec![name.value.as_str()];
    let mut next = policy.get("extends");
    while let Some(base) = next {
        let Some(base_name) = base.scalar() else {
            break;
        };
        let Some((known, node)) = written.iter().find(|(key, _)| key.value == base_name) else {
            let names = written.iter().map(|(key, _)| key.value.as_str());
            let hint = mend(base_name, names);
            problems.report(
                base.at,
                format!("no policy is called `{base_name}`: {hint}"),
            );
            break;
        };
        if chain.contains(&base_name) {
            // Every policy of the circle, and every one that leads there, meets it; the first tells.
            let first = written
                .iter()
                .find(|(key, _)| chain.contains(&key.value.as_str()));
            if base_name == name.value && first.is_some_and(|(first, _)| first == name) {
                let chain = chain.join(" -> ");
                let message =
                    format!("{chain} -> {base_name}: policies extend each other in a circle");
                problems.report(name.at, message);
            }
            break;
        }
        chain.push(&known.value);
        Spec::lay(&mut result, node);
        next = node.get("extends");
    }
    lay_preset(&mut result);
    result
}
