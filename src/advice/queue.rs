//! Waiting rooms, held against how long anybody waits.

use seawall::{FailureKind, Span};
use sim::scenario::model::Discipline;
use sim::scenario::repeats::factor;

use super::facts::{Facts, Hop};
use super::{Finding, Severity, Trap};
use crate::number::{count, duration, plain};

pub(super) const TRAPS: [Trap; 3] = [
    Trap {
        name: "queue-outlasts-callers",
        severity: Severity::Mistake,
        seen: "A full queue takes longer to work off than the caller that waits longest gives an attempt, and \
               neither its order nor cancellation takes out what nobody waits for.",
        why: "Once it is full every job is started after its caller has left. The service is busy, and all of \
              it is waste.",
        source: "requirement D1; Amazon Builders' Library, Avoiding insurmountable queue backlogs",
        find: outlasts,
    },
    Trap {
        name: "unbounded-queue",
        severity: Severity::Mistake,
        seen: "A service with limited workers has a queue without limit in order of arrival, and its callers wait \
               only so long.",
        why: "After an overload it works off the past, however long it is, while every new caller leaves before \
              its turn.",
        source: "requirement D2; Google SRE book, Addressing cascading failures (queue management)",
        find: unbounded,
    },
    Trap {
        name: "abandoned-work-goes-on",
        severity: Severity::Risk,
        seen: "Attempts that timed out are retried, and the service does not notice that a caller has left \
               (`honours_cancellation: false`).",
        why: "Each timeout leaves a job behind that still needs a worker, next to the one that replaces it.",
        source: "requirement A4; gRPC cancellation",
        find: goes_on,
    },
];

/// Whether jobs of callers that have left are worked off as well.
fn serves_nobody(hop: &Hop<'_>) -> bool {
    let in_turn = hop.service.queue.discipline == Discipline::Fifo;
    let waiting = hop.service.behaviour.as_ref().map(|b| &b.waiting);
    let bounded = waiting.is_some_and(|w| w.max_wait.is_some() || w.codel.is_some());
    in_turn && !bounded && !hop.service.honours_cancellation
}

/// The longest any caller of a service gives an attempt; `None`: nobody calls, or somebody waits for ever.
fn patience(facts: &Facts<'_>, service: usize) -> Option<Span> {
    let each: Option<Vec<Span>> = facts.to(service).map(|hop| hop.attempt_limit).collect();
    each?.into_iter().max()
}

fn outlasts(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, service) in facts.scenario.services.iter().enumerate() {
        let (Some(places), Some(workers)) = (service.queue.capacity, service.concurrency) else {
            continue;
        };
        let Some(patience) = patience(facts, index).map(Span::as_secs_f64) else {
            continue;
        };
        // Nobody waits for what is done with a message.
        if places == 0 || service.messages().is_some() {
            continue;
        }
        let wait = f64::from(places) / f64::from(workers) * facts.hold(index);
        if wait <= patience || !facts.to(index).all(serves_nobody) {
            continue;
        }
        let fitting = (patience / wait * f64::from(places)).floor();
        found.push(Finding {
            place: facts.of_service(index, &["queue"]),
            subject: service.name.clone(),
            reason: format!(
                "a full queue of {} is {} of waiting ({} workers, {} of work each), and its callers give an \
                 attempt {} at most",
                count(u64::from(places)),
                duration(wait),
                count(u64::from(workers)),
                duration(facts.hold(index)),
                duration(patience)
            ),
            figures: vec![("full_queue_wait_s", wait), ("attempt_limit_s", patience)],
            mend: format!(
                "`capacity: {}` or less, `discipline: deadline_drop` or `lifo`, or `honours_cancellation: true`",
                plain(fitting)
            ),
        });
    }
    found
}

fn unbounded(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, service) in facts.scenario.services.iter().enumerate() {
        let bounded = service.queue.capacity.is_some() || service.messages().is_some();
        if bounded || service.concurrency.is_none() {
            continue;
        }
        let Some(patience) = patience(facts, index).map(Span::as_secs_f64) else {
            continue;
        };
        if !facts.to(index).all(serves_nobody) || facts.hold(index) <= 0.0 {
            continue;
        }
        let workers = f64::from(service.concurrency.unwrap_or(1));
        let fitting = (patience / facts.hold(index) * workers).floor();
        found.push(Finding {
            place: facts.of_service(index, &["queue"]),
            subject: service.name.clone(),
            reason: format!(
                "the queue has no limit and its callers give an attempt {} at most: what is behind the first {} is \
                 for nobody",
                duration(patience),
                plain(fitting)
            ),
            figures: vec![("attempt_limit_s", patience), ("places_in_time", fitting)],
            mend: format!(
                "`queue: {{ capacity: {} }}` or less, `discipline: deadline_drop`, or `honours_cancellation: true`",
                plain(fitting)
            ),
        });
    }
    found
}

fn goes_on(facts: &Facts<'_>) -> Vec<Finding> {
    let place =
        |hop: &Hop<'_>| facts.of_service(hop.edge.service as usize, &["honours_cancellation"]);
    let most = |hop: &Hop<'_>| factor(hop.most);
    let left = facts.hops.iter().filter(|hop| {
        hop.spec.attempt_timeout.is_some()
            && hop.retries_on(FailureKind::Timeout)
            && facts.hold(hop.edge.service as usize) > 0.0
            && !hop.service.honours_cancellation
            && hop.service.messages().is_none()
    });
    let mut left: Vec<&Hop<'_>> = left.collect();
    // It is said once: of the edge with most attempts, with the place of its service.
    left.sort_by(|a, b| most(b).total_cmp(&most(a)));
    let Some(first) = left.first().map(|hop| place(hop)) else {
        return Vec::new();
    };
    let mut services: Vec<&str> = Vec::new();
    for hop in &left {
        if !services.contains(&hop.service.name.as_str()) {
            services.push(&hop.service.name);
        }
    }
    let found = left.iter().map(|hop| Finding {
        place: first.clone(),
        subject: hop.name.clone(),
        reason: format!(
            "{} works on after a timeout of {}: one call can have up to {} there at once",
            hop.service.name,
            duration(hop.spec.attempt_timeout.map_or(0.0, Span::as_secs_f64)),
            hop.attempts()
        ),
        figures: vec![("attempts_at_once", most(hop))],
        mend: format!(
            "`honours_cancellation: true` for {}, if {} can notice",
            services.join(", "),
            if services.len() == 1 { "it" } else { "they" }
        ),
    });
    found.collect()
}
