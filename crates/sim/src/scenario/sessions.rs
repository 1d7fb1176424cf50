//! Sessions: connections of clients that last, each to one replica of a service.
//!
//! A scenario without a `session` step has none of this ([`Scenario::sessions`](super::model::Scenario)).

use seawall::Span;

use super::context::Context;
use super::file::ScenarioFile;
use super::model::Service;
use crate::law::Law;
use crate::step::{Compiled, Instr};

/// One `session` step.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// The call site that it begins with.
    pub site: u32,
    /// Index into `services`.
    pub service: u32,
    /// How long it lasts if nothing breaks it; `None`: until something does.
    pub lasts: Option<Law>,
    /// After so long without a sign of life the client takes it for broken; above 0. `None`: it waits for ever.
    pub heartbeat: Option<Span>,
}

/// Every session of a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sessions {
    /// By step.
    pub all: Vec<Session>,
    /// By call site: the step that begins with it.
    pub by_site: Vec<Option<u32>>,
    /// Services that sessions are held to, by index.
    pub services: Vec<u32>,
}

impl Sessions {
    /// What follows from what has been compiled. Services that sessions are held to have replicas that can be told apart.
    pub(crate) fn complete(&mut self, sites: usize, services: &mut [Service]) {
        self.by_site = vec![None; sites];
        for (index, session) in (0u32..).zip(&self.all) {
            self.by_site[session.site as usize] = Some(index);
            if !self.services.contains(&session.service) {
                self.services.push(session.service);
            }
            if let Some(service) = services.get_mut(session.service as usize) {
                service.behaviour.get_or_insert_default();
            }
        }
        self.services.sort_unstable();
    }
}

/// Reports sessions where they cannot be held, and memory for sessions that nobody holds.
pub(super) fn check(
    file: &ScenarioFile,
    services: &[Service],
    compiled: &Compiled,
    context: &mut Context<'_>,
) {
    let code = &compiled.code;
    let sessions = &compiled.sessions.all;
    let written = file.services.0.as_ref().map_or(&[][..], |table| &table.0);
    for (service, entry) in (0u32..).zip(written) {
        let memory = entry.value.as_ref().and_then(|s| s.memory.as_ref());
        let Some(memory) = memory.filter(|memory| memory.per_session.value.0 > 0) else {
            continue;
        };
        if !sessions.iter().any(|session| session.service == service) {
            let name = &entry.name.value;
            let message =
                format!("services.{name}.memory.per_session: nobody holds a `session` with it");
            context.report(memory.per_session.at, message);
        }
    }
    for instr in &code.instrs {
        let Instr::Parallel { first, count } = *instr else {
            continue;
        };
        let branches = code.branches_of(first, count).iter();
        for held in branches.flat_map(|branch| code.reachable(*branch)) {
            if let Instr::Hold(session) = *held {
                let place = compiled.places[sessions[session as usize].site as usize];
                context.report(
                    place,
                    "session: not inside `parallel`; write a client of its own",
                );
            }
        }
    }
    for (session, service) in sessions
        .iter()
        .filter_map(|session| Some((session, services.get(session.service as usize)?)))
    {
        if service.messages().is_some() {
            let place = compiled.places[session.site as usize];
            let message = format!(
                "session: `{}` has `messages`: who sends to it talks to none of its replicas",
                service.name
            );
            context.report(place, message);
        }
    }
}
