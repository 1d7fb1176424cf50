//! What bounds retries over all calls.

use std::collections::BTreeMap;

use seawall::backoff::GrpcVariant;
use seawall::budget::{
    AwsCosts, AwsError, AwsQuota, AwsQuotaAccount, Envoy, EnvoyAccount, EnvoyRetryBudget, Finagle,
    FinagleAccount, GrpcThrottle, GrpcThrottling, SreAdaptive, SreHistory, SreThrottle, TowerTps,
    TowerTpsAccount,
};
use seawall::{Budget, BudgetEvent, Spec, Time};
use serde_json::{Value, json};

use crate::harness::{Fields, Machine};

/// The parameters pass the check of a policy.
fn accepted(budget: Budget) {
    let spec = Spec {
        budget,
        ..Spec::default()
    };
    spec.check().unwrap();
}

pub(crate) fn finagle(params: &Fields<'_>) -> Box<dyn Machine> {
    let spec = Finagle {
        ttl: params.span("ttl_ns"),
        min_retries_per_sec: params.u32("min_retries_per_sec"),
        percent_can_retry: params.f64("percent_can_retry"),
        deposits: BudgetEvent::Calls,
    };
    accepted(Budget::Finagle(spec));
    let mut account = FinagleAccount::new(&spec, Time::ZERO);
    if let Some(initial) = params.optional("initial_balance_retries", Fields::u64) {
        assert_eq!(account.balance(Time::ZERO), initial as i64);
    }
    Box::new(account)
}

impl Machine for FinagleAccount {
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value {
        let mut allowed = None;
        match op {
            "deposit" => self.deposit(now),
            "withdraw" => allowed = Some(self.withdraw(now)),
            "balance" => {}
            _ => input.unknown(op),
        }
        json!({ "allowed": allowed, "balance_retries": self.balance(now) })
    }
}

pub(crate) fn tower_tps(params: &Fields<'_>) -> Box<dyn Machine> {
    let spec = TowerTps {
        ttl: params.span("ttl_ns"),
        min_per_sec: params.u32("min_per_sec"),
        retry_percent: params.f64("retry_percent") as f32,
        deposits: BudgetEvent::Calls,
    };
    accepted(Budget::TowerTps(spec));
    let (deposit, withdrawal) = spec.amounts();
    let account = TowerTpsAccount::new(&spec, Time::ZERO);
    for (key, is) in [
        ("deposit_amount", deposit),
        ("withdraw_amount", withdrawal),
        ("initial_balance_tokens", account.tokens()),
    ] {
        if let Some(should_be) = params.optional(key, Fields::u64) {
            assert_eq!(is, should_be as i64, "{key}");
        }
    }
    Box::new(account)
}

impl Machine for TowerTpsAccount {
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value {
        let mut allowed = None;
        match op {
            "deposit" => self.deposit(now),
            "withdraw" => allowed = Some(self.withdraw(now)),
            "balance" => {}
            _ => input.unknown(op),
        }
        json!({ "allowed": allowed, "balance_tokens": self.tokens() })
    }
}

/// The bound, and where each request by name is.
struct EnvoyRequests {
    spec: Envoy,
    account: EnvoyAccount,
    requests: BTreeMap<String, EnvoyRequest>,
}

#[derive(Default)]
struct EnvoyRequest {
    in_flight: bool,
    holds_slot: bool,
}

pub(crate) fn envoy(params: &Fields<'_>) -> Box<dyn Machine> {
    let percent = params.optional("budget_percent", Fields::f64);
    let min_retry_concurrency = params.optional("min_retry_concurrency", Fields::u32);
    let interval = params.optional("budget_interval_ns", Fields::span);
    let default = EnvoyRetryBudget::default();
    let budgeted = percent.is_some() || min_retry_concurrency.is_some();
    let spec = Envoy {
        max_retries: params
            .optional("max_retries", Fields::u32)
            .unwrap_or(Envoy::default().max_retries),
        retry_budget: budgeted.then(|| EnvoyRetryBudget {
            percent: percent.unwrap_or(default.percent),
            min_retry_concurrency: min_retry_concurrency.unwrap_or(default.min_retry_concurrency),
            interval,
        }),
    };
    accepted(Budget::Envoy(spec));
    Box::new(EnvoyRequests {
        spec,
        account: EnvoyAccount::new(&spec, Time::ZERO),
        requests: BTreeMap::new(),
    })
}

