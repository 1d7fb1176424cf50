//! A call as a tree of named spans.

use seawall::{BreakerState, FailureKind, Reply, Stopped, Time, Verdict};
use sim::metrics::{JobEnd, Leg};
use sim::scenario::Scenario;
use sim::trace::{Attempt, AttemptEnd, Call, Job};

/// Something that took time.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// What.
    pub what: What,
    /// Whose time it was: a client or a service.
    pub owner: String,
    /// What it is called.
    pub name: String,
    /// When it began.
    pub from: Time,
    /// When it was over; `None`: not while anybody looked.
    pub to: Option<Time>,
    /// How it went.
    pub outcome: Outcome,
    /// The same in a few words.
    pub words: String,
    /// Further facts, by OpenTelemetry's names where it has one.
    pub facts: Vec<(&'static str, Fact)>,
    /// What happened meanwhile and because of it, by when it began.
    pub children: Vec<Span>,
}

/// What a span is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A logical call.
    Call,
    /// One attempt, as its caller sees it.
    Attempt,
    /// The time between two attempts, or before the first: backoff, or waiting for a permit.
    Wait,
    /// A phase of an attempt: connecting, writing, reading.
    Leg,
    /// One attempt, as its service sees it.
    Job,
    /// Waiting for a worker.
    Queue,
    /// Work and delays: the time of a job in which it waits for nobody.
    Work,
}

/// How something went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Well.
    Ok,
    /// Badly.
    Failed,
    /// For nobody: it was done, or half done, for a caller that had left.
    Wasted,
    /// It is not known, or there is nothing to know.
    Neither,
}

/// The value of a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// A word.
    Text(String),
    /// A number.
    Number(u64),
}

impl Span {
    /// Of a logical call.
    #[must_use]
    pub fn of(scenario: &Scenario, call: &Call) -> Span {
        Spans { scenario }.call(call)
    }

    /// When it or anything below it was over last.
    #[must_use]
    pub fn last(&self) -> Time {
        let below = self.children.iter().map(Span::last);
        below
            .chain(self.to)
            .chain([self.from])
            .max()
            .unwrap_or(self.from)
    }
}

struct Spans<'s> {
    scenario: &'s Scenario,
}

