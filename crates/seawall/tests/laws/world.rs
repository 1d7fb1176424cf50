//! A driver that obeys the contract, feeds a client whatever it is told, and checks the laws after
//! every step.

use seawall::{
    Action, Backoff, Breaker, BreakerRule, BreakerState, Budget, BudgetEvent, Bulkhead, Call,
    CallKey, Client, Counts, Deadline, Entropy, FailureKind, FailureSet, Jitter, Layer, Operation,
    Order, Rates, RefusalSet, Reply, Request, Retry, Span, Spec, Time, Window,
};

/// Something that happens to the client.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Input {
    /// A call begins.
    Begin,
    /// The outstanding attempt of a call is answered well.
    Ok(usize),
    /// It is answered with a failure.
    Fail(usize, FailureKind),
    /// A call's timer comes.
    Timer(usize),
    /// A call's timer is reported 1 ns too early.
    Early(usize),
    /// A call's caller leaves.
    Cancel(usize),
    /// An answer to an attempt that is not outstanding.
    Stale(usize),
    /// Time passes and no timer is reported.
    Wait(Span),
    /// Retries are switched off or on.
    Kill(bool),
}

#[derive(Clone)]
pub(crate) struct World {
    spec: Spec,
    pub client: Client,
    pub now: Time,
    pub calls: Vec<Tracked>,
    killed: bool,
    sent: u64,
    resent: u64,
    ended: u64,
}

/// A call and what its driver has seen of it.
#[derive(Clone, Copy)]
pub(crate) struct Tracked {
    pub call: Call,
    pub outstanding: Option<u32>,
    sent: u32,
    ended: bool,
    /// Openings of the breaker when its outstanding attempt was let through half-open.
    trial_of: Option<u64>,
}

struct Halves;

impl Entropy for Halves {
    fn next_u64(&mut self) -> u64 {
        1 << 63
    }
}

impl World {
    pub(crate) fn new(spec: &Spec) -> World {
        let policy = spec
            .check()
            .unwrap_or_else(|problems| panic!("{problems:?}"));
        World {
            spec: spec.clone(),
            client: Client::new(policy, Time::ZERO),
            now: Time::ZERO,
            calls: Vec::new(),
            killed: false,
            sent: 0,
            resent: 0,
            ended: 0,
        }
    }

    /// Inputs that mean something in this state, of at most `calls` calls.
    pub(crate) fn inputs(&self, calls: usize) -> Vec<Input> {
        let mut inputs = Vec::new();
        if self.calls.len() < calls {
            inputs.push(Input::Begin);
        }
        for (i, tracked) in self.calls.iter().enumerate() {
            if tracked.outstanding.is_some() {
                inputs.push(Input::Ok(i));
                inputs.push(Input::Fail(i, FailureKind::Unavailable));
            }
            if tracked.call.timer().is_some() {
                inputs.push(Input::Timer(i));
            }
            if !tracked.ended {
                inputs.push(Input::Cancel(i));
            }
        }
        inputs
    }

