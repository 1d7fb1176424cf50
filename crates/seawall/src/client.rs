//! The verbs that bring a call on.

use crate::action::{Action, Stopped, Verdict};
use crate::backoff::Progress;
use crate::breaker::BreakerState;
use crate::call::{Asked, Call, State};
use crate::classify::retry_wait;
use crate::deadline::{attempt_timeout, remaining};
use crate::entropy::Entropy;
use crate::failure::{Failure, FailureKind, FailureSet, Reply};
use crate::guards::Guards;
use crate::policy::Policy;
use crate::rate_limit::Then;
use crate::request::{CallKey, Request};
use crate::stats::Stats;
use crate::time::{Span, Time};

/// What all calls of one process to one dependency share: budget, breaker, bulkhead, kill switch and
/// counters.
///
/// `begin` a call and `poll` it until `None`, doing each [`Action`]. Then wait for whatever comes
/// first, a reply or [`Call::timer`], tell the client, and poll again. See the crate documentation.
#[derive(Clone, Debug)]
pub struct Client {
    policy: Policy,
    stats: Stats,
    guards: Guards,
    kill_switch: bool,
}

impl Client {
    /// A client with a full budget, a closed breaker and all permits free.
    #[must_use]
    pub fn new(policy: Policy, now: Time) -> Client {
        Client {
            stats: Stats::default(),
            guards: Guards::new(policy.spec(), now),
            kill_switch: false,
            policy,
        }
    }

    /// Begins a call. Poll it next.
    #[inline]
    pub fn begin(&mut self, now: Time, request: Request) -> Call {
        let spec = self.policy.spec();
        let operation = request.operation;
        self.stats.calls += 1;
        Call {
            key: request.key,
            deadline: spec.deadline.of_call(now, request.deadline),
            timer: Time::MAX,
            began: now,
            state: State::New,
            backoff: Progress::default(),
            attempts: 0,
            retry_on: match (operation.retryable, operation.retry_only) {
                (false, _) => FailureSet::NONE,
                (true, None) => spec.retry.on,
                (true, Some(only)) => spec.retry.on.and(only),
            },
            grant: None,
            permit: None,
            last: None,
            idempotent: operation.idempotent,
            inside: false,
        }
    }

    /// What to do next for this call. Call it until `None` after each other verb that took the call,
    /// and for each call named by [`Client::next_admitted`].
    #[inline(always)]
    #[must_use = "an action that is not done leaves the call hanging"]
    pub fn poll(
        &mut self,
        call: &mut Call,
        now: Time,
        entropy: &mut impl Entropy,
    ) -> Option<Action> {
        // Here only what every call does that goes well; the rest is kept out of the driver's loop.
        match call.state {
            State::New if self.guards.none() => Some(self.send(call, now, entropy)),
            State::Sent { .. } | State::Backoff | State::Pacing(_) | State::Over => None,
            State::Ending {
                stopped,
                abandon: false,
            } => Some(finish(call, stopped)),
            _ => self.poll_on(call, now, entropy),
        }
    }

    /// An attempt was answered. Poll the call next. A reply to an attempt nobody waits for is ignored.
    #[inline]
    pub fn on_reply(&mut self, call: &mut Call, now: Time, attempt: u32, reply: Reply) {
        match (call.state, reply) {
            (State::Sent { at, .. }, Reply::Ok) if attempt == call.attempts => {
                if !self.guards.none() {
                    self.guards.succeeded(call, now, at);
                }
                self.stats.ok += 1;
                call.last = None;
                call.end(None, false);
            }
            (State::Sent { at, .. }, Reply::Failed(failure)) if attempt == call.attempts => {
                self.attempt_failed(call, now, at, failure, false);
            }
            _ => self.stats.ignored_replies += 1,
        }
    }

    /// [`Call::timer`] has come. Poll the call next. Before its time, and without a timer, nothing happens.
    pub fn on_timer(&mut self, call: &mut Call, now: Time) {
        if call.timer == Time::MAX || now < call.timer {
            return;
        }
        match call.state {
            State::Sent { at, .. } => {
                self.attempt_failed(call, now, at, FailureKind::Timeout.into(), true);
            }
            State::Backoff | State::Pacing(Then::Ask) => {
                call.timer = Time::MAX;
                call.state = State::Ready;
            }
            State::Pacing(Then::Go) => {
                call.timer = Time::MAX;
                call.state = State::Passed;
            }
            State::Pacing(Then::GiveUp) => self.give_up(call, now, Stopped::RateLimited, false),
            State::Waiting(place) => {
                let bulkhead = self.guards.bulkhead.as_ref();
                // A permit that came in the same instant came first.
                if !bulkhead.is_some_and(|bulkhead| bulkhead.gate.is_granted(place)) {
                    let stopped = if now >= call.deadline {
                        Stopped::DeadlineExceeded
                    } else {
                        Stopped::BulkheadTimeout
                    };
                    self.give_up(call, now, stopped, false);
                }
            }
            State::New
            | State::Failed { .. }
            | State::Ready
            | State::Passed
            | State::Ending { .. }
            | State::Over => {}
        }
    }

