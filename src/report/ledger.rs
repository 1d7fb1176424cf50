//! `ledger.csv`: every attempt of the first calls, what it did, and what its caller knew.

use seawall::{Reply, Span, Stopped, Time};
use sim::metrics::{By, Entry, Known, Mark, Next, Response, Source};
use sim::scenario::model::Scenario;

use super::csv::Table;

/// Columns of `ledger.csv`.
pub const KEYS: [(&str, &str); 21] = [
    (
        "call",
        "The logical call, counted from 1 in the order of their begin.",
    ),
    (
        "parent",
        "The `task` that made the call; empty where a client did.",
    ),
    ("caller", "The client or service that made it."),
    ("process", "Which of its instances or replicas, from 0."),
    ("service", "The service that was called."),
    ("operation", "The operation."),
    (
        "key",
        "Reference to the idempotency key that was sent; the same reference is the same key. Empty without one.",
    ),
    ("body", "Version of the body."),
    (
        "attempt",
        "Number of the attempt, from 1; 0 stands for a call that sent none.",
    ),
    (
        "sent_s",
        "Simulated second at which it was sent (or the call began).",
    ),
    (
        "ended_s",
        "Simulated second at which it was answered or given up; empty while it is open.",
    ),
    (
        "response",
        "HTTP status and kind of failure; `unknown` when no answer came before the caller gave up, `open` when the run ended first, `not sent`.",
    ),
    (
        "answered_by",
        "`program`, `store` (of keys), `script`, `fault` or `refusal` (not let in).",
    ),
    (
        "task",
        "The server's number for the attempt; empty if it never arrived.",
    ),
    (
        "effects",
        "What it did to the world, in order, whatever the caller was told; `(duplicate)` when that had been done for this call before, `(skipped)` when its key said so.",
    ),
    (
        "known",
        "What the caller knows about effects by this response: `done`, `not done`, or `unknown`: it may have been.",
    ),
    (
        "next",
        "What the caller did next: `retry`, `done`, `give up`; `open` when the run ended first.",
    ),
    ("why", "Why it gave up."),
    (
        "wait_s",
        "Seconds until the retry was sent; when it gave up over a Retry-After, the seconds that were asked for.",
    ),
    (
        "source",
        "Where a call has a fallback, what its program got in the end: `live`, `snapshot`, `generic`, `omitted`, `direct`, `found`; `absent` where a look-up found nothing; rejected since `too_old`, `future`, `missing`, `capacity`; `rejected` by rule; `failed`.",
    ),
    ("age_s", "Age of the snapshot that was served, in seconds."),
];

/// The file.
#[must_use]
pub fn csv(scenario: &Scenario, ledger: &[Entry]) -> String {
    let mut table = Table::new(KEYS.map(|(key, _)| key));
    for entry in ledger {
        table.row(row(scenario, entry));
    }
    table.finish()
}

fn row(scenario: &Scenario, entry: &Entry) -> [String; 21] {
    let edge = scenario.edges[entry.edge as usize];
    let service = &scenario.services[edge.service as usize];
    let caller = scenario.caller_name(edge.caller);
    let number = |n: Option<u64>| n.map_or_else(String::new, |n| n.to_string());
    let (next, why, wait) = next(entry.next);
    [
        entry.call.to_string(),
        number(entry.parent),
        caller.to_string(),
        entry.process.to_string(),
        service.name.clone(),
        service.operations[entry.operation as usize].name.clone(),
        entry.key.map_or_else(String::new, |key| format!("k{key}")),
        format!("b{}", entry.body),
        entry.attempt.to_string(),
        at(entry.sent),
        entry.ended.map_or_else(String::new, at),
        response(entry.response),
        entry.by.map_or("", by).into(),
        number(entry.task),
        effects(scenario, entry),
        match entry.known() {
            Known::Done => "done",
            Known::NotDone => "not done",
            Known::Unknown => "unknown",
        }
        .into(),
        next.into(),
        why.into(),
        wait.map_or_else(String::new, seconds),
        entry.source.map_or("", Source::name).into(),
        entry.age.map_or_else(String::new, seconds),
    ]
}

fn response(response: Response) -> String {
    match response {
        Response::NotSent => "not sent".into(),
        Response::Open => "open".into(),
        Response::Unknown => "unknown".into(),
        Response::Answer { reply, status } => {
            let status = status.map(|status| status.to_string());
            let kind = match reply {
                Reply::Ok => None,
                Reply::Failed(failure) => Some(failure.kind.name().to_string()),
            };
            let parts: Vec<String> = status.into_iter().chain(kind).collect();
            parts.join(" ")
        }
    }
}

const fn by(by: By) -> &'static str {
    match by {
        By::Program => "program",
        By::Store => "store",
        By::Script => "script",
        By::Fault => "fault",
        By::Refusal => "refusal",
    }
}

fn effects(scenario: &Scenario, entry: &Entry) -> String {
    let name = |index: u32| {
        let used = scenario.effects.as_ref();
        used.map_or("", |used| used.effects[index as usize].name.as_str())
    };
    let said = |&(effect, mark): &(u32, Mark)| match mark {
        Mark::First => name(effect).to_string(),
        Mark::Duplicate => format!("{} (duplicate)", name(effect)),
        Mark::Skipped => format!("{} (skipped)", name(effect)),
    };
    entry
        .effects
        .iter()
        .map(said)
        .collect::<Vec<_>>()
        .join("; ")
}

fn next(next: Next) -> (&'static str, &'static str, Option<Span>) {
    match next {
        Next::Open => ("open", "", None),
        Next::Done => ("done", "", None),
        Next::Retried(wait) => ("retry", "", Some(wait)),
        Next::GaveUp(stopped) => {
            let needed = match stopped {
                Stopped::RetryAfterTooLong { needed } => Some(needed),
                _ => None,
            };
            ("give up", stopped.name(), needed)
        }
    }
}

fn at(time: Time) -> String {
    seconds(time.since(Time::ZERO))
}

/// Exact, without trailing zeros.
fn seconds(span: Span) -> String {
    let (whole, rest) = (span.0 / 1_000_000_000, span.0 % 1_000_000_000);
    if rest == 0 {
        return whole.to_string();
    }
    let digits = format!("{rest:09}");
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_to_the_nanosecond() {
        assert_eq!(seconds(Span(0)), "0");
        assert_eq!(seconds(Span(2_000_000_001)), "2.000000001");
        assert_eq!(seconds(Span::millis(60_500)), "60.5");
    }

    #[test]
    fn a_wait_that_was_too_long_is_named() {
        let needed = Span::secs(120);
        let (next, why, wait) = next(Next::GaveUp(Stopped::RetryAfterTooLong { needed }));
        assert_eq!(
            (next, why, wait),
            ("give up", "retry_after_too_long", Some(needed))
        );
    }
}
