//! The way of a call to its next attempt, step by step.

use super::plan::Step;
use super::{Guards, Way};
use crate::action::Stopped;
use crate::bulkhead::{Entry, Place};
use crate::call::{Call, State};
use crate::deadline::remaining;
use crate::entropy::Entropy;
use crate::failure::FailureKind;
use crate::rate_limit::{Passing, Then};
use crate::time::{Span, Time};

impl Guards {
    /// Brings a call on to its next attempt, step by step, until it waits or has passed all.
    pub(crate) fn advance(
        &mut self,
        call: &mut Call,
        now: Time,
        entropy: &mut impl Entropy,
    ) -> Result<Way, Stopped> {
        while let Some(step) = self.plan.step(call.stage) {
            match step {
                Step::Deadline => call.deadline = self.deadline.counted_from(now, call.deadline),
                Step::Host => {
                    call.state = State::Choosing { asked: false };
                    return Ok(Way::Waits);
                }
                Step::Rate => {
                    self.pace(call, now)?;
                    if matches!(call.state, State::Pacing(_)) {
                        return Ok(Way::Waits);
                    }
                }
                Step::BreakerOfCall => {
                    if let Some(breaker) = &mut self.breaker {
                        breaker
                            .at_mut(call.slots.breaker)
                            .admit(call, now, entropy)?;
                    }
                }
                Step::BreakerAhead => {
                    if let Some(breaker) = &self.breaker
                        && breaker.at(call.slots.breaker).circuit.refuses(now)
                    {
                        return Err(Stopped::BreakerOpen);
                    }
                }
                Step::Bulkhead => {
                    self.line_up(call, now)?;
                    if matches!(call.state, State::Waiting(_)) {
                        return Ok(Way::Waits);
                    }
                }
                Step::Timing => call.tried = now,
            }
            call.stage = call.stage.saturating_add(1);
        }
        // A permit that came in the last instant leaves the attempt no time.
        if self.plan.times_waits && now >= call.tried.after(self.attempt_timeout) {
            return Err(Stopped::BulkheadTimeout);
        }
        Ok(Way::Through)
    }

    /// Until when a try that waits may do so.
    fn patience(&self, call: &Call) -> Time {
        if self.plan.times_waits && self.plan.is_inside_retry(call.stage) {
            call.deadline.min(call.tried.after(self.attempt_timeout))
        } else {
            call.deadline
        }
    }

    /// Asks the rate limit for the next attempt. A call that has to wait is [`State::Pacing`].
    fn pace(&mut self, call: &mut Call, now: Time) -> Result<(), Stopped> {
        let until = self.patience(call);
        let Some(pace) = &mut self.pace else {
            return Ok(());
        };
        let pace = pace.at_mut(call.slots.pace);
        let failure = call.last.map(|(kind, _)| kind);
        match pace.pass(now, failure) {
            Passing::Go => Ok(()),
            Passing::Wait(Span::ZERO, Then::GiveUp) => Err(Stopped::RateLimited),
            Passing::Wait(wait, then) if wait >= remaining(until, now) => {
                if then == Then::Go {
                    pace.put_back(failure);
                }
                Err(if until < call.deadline {
                    Stopped::RateLimited
                } else {
                    Stopped::DeadlineTooClose
                })
            }
            Passing::Wait(wait, then) => {
                call.state = State::Pacing(then);
                call.timer = now.after(wait);
                Ok(())
            }
        }
    }

    /// Gets a bulkhead permit for the call, or else a place in line; the latter is [`State::Waiting`].
    fn line_up(&mut self, call: &mut Call, now: Time) -> Result<(), Stopped> {
        let until = self.patience(call);
        let Some(bulkhead) = &mut self.bulkhead else {
            return Ok(());
        };
        let bulkhead = bulkhead.at_mut(call.slots.bulkhead);
        if call.inside {
            return Ok(());
        }
        match bulkhead.gate.enter(call.key) {
            Entry::Entered => call.inside = true,
            Entry::Waits(place) => {
                call.state = State::Waiting(place);
                call.timer = now.after(bulkhead.max_wait).min(until);
            }
            Entry::Full => return Err(Stopped::BulkheadFull),
        }
        Ok(())
    }

    /// The permit that a waiting call was given, if it was.
    pub(crate) fn claim(&mut self, call: &mut Call, place: Place) -> bool {
        let Some(bulkhead) = &mut self.bulkhead else {
            return false;
        };
        let claimed = bulkhead.at_mut(call.slots.bulkhead).gate.claim(place);
        call.inside |= claimed;
        claimed
    }

    /// Whether a waiting call was given its permit.
    pub(crate) fn is_granted(&self, call: &Call, place: Place) -> bool {
        (self.bulkhead.as_ref())
            .is_some_and(|bulkhead| bulkhead.at(call.slots.bulkhead).gate.is_granted(place))
    }

    /// What a further copy of a hedged call has to pass in the instant in which it is due, without waiting for anything.
    /// Attempts in flight with it.
    pub(crate) fn admit_copy(
        &mut self,
        call: &mut Call,
        now: Time,
        entropy: &mut impl Entropy,
    ) -> Result<u32, Stopped> {
        let kind = call.last.map_or(FailureKind::Timeout, |(kind, _)| kind);
        call.grant = self.withdraw(call, now, kind);
        if call.grant.is_none() {
            return Err(Stopped::BudgetEmpty);
        }
        let passed = self
            .pass_at_once(call, now)
            .and_then(|()| self.admit_attempt(call, now, entropy));
        if let Err(stopped) = passed {
            self.step_back(call, now);
            return Err(stopped);
        }
        Ok(self.attempt_sent(call, now, false, entropy))
    }

    fn pass_at_once(&mut self, call: &mut Call, now: Time) -> Result<(), Stopped> {
        let mut stage = self.plan.retry_at;
        while let Some(step) = self.plan.step(stage) {
            match step {
                Step::Rate => {
                    if let Some(pace) = &mut self.pace {
                        let pace = pace.at_mut(call.slots.pace);
                        match pace.pass(now, None) {
                            Passing::Go => {}
                            Passing::Wait(_, then) => {
                                if then == Then::Go {
                                    pace.put_back(None);
                                }
                                return Err(Stopped::RateLimited);
                            }
                        }
                    }
                }
                Step::BreakerAhead => {
                    if let Some(breaker) = &self.breaker
                        && breaker.at(call.slots.breaker).circuit.refuses(now)
                    {
                        return Err(Stopped::BreakerOpen);
                    }
                }
                Step::Bulkhead => {
                    if let Some(bulkhead) = &mut self.bulkhead
                        && !call.inside
                    {
                        call.inside = bulkhead.at_mut(call.slots.bulkhead).gate.try_enter();
                        if !call.inside {
                            return Err(Stopped::BulkheadFull);
                        }
                    }
                }
                Step::Deadline | Step::Host | Step::BreakerOfCall | Step::Timing => {}
            }
            stage = stage.saturating_add(1);
        }
        Ok(())
    }
}
