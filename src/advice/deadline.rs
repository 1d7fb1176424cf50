//! Deadlines down a chain.

use seawall::Span;
use sim::scenario::model::Caller;

use super::facts::{Draw, Facts, Hop};
use super::{Finding, Severity, Trap};
use crate::number::duration;

pub(super) const TRAPS: [Trap; 2] = [
    Trap {
        name: "callee-outlasts-caller",
        severity: Severity::Mistake,
        seen: "A service may work on a call below for longer than its own caller waits for it: the time its \
               own steps take and all attempts and waits of the call below are more than one attempt of the \
               caller may take, and it does not notice that the caller has left.",
        why: "The caller gives up and tries again while the work it gave up goes on below, for nobody.",
        source: "requirements A2, A3, D6; coredns pull request 1624, ingress-nginx issue 4944",
        find: outlasts,
    },
    Trap {
        name: "deadline-ignored",
        severity: Severity::Mistake,
        seen: "A caller has a deadline, and a call below it does not take it over (`inherit: false`), or the \
               caller does not send it along (`propagate: false`).",
        why: "A fixed timeout starts anew at each hop. Once the caller is late, everything below works on \
              answers that come too late.",
        source: "requirements A2, A3, D6; Google SRE book, Addressing cascading failures",
        find: ignored,
    },
];

/// The longest a call from a call site of `hop` can take by its own policy, an inherited deadline left out: its limit, or
/// all attempts that it can make with middling waits between them. `None` is for ever.
fn alone(facts: &Facts<'_>, hop: &Hop<'_>, site: u32) -> Option<Span> {
    let spec = hop.spec;
    let attempts = match hop.retries() {
        true => facts.scenario.most_attempts(site),
        false => 1,
    };
    let all = spec.attempt_timeout.filter(|_| attempts < u32::MAX);
    let all = all.map(|attempt| {
        let waits = Draw::Middle.total(&spec.retry.backoff, attempts - 1);
        waits.plus(attempt.times(f64::from(attempts)))
    });
    match (spec.deadline.limit, all) {
        (Some(limit), Some(all)) => Some(limit.min(all)),
        (one, other) => one.or(other),
    }
}

/// Whether a call along `hop` ends with the deadline, if any, of the call above.
fn takes_over(above: &Hop<'_>, hop: &Hop<'_>, deadline: Option<Span>) -> bool {
    above.spec.deadline.propagate && hop.spec.deadline.inherit && deadline.is_some()
}

fn outlasts(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in &facts.hops {
        // Work that ends with its caller outlasts nobody.
        if matches!(hop.edge.caller, Caller::Service(caller)
            if facts.scenario.services[caller as usize].honours_cancellation)
        {
            continue;
        }
        for (above, from, site) in facts.ways(hop) {
            let Some(given) = facts.attempt_limit(from).map(Span::as_secs_f64) else {
                continue;
            };
            let own = facts.own_time(from);
            let alone = alone(facts, hop, site).map(Span::as_secs_f64);
            // A deadline that comes along bounds the call as well, but not the attempt that it belongs to.
            let deadline = facts.deadline(from);
            let takes_over = takes_over(above, hop, deadline);
            let passed_on = deadline.map(Span::as_secs_f64);
            let bound = match (alone, passed_on.filter(|_| takes_over)) {
                (Some(alone), Some(passed_on)) => Some((own + alone).min(passed_on)),
                (Some(alone), None) => Some(own + alone),
                (None, passed_on) => passed_on,
            };
            if bound.is_some_and(|bound| bound <= given) {
                continue;
            }
            let takes = match bound {
                Some(bound) => duration(bound),
                None => "without limit".into(),
            };
            let mut figures = vec![("caller_waits_s", given)];
            figures.extend(bound.map(|bound| ("callee_takes_s", bound)));
            found.push(Finding {
                place: facts.of_policy(hop, &["deadline"]),
                subject: hop.name.clone(),
                reason: format!(
                    "{} waits {} for {}, which may be busy with {} for {takes} (its own work and all attempts)",
                    above.caller,
                    duration(given),
                    facts.called(from),
                    facts.called(site),
                ),
                figures,
                mend: if takes_over {
                    "give the caller's attempts at least that time, or this call a shorter `deadline`".into()
                } else {
                    "let this call inherit the deadline (`deadline: { inherit: true }`) and the caller send it \
                     (`propagate: true`), or give it a shorter `deadline`"
                        .into()
                },
            });
            break;
        }
    }
    found
}

fn ignored(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in &facts.hops {
        let late = facts.ways(hop).find_map(|(above, from, site)| {
            let deadline = facts.deadline(from)?;
            let kept = takes_over(above, hop, Some(deadline));
            (!kept).then_some((above, from, site, deadline.as_secs_f64()))
        });
        let Some((above, from, site, given)) = late else {
            continue;
        };
        let (place, key) = if hop.spec.deadline.inherit {
            (
                facts.of_policy(above, &["deadline", "propagate"]),
                "propagate: true",
            )
        } else {
            (
                facts.of_policy(hop, &["deadline", "inherit"]),
                "inherit: true",
            )
        };
        found.push(Finding {
            place,
            subject: hop.name.clone(),
            reason: format!(
                "{} is given {} by {}, but its call to {} does not know how much of that is left",
                facts.called(from),
                duration(given),
                above.caller,
                facts.called(site)
            ),
            figures: vec![("caller_deadline_s", given)],
            mend: format!("`deadline: {{ {key} }}`, with a `slack` for the way home"),
        });
    }
    found
}
