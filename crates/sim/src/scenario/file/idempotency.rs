//! A server's memory of idempotency keys.

use seawall::{FailureKind, Span};

use super::failure::FailureFile;
use crate::scenario::context::Context;
use crate::scenario::effects::{Claim, InProgress, Store};
use crate::scenario::tree::At;
use crate::scenario::written::{Whole, choice, mend, record, words};
use crate::step::Compiler;

record! {
    /// A memory of idempotency keys: a request whose key is known gets the answer that was given, and nothing is done
    /// again.
    pub(crate) struct IdempotencyFile {
        /// What a key counts for: outside of it, the same key is another one.
        scope: Option<Vec<Part>>,
        /// How long an answer is remembered, from when it was given. A retry that comes later is a new request.
        retention: Span = "24h",
        /// How a key is claimed.
        claim: Claim = "atomic",
        /// What a request gets whose key is being worked on. Default: 409. Only with an atomic claim.
        in_progress: Option<At<InProgressFile>>,
        /// How long a claim holds that was never answered, since the worker crashed. Default: as long as `retention`.
        lease: Option<At<Span>>,
        /// Whether a known key that comes with another body is refused with 409; otherwise the body is not looked at.
        fingerprint: bool = true,
        /// Whether callers take the operation for idempotent only where they send a key: without one it is retried only
        /// when the server cannot have seen the request.
        required: bool = false,
        /// What is done about failures.
        failures: Failures = "forget",
        /// Names of effects. The key is then recorded with each of these effects instead of with the request: the
        /// program runs again, these effects are skipped, and all others happen again.
        protects: Option<At<Vec<At<String>>>>,
    }
}

/// A part of what a key counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Tenant,
    Operation,
}

words! {
    /// What a key counts for.
    Part, "KeyScope" {
        "tenant" => Part::Tenant, "The instance of the client that the request began at.";
        "operation" => Part::Operation, "The operation that is called.";
    }
}

words! {
    /// How a key is claimed.
    Claim, "Claim" {
        "atomic" => Claim::Atomic, "Looking and writing are one step.";
        "check_then_act" => Claim::CheckThenAct,
            "It is looked up first and written with the answer: a request that comes in between sees nothing.";
    }
}

/// What is done about failures of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failures {
    Forget,
    Replay,
}

words! {
    /// What is done about failures of the program.
    Failures, "StoredFailures" {
        "forget" => Failures::Forget, "The key is free again: the next attempt runs the program.";
        "replay" => Failures::Replay, "The failure is remembered and given again.";
    }
}

choice! {
    /// What a request gets whose key is being worked on.
    pub(crate) enum InProgressFile {
        /// 409 at once.
        conflict => Conflict,
        /// This failure at once.
        fail => Fail(FailureFile),
        /// It waits at the server, which looks again and again; then 409.
        poll => Poll(PollFile),
    }
}

record! {
    /// How often the server looks again.
    pub(crate) struct PollFile {
        /// Time between two looks, above 0s.
        every: At<Span>,
        /// Looks at most.
        times: Whole<1>,
    }
}

impl InProgressFile {
    fn mean(&self, context: &mut Context<'_>) -> InProgress {
        match self {
            InProgressFile::Conflict => InProgress::Fails(FailureKind::Conflict.into()),
            InProgressFile::Fail(failure) => InProgress::Fails(failure.mean()),
            InProgressFile::Poll(poll) => {
                if poll.every.value == Span::ZERO {
                    context.report(poll.every.at, "every: must be above 0s");
                }
                InProgress::Polls {
                    every: poll.every.value,
                    times: poll.times.0,
                }
            }
        }
    }
}

impl IdempotencyFile {
    /// The store of `service` called `name`; the programs that `effects` are found in have been compiled.
    pub(crate) fn mean(&self, name: String, context: &mut Context<'_>) -> Store {
        if let Some(given) = &self.in_progress
            && (self.claim == Claim::CheckThenAct || self.protects.is_some())
        {
            let message = "in_progress: nothing is ever in progress when the key is written with the answer or with an effect";
            context.report(given.at, message);
        }
        if let Some(lease) = &self.lease
            && (self.claim == Claim::CheckThenAct || self.protects.is_some())
        {
            let message = "lease: nothing is claimed when the key is written with the answer or with an effect";
            context.report(lease.at, message);
        }
        if let Some(protects) = &self.protects
            && self.claim == Claim::CheckThenAct
        {
            let message =
                "protects: a key that is recorded with an effect is atomic; leave out `claim`";
            context.report(protects.at, message);
        }
        let scope = self.scope.as_deref();
        let by = |part| scope.is_none_or(|scope| scope.contains(&part));
        let in_progress = self
            .in_progress
            .as_ref()
            .map(|given| given.value.mean(context));
        Store {
            name,
            by_tenant: by(Part::Tenant),
            by_operation: by(Part::Operation),
            retention: self.retention,
            lease: self
                .lease
                .as_ref()
                .map_or(self.retention, |lease| lease.value),
            required: self.required,
            claim: self.claim,
            in_progress: in_progress.unwrap_or(InProgress::Fails(FailureKind::Conflict.into())),
            fingerprint: self.fingerprint,
            replays_failures: self.failures == Failures::Replay,
            protects: None,
        }
    }

    /// The effects that the key is recorded with, once the programs of the service are known.
    pub(crate) fn protected(
        &self,
        service: u32,
        compiler: &mut Compiler,
        context: &mut Context<'_>,
    ) -> Option<Vec<u32>> {
        let protects = &self.protects.as_ref()?.value;
        let effects = &compiler.effects().effects;
        let own = |index: &usize| effects[*index].service == service;
        let known: Vec<usize> = (0..effects.len()).filter(own).collect();
        let mut found = Vec::new();
        for name in protects {
            let index = known
                .iter()
                .find(|&&index| effects[index].name == name.value);
            match index {
                Some(&index) => found.push(index as u32),
                None => {
                    let names = known.iter().map(|&index| effects[index].name.as_str());
                    let hint = mend(&name.value, names);
                    let message = format!(
                        "protects: no effect here is called `{}`: {hint}",
                        name.value
                    );
                    context.report(name.at, message);
                }
            }
        }
        Some(found)
    }
}
