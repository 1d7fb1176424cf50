//! Logical calls as trees: a call, its attempts, the job each became, the calls that the job made in turn.
//!
//! Put together from the [`Log`] of a run after the fact. The log knows names, numbers and times, and nothing else:
//! a trace cannot show what a request carried.

use std::collections::BTreeMap;

use seawall::{Action, BreakerState, CallKey, Reply, Time, Verdict};

use crate::metrics::{AttemptLink, CallLink, JobEnd, JobRecord, Leg, LegRecord, Log, Said};

/// All calls of a log.
#[derive(Debug)]
pub struct Traces<'l> {
    calls: Vec<Kept>,
    jobs: BTreeMap<u64, &'l JobRecord>,
    /// The calls that a job made, by its number.
    within: BTreeMap<u64, Vec<usize>>,
    /// The calls that clients made, in the order in which they began.
    tops: Vec<usize>,
}

/// A call as it stands in the list.
#[derive(Debug)]
struct Kept {
    link: CallLink,
    edge: u32,
    process: u32,
    began: Time,
    ended: Option<Time>,
    deadline: Option<Time>,
    verdict: Option<Verdict>,
    attempts: Vec<KeptAttempt>,
}

#[derive(Debug)]
struct KeptAttempt {
    number: u32,
    sent: Time,
    ended: Option<(Time, AttemptEnd)>,
    job: Option<u64>,
    legs: Vec<(Leg, Time, Time)>,
}

/// One logical call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Index into `Scenario::sites`.
    pub site: u32,
    /// Index into `Scenario::edges`.
    pub edge: u32,
    /// Which calling process, from 0.
    pub process: u32,
    /// When it began.
    pub began: Time,
    /// When it ended; `None`: not while the log was kept.
    pub ended: Option<Time>,
    /// The deadline its caller sent along.
    pub deadline: Option<Time>,
    /// The breaker of its process when it began, if there is one.
    pub breaker: Option<BreakerState>,
    /// How it ended.
    pub verdict: Option<Verdict>,
    /// In the order in which they were sent.
    pub attempts: Vec<Attempt>,
}

/// One attempt, as its caller sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// From 1.
    pub number: u32,
    /// When it was sent.
    pub sent: Time,
    /// When its caller was done with it, and why.
    pub ended: Option<(Time, AttemptEnd)>,
    /// What it became at its service; `None` when it never got there, or is still there.
    pub job: Option<Job>,
    /// The legs of its way that took time, from when to when, where it has any.
    pub legs: Vec<(Leg, Time, Time)>,
}

/// Why a caller was done with an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    /// It was answered.
    Answered(Reply),
    /// Its caller waited no longer.
    GivenUp,
}

/// One attempt, as its service sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Index into `Scenario::services`.
    pub service: u32,
    /// The copy that took it, from 0.
    pub replica: u32,
    /// When it arrived.
    pub arrived: Time,
    /// When its program began, if it did.
    pub started: Option<Time>,
    /// When it was answered, or left without an answer.
    pub left: Time,
    /// How.
    pub end: JobEnd,
    /// Whether its caller had left before.
    pub late: bool,
    /// The calls it made, in order.
    pub calls: Vec<Call>,
}

impl<'l> Traces<'l> {
    /// Of everything in `log`.
    #[must_use]
    pub fn of(log: &'l Log) -> Traces<'l> {
        let mut traces = Traces {
            calls: Vec::with_capacity(log.calls_made.len()),
            jobs: log.jobs.iter().map(|job| (job.job, job)).collect(),
            within: BTreeMap::new(),
            tops: Vec::new(),
        };
        // A key is used again once its call has ended, so whose it is depends on when.
        let mut current: BTreeMap<CallKey, usize> = BTreeMap::new();
        let mut made = log.calls_made.iter();
        let mut sent = log.attempts_sent.iter().peekable();
        let mut legs = log.legs.iter().peekable();
        for (i, exchange) in log.exchanges.iter().enumerate() {
            while let Some(link) = sent.next_if(|link| link.exchange <= i) {
                traces.on_its_way(current.get(&link.call), link);
            }
            while let Some(leg) = legs.next_if(|leg| leg.exchange <= i) {
                traces.went(current.get(&leg.call), leg);
            }
            let Some(key) = exchange.call else { continue };
            if let Said::Begin { deadline, .. } = exchange.said {
                let Some(&link) = made.next() else { continue };
                current.insert(key, traces.calls.len());
                traces.begin(Kept {
                    link,
                    edge: exchange.edge,
                    process: exchange.process,
                    began: exchange.at,
                    ended: None,
                    deadline,
                    verdict: None,
                    attempts: Vec::new(),
                });
            } else if let Some(&call) = current.get(&key) {
                traces.calls[call].said(exchange.at, exchange.said);
            }
        }
        for link in sent {
            traces.on_its_way(current.get(&link.call), link);
        }
        for leg in legs {
            traces.went(current.get(&leg.call), leg);
        }
        traces
    }

    fn begin(&mut self, call: Kept) {
        let number = self.calls.len();
        match call.link.within {
            Some(job) => self.within.entry(job).or_default().push(number),
            // Who asks for a token does so for nobody in particular.
            None if call.link.errand => {}
            None => self.tops.push(number),
        }
        self.calls.push(call);
    }

    fn on_its_way(&mut self, call: Option<&usize>, link: &AttemptLink) {
        let Some(&call) = call else { return };
        let attempts = self.calls[call].attempts.iter_mut().rev();
        if let Some(attempt) = attempts.into_iter().find(|a| a.number == link.attempt) {
            attempt.job = Some(link.job);
        }
    }

    fn went(&mut self, call: Option<&usize>, leg: &LegRecord) {
        let Some(&call) = call else { return };
        let mut attempts = self.calls[call].attempts.iter_mut().rev();
        if let Some(attempt) = attempts.find(|a| a.number == leg.attempt) {
            attempt.legs.push((leg.leg, leg.from, leg.to));
        }
    }

    /// How many calls clients have made.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tops.len()
    }

