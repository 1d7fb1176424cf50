//! Hedged calls: several attempts of one call out at once.
//!
//! The rule of when a copy is sent, and what the end of one means for the call, is [`HedgedCall`]'s; here each copy is made
//! a real attempt, with its own timeout, breaker permit, bulkhead permit and grant of the budget. Copies after
//! the first do not wait: what would have to wait, or is refused, is not sent, and no further copy of that call is.

use super::{Client, finish};
use crate::action::{Action, Stopped};
use crate::call::{Call, State};
use crate::classify::is_transient;
use crate::deadline::{attempt_timeout, remaining};
use crate::entropy::Entropy;
use crate::failure::{Failure, FailureKind, Reply};
use crate::hedge::{CopyEnd, HedgeOutcome};
use crate::pushback::Pushback;
use crate::race::{Copied, GONE, Is, Race};
use crate::spec::Counts;
use crate::time::{Span, Time};

impl Client {
    /// The first attempt of a call that may be hedged has been sent: from now on it races.
    pub(crate) fn begin_race(&mut self, call: &mut Call, now: Time) {
        let (Some(hedge), State::Sent { at, in_flight }) = (self.policy.spec().hedge, call.state)
        else {
            return;
        };
        call.race = self.races.begin(&hedge, now);
        let mut copy = Copied {
            is: Is::Out,
            attempt: call.attempts,
            at,
            timer: call.timer,
            in_flight,
            ..GONE
        };
        self.exchange(call, &mut copy);
        if let Some(race) = self.races.slots.get_mut(call.race as usize) {
            // Copy 1 is the one that is out.
            let _ = race.machine.poll(now, false);
            race.copies[0] = copy;
        }
        call.state = State::Racing;
        self.set_race_timer(call);
    }

    /// What a copy of its own has changes places with what the call has.
    fn exchange(&self, call: &mut Call, copy: &mut Copied) {
        let plan = &self.guards.plan;
        if plan.breaker_counts == Counts::Attempts {
            core::mem::swap(&mut call.permit, &mut copy.permit);
        }
        if !plan.permit_per_call {
            core::mem::swap(&mut call.inside, &mut copy.inside);
        }
        core::mem::swap(&mut call.grant, &mut copy.grant);
    }

    /// Does something with a call as if this copy were its only attempt.
    fn as_sent(
        &mut self,
        call: &mut Call,
        mut copy: Copied,
        work: impl FnOnce(&mut Client, &mut Call, Time),
    ) {
        self.exchange(call, &mut copy);
        call.state = State::Sent {
            at: copy.at,
            in_flight: copy.in_flight,
        };
        work(self, call, copy.at);
        self.exchange(call, &mut copy);
        call.state = State::Racing;
    }

    fn race(&mut self, call: &Call) -> Option<&mut Race> {
        self.races.slots.get_mut(call.race as usize)
    }

    /// Takes the copy that `is` wanted out of the race.
    fn take_copy(
        &mut self,
        call: &Call,
        is: Is,
        wanted: impl Fn(&Copied) -> bool,
    ) -> Option<Copied> {
        let race = self.race(call)?;
        let copy = race
            .copies
            .iter_mut()
            .find(|copy| copy.is == is && wanted(copy))?;
        Some(core::mem::replace(copy, GONE))
    }

    /// Puts a copy that is over back as one that the driver is to be told about.
    fn unwanted_copy(&mut self, call: &Call, attempt: u32) {
        if let Some(race) = self.race(call)
            && let Some(place) = race.copies.iter_mut().find(|copy| copy.is == Is::Gone)
        {
            *place = Copied {
                is: Is::Unwanted,
                attempt,
                ..GONE
            };
        }
    }

    /// The next instant at which something is to be done.
    fn set_race_timer(&mut self, call: &mut Call) {
        let Some(race) = self.races.slots.get(call.race as usize) else {
            call.timer = Time::MAX;
            return;
        };
        let out = race.copies.iter().filter(|copy| copy.is == Is::Out);
        let gives_up = out.map(|copy| copy.timer).min().unwrap_or(Time::MAX);
        call.timer = race.machine.timer().unwrap_or(Time::MAX).min(gives_up);
    }

