//! `session`: a connection to one replica of a service that lasts.

use seawall::Span;

use super::call::Call;
use super::{Compiler, Instr};
use crate::scenario::context::Context;
use crate::scenario::file::law::LawFile;
use crate::scenario::model::Caller;
use crate::scenario::sessions::Session;
use crate::scenario::tree::{At, Position};
use crate::scenario::written::record;

record! {
    /// Holds a connection to one replica. It begins with a call, and breaks with the replica that answered it: then the program
    /// fails with `reset`.
    pub(crate) struct SessionFile {
        /// How it begins: the handshake, under its policy.
        call: At<Call>,
        /// How long it lasts if nothing breaks it; then the program goes on. Default: until something does.
        lasts: Option<At<LawFile>>,
        /// After so long without a sign of life from its replica it counts as broken, above 0s. Default: only the end of the replica
        /// breaks it.
        heartbeat: Option<At<Span>>,
    }
}

impl SessionFile {
    /// What is wrong has been reported.
    pub(super) fn compile(
        &self,
        at: Position,
        caller: Caller,
        compiler: &mut Compiler,
        context: &mut Context<'_>,
    ) {
        if let Caller::Service(_) = caller {
            context.report(
                at,
                "session: only in clients; a service has `pool`s of connections",
            );
            return;
        }
        let call = &self.call.value;
        if call.optional || call.has_fallback() {
            let message = "session: its call can be neither `optional` nor have a `fallback`: without it there is no session";
            context.report(self.call.at, message);
        }
        if let Some(heartbeat) = &self.heartbeat
            && heartbeat.value == Span::ZERO
        {
            context.report(heartbeat.at, "heartbeat: must be above 0s");
        }
        let lasts = self
            .lasts
            .as_ref()
            .and_then(|law| context.within("lasts", |context| law.value.mean(context)));
        let Some((site, edge)) = context.within("call", |context| {
            call.lay_out(false, caller, compiler, context)
        }) else {
            return;
        };
        let service = compiler.service_of(edge);
        let session = compiler.session(Session {
            site,
            service,
            lasts,
            heartbeat: self.heartbeat.as_ref().map(|at| at.value),
        });
        compiler.push(Instr::Hold(session));
    }
}
