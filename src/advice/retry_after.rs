//! Waits that the service asks for.

use seawall::{Failure, FailureKind, Reply, Span};
use sim::scenario::model::FaultKind;
use sim::step::Instr;

use super::facts::{Facts, Hop};
use super::{Finding, Severity, Trap};
use crate::number::{duration, plain};

pub(super) const TRAPS: [Trap; 3] = [
    Trap {
        name: "overloaded-retried-blindly",
        severity: Severity::Mistake,
        seen: "`overloaded` (429, RESOURCE_EXHAUSTED) is retried, but the wait that the service asks for is \
               ignored, or the service never asks for one.",
        why: "The service said that it gets too much; coming back when one likes is more of it.",
        source: "requirement A5; gRPC codes: RESOURCE_EXHAUSTED only when asked for",
        find: blindly,
    },
    Trap {
        name: "retry-after-herd",
        severity: Severity::Mistake,
        seen: "A service asks its callers to come back after some time, and they add no random wait.",
        why: "All that were refused come back at the same moment, on top of the usual load.",
        source: "requirement A8; electric pull request 4322 (a floor plus a random wait)",
        find: herd,
    },
    Trap {
        name: "retry-after-out-of-reach",
        severity: Severity::Risk,
        seen: "The wait that a service asks for is longer than the call may take, or than the longest that is \
               accepted.",
        why: "The retry is never made. That is right, but who counts on it is mistaken.",
        source: "requirements A8, C5",
        find: out_of_reach,
    },
];

/// The failures that the service of `hop` answers by itself or by a fault.
fn answers(facts: &Facts<'_>, hop: &Hop<'_>) -> Vec<Failure> {
    let (scenario, code) = (facts.scenario, &facts.scenario.code);
    let faults = scenario.faults.iter().filter_map(|fault| match fault.kind {
        FaultKind::Errors {
            service, failure, ..
        } if service == hop.edge.service => Some(failure),
        _ => None,
    });
    let called = hop.sites.iter().map(|&site| {
        let operation = scenario.sites[site as usize].operation as usize;
        hop.service.operations[operation].entry
    });
    let programs = called.flat_map(|entry| code.reachable(entry));
    let own = programs.filter_map(|instr| match instr {
        Instr::Respond(reply) => match code.replies[*reply as usize] {
            Reply::Failed(failure) => Some(failure),
            Reply::Ok => None,
        },
        _ => None,
    });
    faults.chain(own).collect()
}

/// The longest wait asked for that would be retried.
fn asked(facts: &Facts<'_>, hop: &Hop<'_>) -> Option<Span> {
    let answers = answers(facts, hop);
    let retried = answers.iter().filter(|f| hop.retries_on(f.kind));
    retried.filter_map(|failure| failure.retry_after).max()
}

fn blindly(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in &facts.hops {
        if !hop.retries_on(FailureKind::Overloaded) {
            continue;
        }
        let answers = answers(facts, hop);
        let mut refusals = answers
            .iter()
            .filter(|failure| failure.kind == FailureKind::Overloaded);
        let honour = hop.spec.retry.retry_after.honour;
        let unasked = refusals.any(|failure| failure.retry_after.is_none());
        if honour && !unasked {
            continue;
        }
        let (key, reason, mend) = if honour {
            (
                "on",
                format!(
                    "`overloaded` is retried, and {} answers it without saying when to come back",
                    hop.service.name
                ),
                "take `overloaded` out of `on`, or let the service answer with a `retry_after`",
            )
        } else {
            (
                "retry_after",
                "`overloaded` is retried, and the wait that comes with it is ignored".into(),
                "`retry_after: { honour: true }`, or take `overloaded` out of `on`",
            )
        };
        found.push(Finding {
            place: facts.of_policy(hop, &["retry", key]),
            subject: hop.name.clone(),
            reason,
            figures: Vec::new(),
            mend: mend.into(),
        });
    }
    found
}

/// Whether the wait is within what the policy accepts and the deadline allows.
fn in_reach(hop: &Hop<'_>, asked: Span) -> bool {
    asked <= hop.spec.retry.retry_after.max && hop.deadline.is_none_or(|deadline| asked < deadline)
}

fn herd(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in &facts.hops {
        let rule = hop.spec.retry.retry_after;
        let Some(asked) = asked(facts, hop).filter(|&asked| in_reach(hop, asked)) else {
            continue;
        };
        // A policy with a rule of its own for such waits spreads them by that rule.
        if !rule.honour || rule.spread > Span::ZERO || hop.spec.retry.backoff.reads_asked() {
            continue;
        }
        let wait = asked.as_secs_f64();
        found.push(Finding {
            place: facts.of_policy(hop, &["retry", "retry_after"]),
            subject: hop.name.clone(),
            reason: format!(
                "{} asks to come back in {}, and everybody does: {} calls per second that were refused return on \
                 top of those that come anyway",
                hop.service.name,
                duration(wait),
                plain(hop.calls_per_s)
            ),
            figures: vec![("asked_s", wait), ("calls_per_s", hop.calls_per_s)],
            mend: format!("`retry_after: {{ spread: {asked} }}`"),
        });
    }
    found
}

fn out_of_reach(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in &facts.hops {
        let Some(asked) = asked(facts, hop).filter(|&asked| !in_reach(hop, asked)) else {
            continue;
        };
        if !hop.spec.retry.retry_after.honour {
            continue;
        }
        let accepted = hop.spec.retry.retry_after.max;
        let limit = hop
            .deadline
            .map_or(accepted, |deadline| deadline.min(accepted));
        let key = if limit == accepted {
            "retry_after"
        } else {
            "on"
        };
        found.push(Finding {
            place: facts.of_policy(hop, &["retry", key]),
            subject: hop.name.clone(),
            reason: format!(
                "{} asks to come back in {}, and a call waits {} at most: it stops after the first refusal",
                hop.service.name,
                duration(asked.as_secs_f64()),
                duration(limit.as_secs_f64())
            ),
            figures: vec![
                ("asked_s", asked.as_secs_f64()),
                ("limit_s", limit.as_secs_f64()),
            ],
            mend: "nothing, if that is meant; else a longer deadline, or another way to do without the answer"
                .into(),
        });
    }
    found
}