    /// The caller left: an outstanding attempt is abandoned and the call ends as
    /// [`Stopped::Cancelled`]. Poll the call next. Nothing happens when the end is decided already.
    pub fn cancel(&mut self, call: &mut Call, now: Time) {
        let abandon = match call.state {
            State::Ending { .. } | State::Over => return,
            State::Sent { .. } => true,
            State::Failed { abandon, .. } => abandon,
            State::New
            | State::Waiting(_)
            | State::Pacing(_)
            | State::Passed
            | State::Backoff
            | State::Ready => false,
        };
        self.give_up(call, now, Stopped::Cancelled, abandon);
    }

    /// A call that was given a bulkhead permit while it waited: poll that one. Each is named once; ask
    /// until `None` whenever a call has been polled to `None`.
    #[inline]
    pub fn next_admitted(&mut self) -> Option<CallKey> {
        self.guards.bulkhead.as_mut()?.gate.next_admitted()
    }

    /// Switches retries off, or on again. First attempts are not concerned; calls that are in a
    /// backoff when it is on give up when their wait is over.
    pub fn set_kill_switch(&mut self, on: bool) {
        self.kill_switch = on;
    }

    /// What the breaker does with a call at `now`; `None` without a breaker.
    #[must_use]
    pub fn breaker_state(&self, now: Time) -> Option<BreakerState> {
        self.guards
            .breaker
            .as_ref()
            .map(|breaker| breaker.circuit.state(now))
    }

    /// Times the breaker went to open.
    #[must_use]
    pub fn breaker_openings(&self) -> u64 {
        self.guards
            .breaker
            .as_ref()
            .map_or(0, |breaker| breaker.circuit.openings())
    }

    /// Retries the budget would grant now, one after the other; infinite without a budget.
    #[must_use]
    pub fn budget_balance(&mut self, now: Time) -> f64 {
        self.guards.budget.balance(now)
    }

    /// Bulkhead permits out and calls in line; `None` without a bulkhead.
    #[must_use]
    pub fn bulkhead_load(&self) -> Option<(u32, u32)> {
        let gate = &self.guards.bulkhead.as_ref()?.gate;
        Some((gate.in_use(), gate.waiting()))
    }

    /// What was done so far.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What [`Client::poll`] leaves out.
    #[inline(never)]
    fn poll_on(
        &mut self,
        call: &mut Call,
        now: Time,
        entropy: &mut impl Entropy,
    ) -> Option<Action> {
        match &mut call.state {
            State::Failed { abandon, .. } | State::Ending { abandon, .. } if *abandon => {
                *abandon = false;
                Some(Action::Abandon(call.attempts))
            }
            &mut State::Failed { asked, .. } => self.decide(call, now, asked, entropy),
            State::New => {
                // A call that is over before it began takes nothing from anybody.
                if let Some(stopped) = self.unwanted(call, now) {
                    return Some(self.stop(call, now, stopped));
                }
                match self.guards.admit_call(call, now, entropy) {
                    Ok(()) => self.enter(call, now, entropy),
                    Err(stopped) => Some(self.stop(call, now, stopped)),
                }
            }
            State::Ready => match self.unwanted(call, now) {
                None => self.enter(call, now, entropy),
                Some(stopped) => Some(self.stop(call, now, stopped)),
            },
            State::Passed => match self.unwanted(call, now) {
                None => self.line_up(call, now, entropy),
                Some(stopped) => Some(self.stop(call, now, stopped)),
            },
            &mut State::Waiting(place) => {
                if !self.guards.bulkhead.as_mut()?.gate.claim(place) {
                    return None;
                }
                call.inside = true;
                call.timer = Time::MAX;
                Some(self.send(call, now, entropy))
            }
            State::Sent { .. } | State::Backoff | State::Pacing(_) | State::Over => None,
            &mut State::Ending { stopped, .. } => Some(finish(call, stopped)),
        }
    }

