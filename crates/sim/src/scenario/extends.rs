//! Policies that extend others, merged before they are read.
//!
//! The keys of the extended policy hold where the other does not say otherwise; `deadline`, `retry` and
//! what is in them that has keys of its own are merged key by key, everything else is replaced whole.

use super::problem::Problems;
use super::tree::{At, Node, Value};
use super::written::mend;

/// Keys whose maps are merged; the maps under other keys say one of several things, which cannot mix.
const MERGED: [&str; 5] = ["deadline", "retry", "retry_after", "breaker", "bulkhead"];

/// Replaces each policy that extends another by both merged. Unknown names and circles are reported.
pub(super) fn resolve(root: &mut Node, problems: &mut Problems) {
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
        merge(&mut result, node);
        next = node.get("extends");
    }
    result
}

/// Adds to `node` what `base` says and `node` does not.
fn merge(node: &mut Node, base: &Node) {
    let (Value::Map(own), Value::Map(base)) = (&mut node.value, &base.value) else {
        return;
    };
    for (key, value) in base {
        match own.iter_mut().find(|(known, _)| known.value == key.value) {
            Some((_, mine)) if MERGED.contains(&key.value.as_str()) => merge(mine, value),
            Some(_) => {}
            None => own.push((key.clone(), value.clone())),
        }
    }
}
