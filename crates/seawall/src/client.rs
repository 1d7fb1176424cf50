//! The verbs that bring a call on.

mod copies;

use crate::action::{Action, Stopped, Verdict};
use crate::backoff::Progress;
use crate::backoff::jitter::spread;
use crate::breaker::BreakerState;
use crate::breaker::Circuit;
use crate::call::{Asked, Call, State};
use crate::classify::{refusal_wait, retry_wait};
use crate::deadline::{attempt_timeout, remaining};
use crate::entropy::Entropy;
use crate::failure::{Failure, FailureKind, FailureSet, Reply};
use crate::guards::{Guards, Way};
use crate::policy::Policy;
use crate::race::Races;
use crate::rate_limit::Then;
use crate::request::{CallKey, Request};
use crate::spec::{Jitter, Spec};
use crate::stats::Stats;
use crate::time::{Span, Time};

/// What all calls of one process to one dependency share: budget, breaker, bulkhead, kill switch and
/// counters.
///
/// `begin` a call and `poll` it until `None`, doing each [`Action`]. Then wait for whatever comes
/// first, a reply or [`Call::timer`], tell the client, and poll again. See the crate documentation.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) policy: Policy,
    pub(crate) stats: Stats,
    pub(crate) guards: Guards,
    pub(crate) races: Races,
    pub(crate) kill_switch: bool,
}

