//! What stops calls to a dependency that fails.

use std::collections::BTreeMap;

use seawall::backoff;
use seawall::breaker::{
    Aligned, GoBreaker, GoCircuit, GoRefusal, GoTicket, GoTrip, Hystrix, HystrixCircuit, Linkerd,
    LinkerdCircuit, Polly, PollyCircuit, Resilience4j, Resilience4jCircuit, Resilience4jWindow,
    Sentinel, SentinelCircuit, SentinelGrade,
};
use seawall::{Breaker, BreakerRule, BreakerState, FailureSet, Span, Spec, Time};
use serde_json::{Value, json};

use crate::harness::{Fields, Machine};

/// The parameters pass the check of a policy.
fn accepted(rule: BreakerRule) {
    let spec = Spec {
        breaker: Some(Breaker {
            rule,
            counts: None,
            count_refusals: false,
            on: FailureSet::NONE,
            ignored: FailureSet::NONE,
        }),
        ..Spec::default()
    };
    spec.check().unwrap();
}

/// The words of one project for closed, half-open and open.
type Words = [&'static str; 3];

const SHOUTED: Words = ["CLOSED", "HALF_OPEN", "OPEN"];

fn word(words: Words, state: BreakerState) -> &'static str {
    match state {
        BreakerState::Closed => words[0],
        BreakerState::HalfOpen => words[1],
        BreakerState::Open => words[2],
    }
}

pub(crate) fn resilience4j(params: &Fields<'_>) -> Box<dyn Machine> {
    let default = Resilience4j::default();
    let size = params.u32("sliding_window_size");
    let wait = params.span("wait_duration_in_open_state_ns");
    let spec = Resilience4j {
        window: match params.str("sliding_window_type") {
            "COUNT_BASED" => Resilience4jWindow::Count(size),
            "TIME_BASED" => Resilience4jWindow::Seconds {
                count: size,
                aligned: Aligned::Epoch,
            },
            other => params.unknown(other),
        },
        minimum_calls: params.u32("minimum_number_of_calls"),
        failure_rate: params.f64("failure_rate_threshold_pct") as f32,
        slow_rate: params.f64("slow_call_rate_threshold_pct") as f32,
        slow_after: params.span("slow_call_duration_threshold_ns"),
        wait_in_open: backoff::Resilience4j {
            initial: wait,
            ..backoff::Resilience4j::default()
        },
        permitted_in_half_open: params.u32("permitted_calls_in_half_open"),
        automatic_transition: params
            .optional("automatic_transition", Fields::bool)
            .unwrap_or(default.automatic_transition),
        max_wait_in_half_open: params
            .optional("max_wait_duration_in_half_open_state_ns", Fields::span)
            .unwrap_or(default.max_wait_in_half_open),
        closes_after_half_open_wait: false,
    };
    accepted(BreakerRule::Resilience4j(Box::new(spec.clone())));
    Box::new(Resilience4jCircuit::new(&spec, Time::ZERO))
}

impl Machine for Resilience4jCircuit {
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value {
        let mut permitted = None;
        match op {
            "acquire" => permitted = Some(self.acquire(now)),
            "success" => self.success(now, input.span("duration_ns")),
            "failure" => self.failure(now, input.span("duration_ns")),
            "release" => self.release(now),
            _ => input.unknown(op),
        }
        json!({
            "permitted": permitted,
            "state": word(SHOUTED, self.state(now)),
            "buffered_calls": self.buffered_calls(now),
            "failure_rate_pct": self.failure_rate(now).unwrap_or(-1.0),
            "slow_call_rate_pct": self.slow_rate(now).unwrap_or(-1.0),
            "not_permitted_calls": self.not_permitted_calls(),
        })
    }
}

/// The breaker, and for each call by name the ticket it was admitted with.
struct GoCalls(GoCircuit, BTreeMap<String, GoTicket>);

pub(crate) fn gobreaker(params: &Fields<'_>) -> Box<dyn Machine> {
    let span = |key| params.optional(key, Fields::span).unwrap_or(Span::ZERO);
    let trip = params.object("ready_to_trip");
    let spec = GoBreaker {
        max_requests: params.u32("max_requests"),
        interval: span("interval_ns"),
        bucket_period: span("bucket_period_ns"),
        timeout: params.span("timeout_ns"),
        trip: match trip.str("kind") {
            "consecutive_failures_gt" => GoTrip::ConsecutiveFailuresAbove(trip.u32("value")),
            "failure_ratio_gte" => GoTrip::FailureRatio {
                min_requests: trip.optional("min_requests", Fields::u32).unwrap_or(1),
                at_least: trip.f64("value"),
            },
            other => params.unknown(other),
        },
    };
    trip.finish();
    accepted(BreakerRule::GoBreaker(spec));
    let circuit = GoCircuit::new(&spec, Time::ZERO);
    Box::new(GoCalls(circuit, BTreeMap::new()))
}

