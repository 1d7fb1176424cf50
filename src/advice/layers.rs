//! Retries of several layers.

use sim::scenario::model::Caller;

use super::facts::{Facts, Hop};
use super::{Finding, Severity, Trap};
use crate::number::plain;

pub(super) const TRAPS: [Trap; 2] = [
    Trap {
        name: "stacked-retries",
        severity: Severity::Mistake,
        seen: "Two or more layers on the way to a service retry, and neither a budget nor a breaker bounds them.",
        why: "Attempts multiply: with a attempts in each of k layers one call is at worst a to the power of k \
              attempts at the bottom. While 1 % of attempts fail nobody sees it.",
        source: "requirement A10; istio issues 20547 and 50506; Google SRE book, Handling overload",
        find: stacked,
    },
    Trap {
        name: "endless-attempts",
        severity: Severity::Mistake,
        seen: "A policy with attempts without limit has no deadline either.",
        why: "While the service fails no call ever ends, and every new one adds to those that try.",
        source: "requirement A2; Sam Rose, Retries, with the comments of its readers",
        find: endless,
    },
];

/// The retrying edges without a bound on the way down to the service of `hop` that multiply most, from the top.
fn way<'h, 'a>(facts: &'h Facts<'a>, hop: &'h Hop<'a>, depth: usize) -> Vec<&'h Hop<'a>> {
    let mut best: Vec<&Hop<'a>> = Vec::new();
    // Services may call each other, though no call goes in a circle; no way is longer than all edges.
    if depth < facts.hops.len() {
        for above in facts.above(hop) {
            let way = way(facts, above, depth + 1);
            if product(&way) > product(&best) {
                best = way;
            }
        }
    }
    if hop.retries() && !hop.bounded() {
        best.push(hop);
    }
    best
}

fn product(way: &[&Hop<'_>]) -> f64 {
    way.iter()
        .map(|hop| match hop.spec.max_attempts() {
            u32::MAX => f64::INFINITY,
            n => f64::from(n),
        })
        .product()
}

fn stacked(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (service, named) in facts.scenario.services.iter().enumerate() {
        // Said where the way ends: at the lowest service that a retrying edge leads to.
        let ways = facts.to(service).map(|hop| way(facts, hop, 0));
        let Some(way) = ways
            .filter(|way| {
                way.len() > 1
                    && way
                        .last()
                        .is_some_and(|hop| hop.edge.service as usize == service)
            })
            .max_by(|a, b| product(a).total_cmp(&product(b)))
        else {
            continue;
        };
        let further = facts.hops.iter().any(|hop| {
            hop.edge.caller == Caller::Service(service as u32) && hop.retries() && !hop.bounded()
        });
        if further {
            continue;
        }
        let last = way[way.len() - 1];
        let worst = facts.topology.worst_amplification[service];
        let factors: Vec<String> = way
            .iter()
            .map(|hop| match hop.spec.max_attempts() {
                u32::MAX => "∞".into(),
                n => n.to_string(),
            })
            .collect();
        let layers: Vec<&str> = way.iter().map(|hop| hop.caller).collect();
        let all = product(&way);
        found.push(Finding {
            place: facts.of_policy(last, &["retry", "max_attempts"]),
            subject: named.name.clone(),
            reason: format!(
                "{} layers retry on the way to {} ({}): {} = {} attempts for one call when it fails{}",
                way.len(),
                named.name,
                layers.join(", "),
                factors.join(" × "),
                if all.is_finite() { plain(all) } else { "∞".into() },
                if worst > all {
                    format!("; {} with the bounded layers", plain(worst))
                } else {
                    String::new()
                }
            ),
            figures: vec![
                ("layers", way.len() as f64),
                ("attempts_per_call", all),
                ("worst_amplification", worst),
            ],
            mend: "let one layer retry, the one that knows the operation (`max_attempts: 1` in the others), or \
                   give each a `budget`"
                .into(),
        });
    }
    found
}

fn endless(facts: &Facts<'_>) -> Vec<Finding> {
    let endless = facts.hops.iter().filter(|hop| {
        hop.retries() && hop.spec.retry.max_attempts == u32::MAX && hop.deadline.is_none()
    });
    endless
        .map(|hop| Finding {
            place: facts.of_policy(hop, &["retry", "max_attempts"]),
            subject: hop.name.clone(),
            reason: format!(
                "attempts without limit and no deadline: while {} fails, no call ends",
                hop.service.name
            ),
            figures: Vec::new(),
            mend: "set a `deadline` or a limit of attempts".into(),
        })
        .collect()
}