impl Client {
    /// A client with a full budget, a closed breaker and all permits free.
    #[must_use]
    pub fn new(policy: Policy, now: Time) -> Client {
        Client {
            stats: Stats::default(),
            guards: Guards::new(policy.spec(), now),
            races: Races::new(),
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
        let (slots, beyond) = self.guards.slots(&operation);
        self.stats.beyond_cap += beyond;
        Call {
            key: request.key,
            deadline: if self.guards.plan.late_deadline {
                spec.deadline.inherited(request.deadline)
            } else {
                spec.deadline.of_call(now, request.deadline)
            },
            timer: Time::MAX,
            began: now,
            state: State::New,
            backoff: Progress::default(),
            attempts: 0,
            retry_on: match (operation.retryable, operation.retry_only) {
                (false, _) => FailureSet::NONE,
                (true, None) => spec.tried_again(),
                (true, Some(only)) => spec.tried_again().and(only),
            },
            grant: None,
            permit: None,
            last: None,
            idempotent: operation.idempotent,
            inside: false,
            stage: 0,
            refused: 0,
            slots,
            race: u32::MAX,
            hedges: spec.hedge.is_some() && operation.retryable && operation.idempotent,
            tried: now,
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
            State::New | State::Ready if self.guards.none() => {
                Some(match self.unwanted(call, now) {
                    None => self.send(call, now, 0, entropy),
                    Some(stopped) => self.stop(call, now, stopped),
                })
            }
            State::Sent { .. }
            | State::Backoff
            | State::Pacing(_)
            | State::Choosing { asked: true }
            | State::Over => None,
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
            (State::Racing, reply) => {
                let waited_for = self.race_reply(call, now, attempt, reply);
                self.stats.ignored_replies += u64::from(!waited_for);
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
            State::Racing => self.race_timer(call, now),
            State::Backoff | State::Pacing(Then::Ask) => {
                call.timer = Time::MAX;
                call.state = State::Ready;
            }
            State::Pacing(Then::Go) => {
                call.timer = Time::MAX;
                call.stage = call.stage.saturating_add(1);
                call.state = State::Ready;
            }
            State::Pacing(Then::GiveUp) => self.waited_in_vain(call, now, Stopped::RateLimited),
            State::Waiting(place) => {
                // A permit that came in the same instant came first.
                if !self.guards.is_granted(call, place) {
                    if now >= call.deadline {
                        self.give_up(call, now, Stopped::DeadlineExceeded, false);
                    } else {
                        self.waited_in_vain(call, now, Stopped::BulkheadTimeout);
                    }
                }
            }
            State::New
            | State::Failed { .. }
            | State::Ready
            | State::Choosing { .. }
            | State::Refused(_)
            | State::Ending { .. }
            | State::Over => {}
        }
    }

    /// The host of the attempt that [`Action::Choose`] asked about. Poll the call next. Nothing happens when it
    /// was not asked.
    pub fn on_host(&mut self, call: &mut Call, host: u64) {
        if call.state == (State::Choosing { asked: true }) {
            let (slots, beyond) = self.guards.slots_of_host(host, call.slots);
            self.stats.beyond_cap += beyond;
            call.slots = slots;
            call.stage = call.stage.saturating_add(1);
            call.state = State::Ready;
        }
    }

    /// Whether the breaker of a host is not known to refuse: what a balancer may ask before it chooses. Always so
    /// without a breaker per host.
    #[must_use]
    pub fn admits_host(&self, now: Time, host: u64) -> bool {
        self.guards.admits_host(now, host)
    }

    /// The caller left: an outstanding attempt is abandoned and the call ends as
    /// [`Stopped::Cancelled`]. Poll the call next. Nothing happens when the end is decided already.
    pub fn cancel(&mut self, call: &mut Call, now: Time) {
        let abandon = match call.state {
            State::Ending { .. } | State::Over => return,
            State::Racing => return self.lose_race(call, now, Stopped::Cancelled),
            State::Sent { .. } => true,
            State::Failed { abandon, .. } => abandon,
            State::New
            | State::Waiting(_)
            | State::Pacing(_)
            | State::Choosing { .. }
            | State::Refused(_)
            | State::Backoff
            | State::Ready => false,
        };
        self.give_up(call, now, Stopped::Cancelled, abandon);
    }

    /// A call that was given a bulkhead permit while it waited: poll that one. Each is named once; ask
    /// until `None` whenever a call has been polled to `None`.
    #[inline]
    pub fn next_admitted(&mut self) -> Option<CallKey> {
        self.guards.next_admitted()
    }

    /// Switches retries off, or on again. First attempts are not concerned; calls that are in a
    /// backoff when it is on give up when their wait is over.
    pub fn set_kill_switch(&mut self, on: bool) {
        self.kill_switch = on;
    }

    /// Whether retries are switched off.
    #[must_use]
    pub fn kill_switch(&self) -> bool {
        self.kill_switch
    }

    /// What the breaker does with a call at `now`; `None` without a breaker. Where the policy tells keys apart, the
    /// one that all keys beyond the cap share; see [`Client::breakers`].
    #[must_use]
    pub fn breaker_state(&self, now: Time) -> Option<BreakerState> {
        self.guards.breaker_state(now)
    }

    /// The key of the breaker that the call is under (`None`: the shared one), and what that breaker does with a call at
    /// `now`; `None` without a breaker. Where hosts are told apart it is that of the call's latest attempt.
    #[must_use]
    pub fn breaker_of(&self, call: &Call, now: Time) -> Option<(Option<u64>, BreakerState)> {
        self.guards.breaker_of(call, now)
    }

    /// All breakers in use: the one without a key, then one for each key seen (at most the cap).
    pub fn breakers(&self) -> impl Iterator<Item = (Option<u64>, &Circuit)> {
        self.guards.breakers()
    }

    /// Times a breaker went to open, all breakers together.
    #[must_use]
    pub fn breaker_openings(&self) -> u64 {
        let openings = self
            .guards
            .breakers()
            .map(|(_, circuit)| circuit.openings());
        openings.fold(0, u64::saturating_add)
    }

    /// Retries the budget would grant now, one after the other; infinite without a budget. Where the policy tells keys
    /// apart, of the one that all keys beyond the cap share.
    #[must_use]
    pub fn budget_balance(&mut self, now: Time) -> f64 {
        self.guards.balance(now)
    }

    /// Bulkhead permits out and calls in line, all bulkheads together; `None` without a bulkhead.
    #[must_use]
    pub fn bulkhead_load(&self) -> Option<(u32, u32)> {
        self.guards.bulkhead_load()
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
            // A call that is over before it began takes nothing from anybody.
            State::New | State::Ready => match self.unwanted(call, now) {
                None => self.advance(call, now, entropy),
                Some(stopped) => Some(self.stop(call, now, stopped)),
            },
            &mut State::Waiting(place) => {
                if !self.guards.claim(call, place) {
                    return None;
                }
                call.timer = Time::MAX;
                call.stage = call.stage.saturating_add(1);
                call.state = State::Ready;
                match self.unwanted(call, now) {
                    None => self.advance(call, now, entropy),
                    Some(stopped) => Some(self.stop(call, now, stopped)),
                }
            }
            State::Racing => self.poll_race(call, now, entropy),
            State::Choosing { asked: false } => {
                call.state = State::Choosing { asked: true };
                Some(Action::Choose(call.attempts.saturating_add(1)))
            }
            &mut State::Refused(stopped) => match self.refused(call, now, stopped, entropy) {
                Some(action) => Some(action),
                None => self.advance(call, now, entropy),
            },
            State::Sent { .. }
            | State::Backoff
            | State::Pacing(_)
            | State::Choosing { asked: true }
            | State::Over => None,
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
            Ok(wait) => {
                self.wait_for_retry(call, now, wait);
                self.advance(call, now, entropy)
            }
            Err(stopped) => Some(self.stop(call, now, stopped)),
        }
    }

    /// The next try begins after `wait`.
    fn wait_for_retry(&mut self, call: &mut Call, now: Time, wait: Span) {
        call.stage = self.guards.plan.retry_at;
        (call.state, call.timer) = match wait {
            Span::ZERO => (State::Ready, Time::MAX),
            wait => (State::Backoff, now.after(wait)),
        };
    }

    /// Brings a call that is ready on to its next attempt, or to where it waits.
    fn advance(
        &mut self,
        call: &mut Call,
        now: Time,
        entropy: &mut impl Entropy,
    ) -> Option<Action> {
        while let State::New | State::Ready = call.state {
            let way = self.guards.advance(call, now, entropy);
            let stopped = match way {
                Ok(Way::Waits) => break,
                Ok(Way::Through) => match self.guards.admit_attempt(call, now, entropy) {
                    Ok(()) => {
                        let first = call.attempts == 0;
                        let in_flight = self.guards.attempt_sent(call, now, first, entropy);
                        let action = self.send(call, now, in_flight, entropy);
                        if call.hedges {
                            self.begin_race(call, now);
                        }
                        return Some(action);
                    }
                    Err(stopped) => stopped,
                },
                Err(stopped) => stopped,
            };
            if let Some(action) = self.refused(call, now, stopped, entropy) {
                return Some(action);
            }
        }
        match call.state {
            State::Waiting(_) => self.stats.waited += 1,
            State::Choosing { asked: false } => return self.poll_on(call, now, entropy),
            _ => {}
        }
        None
    }

    /// This side refused a try: it is tried again after a wait, or the call is given up for that reason.
    #[cold]
    fn refused(
        &mut self,
        call: &mut Call,
        now: Time,
        stopped: Stopped,
        entropy: &mut impl Entropy,
    ) -> Option<Action> {
        self.guards.refused(call, now, stopped, entropy);
        let (spec, guards) = (self.policy.spec(), &mut self.guards);
        match refusal_wait(call, now, stopped, spec, self.kill_switch, guards, entropy) {
            Some(wait) => {
                self.stats.refusals_retried += 1;
                self.wait_for_retry(call, now, wait);
                None
            }
            None => Some(self.stop(call, now, stopped)),
        }
    }

    /// A wait ended with nothing: the next poll sees whether that is tried again.
    fn waited_in_vain(&mut self, call: &mut Call, now: Time, stopped: Stopped) {
        let inside = stopped
            .refusal()
            .is_some_and(|refusal| self.policy.spec().retry.refusals.contains(refusal));
        let counted = self.guards.counts_refusals();
        if !inside && !counted {
            self.give_up(call, now, stopped, false);
            return;
        }
        self.guards.leave_line(call);
        call.timer = Time::MAX;
        call.state = State::Refused(stopped);
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

    /// Sends the next attempt; so many are in flight with it.
    #[inline(always)]
    fn send(
        &mut self,
        call: &mut Call,
        now: Time,
        in_flight: u32,
        entropy: &mut impl Entropy,
    ) -> Action {
        let first = call.attempts == 0;
        call.attempts = call.attempts.saturating_add(1);
        self.stats.attempts += 1;
        self.stats.retries += u64::from(!first);
        let spec = self.policy.spec();
        let left = remaining(call.deadline, now);
        let mut configured = spec.attempt_timeout;
        if spec.attempt_timeout_jitter != Jitter::None {
            configured = configured.map(|cap| spread_timeout(cap, spec, entropy));
        }
        if self.guards.plan.times_waits {
            configured = configured.map(|span| span.minus(now.since(call.tried)));
        }
        let timeout = attempt_timeout(configured, &spec.retry, left, call.tries());
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
            self.guards.attempt_failed(call, now, at, &failure, abandon);
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

/// At least a nanosecond: an attempt that ends before it begins is none.
#[cold]
fn spread_timeout(cap: Span, spec: &Spec, entropy: &mut impl Entropy) -> Span {
    spread(cap, spec.attempt_timeout_jitter, entropy).max(Span(1))
}

#[inline]
pub(crate) fn finish(call: &mut Call, stopped: Option<Stopped>) -> Action {
    call.state = State::Over;
    Action::Finish(Verdict {
        attempts: call.attempts,
        stopped,
        last: call.last.map(|(kind, _)| kind),
        phase: call.last.map(|(_, phase)| phase),
    })
}
