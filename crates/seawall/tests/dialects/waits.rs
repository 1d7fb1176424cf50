//! What each backoff makes of a wait that the server asks for.

use seawall::backoff::{AwsMode, AwsSdk, Envoy, EnvoyRateLimited};
use seawall::{Action, Backoff, FailureKind, RetryAfter, Span, Stopped};

use crate::desk::{Desk, ms, retrying, stopped};

/// What happens after a first failure at 0 that asks for so long, and when the retry is due.
fn after(backoff: Backoff, retry_after: RetryAfter, asked: Span) -> (Vec<Action>, Option<u64>) {
    let mut spec = retrying(3);
    spec.retry.backoff = backoff;
    spec.retry.retry_after = retry_after;
    let mut desk = Desk::new(&spec);
    let (mut call, _) = desk.begin(ms(0));
    let actions = desk.asks(&mut call, ms(0), FailureKind::Unavailable, asked);
    (actions, call.timer().map(|timer| timer.0 / 1_000_000))
}

/// At most 10 s, and up to 5 s more: half of that with the draw of a [`Desk`].
const STRICT: RetryAfter = RetryAfter {
    honour: true,
    max: Span::secs(10),
    spread: Span::secs(5),
};

fn aws(mode: AwsMode) -> Backoff {
    Backoff::AwsSdk(AwsSdk::new(mode))
}

#[test]
fn what_a_dialect_does_not_hear_neither_stops_a_call_nor_is_spread() {
    let deaf = [
        aws(AwsMode::Legacy),
        aws(AwsMode::Standard20),
        Backoff::Envoy(Envoy::default()),
    ];
    for backoff in deaf {
        let (_, alone) = after(backoff.clone(), STRICT, Span::ZERO);
        for asked in [Span::secs(1), Span::secs(60), Span::MAX] {
            let (actions, due) = after(backoff.clone(), STRICT, asked);
            assert_eq!(stopped(&actions), None, "{backoff:?} {asked}");
            assert_eq!(due, alone, "{backoff:?} {asked}");
        }
    }
}

#[test]
fn envoy_drops_an_interval_above_its_own_maximum_and_takes_the_exponential() {
    let envoy = Backoff::Envoy(Envoy {
        rate_limited: Some(EnvoyRateLimited {
            max_interval: Span::secs(3),
        }),
        ..Envoy::default()
    });
    let (_, alone) = after(envoy.clone(), STRICT, Span::ZERO);
    assert!(alone < Some(25));
    assert_eq!(after(envoy.clone(), STRICT, Span::secs(4)).1, alone);
    assert_eq!(after(envoy.clone(), STRICT, Span::MAX).1, alone);
    assert_eq!(after(envoy.clone(), STRICT, Span::millis(1)).1, alone);
    let (_, heard) = after(envoy, RetryAfter::default(), Span::secs(2));
    assert!((Some(2000)..Some(3000)).contains(&heard), "{heard:?}");
}

#[test]
fn the_aws_sdk_cuts_even_the_longest_wait() {
    // At most 5 s more than its own wait, which is below 50 ms.
    let (actions, due) = after(aws(AwsMode::Standard21), RetryAfter::default(), Span::MAX);
    assert_eq!(stopped(&actions), None);
    assert!((Some(5000)..Some(5050)).contains(&due), "{due:?}");
}

#[test]
fn elsewhere_the_longest_wait_means_no_retry() {
    for backoff in [
        Backoff::None,
        Backoff::Polly(seawall::backoff::Polly::default()),
    ] {
        let (actions, _) = after(backoff.clone(), RetryAfter::default(), Span::MAX);
        let needed = Span::MAX;
        let never = Some(Stopped::RetryAfterTooLong { needed });
        assert_eq!(stopped(&actions), never, "{backoff:?}");
    }
}
