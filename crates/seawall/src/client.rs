//! What all calls of one process to one dependency share, and the verbs that bring a call on.

use crate::action::{Action, Stopped, Verdict};
use crate::backoff::Progress;
use crate::breaker::{BreakerState, Circuit};
use crate::budget::{Account, Event, Settled};
use crate::bulkhead::{Entry, Gate};
use crate::call::{Asked, Call, State};
use crate::classify::{Shared, retry_wait};
use crate::deadline::{attempt_timeout, remaining};
use crate::entropy::Entropy;
use crate::failure::{Failure, FailureKind, FailureSet, Reply};
use crate::policy::Policy;
use crate::request::{CallKey, Request};
use crate::spec::Counts;
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
    budget: Account,
    breaker: Option<Circuit>,
    bulkhead: Option<Gate>,
    kill_switch: bool,
}

impl Client {
    /// A client with a full budget, a closed breaker and all permits free.
    #[must_use]
    pub fn new(policy: Policy, now: Time) -> Client {
        let spec = policy.spec();
        Client {
            stats: Stats::default(),
            budget: Account::new(&spec.budget, now),
            breaker: spec
                .breaker
                .as_ref()
                .map(|breaker| Circuit::new(breaker, now)),
            bulkhead: spec.bulkhead.as_ref().map(Gate::new),
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
    #[inline]
    #[must_use = "an action that is not done leaves the call hanging"]
    pub fn poll(
        &mut self,
        call: &mut Call,
        now: Time,
        entropy: &mut impl Entropy,
    ) -> Option<Action> {
        match call.state {
            State::Sent { .. } | State::Backoff | State::Over => None,
            State::New => self.start(call, now),
            State::Ending { stopped, abandon } => Some(if abandon {
                call.state = State::Ending {
                    stopped,
                    abandon: false,
                };
                Action::Abandon(call.attempts)
            } else {
                self.finish(call, stopped)
            }),
            State::Failed { asked, abandon } => {
                if abandon {
                    call.state = State::Failed {
                        asked,
                        abandon: false,
                    };
                    return Some(Action::Abandon(call.attempts));
                }
                self.decide(call, now, asked, entropy)
            }
            State::Ready => self.enter(call, now),
            State::Waiting(place) => {
                let gate = self.bulkhead.as_mut()?;
                if !gate.claim(place) {
                    return None;
                }
                call.inside = true;
                call.timer = Time::MAX;
                self.send_if_still_wanted(call, now)
            }
        }
    }

    /// An attempt was answered. Poll the call next. A reply to an attempt nobody waits for is ignored.
    #[inline]
    pub fn on_reply(&mut self, call: &mut Call, now: Time, attempt: u32, reply: Reply) {
        let State::Sent { at } = call.state else {
            self.stats.ignored_replies += 1;
            return;
        };
        if attempt != call.attempts {
            self.stats.ignored_replies += 1;
            return;
        }
        match reply {
            Reply::Ok => {
                if let (Some(breaker), Some(permit)) = (&mut self.breaker, call.permit.take()) {
                    let since = match breaker_counts(&self.policy) {
                        Counts::Attempts => at,
                        Counts::Calls => call.began,
                    };
                    breaker.record(now, permit, false, now.since(since));
                }
                if let Some(grant) = call.grant.take() {
                    self.budget.settle(now, grant, Settled::Succeeded);
                }
                self.budget.record(now, Event::CallSucceeded);
                call.last = None;
                self.end(call, now, None, false);
            }
            Reply::Failed(failure) => self.attempt_failed(call, now, at, failure, false),
        }
    }

    /// [`Call::timer`] has come. Poll the call next. Before its time, and without a timer, nothing happens.
    pub fn on_timer(&mut self, call: &mut Call, now: Time) {
        if call.timer == Time::MAX || now < call.timer {
            return;
        }
        match call.state {
            State::Sent { at } => {
                self.attempt_failed(call, now, at, FailureKind::Timeout.into(), true);
            }
            State::Backoff => {
                call.timer = Time::MAX;
                call.state = State::Ready;
            }
            State::Waiting(place) => {
                // A permit that came in the same instant came first.
                if let Some(gate) = &mut self.bulkhead
                    && !gate.is_granted(place)
                {
                    let stopped = if now >= call.deadline {
                        Stopped::DeadlineExceeded
                    } else {
                        Stopped::BulkheadTimeout
                    };
                    self.end(call, now, Some(stopped), false);
                }
            }
            State::New
            | State::Failed { .. }
            | State::Ready
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
            State::New | State::Waiting(_) | State::Backoff | State::Ready => false,
        };
        self.end(call, now, Some(Stopped::Cancelled), abandon);
    }

    /// A call that was given a bulkhead permit while it waited: poll that one. Each is named once; ask
    /// until `None` whenever a call has been polled to `None`.
    #[inline]
    pub fn next_admitted(&mut self) -> Option<CallKey> {
        self.bulkhead.as_mut()?.next_admitted()
    }

    /// Switches retries off, or on again. First attempts are not concerned; calls that are in a
    /// backoff when it is on give up when their wait is over.
    pub fn set_kill_switch(&mut self, on: bool) {
        self.kill_switch = on;
    }

    /// What the breaker does with a call at `now`; `None` without a breaker.
    #[must_use]
    pub fn breaker_state(&self, now: Time) -> Option<BreakerState> {
        self.breaker.as_ref().map(|breaker| breaker.state(now))
    }

    /// Times the breaker went to open.
    #[must_use]
    pub fn breaker_openings(&self) -> u64 {
        self.breaker.as_ref().map_or(0, Circuit::openings)
    }

    /// Retries the budget would grant now, one after the other; infinite without a budget.
    #[must_use]
    pub fn budget_balance(&mut self, now: Time) -> f64 {
        self.budget.balance(now)
    }

    /// Bulkhead permits out and calls in line; `None` without a bulkhead.
    #[must_use]
    pub fn bulkhead_load(&self) -> Option<(u32, u32)> {
        self.bulkhead
            .as_ref()
            .map(|gate| (gate.in_use(), gate.waiting()))
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

    /// The first step of a call.
    #[inline]
    fn start(&mut self, call: &mut Call, now: Time) -> Option<Action> {
        if now >= call.deadline && call.deadline != Time::MAX {
            return Some(self.stop(call, now, Stopped::DeadlineExceeded));
        }
        if let Some(breaker) = &mut self.breaker
            && breaker_counts(&self.policy) == Counts::Calls
        {
            call.permit = breaker.admit(now);
            if call.permit.is_none() {
                return Some(self.stop(call, now, Stopped::BreakerOpen));
            }
        }
        self.enter(call, now)
    }

    /// Asks for a bulkhead permit, then sends.
    #[inline]
    fn enter(&mut self, call: &mut Call, now: Time) -> Option<Action> {
        let Some(gate) = &mut self.bulkhead else {
            return self.send_if_still_wanted(call, now);
        };
        if !call.inside {
            // Who would be refused by the breaker anyway does not queue for it.
            if asks_breaker_per_attempt(&self.policy)
                && self
                    .breaker
                    .as_ref()
                    .is_some_and(|breaker| breaker.refuses(now))
            {
                return Some(self.stop(call, now, Stopped::BreakerOpen));
            }
            match gate.enter(call.key) {
                Entry::Entered => call.inside = true,
                Entry::Waits(place) => {
                    let max_wait = self
                        .policy
                        .spec()
                        .bulkhead
                        .map_or(Span::ZERO, |b| b.max_wait);
                    call.state = State::Waiting(place);
                    call.timer = now.after(max_wait).min(call.deadline);
                    self.stats.waited += 1;
                    return None;
                }
                Entry::Full => return Some(self.stop(call, now, Stopped::BulkheadFull)),
            }
        }
        self.send_if_still_wanted(call, now)
    }

    /// Sends the next attempt, unless something has come in between since it was decided.
    #[inline]
    fn send_if_still_wanted(&mut self, call: &mut Call, now: Time) -> Option<Action> {
        let left = remaining(call.deadline, now);
        if left == Span::ZERO {
            return Some(self.stop(call, now, Stopped::DeadlineExceeded));
        }
        if call.attempts > 0 && self.kill_switch {
            return Some(self.stop(call, now, Stopped::KillSwitch));
        }
        if let Some(breaker) = &mut self.breaker
            && call.permit.is_none()
            && asks_breaker_per_attempt(&self.policy)
        {
            call.permit = breaker.admit(now);
            if call.permit.is_none() {
                return Some(self.stop(call, now, Stopped::BreakerOpen));
            }
        }
        call.attempts = call.attempts.saturating_add(1);
        self.stats.attempts += 1;
        if call.attempts == 1 {
            self.budget.record(now, Event::CallStarted);
        } else {
            self.stats.retries += 1;
        }
        let spec = self.policy.spec();
        let timeout = attempt_timeout(spec.attempt_timeout, &spec.retry, left, call.attempts);
        call.state = State::Sent { at: now };
        call.timer = now.after(timeout);
        Some(Action::Send {
            attempt: call.attempts,
            timeout: (timeout != Span::MAX).then_some(timeout),
            deadline: call.deadline().filter(|_| spec.deadline.propagate),
        })
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
        if asks_breaker_per_attempt(&self.policy)
            && let (Some(breaker), Some(permit)) = (&mut self.breaker, call.permit.take())
        {
            let failed = breaker_counts_as_failure(&self.policy, failure.kind);
            breaker.record(now, permit, failed, now.since(at));
        }
        if let Some(grant) = call.grant.take() {
            self.budget.settle(now, grant, Settled::Failed);
        }
        let event = Event::AttemptFailed {
            kind: failure.kind,
            transient: call.retry_on.contains(failure.kind),
        };
        self.budget.record(now, event);
        if self
            .policy
            .spec()
            .bulkhead
            .is_some_and(|b| !b.hold_during_backoff)
        {
            self.give_permit_back(call);
        }
        call.timer = Time::MAX;
        call.state = State::Failed {
            asked: Asked::from(failure.retry_after),
            abandon,
        };
    }

    /// Decides what to do about a failed attempt.
    fn decide(
        &mut self,
        call: &mut Call,
        now: Time,
        asked: Asked,
        entropy: &mut impl Entropy,
    ) -> Option<Action> {
        let shared = Shared {
            spec: self.policy.spec(),
            kill_switch: self.kill_switch,
            budget: &mut self.budget,
            breaker: self
                .breaker
                .as_ref()
                .filter(|_| asks_breaker_per_attempt(&self.policy)),
        };
        match retry_wait(call, now, asked.span(), shared, entropy) {
            Ok(Span::ZERO) => self.enter(call, now),
            Ok(wait) => {
                call.state = State::Backoff;
                call.timer = now.after(wait);
                None
            }
            Err(stopped) => Some(self.stop(call, now, stopped)),
        }
    }

    /// Ends a call and says so at once.
    fn stop(&mut self, call: &mut Call, now: Time, stopped: Stopped) -> Action {
        self.end(call, now, Some(stopped), false);
        self.finish(call, Some(stopped))
    }

    /// Gives back everything a call holds and counts its end, once.
    fn end(&mut self, call: &mut Call, now: Time, stopped: Option<Stopped>, abandon: bool) {
        match stopped {
            None => self.stats.ok += 1,
            Some(stopped) => self.stats.stopped[stopped.index()] += 1,
        }
        if let Some(grant) = call.grant.take() {
            let sent = matches!(call.state, State::Sent { .. });
            let settled = if sent {
                Settled::Failed
            } else {
                Settled::Unused
            };
            self.budget.settle(now, grant, settled);
        }
        if let (Some(breaker), Some(permit)) = (&mut self.breaker, call.permit.take()) {
            // Per call: the failure of the last attempt is the result. Without one, or when the caller
            // left, nothing was learnt.
            match call.last {
                Some((kind, _))
                    if breaker_counts(&self.policy) == Counts::Calls
                        && stopped != Some(Stopped::Cancelled) =>
                {
                    let failed = breaker_counts_as_failure(&self.policy, kind);
                    breaker.record(now, permit, failed, now.since(call.began));
                }
                _ => breaker.release(permit),
            }
        }
        if let (State::Waiting(place), Some(gate)) = (call.state, &mut self.bulkhead) {
            gate.leave(place);
        }
        self.give_permit_back(call);
        call.timer = Time::MAX;
        call.state = State::Ending { stopped, abandon };
    }

    #[inline]
    fn give_permit_back(&mut self, call: &mut Call) {
        if call.inside
            && let Some(gate) = &mut self.bulkhead
        {
            call.inside = false;
            gate.release();
        }
    }

    #[inline]
    fn finish(&mut self, call: &mut Call, stopped: Option<Stopped>) -> Action {
        call.state = State::Over;
        Action::Finish(Verdict {
            attempts: call.attempts,
            stopped,
            last: call.last.map(|(kind, _)| kind),
            phase: call.last.map(|(_, phase)| phase),
        })
    }
}

fn breaker_counts(policy: &Policy) -> Counts {
    policy
        .spec()
        .breaker
        .as_ref()
        .map_or(Counts::Attempts, |b| b.counts)
}

fn asks_breaker_per_attempt(policy: &Policy) -> bool {
    breaker_counts(policy) == Counts::Attempts
}

fn breaker_counts_as_failure(policy: &Policy, kind: FailureKind) -> bool {
    policy
        .spec()
        .breaker
        .as_ref()
        .is_some_and(|b| b.on.contains(kind))
}