    /// An answer to a copy. Whether it was waited for.
    pub(crate) fn race_reply(
        &mut self,
        call: &mut Call,
        now: Time,
        attempt: u32,
        reply: Reply,
    ) -> bool {
        if self.race(call).is_none_or(|race| race.end.is_some()) {
            return false;
        }
        let Some(copy) = self.take_copy(call, Is::Out, |copy| copy.attempt == attempt) else {
            return false;
        };
        match reply {
            Reply::Ok => {
                let guarded = !self.guards.none();
                self.as_sent(call, copy, |client, call, at| {
                    if guarded {
                        client.guards.succeeded(call, now, at);
                    }
                });
                self.stats.ok += 1;
                call.last = None;
                if let Some(race) = self.race(call) {
                    let _ = race.machine.ended(now, CopyEnd::Ok);
                }
                self.end_race(call, now, None);
            }
            Reply::Failed(failure) => self.copy_failed(call, now, copy, failure, false),
        }
        true
    }

    /// A copy failed; `ours`: by its timeout.
    fn copy_failed(
        &mut self,
        call: &mut Call,
        now: Time,
        copy: Copied,
        failure: Failure,
        ours: bool,
    ) {
        self.stats.attempt_failed[failure.kind as usize] += 1;
        call.last = Some((failure.kind, failure.phase));
        self.as_sent(call, copy, |client, call, at| {
            client.guards.attempt_failed(call, now, at, &failure, ours);
        });
        let retry = &self.policy.spec().retry;
        let asked = failure.retry_after.filter(|_| retry.retry_after.honour);
        let pushback = match asked {
            None => None,
            Some(wait) if wait == Span::MAX || wait > retry.retry_after.max => {
                Some(Pushback::DoNotRetry)
            }
            Some(wait) => Some(Pushback::After(wait)),
        };
        let transient = is_transient(call, retry, &failure);
        let Some(race) = self.race(call) else {
            return;
        };
        if let (Some(Pushback::DoNotRetry), Some(needed)) = (pushback, asked)
            && race.machine.timer().is_some()
        {
            race.no_more = Some(Stopped::RetryAfterTooLong { needed });
        }
        let end = if transient {
            CopyEnd::NonFatal(pushback)
        } else {
            CopyEnd::Fatal
        };
        let outcome = race.machine.ended(now, end);
        let no_more = race.no_more;
        let nobody_out = race.copies.iter().all(|copy| copy.is != Is::Out);
        let due = race.machine.timer();
        if let HedgeOutcome::Commit { .. } = outcome {
            let stopped = if now >= call.deadline {
                Stopped::DeadlineExceeded
            } else if transient {
                no_more.unwrap_or(Stopped::AttemptsUsed)
            } else {
                Stopped::NotRetryable
            };
            self.lose_race(call, now, stopped);
        } else if nobody_out
            && due.is_some_and(|due| due >= call.deadline)
            && let Some(Pushback::After(needed)) = pushback
        {
            // Nothing is out, and the next copy would come too late: there is nothing to wait for.
            self.lose_race(call, now, Stopped::RetryAfterTooLong { needed });
        }
    }

    /// The timer of a racing call has come.
    pub(crate) fn race_timer(&mut self, call: &mut Call, now: Time) {
        while let Some(late) = self.take_copy(call, Is::Out, |copy| copy.timer <= now) {
            self.unwanted_copy(call, late.attempt);
            self.copy_failed(call, now, late, FailureKind::Timeout.into(), true);
            if self.race(call).is_none_or(|race| race.end.is_some()) {
                return;
            }
        }
        if now >= call.deadline {
            self.lose_race(call, now, Stopped::DeadlineExceeded);
            return;
        }
        // Whatever is due is seen to by the next poll, which sets it anew.
        call.timer = Time::MAX;
    }

