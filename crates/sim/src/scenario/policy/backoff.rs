//! The wait before a retry: the generic kinds, and those that libraries in production compute.

use seawall::backoff::{
    AwsJitter, AwsJitterKind, AwsMode, AwsRetryAfter, AwsSdk, AwsService, Envoy, EnvoyRateLimited,
    Finagle, FinagleKind, GoogleApiCore, Grpc, GrpcJitter, GrpcVariant, Polly, PollyKind,
    Resilience4j,
};
use seawall::{Backoff, Jitter, Span};

use crate::scenario::written::{Bound, Opt, Share, Whole, members, mirror, words};

members! {
    /// The wait before a retry.
    Backoff as "Backoff" {
        /// At once.
        none [Backoff::None],
        /// The same each time, then jitter.
        fixed: Fixed [Backoff::Fixed { delay, jitter }] [Fixed { delay, jitter }],
        /// min(max, base × multiplier^n) before retry n = 0, 1, …, then jitter.
        exponential: Exponential
            [Backoff::Exponential { base, multiplier, max, jitter }]
            [Exponential { base, multiplier, max, jitter }],
        /// The AWS Architecture Blog's simulator.
        aws_jitter: AwsJitter [Backoff::AwsJitter(it)] [it],
        /// The AWS SDKs; a bare word is the retry mode.
        aws_sdk: AwsSdk [Backoff::AwsSdk(it)] [it],
        /// Envoy's router.
        envoy: Envoy [Backoff::Envoy(it)] [it],
        /// Finagle's Backoff.
        finagle: Finagle [Backoff::Finagle(it)] [it],
        /// google.api_core's Retry.
        google_api_core: GoogleApiCore [Backoff::GoogleApiCore(it)] [it],
        /// gRPC's retryPolicy.
        grpc: Grpc [Backoff::Grpc(it)] [it],
        /// Polly v8's RetryStrategyOptions.
        polly: Polly [Backoff::Polly(it)] [it],
        /// resilience4j's IntervalFunction; a bare length is its `initial`.
        resilience4j: Resilience4j [Backoff::Resilience4j(it)] [it],
    }
}

#[derive(Clone, Debug)]
struct Fixed {
    delay: Span,
    jitter: Jitter,
}

mirror! {
    /// The same wait each time. A bare length is its `delay`.
    Fixed as "FixedBackoff" [delay] {
        /// The wait that jitter works on.
        delay: Span,
        /// How it is spread.
        jitter: Jitter = "none",
    }
}

#[derive(Clone, Debug)]
struct Exponential {
    base: Span,
    multiplier: f64,
    max: Span,
    jitter: Jitter,
}

mirror! {
    /// A wait that grows.
    Exponential as "ExponentialBackoff" {
        /// The cap of the first retry.
        base: Span,
        /// Growth per retry, at least 1.
        multiplier: f64 = 2,
        /// The largest cap.
        max: Bound = "unlimited",
        /// How it is spread.
        jitter: Jitter = "none",
    }
}

mirror! {
    /// The four kinds of the AWS Architecture Blog's simulator, with e(n) = min(cap, base × 2^n).
    AwsJitter as "AwsJitterBackoff" {
        /// How the wait is spread.
        kind: AwsJitterKind = "full",
        /// The unit of growth, above 0s.
        base: Span = "5ms",
        /// The largest wait, at least `base`.
        cap: Span = "2s",
        /// The exponent of the first retry: 1 in the simulator, 0 in most libraries.
        first_exponent: Whole<0> = 1,
    }
}

words! {
    /// How a wait of the AWS blog's simulator is spread.
    AwsJitterKind, "AwsJitterKind" {
        "none" => AwsJitterKind::None, "Not at all: e(n).";
        "full" => AwsJitterKind::Full, "U(0, e(n)).";
        "equal" => AwsJitterKind::Equal, "e(n)/2 + U(0, e(n)/2).";
        "decorrelated" => AwsJitterKind::Decorrelated, "min(cap, U(base, 3 × the wait before)).";
    }
}

mirror! {
    /// The AWS SDKs, by retry mode. A bare word is the mode.
    AwsSdk as "AwsSdkBackoff" [mode] {
        /// The retry mode.
        mode: AwsMode,
        /// The service, where the delays depend on it.
        service: AwsService = "other",
        /// What is made of x-amz-retry-after. Default: as botocore does in that mode.
        retry_after: AwsRetryAfter => AwsSdk::new(mode).retry_after,
    }
}

words! {
    /// The retry mode of an AWS SDK.
    AwsMode, "AwsMode" {
        "legacy" => AwsMode::Legacy, "U(0, 2^(n−1)) s without a cap.";
        "standard_2.0" => AwsMode::Standard20, "U(0, min(2^(n−1), 20)) s.";
        "standard_2.1" => AwsMode::Standard21, "The delays of 2026: U(0, min(b × 2^(n−1), 20)) s with b = 0.05, after throttling 1.";
    }
}

words! {
    /// A service with delays of its own.
    AwsService, "AwsService" {
        "dynamodb" => AwsService::DynamoDb, "DynamoDB and DynamoDB Streams.";
        "other" => AwsService::Other, "Any other.";
    }
}