impl Machine for EnvoyRequests {
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value {
        if op == "can_retry" {
            let requests = input.u64("active_requests") + input.u64("pending_requests");
            let limit = self.spec.limit(requests);
            let allowed = input.u64("retries_outstanding") < limit;
            return json!({ "limit": limit, "allowed": allowed });
        }
        let name = input.str("request").to_owned();
        let request = self.requests.entry(name).or_default();
        let mut retry_allowed = None;
        match op {
            "start" | "retry_sent" => {
                self.account.sent(now);
                request.in_flight = true;
            }
            // A request may also end while it waits for its retry.
            "attempt_failed" | "request_done" => {
                if std::mem::take(&mut request.in_flight) {
                    self.account.left();
                }
                if std::mem::take(&mut request.holds_slot) {
                    self.account.release();
                }
                if op == "attempt_failed" {
                    request.holds_slot = self.account.withdraw(now, 0);
                    retry_allowed = Some(request.holds_slot);
                }
            }
            _ => input.unknown(op),
        }
        json!({
            "active": self.account.active(),
            "retries_outstanding": self.account.retries(),
            "limit": self.account.limit(now, 0),
            "retry_allowed": retry_allowed,
        })
    }
}

pub(crate) fn grpc_a6(params: &Fields<'_>) -> Box<dyn Machine> {
    let spec = GrpcThrottling {
        max_tokens: params.f64("max_tokens"),
        token_ratio: params.f64("token_ratio"),
        variant: match params.str("variant") {
            "grpc-go" => GrpcVariant::Go,
            "grpc-java" => GrpcVariant::Java,
            other => params.unknown(other),
        },
    };
    accepted(Budget::Grpc(spec));
    Box::new(GrpcThrottle::new(&spec))
}

impl Machine for GrpcThrottle {
    fn step(&mut self, _now: Time, op: &str, input: &Fields<'_>) -> Value {
        match op {
            "failure" => self.failure(),
            "success" => self.success(),
            _ => input.unknown(op),
        }
        json!({ "tokens": self.tokens(), "retry_throttled": !self.allows_retry() })
    }
}

/// The quota, and for each call by name what its last retry cost.
struct AwsCalls(AwsQuotaAccount, BTreeMap<String, u16>);

pub(crate) fn aws_quota(params: &Fields<'_>) -> Box<dyn Machine> {
    let costs = match params.str("mode") {
        // Both labels, as for the delays: see README.md.
        "standard_2.0" | "standard_2.1" => AwsCosts::V21,
        other => params.unknown(other),
    };
    let spec = AwsQuota {
        capacity: params.u32("capacity"),
        ..AwsQuota::new(costs)
    };
    accepted(Budget::AwsQuota(spec));
    let account = AwsQuotaAccount::new(&spec, Time::ZERO);
    Box::new(AwsCalls(account, BTreeMap::new()))
}

impl Machine for AwsCalls {
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value {
        let AwsCalls(account, last) = self;
        let call = input.str("call");
        let mut allowed = None;
        match op {
            "acquire_retry" => {
                let error = match input.str("error_kind") {
                    "throttling" => AwsError::Throttling,
                    "timeout" | "connect_timeout" | "read_timeout" => AwsError::Timeout,
                    "server_error" | "transient" => AwsError::Transient,
                    other => input.unknown(other),
                };
                let cost = account.acquire(now, error);
                if let Some(cost) = cost {
                    last.insert(call.to_owned(), cost);
                }
                allowed = Some(cost.is_some());
            }
            "final_response" => {
                let last = last.remove(call);
                if (200..300).contains(&input.u64("http_status")) {
                    account.succeeded(now, last);
                }
            }
            _ => input.unknown(op),
        }
        json!({ "allowed": allowed, "available": account.available() })
    }
}

struct SreRequests(SreAdaptive, SreThrottle);

pub(crate) fn sre_adaptive(params: &Fields<'_>) -> Box<dyn Machine> {
    let spec = SreAdaptive {
        k: params.f64("k"),
        window: params.span("window_ns"),
        history: SreHistory::Exact,
        ..SreAdaptive::default()
    };
    accepted(Budget::SreAdaptive(spec));
    Box::new(SreRequests(spec, SreThrottle::new(&spec, Time::ZERO)))
}

impl Machine for SreRequests {
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value {
        let SreRequests(spec, throttle) = self;
        if op != "request" {
            input.unknown(op);
        }
        let [requests, accepts] = throttle.counts(now);
        let admitted = throttle.admit(now, input.f64("u"));
        if input.bool("backend_would_accept") && admitted {
            throttle.accepted(now);
        }
        json!({
            "requests_before": requests,
            "accepts_before": accepts,
            "reject_probability": spec.reject_probability(requests, accepts),
            "rejected_locally": !admitted,
        })
    }
}