    /// Does one thing to the client, polls as the contract says, and checks the laws.
    pub(crate) fn apply(&mut self, input: Input) {
        let before = self.client.stats().clone();
        match input {
            Input::Begin => {
                let request = Request {
                    key: CallKey(self.calls.len() as u64),
                    deadline: None,
                    operation: Operation::default(),
                };
                self.calls.push(Tracked {
                    call: self.client.begin(self.now, request),
                    outstanding: None,
                    sent: 0,
                    ended: false,
                    trial_of: None,
                });
                self.drain(self.calls.len() - 1);
            }
            Input::Ok(i) => self.reply(i, Reply::Ok),
            Input::Fail(i, kind) => self.reply(i, Reply::Failed(kind.into())),
            Input::Timer(i) => {
                let Some(timer) = self.calls[i].call.timer() else {
                    return;
                };
                self.now = self.now.max(timer);
                self.client.on_timer(&mut self.calls[i].call, self.now);
                self.drain(i);
            }
            Input::Early(i) => {
                let Some(timer) = self.calls[i].call.timer() else {
                    return;
                };
                if timer.0 > self.now.0 {
                    self.client
                        .on_timer(&mut self.calls[i].call, Time(timer.0 - 1));
                    assert_eq!(
                        self.calls[i].call.timer(),
                        Some(timer),
                        "too early for anything"
                    );
                    self.drain(i);
                }
            }
            Input::Cancel(i) => {
                self.client.cancel(&mut self.calls[i].call, self.now);
                self.drain(i);
                assert!(self.calls[i].ended, "who cancels is done");
            }
            Input::Stale(i) => {
                let now = self.now;
                let tracked = &mut self.calls[i];
                for attempt in [0, tracked.sent + 1, tracked.sent.wrapping_sub(1), u32::MAX] {
                    if tracked.outstanding != Some(attempt) {
                        let failure = Reply::Failed(FailureKind::Unavailable.into());
                        self.client
                            .on_reply(&mut tracked.call, now, attempt, Reply::Ok);
                        self.client
                            .on_reply(&mut tracked.call, now, attempt, failure);
                    }
                }
                self.drain(i);
                let after = self.client.stats();
                assert_eq!(before.ok, after.ok);
                assert_eq!(before.failed(), after.failed());
                assert_eq!(before.attempts, after.attempts);
            }
            Input::Wait(span) => self.now = self.now.after(span),
            Input::Kill(on) => {
                self.client.set_kill_switch(on);
                self.killed = on;
            }
        }
        while let Some(key) = self.client.next_admitted() {
            let i = key.0 as usize;
            assert!(!self.calls[i].ended, "only who still waits is admitted");
            assert_eq!(self.calls[i].outstanding, None);
            self.drain(i);
        }
        self.check();
    }

    fn reply(&mut self, i: usize, reply: Reply) {
        let Some(attempt) = self.calls[i].outstanding.take() else {
            return;
        };
        self.client
            .on_reply(&mut self.calls[i].call, self.now, attempt, reply);
        // A second answer to the same attempt changes nothing.
        self.client
            .on_reply(&mut self.calls[i].call, self.now, attempt, Reply::Ok);
        self.drain(i);
    }

    fn drain(&mut self, i: usize) {
        let before = self.calls[i].call.timer();
        for _ in 0..4 {
            let breaker = self.client.breaker_state(self.now);
            let tracked = &mut self.calls[i];
            let Some(action) = self.client.poll(&mut tracked.call, self.now, &mut Halves) else {
                let timer = tracked.call.timer();
                let overdue = timer.is_some_and(|timer| timer <= self.now);
                assert!(!overdue || timer == before, "a new timer lies ahead");
                assert!(
                    !tracked.ended || timer.is_none(),
                    "who is done has no timer"
                );
                return;
            };
            assert!(
                !tracked.ended,
                "nothing follows the end, but {action:?} did"
            );
            match action {
                Action::Send {
                    attempt, timeout, ..
                } => {
                    assert_eq!(attempt, tracked.sent + 1, "attempts are numbered from 1");
                    assert!(attempt <= self.spec.retry.max_attempts);
                    assert_eq!(tracked.outstanding, None, "one at a time");
                    let deadline = tracked.call.deadline();
                    assert!(deadline.is_none_or(|deadline| self.now < deadline));
                    let gives_up = timeout.map(|timeout| self.now.after(timeout));
                    assert_eq!(tracked.call.timer(), gives_up);
                    assert!(gives_up.is_none_or(|at| deadline.is_none_or(|d| at <= d)));
                    assert!(!self.killed || attempt == 1, "no retries when switched off");
                    tracked.outstanding = Some(attempt);
                    tracked.sent += 1;
                    self.sent += 1;
                    self.resent += u64::from(attempt > 1);
                    tracked.trial_of = None;
                    if self
                        .spec
                        .breaker
                        .as_ref()
                        .is_some_and(|b| b.counts != Some(Counts::Calls))
                    {
                        assert_ne!(breaker, Some(BreakerState::Open), "nothing passes it open");
                        if breaker == Some(BreakerState::HalfOpen) {
                            tracked.trial_of = Some(self.client.breaker_openings());
                        }
                    }
                }
                Action::Choose(attempt) => {
                    assert_eq!(attempt, tracked.sent + 1);
                    self.client
                        .on_host(&mut tracked.call, u64::from(attempt) % 2);
                }
                Action::Abandon(attempt) => {
                    assert_eq!(tracked.outstanding.take(), Some(attempt));
                }
                Action::Finish(verdict) => {
                    assert_eq!(tracked.outstanding, None, "nothing is left behind");
                    assert_eq!(verdict.attempts, tracked.sent);
                    assert!(tracked.call.is_finished());
                    tracked.ended = true;
                    self.ended += 1;
                }
            }
        }
        panic!("a call keeps its driver busy for ever");
    }

