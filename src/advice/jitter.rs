//! Waits before retries.

use super::facts::{Draw, Facts, Hop};
use super::{Finding, Severity, Trap};
use crate::number::{count, duration, rate};
use seawall::Span;

pub(super) const TRAPS: [Trap; 3] = [
    Trap {
        name: "no-jitter",
        severity: Severity::Mistake,
        seen: "Several processes retry after waits without jitter.",
        why: "What failed together comes back together, and again and again: the service is idle between the \
              waves and refuses in each of them.",
        source: "requirements D3, D6; AWS Architecture Blog, Exponential backoff and jitter (2015)",
        find: none,
    },
    Trap {
        name: "narrow-jitter",
        severity: Severity::Risk,
        seen: "Processes that loop have jitter, but if all of them fail at once, even their widest wait brings \
               them back at a higher rate than the service can serve.",
        why: "Jitter is not enough jitter: what counts is the rate at the peak, not the mean.",
        source: "users' trap 7; rails pull request 31872, redis-py EqualJitter",
        find: narrow,
    },
    Trap {
        name: "no-backoff",
        severity: Severity::Risk,
        seen: "A retry is sent without any wait.",
        why: "What made the attempt fail is still there a moment later, and the service gets all its attempts \
              at once.",
        source: "requirement A7; Google SRE book, Addressing cascading failures",
        find: no_backoff,
    },
];

/// The first few waits: smallest and largest.
fn waits(hop: &Hop<'_>) -> Vec<(Span, Span)> {
    let backoff = &hop.spec.retry.backoff;
    let retries = hop.spec.retry.max_attempts.saturating_sub(1).min(10) as usize;
    let (smallest, largest) = (Draw::Smallest.waits(backoff), Draw::Largest.waits(backoff));
    smallest.zip(largest).take(retries).collect()
}

fn none(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in &facts.hops {
        let waits = waits(hop);
        let fixed = waits.iter().all(|(smallest, largest)| smallest == largest);
        let any = waits.iter().any(|(_, largest)| *largest > Span::ZERO);
        if !hop.retries() || hop.processes < 2 || !fixed || !any {
            continue;
        }
        let first = waits[0].0.as_secs_f64();
        found.push(Finding {
            place: facts.of_policy(hop, &["retry", "backoff"]),
            subject: hop.name.clone(),
            reason: format!(
                "{} processes wait exactly {} before the first retry: what fails together comes back together",
                count(u64::from(hop.processes)),
                duration(first)
            ),
            figures: vec![
                ("processes", f64::from(hop.processes)),
                ("first_wait_s", first),
            ],
            mend: "`jitter: full` spreads each wait over all of its length".into(),
        });
    }
    found
}

fn narrow(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in facts
        .hops
        .iter()
        .filter(|hop| hop.retries() && facts.loops(hop))
    {
        let widest = waits(hop)
            .iter()
            .map(|(smallest, largest)| largest.minus(*smallest))
            .max();
        let Some(widest) = widest.filter(|widest| *widest > Span::ZERO) else {
            continue;
        };
        let Some(capacity) = facts.capacity(hop.edge.service as usize) else {
            continue;
        };
        let (widest, processes) = (widest.as_secs_f64(), f64::from(hop.processes));
        let peak = processes / widest;
        if peak <= capacity {
            continue;
        }
        found.push(Finding {
            place: facts.of_policy(hop, &["retry", "backoff"]),
            subject: hop.name.clone(),
            reason: format!(
                "{} processes that fail together come back within {} at most: {} at {}, which can do {}",
                count(u64::from(hop.processes)),
                duration(widest),
                rate(peak),
                hop.service.name,
                rate(capacity)
            ),
            figures: vec![
                ("widest_spread_s", widest),
                ("peak_per_s", peak),
                ("capacity_per_s", capacity),
            ],
            mend: format!(
                "spread the later waits over {} or more: a larger `max`, full jitter",
                duration(processes / capacity)
            ),
        });
    }
    found
}

fn no_backoff(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in &facts.hops {
        let waits = waits(hop);
        let any = waits.iter().any(|(_, largest)| *largest > Span::ZERO);
        if !hop.retries() || any {
            continue;
        }
        found.push(Finding {
            place: facts.of_policy(hop, &["retry", "backoff"]),
            subject: hop.name.clone(),
            reason: format!("{} follow each other without a wait", hop.attempts()),
            figures: vec![("longest_wait_s", 0.0)],
            mend: "`backoff: { exponential: { base: 50ms, max: 1s, jitter: full } }`, or as fits the deadline"
                .into(),
        });
    }
    found
}