    /// Decides what to do about a failed attempt.
    fn decide(
        &mut self,
        call: &mut Call,
        now: Time,
        asked: Asked,
        entropy: &mut impl Entropy,
    ) -> Option<Action> {
        let spec = self.policy.spec();
        let guards = &mut self.guards;
        match retry_wait(
            call,
            now,
            asked.span(),
            spec,
            self.kill_switch,
            guards,
            entropy,
        ) {
            Ok(Span::ZERO) => self.enter(call, now, entropy),
            Ok(wait) => {
                call.state = State::Backoff;
                call.timer = now.after(wait);
                None
            }
            Err(stopped) => Some(self.stop(call, now, stopped)),
        }
    }

    /// Passes the rate limit, then gets a place for the next attempt and sends it; or waits.
    fn enter(&mut self, call: &mut Call, now: Time, entropy: &mut impl Entropy) -> Option<Action> {
        match self.guards.pace(call, now) {
            Ok(()) if matches!(call.state, State::Pacing(_)) => None,
            Ok(()) => self.line_up(call, now, entropy),
            Err(stopped) => Some(self.stop(call, now, stopped)),
        }
    }

    /// Gets a place for the next attempt and sends it, or waits in line.
    fn line_up(
        &mut self,
        call: &mut Call,
        now: Time,
        entropy: &mut impl Entropy,
    ) -> Option<Action> {
        match self.guards.line_up(call, now) {
            Ok(()) if matches!(call.state, State::Waiting(_)) => {
                self.stats.waited += 1;
                None
            }
            Ok(()) => Some(self.send(call, now, entropy)),
            Err(stopped) => Some(self.stop(call, now, stopped)),
        }
    }

    /// Why the next attempt is not wanted any more, if something has come in between.
    #[inline]
    fn unwanted(&self, call: &Call, now: Time) -> Option<Stopped> {
        if now >= call.deadline && call.deadline != Time::MAX {
            Some(Stopped::DeadlineExceeded)
        } else if call.attempts > 0 && self.kill_switch {
            Some(Stopped::KillSwitch)
        } else {
            None
        }
    }

    /// Sends the next attempt, unless something has come in between since it was decided.
    #[inline(always)]
    fn send(&mut self, call: &mut Call, now: Time, entropy: &mut impl Entropy) -> Action {
        if let Some(stopped) = self.unwanted(call, now) {
            return self.stop(call, now, stopped);
        }
        let first = call.attempts == 0;
        let mut in_flight = 0;
        if !self.guards.none() {
            if let Err(stopped) = self.guards.admit_attempt(call, now, entropy) {
                return self.stop(call, now, stopped);
            }
            in_flight = self.guards.attempt_sent(now, first, entropy);
        }
        call.attempts = call.attempts.saturating_add(1);
        self.stats.attempts += 1;
        self.stats.retries += u64::from(!first);
        let spec = self.policy.spec();
        let left = remaining(call.deadline, now);
        let timeout = attempt_timeout(spec.attempt_timeout, &spec.retry, left, call.attempts);
        call.state = State::Sent { at: now, in_flight };
        call.timer = now.after(timeout);
        Action::Send {
            attempt: call.attempts,
            timeout: (timeout != Span::MAX).then_some(timeout),
            deadline: call.deadline().filter(|_| spec.deadline.propagate),
        }
    }

    /// Takes note of a failed attempt; what to do about it is decided by the next poll.
    fn attempt_failed(
        &mut self,
        call: &mut Call,
        now: Time,
        at: Time,
        failure: Failure,
        abandon: bool,
    ) {
        self.stats.attempt_failed[failure.kind as usize] += 1;
        call.last = Some((failure.kind, failure.phase));
        if !self.guards.none() {
            self.guards.attempt_failed(call, now, at, &failure);
        }
        call.timer = Time::MAX;
        call.state = State::Failed {
            asked: Asked::from(failure.retry_after),
            abandon,
        };
    }

    /// Gives a call up and says so at once.
    #[cold]
    fn stop(&mut self, call: &mut Call, now: Time, stopped: Stopped) -> Action {
        self.give_up(call, now, stopped, false);
        finish(call, Some(stopped))
    }

    /// Gives a call up and takes back what it holds.
    fn give_up(&mut self, call: &mut Call, now: Time, stopped: Stopped, abandon: bool) {
        self.stats.stopped[stopped.index()] += 1;
        self.guards.given_up(call, now, stopped);
        call.end(Some(stopped), abandon);
    }
}

#[inline]
fn finish(call: &mut Call, stopped: Option<Stopped>) -> Action {
    call.state = State::Over;
    Action::Finish(Verdict {
        attempts: call.attempts,
        stopped,
        last: call.last.map(|(kind, _)| kind),
        phase: call.last.map(|(_, phase)| phase),
    })
}
