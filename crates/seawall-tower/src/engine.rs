//! What all calls to one dependency share, and the one place where it is locked.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use seawall::{
    Action, BreakerState, Call, CallKey, Client, Entropy, HEDGED_ATTEMPTS_MAX, Operation, Policy,
    Reply, Request, Stats, Time, Wait,
};
use tokio::time::Instant;

use crate::observe::{Event, Observer};
use crate::step::{Abandoned, Input, Step, Then};

/// What all calls of this process to one dependency share: a [`seawall::Client`], a clock, random bits, and the line
/// of calls that wait for a permit. Clones are handles to the same engine.
///
/// Time counts from its making, on tokio's clock: paused there, paused here.
#[derive(Clone)]
pub struct Engine(Arc<Shared>);

struct Shared {
    epoch: Instant,
    policy: Policy,
    observer: Option<Box<dyn Observer>>,
    /// Held for a decision, never over an await, and while it is, no code of a user runs but `Entropy`.
    state: Mutex<State>,
}

struct State {
    client: Client,
    entropy: Box<dyn Entropy + Send>,
    next_key: u64,
    /// Who waits for a permit, and how to wake it.
    waiting: BTreeMap<CallKey, Waker>,
    /// Each breaker that is not closed, by its key, as last reported; kept only for an observer.
    breakers: BTreeMap<Option<u64>, BreakerState>,
    observed: bool,
}

/// What came of polling a call.
struct Settled {
    step: Step,
    /// In the order in which they were given their permits.
    admitted: Vec<Waker>,
    breaker: Option<Event>,
}

/// A call and what its reports need to know of it.
pub(crate) struct Tracked {
    pub(crate) call: Call,
    began: Time,
    /// When attempts were sent, by number from 1, over and over: of so many at most are several under way.
    sent: [Time; HEDGED_ATTEMPTS_MAX as usize],
    /// The wait as last reported.
    waits: Option<(Wait, Option<Time>)>,
}

fn place_of(attempt: u32) -> usize {
    (attempt.saturating_sub(1) % HEDGED_ATTEMPTS_MAX) as usize
}

impl Tracked {
    pub(crate) fn sent_at(&self, attempt: u32) -> Time {
        self.sent[place_of(attempt)]
    }
}

impl Engine {
    /// An engine with a full budget, a closed breaker and all permits free.
    pub fn new(policy: Policy, entropy: impl Entropy + Send + 'static) -> Engine {
        Engine::with(policy, Box::new(entropy), None)
    }

    /// One whose `observer` is told of everything that happens.
    pub fn observed(
        policy: Policy,
        entropy: impl Entropy + Send + 'static,
        observer: impl Observer + 'static,
    ) -> Engine {
        Engine::with(policy, Box::new(entropy), Some(Box::new(observer)))
    }

    fn with(
        policy: Policy,
        entropy: Box<dyn Entropy + Send>,
        observer: Option<Box<dyn Observer>>,
    ) -> Engine {
        let client = Client::new(policy.clone(), Time::ZERO);
        Engine(Arc::new(Shared {
            epoch: Instant::now(),
            policy,
            state: Mutex::new(State {
                client,
                entropy,
                next_key: 0,
                waiting: BTreeMap::new(),
                breakers: BTreeMap::new(),
                observed: observer.is_some(),
            }),
            observer,
        }))
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.0.policy
    }

