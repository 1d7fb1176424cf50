//! What bounds concurrency, rates and queues.

use std::collections::BTreeMap;

use seawall::limiter::{Aimd, AimdState, Gradient2, Gradient2State, Sample, Vegas, VegasState};
use seawall::rate_limit::{
    AwsAdaptive, AwsAdaptiveState, Gcra, GcraState, RateReservation, Resilience4jRate,
    Resilience4jRateState, TooManyCells,
};
use seawall::shed::{Codel, CodelState};
use seawall::{
    Action, Bulkhead, Call, CallKey, Client, Operation, Reply, Request, Span, Spec, Stopped, Time,
};
use serde_json::{Value, json};

use crate::harness::{Always, Fields, Machine};

fn sample(op: &str, input: &Fields<'_>) -> Sample {
    if op != "sample" {
        input.unknown(op);
    }
    Sample {
        rtt: input.span("rtt_ns"),
        in_flight: input.u32("inflight"),
        dropped: input.bool("dropped"),
    }
}

fn starts_at(params: &Fields<'_>, limit: u32) {
    if let Some(should_be) = params.optional("limit_at_start", Fields::u32) {
        assert_eq!(limit, should_be);
    }
}

pub(crate) fn aimd(params: &Fields<'_>) -> Box<dyn Machine> {
    let state = AimdState::new(&Aimd {
        initial: params.u32("initial"),
        min: params.u32("min"),
        max: params.u32("max"),
        backoff_ratio: params.f64("backoff_ratio"),
        timeout: params.span("timeout_ns"),
    });
    starts_at(params, state.limit());
    Box::new(state)
}

impl Machine for AimdState {
    fn step(&mut self, _now: Time, op: &str, input: &Fields<'_>) -> Value {
        AimdState::sample(self, sample(op, input));
        json!({ "limit": self.limit() })
    }
}

pub(crate) fn gradient2(params: &Fields<'_>) -> Box<dyn Machine> {
    let state = Gradient2State::new(&Gradient2 {
        initial: params.u32("initial"),
        min: params.u32("min"),
        max: params.u32("max"),
        smoothing: params.f64("smoothing"),
        tolerance: params.f64("rtt_tolerance"),
        long_window: params.u32("long_window"),
        queue: params.u32("queue_size"),
    });
    starts_at(params, state.limit());
    Box::new(state)
}

impl Machine for Gradient2State {
    fn step(&mut self, _now: Time, op: &str, input: &Fields<'_>) -> Value {
        Gradient2State::sample(self, sample(op, input));
        json!({ "limit": self.limit() })
    }
}

pub(crate) fn vegas(params: &Fields<'_>) -> Box<dyn Machine> {
    let state = VegasState::new(&Vegas {
        initial: params.u32("initial"),
        max: params.u32("max"),
        smoothing: params.f64("smoothing"),
        probe_multiplier: params.u32("probe_multiplier"),
    });
    starts_at(params, state.limit());
    Box::new(state)
}

impl Machine for VegasState {
    fn step(&mut self, _now: Time, op: &str, input: &Fields<'_>) -> Value {
        VegasState::sample(self, sample(op, input), &mut Always(u64::MAX));
        json!({ "limit": self.limit() })
    }
}

/// The vectors' clock starts at some second since 1970, to which buckets are aligned.
struct Adaptive(Span, AwsAdaptiveState);

pub(crate) fn aws_cubic(params: &Fields<'_>) -> Box<dyn Machine> {
    let start = Span::from_secs_f64(params.f64("start_unix_s"));
    let now = Time::ZERO.after(start);
    Box::new(Adaptive(
        start,
        AwsAdaptiveState::new(&AwsAdaptive::default(), now),
    ))
}

