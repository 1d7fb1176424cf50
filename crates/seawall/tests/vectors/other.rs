//! Waits that servers ask for, copies, route timeouts and hosts that stand out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use seawall::hedge::{CopyEnd, Hedge, HedgeOutcome, HedgeVariant, HedgedCall};
use seawall::outlier::{FailurePercentage, Outlier, OutlierDetector, SuccessRate};
use seawall::route_timeout::{EnvoyRoute, RetryOn, RouteEnd, RouteStep, RoutedRequest};
use seawall::{
    Action, CallKey, Client, Failure, FailureKind, FailureSet, Operation, Pushback, PushbackParser,
    Reply, Request, Span, Spec, Time, parse_pushback, parse_retry_after,
};
use serde_json::{Value, json};

use crate::harness::{Always, Fields, Machine};

/// A policy that is one function of each step.
struct Function<F>(F);

impl<F: Fn(&str, &Fields<'_>) -> Value> Machine for Function<F> {
    fn step(&mut self, _now: Time, op: &str, input: &Fields<'_>) -> Value {
        self.0(op, input)
    }
}

pub(crate) fn http(_params: &Fields<'_>) -> Box<dyn Machine> {
    Box::new(Function(|op: &str, input: &Fields<'_>| {
        if op != "parse_retry_after" {
            input.unknown(op);
        }
        match parse_retry_after(input.str("value"), input.u64("now_unix_s") as i64) {
            Some(delay) => json!({ "delay_ns": delay.0 }),
            None => json!({ "invalid": true }),
        }
    }))
}

pub(crate) fn grpc_pushback(params: &Fields<'_>) -> Box<dyn Machine> {
    let parser = match params.str("variant") {
        "spec" | "grpc-java" => PushbackParser::Bits32,
        "grpc-go" => PushbackParser::Bits64,
        other => params.unknown(other),
    };
    Box::new(Function(move |op: &str, input: &Fields<'_>| {
        if op != "parse_pushback" {
            input.unknown(op);
        }
        let values: Vec<&str> = match input.get("value") {
            Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
            _ => vec![input.str("value")],
        };
        match parse_pushback(values, parser).unwrap() {
            Pushback::After(wait) => json!({ "retry_delay_ns": wait.0 }),
            Pushback::DoNotRetry => json!({ "do_not_retry": true }),
        }
    }))
}

struct HedgeAnswer {
    after: Span,
    status: String,
    end: CopyEnd,
}

pub(crate) fn hedging(params: &Fields<'_>) -> Box<dyn Machine> {
    let spec = Hedge {
        max_attempts: params.u32("max_attempts"),
        delay: params.span("hedging_delay_ns"),
        on: FailureSet::of(&[FailureKind::Unavailable]),
        variant: HedgeVariant::Proposal,
    };
    let non_fatal = params.list("non_fatal_status_codes");
    let answers = params.objects("answers").into_iter().map(|answer| {
        let status = answer.str("status");
        let pushback = answer.optional("pushback_ms", |fields, key| {
            let value = fields.need(key, Value::as_i64).to_string();
            parse_pushback([value.as_str()], PushbackParser::Bits32).unwrap()
        });
        let answer_is = HedgeAnswer {
            after: answer.span("after_ns"),
            status: status.to_owned(),
            end: match status {
                "OK" => CopyEnd::Ok,
                _ if non_fatal.iter().any(|code| code == status) => CopyEnd::NonFatal(pushback),
                _ => CopyEnd::Fatal,
            },
        };
        answer.finish();
        answer_is
    });
    let answers = answers.collect::<Vec<_>>();
    let seen = play_hedge(&spec, &answers);
    assert_eq!(
        play_client(&spec, &answers),
        seen,
        "a client does what the rule alone does"
    );
    Box::new(Function(move |op: &str, input: &Fields<'_>| {
        if op != "call" {
            input.unknown(op);
        }
        seen.clone()
    }))
}

