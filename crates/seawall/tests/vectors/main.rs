//! The policy vectors of this folder, run through the public API. README.md describes the format.
//!
//! Another folder of files of the same form can be tried with `SEAWALL_VECTORS=FOLDER`.

// The vectors are in files; the wall is around the engine, not around its tests.
#![allow(clippy::disallowed_methods)]

mod backoff;
mod breaker;
mod budget;
mod harness;
mod limiter;
mod other;

macro_rules! policies {
    ($($test:ident $policy:literal $build:path;)*) => {
        /// Every policy that has a test, and what its test runs.
        const POLICIES: &[(&str, harness::Build)] = &[$(($policy, $build),)*];

        $(#[test]
        fn $test() {
            harness::run($policy, $build);
        })*
    };
}

policies! {
    adaptive_aws_cubic "adaptive.aws_cubic" limiter::aws_cubic;
    backoff_aws_jitter "backoff.aws_jitter" backoff::aws_jitter;
    backoff_aws_sdk "backoff.aws_sdk" backoff::aws_sdk;
    backoff_envoy "backoff.envoy" backoff::envoy;
    backoff_finagle "backoff.finagle" backoff::finagle;
    backoff_google_api_core "backoff.google_api_core" backoff::google_api_core;
    backoff_grpc "backoff.grpc" backoff::grpc;
    backoff_polly_v8 "backoff.polly_v8" backoff::polly_v8;
    backoff_resilience4j "backoff.resilience4j" backoff::resilience4j;
    breaker_gobreaker "breaker.gobreaker" breaker::gobreaker;
    breaker_hystrix "breaker.hystrix" breaker::hystrix;
    breaker_linkerd_consecutive "breaker.linkerd_consecutive" breaker::linkerd;
    breaker_polly_v8 "breaker.polly_v8" breaker::polly_v8;
    breaker_resilience4j "breaker.resilience4j" breaker::resilience4j;
    breaker_sentinel "breaker.sentinel" breaker::sentinel;
    budget_envoy "budget.envoy" budget::envoy;
    budget_finagle "budget.finagle" budget::finagle;
    budget_tower_tps "budget.tower_tps" budget::tower_tps;
    bulkhead_semaphore "bulkhead.semaphore" limiter::semaphore;
    bulkhead_threadpool "bulkhead.threadpool" limiter::threadpool;
    hedging_grpc_a6 "hedging.grpc_a6" other::hedging;
    limit_aimd "limit.aimd" limiter::aimd;
    limit_gradient2 "limit.gradient2" limiter::gradient2;
    limit_vegas "limit.vegas" limiter::vegas;
    outlier_envoy "outlier.envoy" other::outlier;
    ratelimit_gcra "ratelimit.gcra" limiter::gcra;
    ratelimit_resilience4j_atomic "ratelimit.resilience4j_atomic" limiter::resilience4j_atomic;
    retry_after_grpc_pushback "retry_after.grpc_pushback" other::grpc_pushback;
    retry_after_http "retry_after.http" other::http;
    shed_codel_folly "shed.codel_folly" limiter::codel;
    throttle_aws_quota "throttle.aws_quota" budget::aws_quota;
    throttle_grpc_a6 "throttle.grpc_a6" budget::grpc_a6;
    throttle_sre_adaptive "throttle.sre_adaptive" budget::sre_adaptive;
    timeout_envoy_route "timeout.envoy_route" other::envoy_route;
}

#[test]
fn every_file_has_a_test() {
    let mut found = harness::policies();
    found.retain(|policy| POLICIES.iter().all(|(known, _)| known != policy));
    assert!(found.is_empty(), "no test for {found:?}");
}

#[test]
fn nothing_is_left_out() {
    if harness::chosen().is_some() {
        return;
    }
    let counts = POLICIES
        .iter()
        .map(|(policy, build)| harness::run(policy, *build));
    let (sequences, steps) = counts.fold((0, 0), |sum, run| (sum.0 + run.0, sum.1 + run.1));
    assert!(POLICIES.len() >= 34 && sequences >= 184 && steps >= 1746);
}

#[test]
fn so_do_sequences_with_other_parameters() {
    let ran = POLICIES
        .iter()
        .filter_map(|(policy, build)| harness::run_in(&harness::more(), policy, *build));
    let (policies, sequences) = ran.fold((0, 0), |sum, run| (sum.0 + 1, sum.1 + run.0));
    assert!(
        policies >= 18 && sequences >= 80,
        "{policies} policies, {sequences} sequences"
    );
}