    /// What was done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.lock().client.stats().clone()
    }

    /// What the breaker does with a call now; `None` without a breaker.
    #[must_use]
    pub fn breaker_state(&self) -> Option<BreakerState> {
        self.lock().client.breaker_state(self.now())
    }

    /// Times the breaker went to open.
    #[must_use]
    pub fn breaker_openings(&self) -> u64 {
        self.lock().client.breaker_openings()
    }

    /// Retries the budget would grant now, one after the other; infinite without a budget.
    #[must_use]
    pub fn budget_balance(&self) -> f64 {
        let mut state = self.lock();
        state.client.budget_balance(self.now())
    }

    /// Whether the breaker of a host is not known to refuse: what a balancer may ask before it chooses.
    #[must_use]
    pub fn admits_host(&self, host: u64) -> bool {
        self.lock().client.admits_host(self.now(), host)
    }

    /// Bulkhead permits out and calls in line; `None` without a bulkhead.
    #[must_use]
    pub fn bulkhead_load(&self) -> Option<(u32, u32)> {
        self.lock().client.bulkhead_load()
    }

    /// Switches retries off, or on again. First attempts are not concerned; calls that are in a backoff when it is on
    /// give up when their wait is over.
    pub fn set_kill_switch(&self, on: bool) {
        self.lock().client.set_kill_switch(on);
    }

    /// Time since the engine was made.
    #[must_use]
    pub fn now(&self) -> Time {
        self.time_of(Instant::now())
    }

    /// The engine's name for an instant of tokio's clock; `Time::ZERO` for one before the engine was made.
    #[must_use]
    pub fn time_of(&self, instant: Instant) -> Time {
        Time::ZERO.after(instant.saturating_duration_since(self.0.epoch).into())
    }

    /// The instant of tokio's clock that the engine calls `time`.
    #[must_use]
    pub fn instant_of(&self, time: Time) -> Instant {
        const TEN_YEARS: Duration = Duration::from_secs(10 * 365 * 86_400);
        let length = Duration::from(time.since(Time::ZERO));
        let instant = self.0.epoch.checked_add(length);
        instant.unwrap_or_else(|| self.0.epoch + TEN_YEARS)
    }

    /// Begins a call and says what to do first.
    pub(crate) fn begin(
        &self,
        deadline: Option<Instant>,
        operation: Operation,
        waker: &Waker,
    ) -> (Tracked, Step) {
        let mut state = self.lock();
        let now = self.now();
        let key = CallKey(state.next_key);
        state.next_key = state.next_key.wrapping_add(1);
        let request = Request {
            key,
            deadline: deadline.map(|deadline| self.time_of(deadline)),
            operation,
        };
        let mut call = state.client.begin(now, request);
        let settled = state.settle(&mut call, now, Some(waker));
        drop(state);
        let mut tracked = Tracked {
            call,
            began: now,
            sent: [now; HEDGED_ATTEMPTS_MAX as usize],
            waits: None,
        };
        self.report(now, || Event::Began { call: key });
        let step = self.carry_out(&mut tracked, now, settled);
        (tracked, step)
    }

    /// Tells the engine what happened to a call and says what to do next. Without a `waker` nobody will wait for it.
    pub(crate) fn tell(&self, tracked: &mut Tracked, input: Input, waker: Option<&Waker>) -> Step {
        let call = &mut tracked.call;
        let mut state = self.lock();
        let now = self.now();
        match input {
            Input::Look => {}
            Input::Answer(attempt, reply) => state.client.on_reply(call, now, attempt, reply),
            Input::Timer => state.client.on_timer(call, now),
            Input::Host(host) => state.client.on_host(call, host),
            Input::Cancel => state.client.cancel(call, now),
        }
        let settled = state.settle(call, now, waker);
        drop(state);
        if let Input::Answer(attempt, reply) = input {
            self.report(now, || Event::Answered {
                call: tracked.call.key(),
                attempt,
                took: now.since(tracked.sent_at(attempt)),
                failure: match reply {
                    Reply::Ok => None,
                    Reply::Failed(failure) => Some(failure),
                },
            });
        }
        self.carry_out(tracked, now, settled)
    }

    /// Wakes and reports, with the lock let go.
    fn carry_out(&self, tracked: &mut Tracked, now: Time, settled: Settled) -> Step {
        let Settled {
            step,
            admitted,
            breaker,
        } = settled;
        for waker in admitted {
            waker.wake();
        }
        if self.0.observer.is_some() {
            self.report_step(tracked, now, &step, breaker);
        }
        if let Then::Send { attempt, .. } = step.then {
            tracked.sent[place_of(attempt)] = now;
        }
        step
    }

    fn report_step(&self, tracked: &mut Tracked, now: Time, step: &Step, breaker: Option<Event>) {
        let call = tracked.call.key();
        for attempt in step.abandon.iter() {
            self.report(now, || Event::Abandoned {
                call,
                attempt,
                took: now.since(tracked.sent_at(attempt)),
            });
        }
        if let Some(changed) = breaker {
            self.report(now, || changed);
        }
        match step.then {
            Then::Send {
                attempt,
                timeout,
                deadline,
            } => self.report(now, || Event::Sent {
                call,
                attempt,
                timeout,
                deadline,
            }),
            Then::Finish(verdict) => self.report(now, || Event::Ended {
                call,
                took: now.since(tracked.began),
                verdict,
            }),
            Then::Choose(_) | Then::Wait => {}
        }
        // A look at a call that waits on is no new wait.
        let waits = tracked
            .call
            .waits_for()
            .filter(|on| !matches!(on, Wait::Answer | Wait::Host))
            .map(|on| (on, tracked.call.timer()));
        if waits != tracked.waits
            && let Some((on, timer)) = waits
        {
            self.report(now, || Event::Waits {
                call,
                on,
                at_most: timer.map(|timer| timer.since(now)),
            });
        }
        tracked.waits = waits;
    }

    fn report(&self, at: Time, event: impl FnOnce() -> Event) {
        if let Some(observer) = &self.0.observer {
            observer.on_event(at, &event());
        }
    }

    /// A generator that panics leaves nothing half-done that another call could stumble over.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Polls a call until there is nothing left to do, and sees who else that concerns.
    fn settle(&mut self, call: &mut Call, now: Time, waker: Option<&Waker>) -> Settled {
        let mut step = Step {
            abandon: Abandoned::default(),
            then: Then::Wait,
        };
        // Between two waits attempts are abandoned first. What a hedged call does after it has sent, it does at once: its
        // timer is due.
        let mut entropy = &mut *self.entropy;
        while let Some(action) = self.client.poll(call, now, &mut entropy) {
            match action {
                Action::Choose(attempt) => step.then = Then::Choose(attempt),
                Action::Abandon(attempt) => step.abandon.push(attempt),
                Action::Send {
                    attempt,
                    timeout,
                    deadline,
                } => {
                    step.then = Then::Send {
                        attempt,
                        timeout,
                        deadline,
                    };
                    break;
                }
                Action::Finish(verdict) => step.then = Then::Finish(verdict),
            }
        }
        match waker.filter(|_| call.waits_for() == Some(Wait::Permit)) {
            Some(waker) => match self.waiting.get_mut(&call.key()) {
                Some(known) => known.clone_from(waker),
                None => drop(self.waiting.insert(call.key(), waker.clone())),
            },
            None if self.waiting.is_empty() => {}
            None => drop(self.waiting.remove(&call.key())),
        }
        let mut admitted = Vec::new();
        while let Some(key) = self.client.next_admitted() {
            // Who is not there has not been polled since it began to wait, and will see for itself.
            admitted.extend(self.waiting.remove(&key));
        }
        Settled {
            step,
            admitted,
            breaker: self.breaker_change(call, now),
        }
    }

    /// What became of the breaker that the call is under.
    fn breaker_change(&mut self, call: &Call, now: Time) -> Option<Event> {
        if !self.observed {
            return None;
        }
        let (key, to) = self.client.breaker_of(call, now)?;
        // Every breaker begins closed.
        let from = match to {
            BreakerState::Closed => self.breakers.remove(&key),
            _ => self.breakers.insert(key, to),
        };
        let from = from.unwrap_or(BreakerState::Closed);
        (from != to).then_some(Event::Breaker { key, from, to })
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("policy", &self.0.policy)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
