//! How many attempts a call can come to: those of its policy, unless what its operation allows forbids all but one.

use seawall::{Failure, FailureKind, Operation, Phase, Reply, Spec};

use super::effects::{InProgress, Say};
use super::lifecycle::Trouble;
use super::model::{FaultKind, Scenario};

/// A number of attempts as a factor: `u32::MAX`, which is without limit, is infinite.
#[must_use]
pub fn factor(attempts: u32) -> f64 {
    match attempts {
        u32::MAX => f64::INFINITY,
        n => f64::from(n),
    }
}

impl Scenario {
    /// What the policy of a call site does.
    #[must_use]
    pub fn spec(&self, site: u32) -> &Spec {
        let edge = self.sites[site as usize].edge;
        let policy = self.edges[edge as usize].policy;
        self.policies[policy as usize].policy.spec()
    }

    /// What a call from a call site allows its policy to do; with keys, only what the key that is sent makes safe.
    #[must_use]
    pub fn semantics(&self, site: u32) -> Operation {
        let call = self.sites[site as usize];
        let service = self.edges[call.edge as usize].service;
        let operation = &self.services[service as usize].operations[call.operation as usize];
        let effects = self.effects.as_deref();
        let by_key = effects.and_then(|e| e.idempotent(site as usize, service, call.operation));
        Operation {
            group: u64::from(call.operation),
            idempotent: by_key.unwrap_or(operation.semantics.idempotent),
            ..operation.semantics
        }
    }

    /// The most attempts that one call from a call site makes, the first included; `u32::MAX` is without limit.
    ///
    /// One where the operation forbids every repetition that the policy asks for.
    #[must_use]
    pub fn most_attempts(&self, site: u32) -> u32 {
        let (spec, operation) = (self.spec(site), self.semantics(site));
        if let Some(hedge) = spec.hedge
            && operation.retryable
            && operation.idempotent
        {
            return hedge.max_attempts;
        }
        let mut kinds = FailureKind::ALL.iter();
        match kinds.any(|kind| self.repeats_after(site, *kind)) {
            true => spec.retry.max_attempts.max(1),
            false => 1,
        }
    }

    /// Whether a call from a call site may be tried again after a failure of this kind, as far as policy and operation
    /// go; budgets, breakers and deadlines may refuse it still.
    #[must_use]
    pub fn repeats_after(&self, site: u32, kind: FailureKind) -> bool {
        let (spec, operation) = (self.spec(site), self.semantics(site));
        let retry = &spec.retry;
        let asked = spec.tried_again().contains(kind)
            && operation.retryable
            && operation.retry_only.is_none_or(|only| only.contains(kind));
        // The service cannot have seen what failed before it was sent.
        let allowed = |phase: Phase| {
            let safe = operation.idempotent || retry.unprocessed.contains(kind);
            retry.phases.contains(phase) && (safe || phase < Phase::Send)
        };
        asked && (allowed(kind.phase()) || self.elsewhere(site, kind).into_iter().any(allowed))
    }

    /// Phases other than its own in which a failure of this kind may reach the policy of a call site: those that the
    /// scenario says so of, anywhere, and those of the way there.
    fn elsewhere(&self, site: u32, kind: FailureKind) -> Vec<Phase> {
        let written = self.written_failures();
        let written = written.filter(|failure| failure.kind == kind);
        let mut phases: Vec<Phase> = written.map(|failure| failure.phase).collect();
        let own = self.sites[site as usize].link;
        let instead = self.faults.iter().filter_map(|fault| match fault.kind {
            FaultKind::ChangeLink { link, to } if link == own => Some(to),
            _ => None,
        });
        for link in instead.chain([own]) {
            let Some(passage) = &self.links[link as usize].passage else {
                continue;
            };
            for phase in Phase::ALL {
                let rule = passage.phase(phase);
                if rule.is_some_and(|rule| [rule.kind, rule.too_long].contains(&kind)) {
                    phases.push(phase);
                }
            }
            let exhausted = passage.pool.as_ref().map(|pool| pool.exhausted);
            phases.extend(exhausted.filter(|f| f.kind == kind).map(|f| f.phase));
            // Whatever keeps a token from being issued may be told in its place.
            phases.extend(passage.credential.map(|_| Phase::Credential));
        }
        phases
    }

    /// Every failure that services of this scenario answer because it says so.
    fn written_failures(&self) -> impl Iterator<Item = Failure> {
        let reply = |reply: &Reply| match reply {
            Reply::Failed(failure) => Some(*failure),
            Reply::Ok => None,
        };
        let replies = self.code.replies.iter().filter_map(reply);
        let faults = self.faults.iter().filter_map(|fault| match &fault.kind {
            FaultKind::Errors { failure, .. } => Some(*failure),
            FaultKind::Throttle { rule, .. } => Some(rule.failure),
            FaultKind::Replicas {
                trouble: Trouble::Bad { failure, .. },
                ..
            } => Some(*failure),
            _ => None,
        });
        let behaviours = self.services.iter().filter_map(|s| s.behaviour.as_deref());
        let behaviours = behaviours.flat_map(|behaviour| {
            let conflicts = behaviour.conflicts.as_ref().map(|c| c.failure);
            let limit = behaviour.rate_limit.as_ref().map(|limit| limit.failure);
            conflicts.into_iter().chain(limit)
        });
        let effects = self.effects.as_deref().into_iter();
        let scripted = effects.clone().flat_map(|effects| &effects.scripts);
        let scripted = scripted.flat_map(|script| &script.answers);
        let scripted = scripted.filter_map(move |answer| match &answer.say {
            Say::Answer { reply: said, .. } => reply(said),
            Say::AsUsual | Say::Nothing => None,
        });
        let stores = effects.flat_map(|effects| &effects.stores);
        let busy = stores.filter_map(|store| match store.in_progress {
            InProgress::Fails(failure) => Some(failure),
            InProgress::Polls { .. } => None,
        });
        replies
            .chain(faults)
            .chain(behaviours)
            .chain(scripted)
            .chain(busy)
    }
}
