//! Breakers, bulkheads and other bounds that do not do what they are for.

use seawall::breaker::Resilience4jWindow;
use seawall::{BreakerRule, Counts, FailureKind, Span, Window};
use sim::scenario::model::Caller;

use super::facts::{Facts, Hop};
use super::{Finding, Severity, Trap};
use crate::number::{count, duration, plain, rate};

pub(super) const TRAPS: [Trap; 5] = [
    Trap {
        name: "no-concurrency-limit",
        severity: Severity::Risk,
        seen: "A call is retried, and nothing bounds what is in flight: no bulkhead, limiter or rate limit at the \
               caller, no limit of workers or of the queue at the service.",
        why: "Retries are tuned where a bound on concurrency is missing. When answers slow down, everything \
              piles up, with or without retries.",
        source: "requirement D6",
        find: unlimited,
    },
    Trap {
        name: "breaker-never-opens",
        severity: Severity::Mistake,
        seen: "In the window of a breaker fall fewer results per process than it needs before it believes any \
               rate, even if every attempt is made.",
        why: "Each process has a breaker of its own and sees only its own calls. It never opens.",
        source: "requirement A11; Marc Brooker (2022): many small clients see too little; users' question 7",
        find: never_opens,
    },
    Trap {
        name: "breaker-counts-callers-faults",
        severity: Severity::Risk,
        seen: "A breaker counts failures that are the caller's own fault: invalid, permission_denied, conflict, \
               cancelled.",
        why: "One caller with a bug closes the service to all that share the breaker.",
        source: "requirements A11, A13; resilience4j issues 558 and 614",
        find: callers_faults,
    },
    Trap {
        name: "bulkhead-never-full",
        severity: Severity::Mistake,
        seen: "A bulkhead admits more calls than there are workers to make them, or than the service can work on \
               and queue.",
        why: "It is never full before something else is, so it protects neither side.",
        source: "requirement A12; istio's and Envoy's limits left at 1024",
        find: never_full,
    },
    Trap {
        name: "hang-takes-all-workers",
        severity: Severity::Risk,
        seen: "Workers that wait for a call below are held, and if that service hung, calls at the usual rate, each \
               as long as its deadline allows, would need more of them than there are.",
        why: "One slow dependency takes the workers of everything its caller does, and then those of its caller.",
        source: "requirement D4; Nygard, Release It! (blocked threads)",
        find: hang,
    },
];

fn unlimited(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in facts
        .hops
        .iter()
        .filter(|hop| hop.retries() && !hop.limited() && hop.service.messages().is_none())
    {
        let service = hop.service;
        let what = match (service.concurrency, service.queue.capacity) {
            (None, _) => "workers",
            (Some(_), None) => "a queue",
            (Some(_), Some(_)) => continue,
        };
        found.push(Finding {
            place: facts.of_policy(hop, &["retry"]),
            subject: hop.name.clone(),
            reason: format!(
                "{} with {what} without limit is called with {} and without a bound on calls in flight",
                service.name,
                hop.attempts()
            ),
            figures: vec![("calls_per_s", hop.calls_per_s)],
            mend: "a `bulkhead` for the caller, or a bounded `queue` for the service, before retries are tuned"
                .into(),
        });
    }
    found
}

/// Results a breaker needs before it believes a rate, and the time in which it must see them; `None` where the
/// rule does not look at a time.
fn needs(rule: &BreakerRule) -> Option<(u32, Span)> {
    match rule {
        BreakerRule::Rates(rates) => match rates.window {
            Window::Time(window) => Some((rates.minimum_calls, window)),
            Window::Count(_) => None,
        },
        BreakerRule::Hystrix(rule) => Some((rule.request_volume_threshold, rule.rolling_window)),
        BreakerRule::Polly(rule) => Some((rule.minimum_throughput, rule.sampling)),
        BreakerRule::Resilience4j(rule) => match rule.window {
            Resilience4jWindow::Seconds { count, .. } => {
                Some((rule.minimum_calls, Span::secs(u64::from(count))))
            }
            Resilience4jWindow::Count(_) => None,
        },
        BreakerRule::Sentinel(rule) => Some((rule.min_request_amount, rule.stat_interval)),
        BreakerRule::GoBreaker(_) | BreakerRule::Linkerd(_) => None,
    }
}

fn never_opens(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in &facts.hops {
        let Some(breaker) = &hop.spec.breaker else {
            continue;
        };
        let Some((needed, window)) = needs(&breaker.rule) else {
            continue;
        };
        let counted = match hop.spec.breaker_counts().unwrap_or_default() {
            Counts::Attempts if hop.retries() => hop.attempts_per_s,
            _ => hop.calls_per_s,
        };
        let per_process = hop.calls_per_s / f64::from(hop.processes);
        let seen = counted / f64::from(hop.processes) * window.as_secs_f64();
        if seen >= f64::from(needed) {
            continue;
        }
        found.push(Finding {
            place: facts.of_policy(hop, &["breaker"]),
            subject: hop.name.clone(),
            reason: format!(
                "it needs {needed} results within {}, and each of {} processes makes {} calls per second: {} results \
                 at most",
                duration(window.as_secs_f64()),
                count(u64::from(hop.processes)),
                plain(per_process),
                plain(seen)
            ),
            figures: vec![
                ("minimum_calls", f64::from(needed)),
                ("results_in_window", seen),
                ("calls_per_s_and_process", per_process),
            ],
            mend: format!(
                "`minimum_calls: {}`, a longer window, or one that counts results instead of time",
                plain((seen / 2.0).floor().max(1.0))
            ),
        });
    }
    found
}

