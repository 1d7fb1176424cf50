//! What may be repeated, and what there is no use in repeating.

use seawall::{FailureKind, FailureSet, Phase};

use super::facts::{Facts, Hop};
use super::{Finding, Severity, Trap};

pub(super) const TRAPS: [Trap; 3] = [
    Trap {
        name: "effects-doubled",
        severity: Severity::Mistake,
        seen: "An operation is not idempotent, and `unprocessed` names kinds of failure after which the service \
               may have done the work.",
        why: "The retry does it a second time: two orders, two messages.",
        source: "requirements A5, C1; istio issue 50506",
        find: doubled,
    },
    Trap {
        name: "retries-refused",
        severity: Severity::Mistake,
        seen: "A policy retries, but nothing that it retries may be: the operation is not retryable, or not \
               idempotent while the service may have seen every request, or has a list of kinds with none of \
               the policy's.",
        why: "The retries that were written are never made.",
        source: "requirement A5, A6",
        find: refused,
    },
    Trap {
        name: "hopeless-retries",
        severity: Severity::Mistake,
        seen: "Kinds are retried whose next attempt fails as the first did: invalid, permission_denied, conflict, \
               unauthenticated, tls, decode.",
        why: "Each such call costs all its attempts, for certain and for nothing.",
        source: "requirement A5",
        find: hopeless,
    },
];

/// Failures that repeating does not mend.
const HOPELESS: [FailureKind; 6] = [
    FailureKind::Tls,
    FailureKind::Unauthenticated,
    FailureKind::Conflict,
    FailureKind::PermissionDenied,
    FailureKind::Invalid,
    FailureKind::Decode,
];

/// The operations that `hop` calls: name and semantics.
fn operations<'h>(
    facts: &'h Facts<'_>,
    hop: &'h Hop<'_>,
) -> impl Iterator<Item = &'h sim::scenario::model::ServiceOperation> {
    let sites = hop.sites.iter();
    sites.map(|&site| {
        &hop.service.operations[facts.scenario.sites[site as usize].operation as usize]
    })
}

fn doubled(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in facts.hops.iter().filter(|hop| hop.retries()) {
        let retry = &hop.spec.retry;
        let may_have = |kind: &FailureKind| kind.phase() >= Phase::Send;
        let kinds = retry.unprocessed.and(retry.on).iter().filter(may_have);
        let kinds: Vec<&str> = kinds.map(FailureKind::name).collect();
        let once = operations(facts, hop).find(|operation| !operation.semantics.idempotent);
        let (Some(operation), false) = (once, kinds.is_empty()) else {
            continue;
        };
        found.push(Finding {
            place: facts.of_policy(hop, &["retry", "unprocessed"]),
            subject: hop.name.clone(),
            reason: format!(
                "{}{} is not idempotent and is repeated after {}, when it may have been done already",
                hop.service.name,
                named(&operation.name),
                kinds.join(", ")
            ),
            figures: Vec::new(),
            mend: "take them out of `unprocessed`, or make the operation idempotent, with a key".into(),
        });
    }
    found
}

fn named(operation: &str) -> String {
    match operation {
        "default" => String::new(),
        operation => format!(".{operation}"),
    }
}

fn refused(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in facts.hops.iter().filter(|hop| hop.retries()) {
        let retry = &hop.spec.retry;
        // Kinds that can be retried at all if the operation is not idempotent.
        let unseen = retry
            .on
            .iter()
            .filter(|kind| retry.unprocessed.contains(*kind) || kind.phase() < Phase::Send);
        let unseen = unseen.fold(FailureSet::NONE, FailureSet::with);
        let why = operations(facts, hop).find_map(|operation| {
            let semantics = operation.semantics;
            let name = &operation.name;
            if !semantics.retryable {
                Some((name, "must not be retried".to_string()))
            } else if semantics
                .retry_only
                .is_some_and(|only| only.and(retry.on).is_empty())
            {
                Some((
                    name,
                    "may be retried only after other kinds of failure".into(),
                ))
            } else if !semantics.idempotent && unseen.is_empty() {
                Some((name, "is not idempotent".into()))
            } else {
                None
            }
        });
        let Some((operation, why)) = why else {
            continue;
        };
        let kinds: Vec<&str> = retry.on.iter().map(FailureKind::name).collect();
        found.push(Finding {
            place: facts.of_policy(hop, &["retry"]),
            subject: hop.name.clone(),
            reason: format!(
                "{} on {} are never made: {}{} {why}",
                hop.attempts(),
                kinds.join(", "),
                hop.service.name,
                named(operation)
            ),
            figures: Vec::new(),
            mend: "call it under a policy without retries, or say what may be repeated and when"
                .into(),
        });
    }
    found
}

fn hopeless(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in &facts.hops {
        let kinds = hop.retried(&HOPELESS);
        if kinds.is_empty() {
            continue;
        }
        found.push(Finding {
            place: facts.of_policy(hop, &["retry", "on"]),
            subject: hop.name.clone(),
            reason: format!(
                "{} {} retried, though the next attempt fails as the first did: {} for each such call",
                kinds.join(", "),
                if kinds.len() == 1 { "is" } else { "are" },
                hop.attempts()
            ),
            figures: vec![("kinds", kinds.len() as f64)],
            mend: "take them out of `on`".into(),
        });
    }
    found
}
