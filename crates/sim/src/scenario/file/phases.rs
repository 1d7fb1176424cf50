//! Phases of an attempt with a time of their own, as written.

use seawall::{FailureKind, Phase, Span};

use super::law::LawFile;
use crate::law::Law;
use crate::scenario::context::Context;
use crate::scenario::passage::PhaseRule;
use crate::scenario::tree::At;
use crate::scenario::written::{Share, record};

record! {
    /// Phases of an attempt that take time of their own, beside the delay of the link and the time in the service.
    /// The first three belong to a new connection: each attempt opens one, unless the link has a `pool`.
    pub(crate) struct PhasesFile {
        /// Name resolution or routing.
        dns: Option<At<PhaseTimeFile>>,
        /// Opening the connection.
        connect: Option<At<PhaseTimeFile>>,
        /// The TLS handshake.
        tls: Option<At<PhaseTimeFile>>,
        /// Writing the request.
        send: Option<At<PhaseTimeFile>>,
        /// Reading the answer.
        receive: Option<At<PhaseTimeFile>>,
        /// Understanding the answer.
        decode: Option<At<PhaseTimeFile>>,
    }
}

record! {
    /// One phase. A bare length of time is how long it takes.
    pub(crate) struct PhaseTimeFile [takes] {
        /// How long it takes.
        takes: LawFile = "0s",
        /// The share of attempts that fail in it, at its end.
        fails: Share = 0,
        /// How they fail. Default: `dns`, `connect_refused`, `tls`, `reset` (send and receive) and `decode`.
        kind: Option<At<FailureKind>>,
        /// The longest it may take, above 0s: attempts fail then, with `dns`, `connect_timeout` (connect and tls) or
        /// `timeout` (the others). Without: as long as the attempt may.
        timeout: Option<At<Span>>,
    }
}

impl PhasesFile {
    pub(crate) fn mean(&self, context: &mut Context<'_>) -> [Option<PhaseRule>; Phase::ALL.len()] {
        let mut rules = [const { None }; Phase::ALL.len()];
        for (written, phase) in [
            (&self.dns, Phase::Dns),
            (&self.connect, Phase::Connect),
            (&self.tls, Phase::Tls),
            (&self.send, Phase::Send),
            (&self.receive, Phase::Receive),
            (&self.decode, Phase::Decode),
        ] {
            if let Some(written) = written {
                let mean = |context: &mut Context<'_>| written.value.mean(phase, context);
                rules[phase as usize] = Some(context.within(phase.name(), mean));
            }
        }
        rules
    }
}

impl PhaseTimeFile {
    fn mean(&self, phase: Phase, context: &mut Context<'_>) -> PhaseRule {
        let takes = context.within("takes", |context| self.takes.mean(context));
        if let Some(timeout) = &self.timeout
            && timeout.value == Span::ZERO
        {
            context.within("timeout", |context| {
                context.report(timeout.at, "must be above 0s");
            });
        }
        if let Some(kind) = &self.kind
            && self.fails.0 == 0.0
        {
            context.within("kind", |context| {
                context.report(kind.at, "says how attempts fail; none does without `fails`");
            });
        }
        PhaseRule {
            takes: takes.unwrap_or(Law::Constant(Span::ZERO)),
            fails: self.fails.0,
            kind: self.kind.as_ref().map_or(usual(phase), |kind| kind.value),
            timeout: self.timeout.as_ref().map(|timeout| timeout.value),
            too_long: match phase {
                Phase::Dns => FailureKind::Dns,
                Phase::Connect | Phase::Tls => FailureKind::ConnectTimeout,
                _ => FailureKind::Timeout,
            },
        }
    }
}

/// How attempts usually fail in a phase.
fn usual(phase: Phase) -> FailureKind {
    match phase {
        Phase::Dns => FailureKind::Dns,
        Phase::Connect => FailureKind::ConnectRefused,
        Phase::Tls => FailureKind::Tls,
        Phase::Decode => FailureKind::Decode,
        _ => FailureKind::Reset,
    }
}