fn callers_faults(facts: &Facts<'_>) -> Vec<Finding> {
    const CALLERS: [FailureKind; 4] = [
        FailureKind::Conflict,
        FailureKind::PermissionDenied,
        FailureKind::Invalid,
        FailureKind::Cancelled,
    ];
    let mut found = Vec::new();
    for hop in &facts.hops {
        let Some(breaker) = &hop.spec.breaker else {
            continue;
        };
        let counted =
            |kind: &&FailureKind| breaker.on.contains(**kind) && !breaker.ignored.contains(**kind);
        let kinds: Vec<&str> = CALLERS
            .iter()
            .filter(counted)
            .map(|kind| kind.name())
            .collect();
        if kinds.is_empty() {
            continue;
        }
        found.push(Finding {
            place: facts.of_policy(hop, &["breaker", "on"]),
            subject: hop.name.clone(),
            reason: format!(
                "{} count as failures of {}",
                kinds.join(", "),
                hop.service.name
            ),
            figures: vec![("kinds", kinds.len() as f64)],
            mend: "take them out of the breaker's `on`, or put them into `ignored`".into(),
        });
    }
    found
}

fn never_full(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in &facts.hops {
        let Some(bulkhead) = hop.spec.bulkhead else {
            continue;
        };
        let permits = f64::from(bulkhead.max_in_flight);
        let processes = f64::from(hop.processes);
        // What a process can have in flight at most: one call for each worker that waits for it.
        let own = match hop.edge.caller {
            Caller::Service(caller) => {
                let caller = &facts.scenario.services[caller as usize];
                let held = caller.concurrency.filter(|_| caller.holds_worker);
                held.map(f64::from)
            }
            Caller::Client(_) => None,
        };
        let room = facts
            .workers(hop.edge.service as usize)
            .and_then(|workers| {
                let queue = f64::from(hop.service.queue.capacity?);
                Some(workers + queue * f64::from(hop.service.replicas))
            });
        let (what, bound, all) = match (own, room) {
            (Some(own), _) if permits >= own => (
                format!("{} has {} workers", hop.caller, plain(own)),
                own,
                permits,
            ),
            (None, Some(room)) if permits * processes >= room => (
                format!("{} has room for {}", hop.service.name, plain(room)),
                room,
                permits * processes,
            ),
            _ => continue,
        };
        found.push(Finding {
            place: facts.of_policy(hop, &["bulkhead"]),
            subject: hop.name.clone(),
            reason: format!("it admits {} calls at once, and {what}", plain(all)),
            figures: vec![("admitted", all), ("room", bound)],
            mend: format!(
                "`max_in_flight: {}` or less",
                plain(
                    (bound / 2.0 / if own.is_some() { 1.0 } else { processes })
                        .floor()
                        .max(1.0)
                )
            ),
        });
    }
    found
}

fn hang(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in &facts.hops {
        let Caller::Service(caller) = hop.edge.caller else {
            continue;
        };
        let service = &facts.scenario.services[caller as usize];
        let (Some(workers), true) = (facts.workers(caller as usize), service.holds_worker) else {
            continue;
        };
        let longest = time_held(facts, hop);
        let wanted = longest.map_or(f64::INFINITY, |longest| hop.calls_per_s * longest);
        let admitted = hop.spec.bulkhead.map_or(f64::INFINITY, |bulkhead| {
            let waiting = if bulkhead.max_wait.0 > 0 {
                bulkhead.max_waiting
            } else {
                0
            };
            (f64::from(bulkhead.max_in_flight) + f64::from(waiting)) * f64::from(hop.processes)
        });
        let held = wanted.min(admitted);
        if held < workers || hop.spec.breaker.is_some() || hop.calls_per_s <= 0.0 {
            continue;
        }
        let each = match longest {
            Some(longest) => format!("for {}", duration(longest)),
            None => "for ever".into(),
        };
        found.push(Finding {
            place: facts.of_call(hop),
            subject: hop.name.clone(),
            reason: format!(
                "if {} hung, {} would hold a worker of {} {each}: {} wanted, of {}",
                hop.service.name,
                rate(hop.calls_per_s),
                service.name,
                if held.is_finite() { plain(held) } else { "all".into() },
                plain(workers)
            ),
            figures: vec![("workers_wanted", held), ("workers", workers)],
            mend: format!(
                "a `bulkhead` with fewer permits than {} has workers, a shorter deadline, a `breaker`, or \
                 `holds_worker: false`",
                service.name
            ),
        });
    }
    found
}

/// How long a call along `hop` can hold its caller's worker, in seconds.
fn time_held(facts: &Facts<'_>, hop: &Hop<'_>) -> Option<f64> {
    // A caller that honours cancellation lets go when its own caller does.
    let honours = match hop.edge.caller {
        Caller::Service(caller) => facts.scenario.services[caller as usize].honours_cancellation,
        Caller::Client(_) => false,
    };
    let above = facts
        .ways(hop)
        .map(|(_, from, _)| facts.attempt_limit(from));
    let left: Option<Vec<Span>> = above.collect();
    let left = left
        .and_then(|each| each.into_iter().max())
        .filter(|_| honours);
    let own = if hop.retries() {
        hop.deadline
    } else {
        hop.attempt_limit
    };
    match (own, left) {
        (Some(own), Some(left)) => Some(own.min(left).as_secs_f64()),
        (one, other) => one.or(other).map(Span::as_secs_f64),
    }
}
