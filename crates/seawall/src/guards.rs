//! Budget, breaker and bulkhead: what the calls of a client share, and what an attempt has to pass.
//!
//! The order of composition is decided here, outermost first: deadline, retries with their budget,
//! rate limit, breaker, bulkhead, attempt. The breaker looks twice, before the line for a permit (who would be
//! refused does not queue) and after it (it may have opened meanwhile).

use crate::action::Stopped;
use crate::breaker::Circuit;
use crate::budget::{Account, Event, Grant, Need, Settled};
use crate::bulkhead::{Entry, Gate};
use crate::call::{Call, State};
use crate::deadline::remaining;
use crate::entropy::Entropy;
use crate::failure::{Failure, FailureKind, FailureSet};
use crate::limiter::{LimiterState, Sample};
use crate::rate_limit::{Pacer, Passing, Then};
use crate::spec::{Bulkhead, Counts, Limiter, Spec};
use crate::time::{Span, Time};

#[derive(Clone, Debug)]
pub(crate) struct Guards {
    pub(crate) budget: Account,
    pub(crate) breaker: Option<Breaking>,
    pub(crate) bulkhead: Option<Bounding>,
    pace: Option<Pacer>,
    /// None of them is there.
    none: bool,
}

/// A breaker and what it counts.
#[derive(Clone, Debug)]
pub(crate) struct Breaking {
    pub(crate) circuit: Circuit,
    counts: Counts,
    on: FailureSet,
    ignored: FailureSet,
}

/// A bulkhead and how it is waited for.
#[derive(Clone, Debug)]
pub(crate) struct Bounding {
    pub(crate) gate: Gate,
    max_wait: Span,
    hold_during_backoff: bool,
    /// The most permits a limiter may give.
    max_in_flight: u32,
    limiter: Option<Limiting>,
}

/// What moves the permits of a bulkhead.
#[derive(Clone, Debug)]
struct Limiting {
    state: LimiterState,
    dropped: FailureSet,
    /// Drawn when an attempt is sent, for when it is answered.
    draw: u64,
}

impl Guards {
    pub(crate) fn new(spec: &Spec, now: Time) -> Self {
        let budget = Account::new(&spec.budget, now);
        Guards {
            none: matches!(budget, Account::Unlimited)
                && spec.breaker.is_none()
                && spec.bulkhead.is_none()
                && spec.rate_limit.is_none(),
            budget,
            breaker: spec.breaker.as_ref().map(|breaker| Breaking {
                circuit: Circuit::new(breaker, now),
                counts: breaker.counts,
                on: breaker.on,
                ignored: breaker.ignored,
            }),
            bulkhead: spec
                .bulkhead
                .as_ref()
                .map(|bulkhead| Bounding::new(bulkhead, spec.limiter.as_ref())),
            pace: spec.rate_limit.as_ref().map(|limit| Pacer::new(limit, now)),
        }
    }

    /// Whether there is nothing to pass: the way of a call that only has timeouts and retries.
    #[inline]
    pub(crate) fn none(&self) -> bool {
        self.none
    }

    /// The breaker, when each attempt needs its leave.
    #[inline]
    pub(crate) fn breaker_of_attempts(&self) -> Option<&Circuit> {
        let breaker = self.breaker.as_ref()?;
        (breaker.counts == Counts::Attempts).then_some(&breaker.circuit)
    }

    /// What a call has to pass once, before its first attempt.
    pub(crate) fn admit_call(
        &mut self,
        call: &mut Call,
        now: Time,
        entropy: &mut impl Entropy,
    ) -> Result<(), Stopped> {
        match &mut self.breaker {
            Some(breaker) if breaker.counts == Counts::Calls => breaker.admit(call, now, entropy),
            _ => Ok(()),
        }
    }

    /// Asks the rate limit for the next attempt. A call that has to wait is [`State::Pacing`].
    pub(crate) fn pace(&mut self, call: &mut Call, now: Time) -> Result<(), Stopped> {
        let Some(pace) = &mut self.pace else {
            return Ok(());
        };
        let failure = call.last.map(|(kind, _)| kind);
        match pace.pass(now, failure) {
            Passing::Go => Ok(()),
            Passing::Wait(Span::ZERO, Then::GiveUp) => Err(Stopped::RateLimited),
            Passing::Wait(wait, then) if wait >= remaining(call.deadline, now) => {
                if then == Then::Go {
                    pace.put_back(failure);
                }
                Err(Stopped::DeadlineTooClose)
            }
            Passing::Wait(wait, then) => {
                call.state = State::Pacing(then);
                call.timer = now.after(wait);
                Ok(())
            }
        }
    }

