//! Scripted answers.

use seawall::{Failure, FailureKind, Reply, Span};
use serde_json::{Value as Json, json};

use crate::scenario::context::Context;
use crate::scenario::effects::{Say, Script, Scripted};
use crate::scenario::problem::Problems;
use crate::scenario::tree::{At, Node, Value};
use crate::scenario::written::{Defs, Several, Written, record, words};
use crate::text::http_date;

record! {
    /// Answers by number. A bare list is the answers.
    pub(crate) struct ScriptFile [answers] {
        /// Answer 1, 2, 3 …: each an HTTP status such as 503, the word `lost` or `program`, or a map.
        answers: Several<ScriptedFile>,
        /// What comes after the last one.
        then: Then = "repeat_last",
        /// Whether attempts are counted over all calls or within each.
        per: Per = "operation",
    }
}

record! {
    /// One scripted answer. Anything but a map is its status.
    pub(crate) struct ScriptedFile [status] {
        /// An HTTP status (200 to 599); `lost`: no answer arrives, though the program runs; `program`: what the
        /// program says.
        status: Status,
        /// Whether the program runs first, with its work and its effects. Default: for a good answer and for `lost`
        /// it does, for a failure it does not, as if something in front of it had answered.
        program: Option<bool>,
        /// How long the caller is asked to wait: a length of time, or `{ date: 6s }` for an HTTP date so long after
        /// the start of the run. Only with a failure.
        retry_after: Option<At<RetryAfterFile>>,
    }
}

/// What comes after the last scripted answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    RepeatLast,
    Normal,
}

words! {
    /// What comes after the last scripted answer.
    Then, "Then" {
        "repeat_last" => Then::RepeatLast, "The last one again and again.";
        "normal" => Then::Normal, "What the program says.";
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Per {
    Operation,
    Call,
}

words! {
    /// What scripted answers are counted over.
    Per, "Per" {
        "operation" => Per::Operation, "All attempts that reach the operation, one after the other.";
        "call" => Per::Call, "The attempts of each call: the first gets answer 1.";
    }
}

/// What a scripted answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Http(u16),
    Lost,
    Program,
}

impl Written for Status {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let text = node.scalar().unwrap_or_default();
        let status = match text {
            "lost" => Some(Status::Lost),
            "program" => Some(Status::Program),
            _ => (text.parse().ok())
                .filter(|code| (200..=299).contains(code) || (400..=599).contains(code))
                .map(Status::Http),
        };
        if status.is_none() {
            let allowed = "an HTTP status (200 to 299, 400 to 599), `lost` or `program`";
            problems.report(
                node.at,
                format!("expected {allowed}, got {}", node.describe()),
            );
        }
        status
    }

    fn schema(_: &mut Defs) -> Json {
        json!({ "anyOf": [
            { "type": "integer", "minimum": 200, "maximum": 599 },
            { "enum": ["lost", "program"] },
        ] })
    }
}

/// A wait that is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RetryAfterFile {
    In(Span),
    At(Span),
}

record! {
    /// A `Retry-After` that is a date.
    pub(crate) struct DateFile {
        /// So long after the start of the run; whole seconds, as the header has no smaller unit.
        date: At<Span>,
    }
}

impl Written for RetryAfterFile {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let Value::Map(_) = node.value else {
            return Span::decode(node, problems).map(RetryAfterFile::In);
        };
        let DateFile { date, .. } = DateFile::decode(node, problems)?;
        if date.value.0 % 1_000_000_000 != 0 {
            let message = format!("an HTTP date has whole seconds, got {}", date.value);
            problems.report(date.at, message);
        }
        Some(RetryAfterFile::At(date.value))
    }

    fn schema(defs: &mut Defs) -> Json {
        json!({ "anyOf": [Span::schema(defs), DateFile::schema(defs)] })
    }
}

impl ScriptFile {
    pub(crate) fn mean(&self, context: &mut Context<'_>) -> Script {
        let answers = self.answers.0.iter();
        Script {
            answers: answers.map(|answer| answer.mean(context)).collect(),
            repeat_last: self.then == Then::RepeatLast,
            per_call: self.per == Per::Call,
        }
    }
}

impl ScriptedFile {
    fn mean(&self, context: &mut Context<'_>) -> Scripted {
        let good = matches!(self.status, Status::Http(200..=299));
        let fails = matches!(self.status, Status::Http(400..=599));
        if let Some(retry_after) = &self.retry_after
            && !fails
        {
            context.report(
                retry_after.at,
                "`retry_after` goes with a failure (400 to 599)",
            );
        }
        if self.status == Status::Program && self.program == Some(false) {
            let message = "what the program says needs the program; leave out `program: false`";
            context.report(self.position, message);
        }
        let retry_after = self.retry_after.as_ref().map(|r| r.value);
        let say = match self.status {
            Status::Program => Say::AsUsual,
            Status::Lost => Say::Nothing,
            Status::Http(status) => Say::Answer {
                reply: match good {
                    true => Reply::Ok,
                    false => Reply::Failed(Failure {
                        retry_after: match retry_after {
                            Some(RetryAfterFile::In(span)) => Some(span),
                            _ => None,
                        },
                        ..kind_of(status).into()
                    }),
                },
                status,
                date: match retry_after {
                    Some(RetryAfterFile::At(span)) => Some(http_date::after_start(span)),
                    _ => None,
                },
            },
        };
        Scripted {
            say,
            program: self.program.unwrap_or(!fails),
        }
    }
}

/// The kind of failure that a status means to a policy.
fn kind_of(status: u16) -> FailureKind {
    let known = FailureKind::ALL.iter().copied();
    let mut same = known.filter(|kind| kind.http() == Some(status));
    same.next().unwrap_or(match status {
        500.. => FailureKind::Internal,
        _ => FailureKind::Invalid,
    })
}