/// Copy `i` gets answer `i`, and the last answer from then on.
fn play_hedge(spec: &Hedge, answers: &[HedgeAnswer]) -> Value {
    let mut call = HedgedCall::new(spec, Time::ZERO);
    let (mut now, mut starts, mut due) = (Time::ZERO, Vec::new(), BinaryHeap::new());
    loop {
        while let Some(copy) = call.poll(now, false) {
            let answer = (copy as usize).min(answers.len()) - 1;
            starts.push(now.0);
            due.push(Reverse((now.after(answers[answer].after), copy, answer)));
        }
        let answered = due.peek().map(|Reverse((at, ..))| *at);
        // An answer that comes when the next copy is due comes first.
        if call
            .timer()
            .is_some_and(|next| answered.is_none_or(|at| next < at))
        {
            now = call.timer().unwrap();
            continue;
        }
        let Reverse((at, _, answer)) = due.pop().expect("an answer or a copy");
        now = at;
        if let HedgeOutcome::Commit { cancelled } = call.ended(now, answers[answer].end) {
            return json!({
                "copy_starts_ns": starts,
                "finished_at_ns": now.0,
                "status": answers[answer].status,
                "cancelled_copies": cancelled,
            });
        }
    }
}

/// The same by a client whose policy hedges: what it sends are real attempts.
fn play_client(hedge: &Hedge, answers: &[HedgeAnswer]) -> Value {
    let spec = Spec {
        hedge: Some(*hedge),
        ..Spec::default()
    };
    let mut client = Client::new(spec.check().expect("sound"), Time::ZERO);
    let request = Request {
        key: CallKey(0),
        deadline: None,
        operation: Operation::default(),
    };
    let mut call = client.begin(Time::ZERO, request);
    let (mut now, mut starts, mut due) = (Time::ZERO, Vec::new(), BinaryHeap::new());
    let (mut last, mut cancelled) = (0, 0);
    loop {
        while let Some(action) = client.poll(&mut call, now, &mut Always(0)) {
            match action {
                Action::Send { attempt, .. } => {
                    let answer = (attempt as usize).min(answers.len()) - 1;
                    starts.push(now.0);
                    due.push(Reverse((now.after(answers[answer].after), attempt, answer)));
                }
                Action::Abandon(_) => cancelled += 1,
                Action::Finish(verdict) => {
                    assert_eq!(verdict.is_ok(), matches!(answers[last].end, CopyEnd::Ok));
                    assert_eq!(verdict.attempts as usize, starts.len());
                    return json!({
                        "copy_starts_ns": starts,
                        "finished_at_ns": now.0,
                        "status": answers[last].status,
                        "cancelled_copies": cancelled,
                    });
                }
                Action::Choose(_) => unreachable!("hosts are not told apart"),
            }
        }
        let answered = due.peek().map(|Reverse((at, ..))| *at);
        if let Some(timer) = call.timer()
            && answered.is_none_or(|at| timer < at)
        {
            now = timer;
            client.on_timer(&mut call, now);
            continue;
        }
        let Reverse((at, attempt, answer)) = due.pop().expect("an answer or a copy");
        (now, last) = (at, answer);
        let failed = |kind: FailureKind, retry_after| {
            Reply::Failed(Failure {
                retry_after,
                ..kind.into()
            })
        };
        let reply = match answers[answer].end {
            CopyEnd::Ok => Reply::Ok,
            CopyEnd::Fatal => failed(FailureKind::Invalid, None),
            CopyEnd::NonFatal(pushback) => failed(
                FailureKind::Unavailable,
                pushback.map(|pushback| match pushback {
                    Pushback::After(wait) => wait,
                    Pushback::DoNotRetry => Span::MAX,
                }),
            ),
        };
        client.on_reply(&mut call, now, attempt, reply);
    }
}

pub(crate) fn envoy_route(params: &Fields<'_>) -> Box<dyn Machine> {
    let retry_on = params.optional("retry_on", Fields::str).unwrap_or("");
    let spec = EnvoyRoute {
        timeout: params.span("route_timeout_ns"),
        per_try_timeout: params.optional("per_try_timeout_ns", Fields::span),
        num_retries: params.u32("num_retries"),
        retry_on: RetryOn::parse(retry_on).unwrap_or_else(|word| params.unknown(word)),
    };
    let tries = params.objects("tries").into_iter().map(|one| {
        let of_try = (one.span("duration_ns"), one.u32("code") as u16);
        one.finish();
        of_try
    });
    let tries: Vec<_> = tries.collect();
    let backoffs = params.list("backoff_delays_ns").iter();
    let backoffs: Vec<_> = backoffs
        .map(|delay| Span(delay.as_u64().unwrap()))
        .collect();
    Box::new(Function(move |op: &str, input: &Fields<'_>| {
        if op != "request" {
            input.unknown(op);
        }
        play_route(&spec, &tries, &backoffs)
    }))
}