    /// Gets a bulkhead permit for the call, or else a place in line; the latter is [`State::Waiting`].
    pub(crate) fn line_up(&mut self, call: &mut Call, now: Time) -> Result<(), Stopped> {
        if self
            .breaker_of_attempts()
            .is_some_and(|breaker| breaker.refuses(now))
        {
            return Err(Stopped::BreakerOpen);
        }
        let Some(bulkhead) = &mut self.bulkhead else {
            return Ok(());
        };
        if call.inside {
            return Ok(());
        }
        match bulkhead.gate.enter(call.key) {
            Entry::Entered => call.inside = true,
            Entry::Waits(place) => {
                call.state = State::Waiting(place);
                call.timer = now.after(bulkhead.max_wait).min(call.deadline);
            }
            Entry::Full => {
                if let Some(breaker) = &mut self.breaker {
                    breaker.circuit.rejected(now);
                }
                return Err(Stopped::BulkheadFull);
            }
        }
        Ok(())
    }

    /// What an attempt has to pass in the instant it is sent.
    pub(crate) fn admit_attempt(
        &mut self,
        call: &mut Call,
        now: Time,
        entropy: &mut impl Entropy,
    ) -> Result<(), Stopped> {
        if !self.budget.admits(now, entropy) {
            return Err(Stopped::Throttled);
        }
        match &mut self.breaker {
            Some(breaker) if breaker.counts == Counts::Attempts => {
                breaker.admit(call, now, entropy)
            }
            _ => Ok(()),
        }
    }

    /// An attempt was sent, the first of its call or a later one. Attempts in flight with it.
    pub(crate) fn attempt_sent(
        &mut self,
        now: Time,
        first: bool,
        entropy: &mut impl Entropy,
    ) -> u32 {
        self.budget.record(now, Event::Sent { first });
        let Some(bulkhead) = &mut self.bulkhead else {
            return 0;
        };
        if let Some(limiter) = &mut bulkhead.limiter
            && limiter.state.draws()
        {
            limiter.draw = entropy.next_u64();
        }
        bulkhead.gate.in_use()
    }

    /// The attempt that is out was answered, or is not waited for any longer.
    fn answered(&mut self, call: &Call, now: Time, failure: Option<FailureKind>) {
        if let Some(pace) = &mut self.pace {
            pace.answered(now, failure);
        }
        if let Some(bulkhead) = &mut self.bulkhead
            && let State::Sent { at, in_flight } = call.state
        {
            bulkhead.answered(now.since(at), in_flight, failure);
        }
    }

    /// Asks the budget for one retry after such a failure.
    pub(crate) fn withdraw(&mut self, now: Time, kind: FailureKind) -> Option<Grant> {
        let pending = self.bulkhead.as_ref().map_or(0, |b| b.gate.waiting());
        self.budget.withdraw(now, Need { kind, pending })
    }

    /// An attempt failed that was sent `at`.
    pub(crate) fn attempt_failed(
        &mut self,
        call: &mut Call,
        now: Time,
        at: Time,
        failure: &Failure,
    ) {
        let kind = failure.kind;
        self.answered(call, now, Some(kind));
        if let Some(breaker) = &mut self.breaker
            && breaker.counts == Counts::Attempts
        {
            breaker.record(call, now, Some(kind), at);
        }
        if let Some(grant) = call.grant.take() {
            self.budget.settle(now, grant, Settled::Failed);
        }
        let event = Event::AttemptFailed {
            kind,
            transient: call.retry_on.contains(kind),
            do_not_retry: failure.retry_after == Some(Span::MAX),
        };
        self.budget.record(now, event);
        if let Some(bulkhead) = &mut self.bulkhead
            && !bulkhead.hold_during_backoff
        {
            bulkhead.leave(call);
        }
    }