    fn check(&mut self) {
        let stats = self.client.stats();
        assert_eq!(stats.calls, self.calls.len() as u64);
        assert_eq!(stats.ok + stats.failed(), self.ended, "each call ends once");
        assert_eq!(stats.attempts, self.sent);
        assert_eq!(stats.retries, self.resent);
        if let Some(spec) = self.spec.bulkhead {
            let (in_use, waiting) = self.client.bulkhead_load().expect("configured");
            let out = self
                .calls
                .iter()
                .filter(|c| c.outstanding.is_some())
                .count() as u32;
            let open = self.calls.iter().filter(|c| !c.ended).count() as u32;
            assert!(out <= in_use && in_use <= spec.max_in_flight);
            assert!(waiting <= spec.max_waiting);
            assert!(in_use + waiting <= open, "who is gone holds nothing");
            assert!(
                waiting == 0 || in_use == spec.max_in_flight,
                "nobody waits without need"
            );
        }
        if let Budget::Ratio { ratio, burst, of } = self.spec.budget {
            let balance = self.client.budget_balance(self.now);
            assert!((0.0..=burst).contains(&balance), "{balance}");
            if of == BudgetEvent::Successes && self.client.stats().ok == 0 {
                // Nothing was earned: what is missing was sent, or is about to be.
                let missing = burst - balance;
                let open = self.calls.iter().filter(|c| !c.ended).count() as f64;
                let resent = self.resent as f64;
                assert!(
                    (resent..=resent + open).contains(&missing),
                    "{missing} of {resent}"
                );
            }
            let calls = self.calls.len() as f64;
            assert!(self.resent as f64 <= burst + ratio * calls + 1e-6);
        }
        if let Some(rates) = rates(&self.spec)
            && self.client.breaker_state(self.now) == Some(BreakerState::HalfOpen)
        {
            let period = Some(self.client.breaker_openings());
            let on_trial = |c: &&Tracked| c.outstanding.is_some() && c.trial_of == period;
            let trials = self.calls.iter().filter(on_trial).count();
            assert!(
                trials <= rates.half_open_calls as usize,
                "{trials} trials at once"
            );
        }
    }

    /// Brings every call to its end, in one of two ways, and checks that nothing was kept.
    pub(crate) fn wind_up(mut self, cancel: bool) {
        for _ in 0..1000 {
            let mut open = (0..self.calls.len()).filter(|&i| !self.calls[i].ended);
            // Cancel the youngest first, so that permits are passed on to calls about to leave.
            let Some(i) = (if cancel {
                open.next_back()
            } else {
                open.min_by_key(|&i| self.due(i))
            }) else {
                break;
            };
            match self.calls[i].call.timer() {
                _ if cancel => self.apply(Input::Cancel(i)),
                Some(_) => self.apply(Input::Timer(i)),
                None => self.apply(Input::Ok(i)),
            }
        }
        assert!(self.calls.iter().all(|c| c.ended), "every call ends");
        if self.client.bulkhead_load().is_some() {
            assert_eq!(
                self.client.bulkhead_load(),
                Some((0, 0)),
                "every permit is back"
            );
        }
        if let Some(rates) = rates(&self.spec) {
            // One well answered call after the other closes it, unless a trial was never given back.
            // An early trial that failed may open it once more.
            for _ in 0..2 * rates.half_open_calls {
                self.apply(Input::Wait(rates.open_for));
                let i = self.calls.len();
                self.apply(Input::Begin);
                assert_eq!(self.calls[i].outstanding, Some(1), "every trial is back");
                self.apply(Input::Ok(i));
            }
            let state = self.client.breaker_state(self.now);
            assert_eq!(state, Some(BreakerState::Closed));
        }
    }

    fn due(&self, i: usize) -> Time {
        self.calls[i].call.timer().unwrap_or(Time::MAX)
    }
}