    /// Whether clients have made no call.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tops.is_empty()
    }

    /// The calls that clients made, without what is below them: number from 1, when it began and ended, how it ended.
    pub fn tops(&self) -> impl Iterator<Item = (usize, Time, Option<Time>, Option<Verdict>)> {
        (1..).zip(&self.tops).map(|(number, &call)| {
            let call = &self.calls[call];
            (number, call.began, call.ended, call.verdict)
        })
    }

    /// The call that began as the `number`-th of all that clients made, from 1, with all that is below it.
    #[must_use]
    pub fn call(&self, number: usize) -> Option<Call> {
        let &call = self.tops.get(number.checked_sub(1)?)?;
        Some(self.tree(call))
    }

    /// Whether the call and everything below it is over.
    #[must_use]
    pub fn is_over(&self, number: usize) -> bool {
        let Some(&call) = number.checked_sub(1).and_then(|n| self.tops.get(n)) else {
            return false;
        };
        self.all_over(call)
    }

    fn all_over(&self, call: usize) -> bool {
        let job_is_over = |job: u64| {
            self.jobs.contains_key(&job)
                && (self.within.get(&job))
                    .is_none_or(|calls| calls.iter().all(|&c| self.all_over(c)))
        };
        let call = &self.calls[call];
        call.ended.is_some() && call.attempts.iter().all(|a| a.job.is_none_or(job_is_over))
    }

    fn tree(&self, call: usize) -> Call {
        let call = &self.calls[call];
        let attempt = |attempt: &KeptAttempt| Attempt {
            number: attempt.number,
            sent: attempt.sent,
            ended: attempt.ended,
            job: attempt.job.and_then(|job| self.job(job)),
            legs: attempt.legs.clone(),
        };
        Call {
            site: call.link.site,
            edge: call.edge,
            process: call.process,
            began: call.began,
            ended: call.ended,
            deadline: call.deadline,
            breaker: call.link.breaker,
            verdict: call.verdict,
            attempts: call.attempts.iter().map(attempt).collect(),
        }
    }

    fn job(&self, number: u64) -> Option<Job> {
        let record = self.jobs.get(&number)?;
        let calls = self.within.get(&number).into_iter().flatten();
        Some(Job {
            service: record.service,
            replica: record.replica,
            arrived: record.arrived,
            started: record.started,
            left: record.left,
            end: record.end,
            late: record.late,
            calls: calls.map(|&call| self.tree(call)).collect(),
        })
    }
}

impl Kept {
    fn said(&mut self, at: Time, said: Said) {
        match said {
            Said::Do(Action::Send { attempt, .. }) => self.attempts.push(KeptAttempt {
                number: attempt,
                sent: at,
                ended: None,
                job: None,
                legs: Vec::new(),
            }),
            Said::Do(Action::Abandon(attempt)) => self.done(attempt, at, AttemptEnd::GivenUp),
            Said::Answer { attempt, reply } => self.done(attempt, at, AttemptEnd::Answered(reply)),
            Said::Do(Action::Finish(verdict)) => {
                self.ended = Some(at);
                self.verdict = Some(verdict);
            }
            _ => {}
        }
    }

    /// An answer to an attempt that was given up before changes nothing.
    fn done(&mut self, attempt: u32, at: Time, end: AttemptEnd) {
        let attempt = self.attempts.iter_mut().find(|a| a.number == attempt);
        if let Some(attempt) = attempt.filter(|a| a.ended.is_none()) {
            attempt.ended = Some((at, end));
        }
    }
}