impl Machine for GoCalls {
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value {
        let GoCalls(circuit, tickets) = self;
        let call = input.str("call");
        let mut acquired = None;
        match op {
            "acquire" => {
                let got = circuit.acquire(now);
                if let Ok(ticket) = got {
                    tickets.insert(call.to_owned(), ticket);
                }
                acquired = Some(got);
            }
            "success" => circuit.success(now, tickets[call]),
            "failure" => circuit.failure(now, tickets[call]),
            "release" => circuit.release(now, tickets[call]),
            _ => input.unknown(op),
        }
        let error = acquired.and_then(Result::err).map(|refusal| match refusal {
            GoRefusal::Open => "circuit breaker is open",
            GoRefusal::TooManyRequests => "too many requests",
        });
        let counts = circuit.counts();
        json!({
            "permitted": acquired.map(|got| got.is_ok()),
            "error": error,
            "state": word(["closed", "half-open", "open"], circuit.state(now)),
            "requests": counts.requests,
            "total_successes": counts.total_successes,
            "total_failures": counts.total_failures,
            "consecutive_successes": counts.consecutive_successes,
            "consecutive_failures": counts.consecutive_failures,
        })
    }
}

pub(crate) fn polly_v8(params: &Fields<'_>) -> Box<dyn Machine> {
    let spec = Polly {
        failure_ratio: params.f64("failure_ratio"),
        minimum_throughput: params.u32("minimum_throughput"),
        sampling: params.span("sampling_duration_ns"),
        break_for: params.span("break_duration_ns"),
    };
    accepted(BreakerRule::Polly(spec));
    Box::new(PollyCircuit::new(&spec, Time::ZERO))
}

impl Machine for PollyCircuit {
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value {
        let mut permitted = None;
        match op {
            "acquire" => permitted = Some(self.acquire(now)),
            // What is not handled counts as success.
            "success" | "release" => self.success(now),
            "handled_failure" => self.failure(now),
            _ => input.unknown(op),
        }
        let state = word(["Closed", "HalfOpen", "Open"], self.state());
        json!({ "permitted": permitted, "state": state })
    }
}

pub(crate) fn hystrix(params: &Fields<'_>) -> Box<dyn Machine> {
    let spec = Hystrix {
        request_volume_threshold: params.u32("request_volume_threshold"),
        error_threshold_percentage: params.u32("error_threshold_percentage"),
        sleep_window: params.span("sleep_window_ns"),
        rolling_window: params.span("rolling_window_ns"),
        snapshot_interval: params.span("health_snapshot_interval_ns"),
    };
    accepted(BreakerRule::Hystrix(spec));
    Box::new(HystrixCircuit::new(&spec, Time::ZERO))
}

impl Machine for HystrixCircuit {
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value {
        let mut permitted = None;
        match op {
            "attempt" | "acquire" => permitted = Some(self.acquire(now)),
            "success" => self.success(now),
            "failure" => self.failure(now),
            "release" => self.cancelled(now),
            _ => input.unknown(op),
        }
        json!({ "permitted": permitted, "state": word(SHOUTED, self.state(now)) })
    }
}

pub(crate) fn sentinel(params: &Fields<'_>) -> Box<dyn Machine> {
    let max_allowed_rt = params.optional("max_allowed_rt_ms", Fields::millis);
    let spec = Sentinel {
        grade: match params.str("grade") {
            "error_ratio" => SentinelGrade::ErrorRatio,
            "error_count" => SentinelGrade::ErrorCount,
            "slow_ratio" => SentinelGrade::SlowRatio(max_allowed_rt.unwrap()),
            other => params.unknown(other),
        },
        threshold: params.f64("threshold"),
        min_request_amount: params.u32("min_request_amount"),
        stat_interval: params.millis("stat_interval_ms"),
        recovery: params.millis("recovery_timeout_ms"),
    };
    accepted(BreakerRule::Sentinel(spec));
    Box::new(SentinelCircuit::new(&spec, Time::ZERO))
}

impl Machine for SentinelCircuit {
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value {
        let took = input
            .optional("rt_ms", Fields::millis)
            .unwrap_or(Span::ZERO);
        let mut permitted = None;
        match op {
            "acquire" => permitted = Some(self.acquire(now)),
            "success" | "complete" => self.complete(now, false, took),
            "error" => self.complete(now, true, took),
            "release" => self.release(),
            _ => input.unknown(op),
        }
        json!({ "permitted": permitted, "state": word(SHOUTED, self.state()) })
    }
}

pub(crate) fn linkerd(params: &Fields<'_>) -> Box<dyn Machine> {
    let spec = Linkerd {
        max_failures: params.u32("max_failures"),
        min_penalty: params.span("min_backoff_ns"),
        max_penalty: params.span("max_backoff_ns"),
        jitter: params.f64("jitter"),
    };
    accepted(BreakerRule::Linkerd(spec));
    Box::new(LinkerdCircuit::new(&spec))
}

impl Machine for LinkerdCircuit {
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value {
        if let Some(u) = input.optional("u", Fields::f64) {
            self.set_draw(u);
        }
        let mut permitted = None;
        match op {
            "acquire" => permitted = Some(self.acquire(now)),
            "success" => self.success(now),
            "failure" => self.failure(now),
            "release" => self.release(now),
            _ => input.unknown(op),
        }
        // Linkerd says open where traffic flows.
        let state = word(["open", "probation", "shut"], self.state(now));
        json!({ "permitted": permitted, "state": state })
    }
}