impl Machine for Adaptive {
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value {
        let Adaptive(start, state) = self;
        let now = now.after(*start);
        let mut wait = None;
        match op {
            "send" => wait = Some(state.acquire(now, AwsAdaptive::default().cost).0),
            "response" => state.response(now, input.bool("throttled")),
            _ => input.unknown(op),
        }
        json!({
            "wait_ns": wait,
            "enabled": state.enabled(),
            "capacity": state.tokens(),
            "measured_rate": state.measured_rate(),
            "fill_rate": state.fill_rate(),
            "capacity_max": state.capacity_max(),
        })
    }
}

pub(crate) fn gcra(params: &Fields<'_>) -> Box<dyn Machine> {
    Box::new(GcraState::new(&Gcra {
        period: params.span("period_ns"),
        burst: params.u32("burst_cells"),
    }))
}

impl Machine for GcraState {
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value {
        if op != "check" {
            input.unknown(op);
        }
        match self.check(now, input.u32("cells")) {
            Ok(None) => json!({ "allowed": true }),
            Ok(Some(wait)) => json!({ "allowed": false, "wait_ns": wait.0 }),
            Err(TooManyCells) => json!({ "allowed": false, "error": "insufficient_capacity" }),
        }
    }
}

pub(crate) fn resilience4j_atomic(params: &Fields<'_>) -> Box<dyn Machine> {
    let spec = Resilience4jRate {
        limit_for_period: params.u32("limit_for_period"),
        limit_refresh_period: params.span("limit_refresh_period_ns"),
        timeout: params.span("timeout_ns"),
        blocking: false,
    };
    Box::new(Resilience4jRateState::new(&spec, Time::ZERO))
}

impl Machine for Resilience4jRateState {
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value {
        if op != "reserve" {
            input.unknown(op);
        }
        let wait = match self.reserve(now, input.u32("permits")) {
            RateReservation::Granted { wait } => Some(wait.0),
            RateReservation::Refused { .. } => None,
        };
        json!({
            "allowed": wait.is_some(),
            "wait_ns": wait,
            "available_permissions": self.permissions(),
        })
    }
}

pub(crate) fn codel(params: &Fields<'_>) -> Box<dyn Machine> {
    let spec = Codel {
        interval: params.span("interval_ns"),
        target: params.span("target_delay_ns"),
    };
    Box::new(CodelState::new(&spec, Time::ZERO))
}

impl Machine for CodelState {
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value {
        if op != "dequeue" {
            input.unknown(op);
        }
        let shed = self.sheds(now, input.span("queue_delay_ns"));
        json!({ "shed": shed, "overloaded": self.overloaded() })
    }
}

/// A client with nothing but a bulkhead, and its calls in the order in which they came.
struct Bulkheaded {
    client: Client,
    calls: Vec<Tracked>,
    by_name: BTreeMap<String, usize>,
}

struct Tracked {
    name: String,
    call: Call,
    outcome: Option<(&'static str, Time)>,
    /// The step that made it.
    step: usize,
}

impl Bulkheaded {
    fn new(bulkhead: Bulkhead) -> Self {
        let spec = Spec {
            bulkhead: Some(bulkhead),
            ..Spec::default()
        };
        Bulkheaded {
            client: Client::new(spec.check().unwrap(), Time::ZERO),
            calls: Vec::new(),
            by_name: BTreeMap::new(),
        }
    }

    fn begin(&mut self, now: Time, name: &str, step: usize) -> Option<&'static str> {
        let key = CallKey(self.calls.len() as u64);
        let call = self.client.begin(
            now,
            Request {
                key,
                deadline: None,
                operation: Operation::default(),
            },
        );
        self.by_name.insert(name.to_owned(), self.calls.len());
        self.calls.push(Tracked {
            name: name.to_owned(),
            call,
            outcome: None,
            step,
        });
        self.poll(now, self.calls.len() - 1);
        self.calls.last().unwrap().outcome.map(|(what, _)| what)
    }

