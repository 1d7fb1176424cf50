//! Budget, breaker, bulkhead and rate limit: what the calls of a client share, and what an attempt has to pass.
//!
//! In which order is the [`Plan`]'s. A breaker inside retry looks twice, at its place in the order (who would be refused
//! does not queue) and when the attempt is sent (it may have opened meanwhile).

mod keys;
mod look;
mod parts;
mod plan;
mod way;

use crate::action::Stopped;
use crate::breaker::Circuit;
use crate::budget::{Account, Event, Grant, Need, Settled};
use crate::call::{Call, State};
use crate::entropy::Entropy;
use crate::failure::{Failure, FailureKind};
use crate::rate_limit::Pacer;
use crate::request::CallKey;
use crate::scope::{Keyed, Scope};
use crate::spec::{Counts, Deadline, Spec};
use crate::time::{Span, Time};

use parts::{Bounding, Breaking};
use plan::Plan;

#[derive(Clone, Debug)]
pub(crate) struct Guards {
    pub(crate) plan: Plan,
    deadline: Deadline,
    attempt_timeout: Span,
    budget: Keyed<Account>,
    breaker: Option<Keyed<Breaking>>,
    bulkhead: Option<Keyed<Bounding>>,
    pace: Option<Keyed<Pacer>>,
    /// Slots of bulkheads that gave permits to calls whose drivers have not been told; only where there are several.
    granting: alloc::collections::VecDeque<u16>,
    /// None of them is there.
    none: bool,
    /// Whether any is told apart by keys.
    keyed: bool,
}

/// How far a call has come on its way to an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// It may send.
    Through,
    /// It waits.
    Waits,
}

impl Guards {
    pub(crate) fn new(spec: &Spec, now: Time) -> Self {
        let plan = Plan::of(spec);
        let budget = Account::new(&spec.budget, now);
        let scope = &spec.scope;
        Guards {
            none: matches!(budget, Account::Unlimited)
                && spec.breaker.is_none()
                && spec.bulkhead.is_none()
                && spec.rate_limit.is_none()
                && spec.hedge.is_none(),
            keyed: [
                scope.budget,
                scope.breaker,
                scope.bulkhead,
                scope.rate_limit,
            ] != [Scope::Process; 4],
            deadline: spec.deadline,
            attempt_timeout: spec.attempt_timeout.unwrap_or(Span::MAX),
            budget: Keyed::new(budget, scope.budget),
            breaker: spec.breaker.as_ref().map(|breaker| {
                let part = Breaking::new(breaker, now);
                Keyed::new(part, scope.breaker)
            }),
            bulkhead: spec.bulkhead.as_ref().map(|bulkhead| {
                let part = Bounding::new(bulkhead, spec.limiter.as_ref());
                Keyed::new(part, scope.bulkhead)
            }),
            pace: spec
                .rate_limit
                .as_ref()
                .map(|limit| Keyed::new(Pacer::new(limit, now), scope.rate_limit)),
            granting: alloc::collections::VecDeque::new(),
            plan,
        }
    }

    /// Whether there is nothing to pass: the way of a call that only has timeouts and retries.
    #[inline]
    pub(crate) fn none(&self) -> bool {
        self.none
    }

    /// The breaker of a call, when each attempt needs its leave and it is known which breaker that will be.
    #[inline]
    pub(crate) fn breaker_of_next_attempt(&self, call: &Call) -> Option<&Circuit> {
        let breaker = self.breaker.as_ref()?;
        if self.plan.breaker_counts != Counts::Attempts || breaker.scope().is_host() {
            return None;
        }
        Some(&breaker.at(call.slots.breaker).circuit)
    }

    /// The next call that was given a permit while it waited.
    #[inline(always)]
    pub(crate) fn next_admitted(&mut self) -> Option<CallKey> {
        match self.bulkhead {
            None => None,
            Some(_) => self.next_in_line(),
        }
    }

    fn next_in_line(&mut self) -> Option<CallKey> {
        let bulkhead = self.bulkhead.as_mut()?;
        if bulkhead.scope() == Scope::Process {
            return bulkhead.at_mut(0).gate.next_admitted();
        }
        while let Some(&slot) = self.granting.front() {
            let part = bulkhead.at_mut(slot);
            if let Some(key) = part.gate.next_admitted() {
                return Some(key);
            }
            part.listed = false;
            self.granting.pop_front();
        }
        None
    }