impl Spans<'_> {
    fn call(&self, call: &Call) -> Span {
        let scenario = self.scenario;
        let edge = &scenario.edges[call.edge as usize];
        let owner = scenario.caller_name(edge.caller);
        let service = &scenario.services[edge.service as usize];
        let operation = &scenario.sites[call.site as usize].operation;
        let operation = &service.operations[*operation as usize].name;
        let mut facts = vec![
            ("rpc.service", text(&service.name)),
            ("rpc.method", text(operation)),
            (
                "retrystorm.policy",
                text(&scenario.policies[edge.policy as usize].name),
            ),
            ("service.instance.id", text(&call.process.to_string())),
            (
                "retrystorm.attempts",
                Fact::Number(call.attempts.len() as u64),
            ),
        ];
        if let Some(deadline) = call.deadline {
            facts.push((
                "retrystorm.deadline_ms",
                milliseconds(deadline.since(call.began).0),
            ));
        }
        if let Some(breaker) = call.breaker {
            facts.push(("retrystorm.breaker", text(breaker_word(breaker))));
        }
        if let Some(Verdict {
            stopped: Some(why), ..
        }) = call.verdict
        {
            facts.push(("error.type", text(why.name())));
        }
        Span {
            what: What::Call,
            owner: owner.to_string(),
            name: format!("{owner} → {}", titled(&service.name, operation)),
            from: call.began,
            to: call.ended,
            outcome: match call.verdict {
                Some(verdict) if verdict.is_ok() => Outcome::Ok,
                Some(_) => Outcome::Failed,
                None => Outcome::Neither,
            },
            words: verdict_words(call.verdict),
            facts,
            children: self.attempts_and_waits(call, owner),
        }
    }

    fn attempts_and_waits(&self, call: &Call, owner: &str) -> Vec<Span> {
        let mut spans = Vec::new();
        // Until when the caller has been busy with attempts.
        let mut busy = call.began;
        let mut reason: Option<FailureKind> = None;
        for attempt in &call.attempts {
            if attempt.sent > busy {
                let words = match attempt.number {
                    1 => "for a permit",
                    _ => "before the next attempt",
                };
                spans.push(wait(owner, words, busy, attempt.sent));
            }
            spans.push(self.attempt(attempt, owner, reason));
            let ended = attempt.ended.map_or(attempt.sent, |(at, _)| at);
            busy = busy.max(ended);
            reason = match attempt.ended {
                Some((_, AttemptEnd::Answered(Reply::Failed(failure)))) => Some(failure.kind),
                Some((_, AttemptEnd::GivenUp)) => Some(FailureKind::Timeout),
                _ => None,
            };
        }
        if let Some(ended) = call.ended.filter(|&ended| ended > busy) {
            spans.push(wait(owner, "in vain", busy, ended));
        }
        spans
    }

    fn attempt(&self, attempt: &Attempt, owner: &str, reason: Option<FailureKind>) -> Span {
        let mut facts = vec![(
            "retrystorm.attempt",
            Fact::Number(u64::from(attempt.number)),
        )];
        if attempt.number > 1 {
            facts.push((
                "http.request.resend_count",
                Fact::Number(u64::from(attempt.number - 1)),
            ));
        }
        if let Some(reason) = reason {
            facts.push(("retrystorm.retry_reason", text(reason.name())));
        }
        let (outcome, words) = match attempt.ended.map(|(_, end)| end) {
            None => (Outcome::Neither, "not over".to_string()),
            Some(AttemptEnd::GivenUp) => {
                facts.push(("error.type", text("timeout")));
                (Outcome::Failed, "given up".into())
            }
            Some(AttemptEnd::Answered(Reply::Ok)) => (Outcome::Ok, "ok".into()),
            Some(AttemptEnd::Answered(Reply::Failed(failure))) => {
                facts.push(("error.type", text(failure.kind.name())));
                facts.push(("retrystorm.phase", text(failure.phase.name())));
                if let Some(status) = failure.kind.http() {
                    facts.push(("http.response.status_code", Fact::Number(u64::from(status))));
                }
                if let Some(status) = failure.kind.grpc() {
                    facts.push(("rpc.grpc.status", text(status)));
                }
                (Outcome::Failed, failure.kind.name().into())
            }
        };
        Span {
            what: What::Attempt,
            owner: owner.into(),
            name: format!("attempt {}", attempt.number),
            from: attempt.sent,
            to: attempt.ended.map(|(at, _)| at),
            outcome,
            words,
            facts,
            children: self.way(attempt, owner),
        }
    }

    /// The legs of an attempt that took time, and what its service did.
    fn way(&self, attempt: &Attempt, owner: &str) -> Vec<Span> {
        let legs = attempt.legs.iter().filter(|(leg, ..)| *leg != Leg::Server);
        let mut spans: Vec<Span> = legs
            .map(|&(leg, from, to)| match leg {
                Leg::Pool => wait(owner, "for a connection", from, to),
                Leg::Credential => wait(owner, "for a token", from, to),
                leg => part(What::Leg, owner, leg.name(), from, to),
            })
            .collect();
        spans.extend(attempt.job.iter().map(|job| self.job(job)));
        spans.sort_by_key(|span| span.from);
        spans
    }

    fn job(&self, job: &Job) -> Span {
        let service = &self.scenario.services[job.service as usize];
        let owner = &service.name;
        let (outcome, words) = job_words(job);
        let left = job.calls.iter().filter_map(|call| call.ended).max();
        // A job that answered early goes on with its program.
        let to = left.map_or(job.left, |ended| ended.max(job.left));
        let mut children = Vec::new();
        match job.started {
            Some(started) => {
                if started > job.arrived {
                    children.push(part(What::Queue, owner, "queue", job.arrived, started));
                }
                // Between calls it works, or delays.
                let mut from = started;
                for call in &job.calls {
                    if call.began > from {
                        children.push(part(What::Work, owner, "work", from, call.began));
                    }
                    children.push(self.call(call));
                    from = from.max(call.ended.unwrap_or(call.began));
                }
                if to > from {
                    children.push(part(What::Work, owner, "work", from, to));
                }
            }
            None if job.left > job.arrived => {
                children.push(part(What::Queue, owner, "queue", job.arrived, job.left));
            }
            None => {}
        }
        if outcome == Outcome::Wasted {
            for child in &mut children {
                if matches!(child.what, What::Work | What::Queue) {
                    child.outcome = Outcome::Wasted;
                }
            }
        }
        Span {
            what: What::Job,
            owner: owner.clone(),
            name: match service.replicas {
                1 => owner.clone(),
                _ => format!("{owner} #{}", job.replica),
            },
            from: job.arrived,
            to: Some(to),
            outcome,
            words,
            facts: vec![
                ("service.instance.id", text(&job.replica.to_string())),
                ("retrystorm.job_end", text(end_word(job.end))),
            ],
            children,
        }
    }
}