/// Try `i` goes as the `i`-th, and as the last one from then on; so do the waits.
fn play_route(spec: &EnvoyRoute, tries: &[(Span, u16)], backoffs: &[Span]) -> Value {
    let mut request = RoutedRequest::new(spec, Time::ZERO);
    let mut starts = vec![Time::ZERO];
    let mut answer: Option<(Time, u16)> = Some((Time::ZERO.after(tries[0].0), tries[0].1));
    loop {
        let last = backoffs.last().copied().unwrap_or(Span::ZERO);
        let backoff = backoffs.get(starts.len() - 1).copied().unwrap_or(last);
        let (now, step) = match (answer, request.timer()) {
            (Some((at, status)), timer) if timer.is_none_or(|timer| at < timer) => {
                answer = None;
                (at, request.on_response(at, status, backoff))
            }
            (_, timer) => {
                let at = timer.expect("a timer or an answer");
                answer = None;
                (at, request.on_timer(at, backoff))
            }
        };
        match step {
            RouteStep::Wait => {}
            RouteStep::Try => {
                let (takes, status) = tries[starts.len().min(tries.len() - 1)];
                starts.push(now);
                answer = Some((now.after(takes), status));
            }
            RouteStep::Respond { status, cause } => {
                return json!({
                    "try_starts_ns": starts.iter().map(|at| at.0).collect::<Vec<_>>(),
                    "finished_at_ns": now.0,
                    "status": status,
                    "cause": match cause {
                        RouteEnd::Response => "response",
                        RouteEnd::PerTryTimeout => "per_try_timeout",
                        RouteEnd::RouteTimeout => "route_timeout",
                    },
                });
            }
        }
    }
}

struct Hosts(OutlierDetector, usize);

pub(crate) fn outlier(params: &Fields<'_>) -> Box<dyn Machine> {
    let default = Outlier::default();
    let optional = |key, default| params.optional(key, Fields::u32).unwrap_or(default);
    let spec = Outlier {
        interval: params.span("interval_ns"),
        base_ejection_time: params.span("base_ejection_time_ns"),
        max_ejection_time: params.span("max_ejection_time_ns"),
        max_ejection_time_jitter: params
            .optional("max_ejection_time_jitter_ns", Fields::span)
            .unwrap_or(default.max_ejection_time_jitter),
        max_ejection_percent: params.u32("max_ejection_percent"),
        always_eject_one_host: params.bool("always_eject_one_host"),
        consecutive_5xx: params.u32("consecutive_5xx"),
        enforcing_consecutive_5xx: params.u32("enforcing_consecutive_5xx"),
        consecutive_gateway_failure: params.u32("consecutive_gateway_failure"),
        enforcing_consecutive_gateway_failure: params.u32("enforcing_consecutive_gateway_failure"),
        success_rate: SuccessRate {
            minimum_hosts: params.u32("success_rate_minimum_hosts"),
            request_volume: params.u64("success_rate_request_volume"),
            stdev_factor: params.u32("success_rate_stdev_factor"),
            enforcing: params.u32("enforcing_success_rate"),
            ..default.success_rate
        },
        failure_percentage: FailurePercentage {
            minimum_hosts: params.u32("failure_percentage_minimum_hosts"),
            request_volume: params.u64("failure_percentage_request_volume"),
            threshold: params.u32("failure_percentage_threshold"),
            enforcing: params.u32("enforcing_failure_percentage"),
            ..default.failure_percentage
        },
        consecutive_local_origin_failure: optional(
            "consecutive_local_origin_failure",
            default.consecutive_local_origin_failure,
        ),
        ..default
    };
    spec.check().unwrap();
    let hosts = params.u32("hosts") as usize;
    Box::new(Hosts(OutlierDetector::new(&spec, hosts), hosts))
}

impl Machine for Hosts {
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value {
        let Hosts(detector, hosts) = self;
        let mut draw = Always(0);
        match op {
            "responses" => {
                let (host, code) = (input.u32("host") as usize, input.u32("code") as u16);
                for _ in 0..input.u32("count") {
                    detector.response(host, code, now, &mut draw);
                }
            }
            "sweep" => detector.sweep(now, &mut draw),
            _ => input.unknown(op),
        }
        let hosts = 0..*hosts;
        let ejected = hosts.clone().filter(|&host| detector.is_ejected(host));
        let multipliers = hosts.map(|host| detector.multiplier(host));
        json!({
            "ejected_hosts": ejected.collect::<Vec<_>>(),
            "ejection_multipliers": multipliers.collect::<Vec<_>>(),
            "overflows": detector.overflows(),
            "success_rate_threshold": detector.success_rate_threshold(),
        })
    }
}
