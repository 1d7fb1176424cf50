//! A log of single calls and jobs, for those who need more than counts: theory checks and traces.
//!
//! It grows with every call, so it is off unless asked for ([`crate::World::with_log`]). Writing it changes
//! nothing else: the trajectory of a run with a log is that of the run without.

use seawall::{FailureKind, Reply, Stopped, Time};

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
    /// Answered with a failure by a fault.
    Faulted,
    /// Cancelled since its caller had left.
    Cancelled,
    /// Lost in an outage.
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

/// Everything that ended, in the order in which it did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// Jobs that left a service, or were turned away by one.
    pub jobs: Vec<JobRecord>,
    /// Calls that ended.
    pub calls: Vec<CallRecord>,
}
