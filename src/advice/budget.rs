//! What bounds retries over all calls, or does not.

use seawall::{Budget, FailureKind};
use sim::scenario::repeats::factor;

use super::facts::{Facts, Hop};
use super::{Finding, Severity, Trap};
use crate::number::{count, duration, plain, rate, share, times};

/// A budget below this share of calls is taken for a slip in the unit (0.2 % for 20 %).
const HARDLY_ANY: f64 = 0.01;
/// Savings that calls take longer than this to earn outweigh what the budget says.
const SAVED_UP_S: f64 = 60.0;

pub(super) const TRAPS: [Trap; 5] = [
    Trap {
        name: "timeouts-retried-unbounded",
        severity: Severity::Mistake,
        seen: "`timeout` or `deadline_exceeded` is retried, and neither a budget nor a breaker bounds it.",
        why: "A service that is too slow because it has too much to do gets more to do. This is the vicious \
              circle of a retry storm.",
        source: "requirements A5, D6; Bronson and others, Metastable failures in distributed systems (HotOS 2021)",
        find: timeouts,
    },
    Trap {
        name: "no-budget",
        severity: Severity::Risk,
        seen: "Other failures are retried, and neither a budget nor a breaker bounds it.",
        why: "The limit of attempts bounds one call. Only a budget bounds the sum, and the sum is what falls on \
              the service when everything fails.",
        source: "requirement A9; Marc Brooker, Fixing retries with token buckets and circuit breakers (2022)",
        find: none,
    },
    Trap {
        name: "budget-of-next-to-nothing",
        severity: Severity::Risk,
        seen: "A budget allows less than 1 % of calls to be retried.",
        why: "20 % is easily written as 0.2 %, and then there are practically no retries.",
        source: "istio issue 59504 (`percent: 0.2`)",
        find: next_to_nothing,
    },
    Trap {
        name: "budget-of-everything",
        severity: Severity::Mistake,
        seen: "A budget allows as many retries as there are calls, or more.",
        why: "It bounds nothing that the limit of attempts does not bound already, or hardly.",
        source: "requirement A9; Google SRE book, Handling overload (a budget of 10 %)",
        find: everything,
    },
    Trap {
        name: "budget-saved-up",
        severity: Severity::Risk,
        seen: "The buckets of all processes together hold more retries than calls earn in a minute.",
        why: "The bucket starts full, in each process. What is saved up can be spent at once, on the day it \
              does most harm.",
        source: "requirement A9; linkerd issue 737",
        find: saved_up,
    },
];

const SLOW: [FailureKind; 2] = [FailureKind::Timeout, FailureKind::DeadlineExceeded];

fn timeouts(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in facts.hops.iter().filter(|hop| !hop.bounded()) {
        let kinds = hop.retried(&SLOW);
        if kinds.is_empty() {
            continue;
        }
        found.push(Finding {
            place: facts.of_policy(hop, &["retry", "on"]),
            subject: hop.name.clone(),
            reason: format!(
                "{} retried with no budget: when {} is slow, {} per second become {}",
                is(&kinds),
                hop.service.name,
                per_second(hop.calls_per_s),
                most(hop),
            ),
            figures: figures(hop),
            mend: "add a `budget` (10 % of calls is usual), or retry only what is not a sign of overload".into(),
        });
    }
    found
}

fn none(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in &facts.hops {
        if hop.bounded() || !hop.retries() || !hop.retried(&SLOW).is_empty() {
            continue;
        }
        found.push(Finding {
            place: facts.of_policy(hop, &["retry"]),
            subject: hop.name.clone(),
            reason: format!(
                "nothing bounds retries over all calls: when {} fails, {} per second become {}",
                hop.service.name,
                per_second(hop.calls_per_s),
                most(hop),
            ),
            figures: figures(hop),
            mend: "add a `budget`, such as `budget: { ratio: { percent: 10%, burst: 10 } }`".into(),
        });
    }
    found
}

fn is(kinds: &[&str]) -> String {
    let named: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
    match named.len() {
        1 => format!("{} is", named[0]),
        _ => format!("{} are", named.join(" and ")),
    }
}