    /// The attempt that was sent `at` went well, and so did the call.
    pub(crate) fn succeeded(&mut self, call: &mut Call, now: Time, at: Time) {
        self.answered(call, now, None);
        if let Some(breaker) = &mut self.breaker {
            let since = match breaker.counts {
                Counts::Attempts => at,
                Counts::Calls => call.began,
            };
            breaker.record(call, now, None, since);
        }
        if let Some(grant) = call.grant.take() {
            self.budget.settle(now, grant, Settled::Succeeded);
        }
        let retried = call.attempts > 1;
        self.budget.record(now, Event::CallSucceeded { retried });
        if let Some(bulkhead) = &mut self.bulkhead {
            bulkhead.leave(call);
        }
    }

    /// The call was given up. Takes back everything it still holds.
    pub(crate) fn given_up(&mut self, call: &mut Call, now: Time, stopped: Stopped) {
        if matches!(call.state, State::Sent { .. }) {
            self.budget.record(now, Event::Abandoned);
        }
        if let Some(grant) = call.grant.take() {
            let settled = match call.state {
                State::Sent { .. } => Settled::Failed,
                _ => Settled::Unused,
            };
            self.budget.settle(now, grant, settled);
        }
        if let Some(breaker) = &mut self.breaker {
            // Per call: the failure of the last attempt is the result. Without one, or when the caller
            // left, nothing was learnt; nor from an attempt that was cut short.
            match call.last {
                Some((kind, _))
                    if breaker.counts == Counts::Calls && stopped != Stopped::Cancelled =>
                {
                    breaker.record(call, now, Some(kind), call.began);
                }
                _ => breaker.release(call, now),
            }
        }
        if let Some(bulkhead) = &mut self.bulkhead {
            if let State::Waiting(place) = call.state {
                bulkhead.gate.leave(place);
            }
            bulkhead.leave(call);
        }
    }
}

impl Breaking {
    fn admit(
        &mut self,
        call: &mut Call,
        now: Time,
        entropy: &mut impl Entropy,
    ) -> Result<(), Stopped> {
        call.permit = self.circuit.admit(now, entropy);
        call.permit.map(|_| ()).ok_or(Stopped::BreakerOpen)
    }

    fn record(&mut self, call: &mut Call, now: Time, failure: Option<FailureKind>, since: Time) {
        if let Some(permit) = call.permit.take() {
            if failure.is_some_and(|kind| self.ignored.contains(kind)) {
                self.circuit.release(now, permit);
                return;
            }
            let failed = failure.is_some_and(|kind| self.on.contains(kind));
            self.circuit.record(now, permit, failed, now.since(since));
        }
    }

    fn release(&mut self, call: &mut Call, now: Time) {
        if let Some(permit) = call.permit.take() {
            self.circuit.release(now, permit);
        }
    }
}

impl Bounding {
    fn new(bulkhead: &Bulkhead, limiter: Option<&Limiter>) -> Self {
        let mut bounding = Bounding {
            gate: Gate::new(bulkhead),
            max_wait: bulkhead.max_wait,
            hold_during_backoff: bulkhead.hold_during_backoff,
            max_in_flight: bulkhead.max_in_flight,
            limiter: limiter.map(|limiter| Limiting {
                state: LimiterState::new(&limiter.rule),
                dropped: limiter.dropped,
                draw: 0,
            }),
        };
        bounding.follow_limiter();
        bounding
    }

    fn answered(&mut self, rtt: Span, in_flight: u32, failure: Option<FailureKind>) {
        let Some(limiter) = &mut self.limiter else {
            return;
        };
        let dropped = failure.is_some_and(|kind| limiter.dropped.contains(kind));
        if failure.is_none() || dropped {
            let sample = Sample {
                rtt,
                in_flight,
                dropped,
            };
            limiter.state.sample(sample, &mut Drawn(limiter.draw));
            self.follow_limiter();
        }
    }

    fn follow_limiter(&mut self) {
        if let Some(limiter) = &self.limiter {
            let permits = limiter.state.limit().min(self.max_in_flight);
            self.gate.set_permits(permits);
        }
    }

    fn leave(&mut self, call: &mut Call) {
        if call.inside {
            call.inside = false;
            self.gate.release();
        }
    }
}

/// A draw that was made before it was known whether it is needed.
struct Drawn(u64);

impl Entropy for Drawn {
    fn next_u64(&mut self) -> u64 {
        self.0
    }
}
