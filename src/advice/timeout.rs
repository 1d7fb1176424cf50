//! Timeouts of one hop, held against what the service needs.

use seawall::FailureKind;

use super::facts::{Draw, Facts};
use super::{Finding, Severity, Trap};
use crate::number::{duration, share};

pub(super) const TRAPS: [Trap; 4] = [
    Trap {
        name: "timeout-below-p99",
        severity: Severity::Mistake,
        seen: "An attempt may take less time than the slowest 1 % of undisturbed answers need: the links both \
               ways and the program with all it calls, without waiting.",
        why: "Attempts time out although nothing is wrong. Their retries are load that no failure caused, and \
              the least slowdown multiplies it.",
        source: "requirement D6; Amazon Builders' Library, Timeouts, retries and backoff with jitter",
        find: below_p99,
    },
    Trap {
        name: "no-timeout",
        severity: Severity::Risk,
        seen: "A call has neither an attempt timeout nor a deadline, its own or its caller's, and the service \
               has limited workers or is disturbed.",
        why: "A call waits as long as the service likes. What its caller holds meanwhile (a worker, a \
              connection, a user) it holds as long.",
        source: "requirement D4; Amazon Builders' Library, Timeouts, retries and backoff with jitter",
        find: none,
    },
    Trap {
        name: "timeout-never-retried",
        severity: Severity::Mistake,
        seen: "`timeout` is among the kinds retried, but an attempt is only ever given up when the whole call \
               is: the attempt timeout is missing or not below the deadline.",
        why: "The retry that was written can never happen. One slow attempt uses up all the time there is.",
        source: "requirement A2; gRPC A6 counts all attempts under one deadline",
        find: never_retried,
    },
    Trap {
        name: "attempts-never-made",
        severity: Severity::Mistake,
        seen: "With middling waits between them the last attempts would begin after the deadline, even if \
               every attempt fails at once.",
        why: "The policy promises attempts that time does not allow, and the figures one reckons with (worst \
              load, chance of success) are those of another policy.",
        source: "requirement A2; users ask for it as \"caps can be too short or too long\"",
        find: never_made,
    },
];

fn below_p99(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in &facts.hops {
        let answers = facts.answers(hop).into_iter().flatten();
        let late = answers.filter_map(|(site, answer)| {
            let limit = facts.attempt_limit(site)?;
            (answer.quantile(0.99) > limit).then_some((site, limit, answer))
        });
        // The call site where it is worst.
        let Some((site, limit, answer)) =
            late.max_by(|(_, a, one), (_, b, other)| one.beyond(*a).total_cmp(&other.beyond(*b)))
        else {
            continue;
        };
        let (p99, beyond) = (answer.quantile(0.99), answer.beyond(limit));
        let own = hop.spec.attempt_timeout.is_some_and(|own| own == limit);
        let key = if own { "attempt_timeout" } else { "deadline" };
        let (limit, p99) = (limit.as_secs_f64(), p99.as_secs_f64());
        found.push(Finding {
            place: facts.of_policy(hop, &[key]),
            subject: hop.name.clone(),
            reason: format!(
                "an attempt may take {}, but the p99 of an undisturbed answer of {} is {} ({}): {} of attempts are \
                 given up with nothing wrong",
                duration(limit),
                facts.called(site),
                duration(p99),
                answer.method(),
                share(beyond),
            ),
            figures: vec![
                ("attempt_limit_s", limit),
                ("answer_p99_s", p99),
                ("given_up_share", beyond),
            ],
            mend: format!("give an attempt more than {}, or make the work shorter", duration(p99)),
        });
    }
    found
}

fn none(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in &facts.hops {
        let service = hop.edge.service;
        let hangs = hop.service.concurrency.is_some() || facts.disturbed(service);
        if hop.attempt_limit.is_some() || !hangs {
            continue;
        }
        found.push(Finding {
            place: facts.of_policy(hop, &[]),
            subject: hop.name.clone(),
            reason: format!(
                "no attempt timeout and no deadline: when {} hangs or queues, its caller waits for ever",
                hop.service.name
            ),
            figures: Vec::new(),
            mend: match facts.answer(hop).map(|answer| answer.quantile(0.999)) {
                Some(p999) => format!(
                    "set a `deadline`; an undisturbed answer takes up to {} (p99.9)",
                    duration(p999.as_secs_f64())
                ),
                None => "set a `deadline`".into(),
            },
        });
    }
    found
}

fn never_retried(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in &facts.hops {
        let own = hop.spec.attempt_timeout;
        let room = match (own, hop.deadline) {
            (Some(own), Some(deadline)) => own < deadline,
            (Some(_), None) => true,
            (None, _) => false,
        };
        // With a reserve an attempt ends before its deadline does.
        let reserved = hop.spec.retry.reserve.0 > 0 && hop.deadline.is_some();
        if room || reserved || !hop.retries_on(FailureKind::Timeout) {
            continue;
        }
        let (key, limit) = match own {
            Some(own) => ("attempt_timeout", duration(own.as_secs_f64())),
            None => ("retry", "not set".into()),
        };
        let deadline = match hop.deadline {
            Some(deadline) => format!("the deadline is {}", duration(deadline.as_secs_f64())),
            None => "there is no deadline, so nothing ever times out".into(),
        };
        let figures = [("attempt_timeout_s", own), ("deadline_s", hop.deadline)];
        let given = figures.iter();
        found.push(Finding {
            place: facts.of_policy(hop, &[key]),
            subject: hop.name.clone(),
            reason: format!(
                "`timeout` is retried, but the attempt timeout is {limit} and {deadline}: no time is left for \
                 another attempt"
            ),
            figures: given
                .filter_map(|(name, span)| Some((*name, (*span)?.as_secs_f64())))
                .collect(),
            mend: "set an `attempt_timeout` well below the deadline, or take `timeout` out of `on`".into(),
        });
    }
    found
}

fn never_made(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in &facts.hops {
        let attempts = hop.most;
        let Some(deadline) = hop
            .deadline
            .filter(|_| hop.retries() && attempts < u32::MAX)
        else {
            continue;
        };
        let mut begins = 0.0;
        let mut fit = 1;
        for wait in Draw::Middle
            .waits(&hop.spec.retry.backoff)
            .take(attempts.min(1000) as usize - 1)
        {
            begins += wait.as_secs_f64();
            if begins >= deadline.as_secs_f64() {
                break;
            }
            fit += 1;
        }
        if fit >= attempts.min(1000) {
            continue;
        }
        let next = fit + 1;
        found.push(Finding {
            place: facts.of_policy(hop, &["retry", "max_attempts"]),
            subject: hop.name.clone(),
            reason: format!(
                "of {attempts} attempts {fit} fit: attempt {next} would begin {} after the first if all fail at \
                 once, with middling waits, and the deadline is {}",
                duration(begins),
                duration(deadline.as_secs_f64())
            ),
            figures: vec![
                ("attempts", f64::from(attempts)),
                ("attempts_that_fit", f64::from(fit)),
                ("next_attempt_begins_s", begins),
                ("deadline_s", deadline.as_secs_f64()),
            ],
            mend: format!("say `max_attempts: {fit}`, shorten the backoff, or lengthen the deadline"),
        });
    }
    found
}