fn per_second(calls: f64) -> String {
    format!("{} calls", plain(calls))
}

fn most(hop: &Hop<'_>) -> String {
    match hop.most {
        u32::MAX => "attempts without limit".into(),
        _ => format!("up to {} attempts", plain(hop.attempts_per_s)),
    }
}

fn figures(hop: &Hop<'_>) -> Vec<(&'static str, f64)> {
    let attempts = factor(hop.most);
    vec![
        ("calls_per_s", hop.calls_per_s),
        ("attempts_per_call", attempts),
    ]
}

/// Retries per event and the most that is saved up, of budgets that say so, and where the ratio is written.
fn ratio(budget: &Budget) -> Option<(f64, &'static str)> {
    match budget {
        Budget::Ratio { ratio, .. } => Some((*ratio, "ratio")),
        Budget::Windowed { ratio, .. } => Some((*ratio, "windowed")),
        Budget::Finagle(budget) => Some((budget.percent_can_retry, "finagle")),
        Budget::TowerTps(budget) => Some((f64::from(budget.retry_percent), "tower_tps")),
        _ => None,
    }
}

fn next_to_nothing(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in facts.hops.iter().filter(|hop| hop.retries()) {
        let Some((ratio, key)) = ratio(&hop.spec.budget) else {
            continue;
        };
        if !(ratio > 0.0 && ratio < HARDLY_ANY) {
            continue;
        }
        let earned = ratio * hop.calls_per_s / f64::from(hop.processes);
        if earned <= 0.0 {
            continue;
        }
        found.push(Finding {
            place: facts.of_policy(hop, &["budget", key]),
            subject: hop.name.clone(),
            reason: format!(
                "{} of calls may be retried, one retry in {} for each process at the usual load; was {} meant?",
                share(ratio),
                duration(1.0 / earned),
                share(ratio * 100.0)
            ),
            figures: vec![("ratio", ratio), ("retries_per_s_and_process", earned)],
            mend: format!("`percent: {}`, if a ratio was meant", plain(ratio * 100.0 * 100.0) + "%"),
        });
    }
    found
}

fn everything(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in facts.hops.iter().filter(|hop| hop.retries()) {
        let Some((ratio, key)) = ratio(&hop.spec.budget).filter(|(ratio, _)| *ratio >= 1.0) else {
            continue;
        };
        found.push(Finding {
            place: facts.of_policy(hop, &["budget", key]),
            subject: hop.name.clone(),
            reason: format!(
                "a budget of {} retries per call, where {} allow {}: it bounds next to nothing",
                plain(ratio),
                hop.attempts(),
                match hop.most {
                    u32::MAX => "any number".into(),
                    n => (n - 1).to_string(),
                }
            ),
            figures: vec![("ratio", ratio)],
            mend: "a tenth is usual: `percent: 10%`".into(),
        });
    }
    found
}

fn saved_up(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in facts.hops.iter().filter(|hop| hop.retries()) {
        let Budget::Ratio { ratio, burst, .. } = hop.spec.budget else {
            continue;
        };
        let (saved, earned) = (burst * f64::from(hop.processes), ratio * hop.calls_per_s);
        if earned <= 0.0 || saved <= SAVED_UP_S * earned {
            continue;
        }
        found.push(Finding {
            place: facts.of_policy(hop, &["budget", "ratio", "burst"]),
            subject: hop.name.clone(),
            reason: format!(
                "{} process{} with {} retries saved up each can make {} retries on top, what calls earn in {} \
                 ({}): {} the budget for a minute",
                count(u64::from(hop.processes)),
                if hop.processes == 1 { "" } else { "es" },
                plain(burst),
                plain(saved),
                duration(saved / earned),
                rate(earned),
                times(1.0 + saved / earned / SAVED_UP_S),
            ),
            figures: vec![
                ("saved_up", saved),
                ("earned_per_s", earned),
                ("earned_in_s", saved / earned),
            ],
            mend: format!(
                "`burst: {}` is ten seconds' worth",
                plain((10.0 * earned / f64::from(hop.processes)).max(1.0).ceil())
            ),
        });
    }
    found
}
