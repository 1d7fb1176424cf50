//! A ledger: every attempt of the first calls, with what it did and what its caller knew.
//!
//! Writing it changes nothing else: the trajectory of a run with a ledger is that of the run without.

use seawall::{Reply, Span, Stopped, Time};

use super::answer::Source;

/// One attempt; a call that sent none has one entry as well, with attempt 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The logical call, from 1 in the order of their begin.
    pub call: u64,
    /// The server's task that made the call; `None`: a client did.
    pub parent: Option<u64>,
    /// Index into `Scenario::edges`.
    pub edge: u32,
    /// Index into the service's operations.
    pub operation: u32,
    /// Which calling process.
    pub process: u32,
    /// The idempotency key, numbered from 1 in the order in which they were first sent.
    pub key: Option<u64>,
    /// Version of the body, from 1.
    pub body: u32,
    /// Number of the attempt, from 1; 0: none was sent.
    pub attempt: u32,
    /// When it was sent; when the call began, if none was.
    pub sent: Time,
    /// The server's number for it; `None`: it never arrived.
    pub task: Option<u64>,
    /// When it was answered, or given up.
    pub ended: Option<Time>,
    /// What came back.
    pub response: Response,
    /// Who answered.
    pub by: Option<By>,
    /// What it did, in order.
    pub effects: Vec<(u32, Mark)>,
    /// What the caller did next.
    pub next: Next,
    /// What its program got in the end, where there is a fallback; with the last attempt of a call.
    pub source: Option<Source>,
    /// The age of the snapshot that was served.
    pub age: Option<Span>,
}

/// What came back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Response {
    /// Nothing was sent.
    NotSent,
    /// Nothing yet, when the run ended.
    Open,
    /// An answer.
    Answer {
        /// For the policy.
        reply: Reply,
        /// HTTP status, where there is one.
        status: Option<u16>,
    },
    /// None, and the caller gave up: whether anything was done it does not know.
    Unknown,
}

/// Who answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// The operation's program.
    #[default]
    Program,
    /// The store of keys: an answer given before, or a refusal of the key.
    Store,
    /// A script.
    Script,
    /// A fault.
    Fault,
    /// The service, which did not let it in.
    Refusal,
}

/// What became of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Done, for the first time for this call.
    First,
    /// Done again.
    Duplicate,
    /// Not done again, as its key was recorded with it.
    Skipped,
}

/// What the caller did after an attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Nothing yet, when the run ended.
    Open,
    /// Sent another one after this long.
    Retried(Span),
    /// Was content.
    Done,
    /// Gave up.
    GaveUp(Stopped),
}

/// What a caller knows about the effect after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// It was done.
    Done,
    /// It was not.
    NotDone,
    /// It may have been.
    Unknown,
}

impl Entry {
    /// What its caller knows about effects, going by this response alone: an answer that says so, a failure that can only
    /// come before anything is done, or nothing.
    #[must_use]
    pub fn known(&self) -> Known {
        use seawall::{FailureKind as Kind, Phase};
        match self.response {
            Response::NotSent => Known::NotDone,
            Response::Answer { reply, .. } => match reply {
                Reply::Ok => Known::Done,
                Reply::Failed(failure) if failure.phase < Phase::Send => Known::NotDone,
                Reply::Failed(failure) => match failure.kind {
                    Kind::Overloaded | Kind::PermissionDenied | Kind::Invalid => Known::NotDone,
                    // A conflict says that somebody was there before: perhaps it was this call.
                    _ => Known::Unknown,
                },
            },
            Response::Open | Response::Unknown => Known::Unknown,
        }
    }
}
