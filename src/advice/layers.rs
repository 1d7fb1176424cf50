//! Retries of several layers.

use sim::scenario::repeats::factor;

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

/// By call site: the calls that are retried without a bound on the way down to it, itself included, that multiply most,
/// from the top.
struct Ways<'f, 'a> {
    facts: &'f Facts<'a>,
    known: Vec<Option<Vec<u32>>>,
}

impl Ways<'_, '_> {
    fn to(&mut self, site: u32) -> Vec<u32> {
        if let Some(known) = &self.known[site as usize] {
            return known.clone();
        }
        // Whoever asks for a token may need one for that: such a circle is gone round once.
        self.known[site as usize] = Some(Vec::new());
        let facts = self.facts;
        let mut best: Vec<u32> = Vec::new();
        for &above in &facts.topology.reach.above[site as usize] {
            let way = self.to(above);
            if product(facts, &way) > product(facts, &best) {
                best = way;
            }
        }
        if multiplies(facts, site) {
            best.push(site);
        }
        self.known[site as usize] = Some(best.clone());
        best
    }
}

/// Whether calls from a call site are retried without a bound.
fn multiplies(facts: &Facts<'_>, site: u32) -> bool {
    let hop = facts.hop_of(site);
    hop.is_some_and(|hop| hop.retries() && !hop.bounded() && facts.scenario.most_attempts(site) > 1)
}

fn attempts(facts: &Facts<'_>, site: u32) -> f64 {
    factor(facts.scenario.most_attempts(site))
}

fn product(facts: &Facts<'_>, way: &[u32]) -> f64 {
    way.iter().map(|site| attempts(facts, *site)).product()
}

fn stacked(facts: &Facts<'_>) -> Vec<Finding> {
    let mut ways = Ways {
        facts,
        known: vec![None; facts.scenario.sites.len()],
    };
    let mut found = Vec::new();
    for (service, named) in facts.scenario.services.iter().enumerate() {
        // Said where the way ends: at the lowest service that a retried call leads to.
        let ends = facts.to(service).flat_map(|hop| &hop.sites).filter(|site| {
            let mut below = facts.topology.reach.below(**site);
            multiplies(facts, **site) && !below.any(|below| multiplies(facts, below))
        });
        let to = ends.map(|site| ways.to(*site)).filter(|way| way.len() > 1);
        let worst = to.max_by(|a, b| product(facts, a).total_cmp(&product(facts, b)));
        let Some(way) = worst else { continue };
        let layers: Vec<&Hop<'_>> = way.iter().filter_map(|site| facts.hop_of(*site)).collect();
        let Some((last, site)) = layers.last().zip(way.last()) else {
            continue;
        };
        let worst = facts.topology.worst_amplification[service];
        let factors: Vec<String> = way
            .iter()
            .map(|site| match facts.scenario.most_attempts(*site) {
                u32::MAX => "∞".into(),
                n => n.to_string(),
            })
            .collect();
        let callers: Vec<&str> = layers.iter().map(|hop| hop.caller).collect();
        let all = product(facts, &way);
        found.push(Finding {
            place: facts.of_policy(last, &["retry", "max_attempts"]),
            subject: named.name.clone(),
            reason: format!(
                "{} layers retry on the way to {} ({}): {} = {} attempts for one call when it fails{}",
                way.len(),
                facts.called(*site),
                callers.join(", "),
                factors.join(" × "),
                if all.is_finite() { plain(all) } else { "∞".into() },
                if worst > all {
                    format!("; {} with all that is bounded or called besides", plain(worst))
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
