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

fn doubled(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in facts.hops.iter().filter(|hop| hop.retries()) {
        let retry = &hop.spec.retry;
        let may_have = |kind: &FailureKind| kind.phase() >= Phase::Send;
        let kinds = retry.unprocessed.and(retry.on).iter().filter(may_have);
        let kinds: Vec<&str> = kinds.map(FailureKind::name).collect();
        let mut sites = hop.sites.iter();
        let once = sites.find(|site| !facts.scenario.semantics(**site).idempotent);
        let (Some(site), false) = (once, kinds.is_empty()) else {
            continue;
        };
        found.push(Finding {
            place: facts.of_policy(hop, &["retry", "unprocessed"]),
            subject: hop.name.clone(),
            reason: format!(
                "{} is not idempotent and is repeated after {}, when it may have been done already",
                facts.called(*site),
                kinds.join(", ")
            ),
            figures: Vec::new(),
            mend: "take them out of `unprocessed`, or make the operation idempotent, with a key"
                .into(),
        });
    }
    found
}

/// Why none of the retries is made that the policy of a call site asks for; `None`: some are.
fn never(facts: &Facts<'_>, hop: &Hop<'_>, site: u32) -> Option<&'static str> {
    if facts.scenario.most_attempts(site) > 1 {
        return None;
    }
    let (operation, retry) = (facts.scenario.semantics(site), &hop.spec.retry);
    let of = facts.scenario.sites[site as usize].operation as usize;
    let only = |only: FailureSet| only.and(retry.on).is_empty();
    Some(if !operation.retryable {
        "must not be retried"
    } else if operation.retry_only.is_some_and(only) {
        "may be retried only after other kinds of failure"
    } else if operation.idempotent {
        "fails in other phases than those that are retried"
    } else if hop.service.operations[of].semantics.idempotent {
        "is idempotent with a key only, and none is sent"
    } else {
        "is not idempotent"
    })
}

fn refused(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in facts.hops.iter().filter(|hop| hop.says_retries()) {
        let retry = &hop.spec.retry;
        let mut sites = hop.sites.iter();
        let Some((site, why)) = sites.find_map(|&site| Some((site, never(facts, hop, site)?)))
        else {
            continue;
        };
        let kinds: Vec<&str> = retry.on.iter().map(FailureKind::name).collect();
        let (retries, are) = match retry.max_attempts {
            u32::MAX => ("retries".into(), "are"),
            2 => ("the retry".into(), "is"),
            attempts => (format!("the {} retries", attempts - 1), "are"),
        };
        found.push(Finding {
            place: facts.of_policy(hop, &["retry"]),
            subject: hop.name.clone(),
            reason: format!(
                "{retries} on {} {are} never made: {} {why}",
                kinds.join(", "),
                facts.called(site)
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
