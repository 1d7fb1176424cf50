//! The waits before retries.

use seawall::backoff::{
    AwsJitter, AwsJitterKind, AwsMode, AwsSdk, AwsService, Envoy, EnvoyRateLimited, Finagle,
    FinagleKind, GoogleApiCore, Grpc, GrpcConnection, GrpcJitter, GrpcVariant, Polly, PollyKind,
    Progress, ResetFormat, Resilience4j, parse_x_amz_retry_after,
};
use seawall::{Backoff, Retry, Span, Spec, Time};
use serde_json::{Value, json};

use crate::harness::{Fields, Machine};

/// A backoff driven by unit draws: how one wait follows from the progress and the input.
struct Waits<F>(Progress, F);

impl<F: FnMut(&mut Progress, &str, &Fields<'_>) -> Value> Machine for Waits<F> {
    fn step(&mut self, _now: Time, op: &str, input: &Fields<'_>) -> Value {
        let seen = self.1(&mut self.0, op, input);
        self.0.retries += 1;
        seen
    }
}

fn waits<F>(next: F) -> Box<dyn Machine>
where
    F: FnMut(&mut Progress, &str, &Fields<'_>) -> Value + 'static,
{
    Box::new(Waits(Progress::default(), next))
}

/// The parameters pass the check of a policy.
fn accepted(backoff: Backoff) {
    let retry = Retry {
        backoff,
        ..Retry::default()
    };
    let spec = Spec {
        retry,
        ..Spec::default()
    };
    spec.check().unwrap();
}

fn only_next_delay(op: &str, input: &Fields<'_>) {
    if op != "next_delay" {
        input.unknown(op);
    }
}

/// An attempt number that counts from `first`, as retries from 0.
fn retries(input: &Fields<'_>, key: &str, first: u32) -> u32 {
    input.u32(key) - first
}

pub(crate) fn aws_jitter(params: &Fields<'_>) -> Box<dyn Machine> {
    let jitter = AwsJitter {
        kind: match params.str("jitter") {
            "none_exponential" => AwsJitterKind::None,
            "full" => AwsJitterKind::Full,
            "equal" => AwsJitterKind::Equal,
            "decorrelated" => AwsJitterKind::Decorrelated,
            other => params.unknown(other),
        },
        base: params.span("base_ns"),
        cap: params.span("cap_ns"),
        first_exponent: 1,
    };
    accepted(Backoff::AwsJitter(jitter));
    waits(move |progress, op, input| {
        only_next_delay(op, input);
        progress.retries = retries(input, "attempt", 1);
        json!({ "delay_ns": jitter.delay(progress, input.draw()).0 })
    })
}

pub(crate) fn aws_sdk(params: &Fields<'_>) -> Box<dyn Machine> {
    let mode = match params.str("mode") {
        "legacy" => AwsMode::Legacy,
        // Both labels: botocore 1.44.8, which was run for both, has the switch to 2.1 always on, and
        // the values are those of 2.1. What 2.0 does is tested where it is.
        "standard_2.0" | "standard_2.1" => AwsMode::Standard21,
        other => params.unknown(other),
    };
    let sdk = AwsSdk {
        service: match params.optional("service", Fields::str) {
            Some("dynamodb") => AwsService::DynamoDb,
            Some("dynamodb-streams") if mode != AwsMode::Legacy => AwsService::DynamoDb,
            // No other service has delays of its own.
            None | Some(_) => AwsService::Other,
        },
        ..AwsSdk::new(mode)
    };
    waits(move |progress, op, input| {
        only_next_delay(op, input);
        progress.retries = retries(input, "failed_attempt", 1);
        let throttled = input.optional("throttling_error", Fields::bool);
        let header = input.get("x_amz_retry_after_ms");
        let text = header.and_then(|value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        let asked = text.as_deref().and_then(parse_x_amz_retry_after);
        let delay = sdk.delay(progress, input.f64("u"), throttled.unwrap_or(false), asked);
        json!({ "delay_ns": delay.0 })
    })
}

pub(crate) fn envoy(params: &Fields<'_>) -> Box<dyn Machine> {
    let max = params.millis("max_interval_ms");
    match params.str("kind") {
        "exponential" => {
            let envoy = Envoy {
                base: params.millis("base_interval_ms"),
                max,
                rate_limited: None,
            };
            accepted(Backoff::Envoy(envoy));
            waits(move |progress, op, input| {
                if op == "reset" {
                    *progress = Progress::default();
                    return json!({});
                }
                only_next_delay(op, input);
                let before = *progress;
                let sample = |r| envoy.delay(&mut before.clone(), r).0;
                let samples: Vec<u64> = (0..2000).map(sample).collect();
                let delay = envoy.delay(progress, input.u64("random_u64"));
                json!({ "delay_ns": delay.0, "range_ns": samples })
            })
        }
        "rate_limited" => {
            let limited = EnvoyRateLimited { max_interval: max };
            waits(move |_, op, input| {
                if op != "rate_limited_delay" {
                    input.unknown(op);
                }
                input.str("header");
                let format = match input.str("format") {
                    "SECONDS" => ResetFormat::Seconds,
                    "UNIX_TIMESTAMP" => ResetFormat::UnixTimestamp,
                    other => input.unknown(other),
                };
                let now = Span::secs(input.u64("now_unix_s"));
                let random = input.u64("random_u64");
                let interval = limited.interval(format, input.str("value"), now);
                match interval.and_then(|interval| limited.delay(interval, random)) {
                    None => json!({ "strategy": "exponential" }),
                    Some(delay) => {
                        let sample = |r| limited.delay(interval.unwrap(), r).unwrap().0;
                        let samples: Vec<u64> = (0..2000).map(sample).collect();
                        json!({ "strategy": "rate_limited", "delay_ns": delay.0, "range_ns": samples })
                    }
                }
            })
        }
        other => params.unknown(other),
    }
}

pub(crate) fn finagle(params: &Fields<'_>) -> Box<dyn Machine> {
    let finagle = Finagle {
        kind: match params.str("kind") {
            "constant" => FinagleKind::Constant,
            "exponential" => FinagleKind::Exponential {
                multiplier: params.u32("multiplier"),
            },
            "linear" => FinagleKind::Linear {
                offset: params.span("offset_ns"),
            },
            "decorrelatedJittered" => FinagleKind::DecorrelatedJittered,
            "equalJittered" => FinagleKind::EqualJittered,
            "exponentialJittered" => FinagleKind::ExponentialJittered,
            other => params.unknown(other),
        },
        start: params.span("start_ns"),
        maximum: params
            .optional("maximum_ns", Fields::span)
            .unwrap_or(Span::MAX),
    };
    accepted(Backoff::Finagle(finagle));
    waits(move |progress, op, input| {
        only_next_delay(op, input);
        json!({ "delay_ns": finagle.delay(progress, input.draw()).0 })
    })
}

pub(crate) fn google_api_core(params: &Fields<'_>) -> Box<dyn Machine> {
    let google = GoogleApiCore {
        initial: params.span("initial_ns"),
        maximum: params.span("maximum_ns"),
        multiplier: params.f64("multiplier"),
    };
    accepted(Backoff::GoogleApiCore(google));
    if let Some(timeout) = params.optional("timeout_ns", Fields::span) {
        assert!(params.bool("all_calls_fail"));
        let draws = params.list("u_draws").iter().map(|u| u.as_f64().unwrap());
        let (attempts, gave_up) =
            play_google(&google, timeout, params.span("each_call_takes_ns"), draws);
        return Box::new(Played {
            attempts,
            gave_up,
            next: 0,
        });
    }
    waits(move |progress, op, input| {
        only_next_delay(op, input);
        let before = *progress;
        let samples = [0.0, 0.5, 1.0 - f64::EPSILON];
        let samples = samples.map(|u| google.delay(&mut before.clone(), u).0);
        let delay = google.delay(progress, input.f64("u"));
        json!({ "delay_ns": delay.0, "range_ns": samples })
    })
}

/// When each attempt starts, and when no further one is made, if every attempt fails.
fn play_google(
    google: &GoogleApiCore,
    timeout: Span,
    each_takes: Span,
    draws: impl Iterator<Item = f64>,
) -> (Vec<Time>, Time) {
    let mut progress = Progress::default();
    let (mut now, mut attempts) = (Time::ZERO, Vec::new());
    for u in draws {
        attempts.push(now);
        now = now.after(each_takes);
        let delay = google.delay(&mut progress, u);
        if GoogleApiCore::gives_up(now, delay, Time::ZERO.after(timeout)) {
            return (attempts, now);
        }
        now = now.after(delay);
    }
    panic!("the draws ran out before the call gave up");
}

struct Played {
    attempts: Vec<Time>,
    gave_up: Time,
    next: usize,
}

impl Machine for Played {
    fn step(&mut self, _now: Time, op: &str, input: &Fields<'_>) -> Value {
        self.next += 1;
        match op {
            "attempt" => json!({ "start_ns": self.attempts.get(self.next - 1).map(|t| t.0) }),
            "give_up" => json!({
                "at_ns": self.gave_up.0,
                "attempts": self.attempts.len(),
                "reason": "deadline_would_pass",
            }),
            _ => input.unknown(op),
        }
    }
}

pub(crate) fn grpc(params: &Fields<'_>) -> Box<dyn Machine> {
    let variant = match params.str("variant") {
        "grpc-go" => GrpcVariant::Go,
        "grpc-java" => GrpcVariant::Java,
        other => params.unknown(other),
    };
    match params.str("kind") {
        "connection" => {
            let connection = GrpcConnection {
                base: params.span("base_delay_ns"),
                multiplier: params.f64("multiplier"),
                jitter: params.f64("jitter"),
                max: params.span("max_delay_ns"),
                variant,
            };
            waits(move |_, op, input| {
                if op != "connection_delay" {
                    input.unknown(op);
                }
                let delay = connection.delay(input.u32("consecutive_failures"), input.f64("u"));
                json!({ "delay_ns": delay.0 })
            })
        }
        "retryPolicy" => {
            let grpc = Grpc {
                initial: params.span("initial_backoff_ns"),
                max: params.span("max_backoff_ns"),
                multiplier: params.f64("backoff_multiplier"),
                jitter: GrpcJitter::PlusMinusFifth,
                variant,
            };
            accepted(Backoff::Grpc(grpc));
            waits(move |progress, op, input| {
                if op != "retry_delay" {
                    input.unknown(op);
                }
                let pushback = input.optional("pushback_ms", Fields::millis);
                json!({ "delay_ns": grpc.delay(progress, input.draw(), pushback).0 })
            })
        }
        other => params.unknown(other),
    }
}

pub(crate) fn polly_v8(params: &Fields<'_>) -> Box<dyn Machine> {
    let polly = Polly {
        kind: match params.str("backoff_type") {
            "Constant" => PollyKind::Constant,
            "Linear" => PollyKind::Linear,
            "Exponential" => PollyKind::Exponential,
            other => params.unknown(other),
        },
        jitter: params.bool("use_jitter"),
        delay: params.span("delay_ns"),
        max_delay: params.optional("max_delay_ns", Fields::span),
    };
    waits(move |progress, op, input| {
        only_next_delay(op, input);
        progress.retries = retries(input, "attempt", 0);
        json!({ "delay_ns": polly.delay(progress, input.draw(), None).0 })
    })
}

pub(crate) fn resilience4j(params: &Fields<'_>) -> Box<dyn Machine> {
    let kind = params.str("kind");
    let multiplier = params.optional("multiplier", Fields::f64);
    let randomization = params.optional("randomization_factor", Fields::f64);
    let (exponential, randomized) = match kind {
        "fixed" => (false, false),
        "exponential" => (true, false),
        "randomized" => (false, true),
        "exponential_randomized" => (true, true),
        other => params.unknown(other),
    };
    assert_eq!(exponential, multiplier.is_some(), "{kind}");
    assert_eq!(randomized, randomization.is_some(), "{kind}");
    let resilience4j = Resilience4j {
        initial: params.millis("initial_interval_ms"),
        multiplier,
        randomization,
        max: params.optional("max_interval_ms", Fields::millis),
    };
    accepted(Backoff::Resilience4j(resilience4j));
    waits(move |progress, op, input| {
        only_next_delay(op, input);
        progress.retries = retries(input, "attempt", 1);
        let delay = resilience4j.delay(progress, input.draw());
        let samples: Vec<u64> = (0..=4096)
            .map(|i| resilience4j.delay(progress, f64::from(i) / 4096.0).0)
            .collect();
        json!({ "delay_ns": delay.0, "range_inclusive_ns": samples })
    })
}
