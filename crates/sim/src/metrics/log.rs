//! A log of single calls and jobs, for those who need more than counts: theory checks and traces.
//!
//! It grows with every call, so it is off unless asked for ([`crate::World::with_log`]). Writing it changes
//! nothing else: the trajectory of a run with a log is that of the run without.

use super::passage::Leg;
use seawall::{Action, BreakerState, CallKey, FailureKind, Operation, Reply, Stopped, Time};

/// How a job ended, as its service sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobEnd {
    /// Answered well.
    Served,
    /// Answered with a failure of its own program.
    Failed,
    /// Refused since the waiting room was full.
    ShedFull,
    /// Dropped from the queue since its deadline had passed.
    ShedExpired,
    /// Refused or dropped since it had waited too long.
    ShedWaited,
    /// Answered with a failure by a fault.
    Faulted,
    /// Cancelled since its caller had left.
    Cancelled,
    /// Refused by the rate limit.
    RateLimited,
    /// Refused since no replica was there to take it.
    Unreachable,
    /// Lost in an outage or a crash.
    Lost,
}

impl JobEnd {
    /// How a job ended that answered like this.
    pub(crate) fn of(reply: Reply) -> JobEnd {
        match reply {
            Reply::Ok => JobEnd::Served,
            Reply::Failed(_) => JobEnd::Failed,
        }
    }
}

/// One attempt as its service saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobRecord {
    /// Its number, as in [`AttemptLink`]; no two jobs of a run share one.
    pub job: u64,
    /// Index into `Scenario::services`.
    pub service: u32,
    /// The copy that took it.
    pub replica: u32,
    /// Index into `Scenario::edges`.
    pub edge: u32,
    /// Which attempt of its call it was, from 1.
    pub attempt: u32,
    /// When it reached the service.
    pub arrived: Time,
    /// When its program began, if it did.
    pub started: Option<Time>,
    /// When it left the service.
    pub left: Time,
    /// How.
    pub end: JobEnd,
    /// Whether its caller had left before it was answered.
    pub late: bool,
}

/// One logical call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRecord {
    /// Index into `Scenario::edges`.
    pub edge: u32,
    /// Which calling process.
    pub process: u32,
    /// When it began.
    pub began: Time,
    /// When it ended.
    pub ended: Time,
    /// Attempts sent.
    pub attempts: u32,
    /// Why it was given up; `None` if it ended well.
    pub stopped: Option<Stopped>,
    /// The failure of its last attempt, if that failed.
    pub last: Option<FailureKind>,
}

/// What passes between the kernel and a policy engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// To the engine: a call begins.
    Begin {
        /// The deadline its caller sent.
        deadline: Option<Time>,
        /// What its operation allows.
        operation: Operation,
    },
    /// To the engine: an attempt was answered.
    Answer {
        /// Its number, from 1.
        attempt: u32,
        /// What came back.
        reply: Reply,
    },
    /// To the engine: the call's timer has come.
    Timer,
    /// To the engine: a call that waits for a permit may have been given one.
    Look,
    /// To the engine: the replica to which the next attempt goes.
    Host(u32),
    /// To the engine: the caller left.
    Cancel,
    /// To the engine as a whole: retries are switched off, or on again.
    KillSwitch(bool),
    /// By the engine: what to do.
    Do(Action),
}

/// One thing said, from which every decision of an engine can be had again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// When.
    pub at: Time,
    /// Index into `Scenario::edges`.
    pub edge: u32,
    /// Which calling process.
    pub process: u32,
    /// About which call; `None`: the engine as a whole. A key is used again once its call has ended.
    pub call: Option<CallKey>,
    /// What.
    pub said: Said,
}

/// Where a call was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLink {
    /// Position of its [`Said::Begin`] in [`Log::exchanges`].
    pub exchange: usize,
    /// Index into `Scenario::sites`.
    pub site: u32,
    /// The job in whose program; `None`: in that of a client.
    pub within: Option<u64>,
    /// The breaker of its process when it began, if there is one.
    pub breaker: Option<BreakerState>,
    /// Whether it asks for a token, and is nobody's call.
    pub errand: bool,
}

/// What became of an attempt that went on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptLink {
    /// How many of [`Log::exchanges`] came before.
    pub exchange: usize,
    /// Whose attempt.
    pub call: CallKey,
    /// Its number, from 1.
    pub attempt: u32,
    /// The job it is to become.
    pub job: u64,
}

/// One leg of the way of an attempt that took time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegRecord {
    /// How many of [`Log::exchanges`] came before its end.
    pub exchange: usize,
    /// Whose attempt.
    pub call: CallKey,
    /// Its number, from 1.
    pub attempt: u32,
    /// Which.
    pub leg: Leg,
    /// When it began.
    pub from: Time,
    /// When it ended.
    pub to: Time,
}

/// Everything that ended, in the order in which it did, and what was said on the way there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// Jobs that left a service, or were turned away by one.
    pub jobs: Vec<JobRecord>,
    /// Calls that ended.
    pub calls: Vec<CallRecord>,
    /// What passed between the kernel and the policy engines.
    pub exchanges: Vec<Exchange>,
    /// Where each call was made, in the order in which they began.
    pub calls_made: Vec<CallLink>,
    /// The attempts that went on their way, in order.
    pub attempts_sent: Vec<AttemptLink>,
    /// Whether only `jobs` and `calls` are kept.
    pub ends_only: bool,
    /// Legs of ways with phases or connections, in the order in which they ended.
    pub legs: Vec<LegRecord>,
}
