//! Load, held against what a service can do.

use super::facts::Facts;
use super::{Finding, Severity, Trap};
use crate::number::{rate, share};

/// Capacities that differ by less are those of one mix of operations.
const SAME_MIX: f64 = 0.005;

pub(super) const TRAPS: [Trap; 2] = [
    Trap {
        name: "overloaded",
        severity: Severity::Mistake,
        seen: "The clients' arrivals, each call one attempt, are on average more than the workers of a service \
               can do.",
        why: "It is overloaded before anything goes wrong; queues fill whatever the policies say.",
        source: "queueing theory: utilisation of 1 and more has no steady state",
        find: overloaded,
    },
    Trap {
        name: "retries-exceed-capacity",
        severity: Severity::Mistake,
        seen: "With all retries that attempts, budgets and breakers allow in the long run, the load is more than \
               a service can do, though without retries it is not.",
        why: "Once it fails, retries alone keep it overloaded: it does not come back when the trigger is gone.",
        source: "requirement D1; Bronson and others (HotOS 2021), Huang and others (OSDI 2022)",
        find: exceeds,
    },
];

fn overloaded(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, service) in facts.scenario.services.iter().enumerate() {
        let Some(capacity) = facts.capacity(index) else {
            continue;
        };
        let offered = facts.offered(index);
        if offered <= capacity {
            continue;
        }
        found.push(Finding {
            place: facts.of_service(index, &["concurrency"]),
            subject: service.name.clone(),
            reason: format!(
                "{} arrive where {} can be done: {} of its capacity, without a single retry",
                rate(offered),
                rate(capacity),
                share(offered / capacity)
            ),
            figures: vec![("offered_per_s", offered), ("capacity_per_s", capacity)],
            mend: "more `concurrency` or `replicas`, shorter work, or fewer arrivals".into(),
        });
    }
    found
}

fn exceeds(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, service) in facts.scenario.services.iter().enumerate() {
        let Some(capacity) = facts.capacity(index) else {
            continue;
        };
        let (offered, failing) = (facts.offered(index), facts.failing(index));
        let workers = facts.workers(index).unwrap_or(f64::INFINITY);
        // Compared in workers: what comes then is of another mix, of which more or less can be done.
        let wanted = facts.failing_holds(index);
        if offered > capacity || wanted <= workers {
            continue;
        }
        let then = failing * workers / wanted;
        let most = if !failing.is_finite() {
            "attempts come without limit".into()
        } else if (then / capacity - 1.0).abs() < SAME_MIX {
            format!("{} come", rate(failing))
        } else {
            format!(
                "{} come, of a mix of which {} can be done",
                rate(failing),
                rate(then)
            )
        };
        let room = capacity / offered - 1.0;
        let mut figures = vec![
            ("offered_per_s", offered),
            ("failing_per_s", failing),
            ("capacity_per_s", capacity),
            ("retries_per_call_at_capacity", room),
        ];
        figures.extend(then.is_finite().then_some(("capacity_then_per_s", then)));
        found.push(Finding {
            place: facts.of_service(index, &[]),
            subject: service.name.clone(),
            reason: format!(
                "{} are asked of it and {} can be done, but when everything fails {most}: it cannot come back by \
                 itself",
                rate(offered),
                rate(capacity),
            ),
            figures,
            mend: format!(
                "bound retries by a `budget`, over all layers together, to well below {} of calls, which take all the room \
                 there is ({} leave half of it to catch up), or make room",
                share(room),
                share(room / 2.0)
            ),
        });
    }
    found
}
