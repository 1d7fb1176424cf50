//! The delays of the AWS SDKs, by retry mode.
//!
//! Sources: boto/botocore@0e6e2404 `botocore/retries/standard.py`, `botocore/retryhandler.py`,
//! `data/_retry.json`; smithy-lang/smithy-rs@56ee88c5 `aws-smithy-runtime/src/client/retries`.

use super::Progress;
use crate::time::Span;

/// Backoff of an AWS SDK. `n` is the number of the attempt that failed, from 1.
///
/// | mode | wait |
/// | --- | --- |
/// | legacy | `u * 2^(n-1)` s, no cap; DynamoDB `0.05 * 2^(n-1)` s without jitter |
/// | standard 2.0 | `u * min(2^(n-1), 20)` s |
/// | standard 2.1 | `u * min(b * 2^(n-1), 20)` s, `b` 0.05 s (DynamoDB 0.025 s, throttling errors 1 s) |
///
/// Standard 2.1 is what botocore does with `AWS_NEW_RETRIES_2026=true`, and without a switch from
/// 1.44 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AwsSdk {
    /// The retry mode.
    pub mode: AwsMode,
    /// The service, where the delays depend on it.
    pub service: AwsService,
    /// What is made of `x-amz-retry-after`.
    pub retry_after: AwsRetryAfter,
}

/// The retry mode of an AWS SDK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwsMode {
    /// botocore's `legacy`.
    Legacy,
    /// `standard` as first specified.
    Standard20,
    /// `standard` with the delays of 2026.
    Standard21,
}

/// A service with delays of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AwsService {
    /// DynamoDB and DynamoDB Streams.
    DynamoDb,
    /// Any other.
    #[default]
    Other,
}

/// What is made of the wait a service asks for in `x-amz-retry-after`, given the own delay `t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwsRetryAfter {
    /// Nothing (botocore legacy and 2.0).
    Ignore,
    /// `max(t, min(asked, t + 5 s))` (2.1).
    Clamp,
    /// `min(asked, 20 s)` (smithy 2.0).
    Replace,
}

/// The largest delay of the standard modes.
const MAX: f64 = 20.0;
/// What a service may add to a delay in 2.1.
const MAX_ADDITIONAL: Span = Span::secs(5);

impl AwsSdk {
    /// The mode as botocore runs it, for a service without delays of its own.
    #[must_use]
    pub const fn new(mode: AwsMode) -> Self {
        AwsSdk {
            mode,
            service: AwsService::Other,
            retry_after: match mode {
                AwsMode::Legacy | AwsMode::Standard20 => AwsRetryAfter::Ignore,
                AwsMode::Standard21 => AwsRetryAfter::Clamp,
            },
        }
    }

    /// Attempts in all that the mode makes: legacy 5 (DynamoDB 10), standard 3 (DynamoDB in 2.1: 4).
    #[must_use]
    pub const fn max_attempts(&self) -> u32 {
        match (self.mode, self.service) {
            (AwsMode::Legacy, AwsService::DynamoDb) => 10,
            (AwsMode::Legacy, AwsService::Other) => 5,
            (AwsMode::Standard21, AwsService::DynamoDb) => 4,
            (AwsMode::Standard20, _) | (AwsMode::Standard21, AwsService::Other) => 3,
        }
    }

    /// The wait after failed attempt `progress.retries + 1`, for a unit draw `u`.
    ///
    /// `throttled`: the failure was a throttling error. `asked`: what `x-amz-retry-after` said.
    #[must_use]
    pub fn delay(&self, progress: &Progress, u: f64, throttled: bool, asked: Option<Span>) -> Span {
        let own = Span::from_secs_f64(self.own_delay(progress.retries, u, throttled));
        match (self.retry_after, asked) {
            (AwsRetryAfter::Ignore, _) | (_, None) => own,
            (AwsRetryAfter::Clamp, Some(asked)) => own.max(asked.min(own.plus(MAX_ADDITIONAL))),
            (AwsRetryAfter::Replace, Some(asked)) => asked.min(Span::from_secs_f64(MAX)),
        }
    }

    fn own_delay(&self, retries: u32, u: f64, throttled: bool) -> f64 {
        let doublings = libm::ldexp(1.0, retries.min(2000) as i32);
        match (self.mode, self.service) {
            (AwsMode::Legacy, AwsService::DynamoDb) => 0.05 * doublings,
            (AwsMode::Legacy, AwsService::Other) => u * doublings,
            (AwsMode::Standard20, _) => u * doublings.min(MAX),
            (AwsMode::Standard21, _) if throttled => u * doublings.min(MAX),
            (AwsMode::Standard21, AwsService::DynamoDb) => u * (0.025 * doublings).min(MAX),
            (AwsMode::Standard21, AwsService::Other) => u * (0.05 * doublings).min(MAX),
        }
    }
}

/// Reads `x-amz-retry-after`: whole milliseconds. Negative or unparseable is as if it were absent.
#[must_use]
pub fn parse_x_amz_retry_after(value: &str) -> Option<Span> {
    let digits = value.trim();
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().map_or(Span::MAX, Span::millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(retries: u32) -> Progress {
        Progress { retries, memory: 0 }
    }

    #[test]
    fn standard_2_0_starts_at_a_second_and_is_capped_before_the_draw() {
        let sdk = AwsSdk::new(AwsMode::Standard20);
        let waits: Vec<u64> = (0..7)
            .map(|n| sdk.delay(&at(n), 0.5, true, Some(Span::secs(9))).0 / 1_000_000)
            .collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
    }

    #[test]
    fn dynamodb_halves_the_base_of_2_1_unless_throttled() {
        let sdk = AwsSdk {
            service: AwsService::DynamoDb,
            ..AwsSdk::new(AwsMode::Standard21)
        };
        assert_eq!(sdk.delay(&at(0), 1.0, false, None), Span::millis(25));
        assert_eq!(sdk.delay(&at(0), 1.0, true, None), Span::secs(1));
        assert_eq!(sdk.max_attempts(), 4);
    }

    #[test]
    fn smithy_replaces_the_delay_by_what_is_asked_up_to_20_s() {
        let sdk = AwsSdk {
            retry_after: AwsRetryAfter::Replace,
            ..AwsSdk::new(AwsMode::Standard20)
        };
        assert_eq!(
            sdk.delay(&at(3), 1.0, false, Some(Span::millis(10))),
            Span::millis(10)
        );
        assert_eq!(
            sdk.delay(&at(0), 1.0, false, Some(Span::secs(90))),
            Span::secs(20)
        );
        assert_eq!(sdk.delay(&at(0), 1.0, false, None), Span::secs(1));
    }

    #[test]
    fn legacy_never_caps_and_never_overflows() {
        let sdk = AwsSdk::new(AwsMode::Legacy);
        assert_eq!(sdk.delay(&at(10), 1.0, false, None), Span::secs(1024));
        assert_eq!(sdk.delay(&at(u32::MAX), 1.0, false, None), Span::MAX);
        assert_eq!(sdk.delay(&at(u32::MAX), 0.0, false, None), Span::ZERO);
    }

    #[test]
    fn the_header_is_whole_milliseconds() {
        assert_eq!(parse_x_amz_retry_after(" 250 "), Some(Span::millis(250)));
        assert_eq!(parse_x_amz_retry_after("+7"), Some(Span::millis(7)));
        assert_eq!(
            parse_x_amz_retry_after("99999999999999999999999"),
            Some(Span::MAX)
        );
        for bad in ["", "-5", "abc", "1.5", "1e3", "+"] {
            assert_eq!(parse_x_amz_retry_after(bad), None, "{bad}");
        }
    }
}
