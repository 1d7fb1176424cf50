//! The policy vectors of this folder, run through the public API. README.md describes the format.
//!
//! Another folder of files of the same form can be tried with `SEAWALL_VECTORS=FOLDER`.

mod backoff;
mod breaker;
mod budget;
mod harness;

macro_rules! policies {
    ($($test:ident $policy:literal $build:path;)*) => {
        $(#[test]
        fn $test() {
            harness::run($policy, $build);
        })*

        /// The policies that have a test above.
        const POLICIES: &[&str] = &[$($policy,)*];
    };
}

policies! {
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
    throttle_aws_quota "throttle.aws_quota" budget::aws_quota;
    throttle_grpc_a6 "throttle.grpc_a6" budget::grpc_a6;
    throttle_sre_adaptive "throttle.sre_adaptive" budget::sre_adaptive;
}

#[test]
fn every_file_has_a_test() {
    let mut found = harness::policies();
    found.retain(|policy| !POLICIES.contains(&policy.as_str()));
    assert!(found.is_empty(), "no test for {found:?}");
}