    /// Ends a call that has a permit; who gets it, if anybody.
    fn end(&mut self, now: Time, name: &str) -> Option<String> {
        let index = self.by_name[name];
        self.client
            .on_reply(&mut self.calls[index].call, now, 1, Reply::Ok);
        self.poll(now, index);
        let admitted = self.client.next_admitted()?;
        self.poll(now, admitted.0 as usize);
        Some(self.calls[admitted.0 as usize].name.clone())
    }

    fn poll(&mut self, now: Time, index: usize) {
        let tracked = &mut self.calls[index];
        while let Some(action) = self.client.poll(&mut tracked.call, now, &mut Always(0)) {
            match action {
                Action::Send { .. } => tracked.outcome = Some(("granted", now)),
                Action::Finish(verdict) => match verdict.stopped {
                    Some(Stopped::BulkheadFull | Stopped::BulkheadTimeout) => {
                        tracked.outcome = Some(("rejected", now));
                    }
                    stopped => assert_eq!(stopped, None),
                },
                Action::Abandon(_) | Action::Choose(_) => unreachable!("no attempt times out"),
            }
        }
    }

    /// Timers that come before `now`.
    fn wait_until(&mut self, now: Time) {
        let due = |(i, tracked): (usize, &Tracked)| Some((tracked.call.timer()?, i));
        while let Some((timer, i)) = self.calls.iter().enumerate().filter_map(due).min()
            && timer < now
        {
            self.client.on_timer(&mut self.calls[i].call, timer);
            self.poll(timer, i);
        }
    }
}

struct Semaphore(Bulkheaded, usize);

pub(crate) fn semaphore(params: &Fields<'_>) -> Box<dyn Machine> {
    let max_wait = params.span("max_wait_ns");
    // Without fairness the original lets a newcomer overtake only in a race, which one thread has not.
    params.bool("fair");
    let bulkheaded = Bulkheaded::new(Bulkhead {
        max_in_flight: params.u32("max_concurrent_calls"),
        queue_from: None,
        max_waiting: if max_wait == Span::ZERO { 0 } else { u32::MAX },
        max_wait,
        hold_during_backoff: None,
    });
    Box::new(Semaphore(bulkheaded, 0))
}

impl Machine for Semaphore {
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value {
        let Semaphore(bulkheaded, step) = self;
        bulkheaded.wait_until(now);
        let call = input.str("call");
        match op {
            "acquire" => drop(bulkheaded.begin(now, call, *step)),
            "release" => drop(bulkheaded.end(now, call)),
            _ => input.unknown(op),
        }
        *step += 1;
        json!({})
    }

    fn later(&mut self, step: usize) -> Option<Value> {
        self.0.wait_until(Time::MAX);
        let tracked = self.0.calls.iter().find(|tracked| tracked.step == step)?;
        let (outcome, at) = tracked.outcome?;
        Some(json!({ "outcome": outcome, "at_ns": at.0 }))
    }
}

struct ThreadPool(Bulkheaded);

pub(crate) fn threadpool(params: &Fields<'_>) -> Box<dyn Machine> {
    let queue = params.u32("queue_capacity");
    Box::new(ThreadPool(Bulkheaded::new(Bulkhead {
        max_in_flight: params.u32("max_thread_pool_size"),
        queue_from: Some(params.u32("core_thread_pool_size")),
        max_waiting: queue,
        max_wait: Span::MAX,
        hold_during_backoff: None,
    })))
}

impl Machine for ThreadPool {
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value {
        let ThreadPool(bulkheaded) = self;
        let call = input.str("call");
        let (mut outcome, mut now_running) = (None, None);
        match op {
            "submit" => {
                outcome = Some(match bulkheaded.begin(now, call, 0) {
                    Some("granted") => "running",
                    Some(other) => other,
                    None => "queued",
                });
            }
            "finish" => now_running = bulkheaded.end(now, call),
            _ => input.unknown(op),
        }
        let (busy, queued) = bulkheaded.client.bulkhead_load().unwrap();
        json!({
            "outcome": outcome,
            "now_running": now_running,
            "threads_busy": busy,
            "queue_depth": queued,
        })
    }
}