    /// A permit may have been given to somebody who waits.
    fn list(part: &mut Bounding, slot: u16, granting: &mut alloc::collections::VecDeque<u16>) {
        if part.gate.has_granted() && !part.listed {
            part.listed = true;
            granting.push_back(slot);
        }
    }

    /// Works on the bulkhead of a call.
    fn with_bulkhead(&mut self, call: &mut Call, work: impl FnOnce(&mut Bounding, &mut Call)) {
        if let Some(bulkhead) = &mut self.bulkhead {
            let keyed = bulkhead.scope() != Scope::Process;
            let part = bulkhead.at_mut(call.slots.bulkhead);
            work(part, call);
            if keyed {
                Guards::list(part, call.slots.bulkhead, &mut self.granting);
            }
        }
    }

    /// What an attempt has to pass in the instant it is sent.
    pub(crate) fn admit_attempt(
        &mut self,
        call: &mut Call,
        now: Time,
        entropy: &mut impl Entropy,
    ) -> Result<(), Stopped> {
        if !self.budget.at_mut(call.slots.budget).admits(now, entropy) {
            return Err(Stopped::Throttled);
        }
        match &mut self.breaker {
            Some(breaker) if self.plan.breaker_counts == Counts::Attempts => {
                breaker.at_mut(call.slots.breaker).admit(call, now, entropy)
            }
            _ => Ok(()),
        }
    }

    /// An attempt of a hedged call is not waited for any longer, since another one decided it.
    pub(crate) fn copy_abandoned(&mut self, call: &mut Call, now: Time) {
        let budget = self.budget.at_mut(call.slots.budget);
        budget.record(now, Event::Abandoned);
        if let Some(grant) = call.grant.take() {
            budget.settle(now, grant, Settled::Failed);
        }
        if let Some(breaker) = &mut self.breaker
            && self.plan.breaker_counts == Counts::Attempts
        {
            breaker.at_mut(call.slots.breaker).release(call, now);
        }
        if !self.plan.permit_per_call {
            self.with_bulkhead(call, Bounding::leave);
        }
    }

    /// A layer refused a try. A breaker outside that layer may count it.
    pub(crate) fn refused(
        &mut self,
        call: &Call,
        now: Time,
        stopped: Stopped,
        entropy: &mut impl Entropy,
    ) {
        let inside = stopped
            .refusal()
            .is_some_and(|refusal| self.plan.inside_breaker.contains(refusal));
        if let Some(breaker) = &mut self.breaker
            && inside
        {
            // Counting calls, the call is the result.
            let count = self.plan.breaker_counts == Counts::Attempts;
            let full = stopped == Stopped::BulkheadFull;
            breaker
                .at_mut(call.slots.breaker)
                .refused_inside(now, count, full, entropy);
        }
    }

    /// An attempt was sent, the first of its call or a later one. Attempts in flight with it.
    pub(crate) fn attempt_sent(
        &mut self,
        call: &Call,
        now: Time,
        first: bool,
        entropy: &mut impl Entropy,
    ) -> u32 {
        self.budget
            .at_mut(call.slots.budget)
            .record(now, Event::Sent { first });
        match &mut self.bulkhead {
            Some(bulkhead) => bulkhead.at_mut(call.slots.bulkhead).sent(entropy),
            None => 0,
        }
    }

    /// The attempt that is out was answered, or is not waited for any longer.
    fn answered(&mut self, call: &mut Call, now: Time, failure: Option<FailureKind>) {
        if let Some(pace) = &mut self.pace {
            pace.at_mut(call.slots.pace).answered(now, failure);
        }
        if let State::Sent { at, in_flight } = call.state {
            self.with_bulkhead(call, |bulkhead, _| {
                bulkhead.answered(now, now.since(at), in_flight, failure);
            });
        }
    }

    /// Asks the budget for one retry after such a failure.
    pub(crate) fn withdraw(&mut self, call: &Call, now: Time, kind: FailureKind) -> Option<Grant> {
        let bulkhead = self.bulkhead.as_ref();
        let pending = bulkhead.map_or(0, |b| b.at(call.slots.bulkhead).gate.waiting());
        self.budget
            .at_mut(call.slots.budget)
            .withdraw(now, Need { kind, pending })
    }