words! {
    /// What is made of the wait a service asks for in x-amz-retry-after, given the own wait t.
    AwsRetryAfter, "AwsRetryAfter" {
        "ignore" => AwsRetryAfter::Ignore, "Nothing (botocore legacy and 2.0).";
        "clamp" => AwsRetryAfter::Clamp, "max(t, min(asked, t + 5 s)) (2.1).";
        "replace" => AwsRetryAfter::Replace, "min(asked, 20 s) (smithy 2.0).";
    }
}

mirror! {
    /// Envoy's router: whole milliseconds, uniform below `base`, 2 × `base`, 4 × `base`, … and at last `max`.
    Envoy as "EnvoyBackoff" {
        /// base_interval, cut to whole milliseconds.
        base: Span = "25ms",
        /// max_interval, at least `base`. Default: ten times `base`.
        max: Span => base.times(10.0),
        /// rate_limited_retry_back_off: a wait taken from a header of the response.
        rate_limited: Opt<EnvoyRateLimited> = "none",
    }
}

mirror! {
    /// A wait of [i, 1.5 i) for the interval i that a response asks for. A bare length is `max_interval`.
    EnvoyRateLimited as "EnvoyRateLimited" [max_interval] {
        /// The longest interval accepted.
        max_interval: Span = "300s",
    }
}

mirror! {
    /// A Finagle backoff series; its first wait is `start`, without jitter.
    Finagle as "FinagleBackoff" {
        /// How the series grows.
        kind: FinagleKind,
        /// The first wait.
        start: Span,
        /// The largest wait.
        maximum: Bound = "unlimited",
    }
}

members! {
    /// How a Finagle series grows.
    FinagleKind as "FinagleKind" {
        /// Not at all.
        constant [FinagleKind::Constant],
        /// Times so much; 1 keeps `start`, 0 goes to no wait at all.
        exponential: Whole<0> [FinagleKind::Exponential { multiplier }] [multiplier],
        /// Plus so much.
        linear: Span [FinagleKind::Linear { offset }] [offset],
        /// Uniform in [the wait before, min(3 × the wait before, maximum)): it never falls.
        decorrelated_jittered [FinagleKind::DecorrelatedJittered],
        /// h + U(0, h) with h = start × 2^(k−1).
        equal_jittered [FinagleKind::EqualJittered],
        /// U(0, the wait before × 2^k): growth compounds.
        exponential_jittered [FinagleKind::ExponentialJittered],
    }
}

mirror! {
    /// google.api_core: U(0, m), where m begins at `initial` and is multiplied, up to `maximum`, each time.
    GoogleApiCore as "GoogleApiCoreBackoff" {
        /// The first bound, above 0s.
        initial: Span = "1s",
        /// The largest bound.
        maximum: Span = "1min",
        /// Growth of the bound, above 0.
        multiplier: f64 = 2,
    }
}

mirror! {
    /// gRPC's retryPolicy: min(initial × multiplier^(n−1), max), then jitter, which may exceed `max`. A wait
    /// the server asks for is taken as it is, and growth starts anew.
    Grpc as "GrpcBackoff" {
        /// initialBackoff, above 0s.
        initial: Span,
        /// maxBackoff, above 0s.
        max: Span,
        /// backoffMultiplier, above 0.
        multiplier: f64,
        /// How a wait is spread.
        jitter: GrpcJitter = "plusminus_fifth",
        /// Whose reading of the rule.
        variant: GrpcVariant = "go",
    }
}

words! {
    /// How gRPC spreads a wait.
    GrpcJitter, "GrpcJitter" {
        "plusminus_fifth" => GrpcJitter::PlusMinusFifth, "0.8 to 1.2 times the wait: proposal A6 as it reads now.";
        "full" => GrpcJitter::Full, "0 to 1 times the wait: the older text.";
    }
}

words! {
    /// Whose reading of gRPC's rules.
    GrpcVariant, "GrpcVariant" {
        "go" => GrpcVariant::Go, "That of grpc-go.";
        "java" => GrpcVariant::Java, "That of grpc-java.";
    }
}

mirror! {
    /// Polly v8's RetryStrategyOptions, in ticks of 100 ns.
    Polly as "PollyBackoff" {
        /// BackoffType.
        kind: PollyKind = "constant",
        /// UseJitter: ±25 %, or decorrelated jitter V2 for the exponential kind.
        jitter: bool = false,
        /// Delay; 0s means no wait.
        delay: Span = "2s",
        /// MaxDelay.
        max_delay: Opt<Span> = "none",
    }
}

words! {
    /// Polly's DelayBackoffType.
    PollyKind, "PollyKind" {
        "constant" => PollyKind::Constant, "The same each time.";
        "linear" => PollyKind::Linear, "Growing by `delay`.";
        "exponential" => PollyKind::Exponential, "Doubling.";
    }
}

mirror! {
    /// resilience4j's IntervalFunction, in whole milliseconds; the cap comes after randomization. A bare
    /// length is `initial`.
    Resilience4j as "Resilience4jBackoff" [initial] {
        /// waitDuration, or the initial interval; at least 1ms.
        initial: Span = "500ms",
        /// exponentialBackoffMultiplier, at least 1. Without: fixed.
        multiplier: Opt<f64> = "none",
        /// randomizedWaitFactor, 0 to below 1. Without: not randomized.
        randomization: Opt<Share> = "none",
        /// exponentialMaxWaitDuration, at least 1ms.
        max: Opt<Span> = "none",
    }
}