fn part(what: What, owner: &str, name: &str, from: Time, to: Time) -> Span {
    Span {
        what,
        owner: owner.into(),
        name: name.into(),
        from,
        to: Some(to),
        outcome: Outcome::Neither,
        words: String::new(),
        facts: Vec::new(),
        children: Vec::new(),
    }
}

fn wait(owner: &str, words: &str, from: Time, to: Time) -> Span {
    Span {
        words: words.into(),
        ..part(What::Wait, owner, "wait", from, to)
    }
}

/// The service, and the operation where it says more.
fn titled(service: &str, operation: &str) -> String {
    match operation {
        "default" => service.to_string(),
        operation => format!("{service}.{operation}"),
    }
}

fn verdict_words(verdict: Option<Verdict>) -> String {
    match verdict {
        None => "not over".into(),
        Some(Verdict { stopped: None, .. }) => "ok".into(),
        Some(Verdict {
            stopped: Some(why),
            last,
            ..
        }) => {
            let why = match why {
                Stopped::RetryAfterTooLong { needed } => format!("retry-after too long: {needed}"),
                why => why.name().replace('_', " "),
            };
            match last {
                Some(kind) => format!("{why} · {}", kind.name()),
                None => why,
            }
        }
    }
}

fn job_words(job: &Job) -> (Outcome, String) {
    let (outcome, words) = match job.end {
        JobEnd::Served => (Outcome::Ok, "served"),
        JobEnd::Failed => (Outcome::Failed, "failed"),
        JobEnd::ShedFull => (Outcome::Failed, "shed: the queue was full"),
        JobEnd::ShedExpired => (Outcome::Failed, "shed: its deadline had passed"),
        JobEnd::ShedWaited => (Outcome::Failed, "shed: it had waited too long"),
        JobEnd::RateLimited => (Outcome::Failed, "refused: over the rate limit"),
        JobEnd::Unreachable => (Outcome::Failed, "refused: no replica to take it"),
        JobEnd::Faulted => (Outcome::Failed, "failed by a fault"),
        JobEnd::Cancelled => (Outcome::Wasted, "cancelled: its caller had left"),
        JobEnd::Lost => (Outcome::Failed, "lost"),
    };
    match outcome {
        Outcome::Ok | Outcome::Failed if job.late => (
            Outcome::Wasted,
            format!("{words} for nobody: its caller had left"),
        ),
        outcome => (outcome, words.into()),
    }
}

fn end_word(end: JobEnd) -> &'static str {
    match end {
        JobEnd::Served => "served",
        JobEnd::Failed => "failed",
        JobEnd::ShedFull => "shed_full",
        JobEnd::ShedExpired => "shed_expired",
        JobEnd::ShedWaited => "shed_waited",
        JobEnd::RateLimited => "rate_limited",
        JobEnd::Unreachable => "unreachable",
        JobEnd::Faulted => "faulted",
        JobEnd::Cancelled => "cancelled",
        JobEnd::Lost => "lost",
    }
}

fn breaker_word(state: BreakerState) -> &'static str {
    match state {
        BreakerState::Closed => "closed",
        BreakerState::HalfOpen => "half_open",
        BreakerState::Open => "open",
    }
}

fn text(word: &str) -> Fact {
    Fact::Text(word.into())
}

fn milliseconds(ns: u64) -> Fact {
    Fact::Number(ns / 1_000_000)
}