/// Policies that between them use every part, small enough to reach every state soon.
pub(crate) fn policies() -> Vec<Spec> {
    let plain = Spec {
        attempt_timeout: Some(Span(10)),
        retry: Retry {
            max_attempts: 3,
            on: FailureSet::of(&[FailureKind::Timeout, FailureKind::Unavailable]),
            ..Retry::default()
        },
        ..Spec::default()
    };
    let waiting = Spec {
        deadline: Deadline {
            limit: Some(Span(40)),
            ..Deadline::default()
        },
        retry: Retry {
            backoff: Backoff::Exponential {
                base: Span(8),
                multiplier: 2.0,
                max: Span(100),
                jitter: Jitter::Equal,
            },
            reserve: Span(3),
            ..plain.retry.clone()
        },
        ..plain.clone()
    };
    let ratio = |of, ratio| Budget::Ratio {
        of,
        ratio,
        burst: 2.0,
    };
    let bulkhead = |hold_during_backoff| {
        Some(Bulkhead {
            max_in_flight: 1,
            queue_from: None,
            max_waiting: 1,
            max_wait: Span(15),
            hold_during_backoff: Some(hold_during_backoff),
        })
    };
    let breaker = |counts, half_open_calls, window| {
        Some(Breaker {
            rule: BreakerRule::Rates(Rates {
                window,
                failure_rate: 0.5,
                slow_rate: Some(1.0),
                slow_after: Span(9),
                minimum_calls: 2,
                open_for: Span(12),
                half_open_calls,
                ramp: None,
            }),
            ignored: FailureSet::NONE,
            counts: Some(counts),
            count_refusals: false,
            on: FailureSet::of(&[FailureKind::Timeout, FailureKind::Unavailable]),
        })
    };
    vec![
        plain.clone(),
        waiting.clone(),
        Spec {
            budget: ratio(BudgetEvent::Successes, 0.5),
            ..waiting.clone()
        },
        Spec {
            budget: ratio(BudgetEvent::Calls, 0.25),
            bulkhead: bulkhead(true),
            ..waiting.clone()
        },
        Spec {
            budget: Budget::Windowed {
                of: BudgetEvent::Calls,
                ratio: 0.5,
                window: Span(30),
                floor_per_sec: 5e7,
            },
            bulkhead: bulkhead(false),
            ..waiting.clone()
        },
        Spec {
            breaker: breaker(Counts::Attempts, 1, Window::Count(3)),
            ..waiting.clone()
        },
        Spec {
            breaker: breaker(Counts::Attempts, 2, Window::Time(Span(20))),
            ..plain.clone()
        },
        Spec {
            breaker: breaker(Counts::Calls, 1, Window::Count(2)),
            ..waiting.clone()
        },
        Spec {
            budget: ratio(BudgetEvent::Successes, 0.5),
            breaker: breaker(Counts::Attempts, 1, Window::Count(2)),
            bulkhead: bulkhead(false),
            ..waiting.clone()
        },
        Spec {
            budget: ratio(BudgetEvent::Calls, 0.5),
            breaker: breaker(Counts::Calls, 2, Window::Count(2)),
            bulkhead: bulkhead(true),
            ..waiting.clone()
        },
        in_order(
            Order::resilience4j(),
            Spec {
                budget: ratio(BudgetEvent::Calls, 0.5),
                breaker: breaker(Counts::Attempts, 1, Window::Count(2)),
                bulkhead: bulkhead(false),
                ..waiting.clone()
            },
        ),
        in_order(
            Order::dotnet_standard(),
            Spec {
                breaker: breaker(Counts::Attempts, 1, Window::Count(3)),
                bulkhead: bulkhead(true),
                ..waiting.clone()
            },
        ),
        // Every call's breaker is inside a bulkhead that it keeps, and the permit is waited for outside the timeout.
        in_order(
            Order::of(&[
                Layer::Bulkhead,
                Layer::TotalTimeout,
                Layer::Breaker,
                Layer::Retry,
                Layer::AttemptTimeout,
            ]),
            Spec {
                breaker: breaker(Counts::Calls, 1, Window::Count(2)),
                bulkhead: bulkhead(true),
                ..waiting
            },
        ),
    ]
}

/// In such an order, with refusals tried again and counted by the breaker that is outside of them.
fn in_order(order: Order, mut spec: Spec) -> Spec {
    spec.order = Some(order);
    spec.retry.refusals = RefusalSet::ALL;
    if let Some(breaker) = &mut spec.breaker {
        breaker.count_refusals = true;
    }
    spec
}

fn rates(spec: &Spec) -> Option<Rates> {
    match spec.breaker.as_ref()?.rule {
        BreakerRule::Rates(rates) => Some(rates),
        _ => None,
    }
}
