//! What is written in a scenario, block by block, and what each block means.

pub(crate) mod arrivals;
mod cache;
pub(crate) mod change_link;
pub(crate) mod client;
mod conflicts;
pub(crate) mod credential;
mod empirical;
pub(crate) mod failure;
pub(crate) mod fault;
mod gate;
mod guard;
mod idempotency;
pub(crate) mod law;
mod lifecycle;
pub(crate) mod link;
mod messages;
mod phases;
mod pool;
mod queue;
pub(crate) mod run;
mod script;
pub(crate) mod service;
mod serving;
pub(crate) mod trouble;

use super::tree::At;
use super::written::{Table, Tried, record};
use client::ClientFile;
use credential::CredentialFile;
use fault::FaultFile;
use link::LinkFile;
use run::RunFile;
use service::ServiceFile;

record! {
    /// One world: who calls whom how often, what may go wrong, and what it promises.
    pub(crate) struct ScenarioFile {
        /// Version of this language: 1.
        version: Tried<At<u64>>,
        /// What the story is called.
        title: Option<String>,
        /// What the story tells.
        description: Option<String>,
        /// How long, how finely measured, how often.
        run: Tried<RunFile>,
        /// Populations of callers, by name.
        clients: Tried<Table<ClientFile>>,
        /// Everything that can be called, by name.
        services: Tried<Table<ServiceFile>>,
        /// Ways between caller and service, by name; `default` is taken where nothing else is said, and
        /// "caller -> service" by that caller's calls to that service. Without: no delay, no loss.
        links: Table<LinkFile>,
        /// Tokens that calls need, by name; links say which.
        credentials: Table<CredentialFile>,
        /// What callers do about slow and failed calls, by name. `none` (one attempt, no timeout) always
        /// exists.
        policies: Table<seawall::Spec>,
        /// Disturbances on the timeline.
        faults: Vec<FaultFile>,
        /// What the world promises, such as "amplification(api) <= 1.2"; a broken promise fails the run.
        expect: Vec<At<String>>,
    }
}