    /// Gives a racing call up.
    pub(crate) fn lose_race(&mut self, call: &mut Call, now: Time, stopped: Stopped) {
        if self.race(call).is_some_and(|race| race.end.is_some()) {
            return;
        }
        self.stats.stopped[stopped.index()] += 1;
        self.end_race(call, now, Some(stopped));
        self.guards.given_up(call, now, stopped);
    }

    /// The end is decided: whatever is still out is not wanted any more.
    fn end_race(&mut self, call: &mut Call, now: Time, stopped: Option<Stopped>) {
        while let Some(loser) = self.take_copy(call, Is::Out, |_| true) {
            self.as_sent(call, loser, |client, call, _| {
                client.guards.copy_abandoned(call, now)
            });
            self.unwanted_copy(call, loser.attempt);
        }
        if let Some(race) = self.race(call) {
            race.end = Some(stopped);
        }
        call.timer = Time::MAX;
    }

    /// What a racing call does next.
    pub(crate) fn poll_race(
        &mut self,
        call: &mut Call,
        now: Time,
        entropy: &mut impl Entropy,
    ) -> Option<Action> {
        if let Some(copy) = self.take_copy(call, Is::Unwanted, |_| true) {
            return Some(Action::Abandon(copy.attempt));
        }
        let Some(race) = self.race(call) else {
            // Not a call of this client's: it ends here.
            return Some(finish(call, Some(Stopped::Cancelled)));
        };
        if let Some(stopped) = race.end {
            self.races.end(call.race);
            return Some(finish(call, stopped));
        }
        // Asked before anything is taken: a copy that is not due takes nothing.
        if race.machine.timer().is_some_and(|due| due <= now) {
            if let Some(action) = self.send_copy(call, now, entropy) {
                return Some(action);
            }
            if self.race(call).is_some_and(|race| race.end.is_some()) {
                return self.poll_race(call, now, entropy);
            }
        }
        self.set_race_timer(call);
        None
    }

    /// The copy that is due is refused, and no further one follows. When nothing is out, the call ends.
    fn no_further_copy(&mut self, call: &mut Call, now: Time, stopped: Stopped) {
        let Some(race) = self.race(call) else {
            return;
        };
        let _ = race.machine.poll(now, true);
        race.no_more = Some(stopped);
        if race.copies.iter().all(|copy| copy.is != Is::Out) {
            self.lose_race(call, now, stopped);
        }
    }

    /// Sends the copy that is due, if nothing forbids it.
    fn send_copy(
        &mut self,
        call: &mut Call,
        now: Time,
        entropy: &mut impl Entropy,
    ) -> Option<Action> {
        let left = remaining(call.deadline, now);
        let admitted = if left == Span::ZERO {
            Err(Stopped::DeadlineExceeded)
        } else if !call.hedges {
            // Forbidden since the race began.
            Err(Stopped::NotRetryable)
        } else if self.kill_switch {
            Err(Stopped::KillSwitch)
        } else {
            self.guards.admit_copy(call, now, entropy)
        };
        let in_flight = match admitted {
            Ok(in_flight) => in_flight,
            Err(stopped) => {
                self.no_further_copy(call, now, stopped);
                return None;
            }
        };
        call.attempts = call.attempts.saturating_add(1);
        self.stats.attempts += 1;
        self.stats.retries += 1;
        self.stats.hedges += 1;
        let spec = self.policy.spec();
        let timeout = attempt_timeout(spec.attempt_timeout, &spec.retry, left, call.tries());
        let propagate = spec.deadline.propagate;
        let mut copy = Copied {
            is: Is::Out,
            attempt: call.attempts,
            at: now,
            timer: now.after(timeout),
            in_flight,
            ..GONE
        };
        self.exchange(call, &mut copy);
        if let Some(race) = self.race(call) {
            let _ = race.machine.poll(now, false);
            if let Some(place) = race.copies.iter_mut().find(|copy| copy.is == Is::Gone) {
                *place = copy;
            }
        }
        self.set_race_timer(call);
        Some(Action::Send {
            attempt: call.attempts,
            timeout: (timeout != Span::MAX).then_some(timeout),
            deadline: call.deadline().filter(|_| propagate),
        })
    }
}