    /// An attempt failed that was sent `at`; `ours`: by the attempt timeout.
    pub(crate) fn attempt_failed(
        &mut self,
        call: &mut Call,
        now: Time,
        at: Time,
        failure: &Failure,
        ours: bool,
    ) {
        let kind = failure.kind;
        self.answered(call, now, Some(kind));
        if let Some(breaker) = &mut self.breaker
            && self.plan.breaker_counts == Counts::Attempts
        {
            let breaker = breaker.at_mut(call.slots.breaker);
            match ours && self.plan.hides_timeouts {
                true => breaker.release(call, now),
                false => breaker.record(call, now, Some(kind), at),
            }
        }
        let budget = self.budget.at_mut(call.slots.budget);
        if let Some(grant) = call.grant.take() {
            budget.settle(now, grant, Settled::Failed);
        }
        let event = Event::AttemptFailed {
            kind,
            transient: call.retry_on.contains(kind),
            do_not_retry: failure.retry_after == Some(Span::MAX),
        };
        budget.record(now, event);
        if !self.plan.permit_per_call {
            self.with_bulkhead(call, Bounding::leave);
        }
    }

    /// Whether the breaker counts what layers inside it refuse.
    pub(crate) fn counts_refusals(&self) -> bool {
        (self.breaker.as_ref()).is_some_and(|breaker| breaker.at(0).count_refusals)
    }

    /// The call leaves the line for a permit, if it stands there.
    pub(crate) fn leave_line(&mut self, call: &mut Call) {
        if let State::Waiting(place) = call.state {
            self.with_bulkhead(call, |bulkhead, _| bulkhead.gate.leave(place));
        }
    }

    /// A try was refused that had a bulkhead permit: who is refused further in gives it back.
    pub(crate) fn step_back(&mut self, call: &mut Call, now: Time) {
        if let Some(grant) = call.grant.take() {
            self.budget
                .at_mut(call.slots.budget)
                .settle(now, grant, Settled::Unused);
        }
        if !self.plan.permit_per_call {
            self.with_bulkhead(call, Bounding::leave);
        }
    }

    /// The attempt that was sent `at` went well, and so did the call.
    pub(crate) fn succeeded(&mut self, call: &mut Call, now: Time, at: Time) {
        self.answered(call, now, None);
        if let Some(breaker) = &mut self.breaker {
            let since = match self.plan.breaker_counts {
                Counts::Attempts => at,
                Counts::Calls => call.began,
            };
            breaker
                .at_mut(call.slots.breaker)
                .record(call, now, None, since);
        }
        let budget = self.budget.at_mut(call.slots.budget);
        if let Some(grant) = call.grant.take() {
            budget.settle(now, grant, Settled::Succeeded);
        }
        let retried = call.attempts > 1;
        budget.record(now, Event::CallSucceeded { retried });
        self.with_bulkhead(call, Bounding::leave);
    }

    /// The call was given up. Takes back everything it still holds.
    pub(crate) fn given_up(&mut self, call: &mut Call, now: Time, stopped: Stopped) {
        let budget = self.budget.at_mut(call.slots.budget);
        if matches!(call.state, State::Sent { .. }) {
            budget.record(now, Event::Abandoned);
        }
        if let Some(grant) = call.grant.take() {
            let settled = match call.state {
                State::Sent { .. } => Settled::Failed,
                _ => Settled::Unused,
            };
            budget.settle(now, grant, settled);
        }
        if let Some(breaker) = &mut self.breaker {
            let breaker = breaker.at_mut(call.slots.breaker);
            let inside = stopped
                .refusal()
                .is_some_and(|refusal| self.plan.inside_breaker.contains(refusal));
            // Per call: the failure of the last attempt is the result. Without one, or when the caller
            // left, nothing was learnt; nor from an attempt that was cut short.
            match call.last {
                _ if self.plan.breaker_counts == Counts::Attempts => breaker.release(call, now),
                _ if inside && breaker.count_refusals => breaker.record_failure(call, now),
                Some((kind, _)) if stopped != Stopped::Cancelled => {
                    breaker.record(call, now, Some(kind), call.began);
                }
                _ => breaker.release(call, now),
            }
        }
        self.leave_line(call);
        self.with_bulkhead(call, Bounding::leave);
    }
}
