use seawall::backoff::GrpcVariant;
use seawall::budget::{
    AwsCosts, AwsQuota, Envoy, EnvoyRetryBudget, Finagle, GrpcThrottling, SreAdaptive, TowerTps,
};
use seawall::{Backoff, Budget, BudgetEvent, FailureKind, Jitter, Span, Spec, Stopped};

use crate::desk::{Desk, Draw, ms, retrying, sent, stopped};

const UNAVAILABLE: FailureKind = FailureKind::Unavailable;

fn with(max_attempts: u32, budget: Budget) -> Desk {
    Desk::new(&Spec {
        budget,
        ..retrying(max_attempts)
    })
}

fn grpc() -> Budget {
    Budget::Grpc(GrpcThrottling {
        max_tokens: 10.0,
        token_ratio: 0.1,
        variant: GrpcVariant::Go,
    })
}

#[test]
fn grpc_charges_every_attempt_that_fails_and_refuses_from_the_fifth_on() {
    let mut desk = with(2, grpc());
    for _ in 0..2 {
        let (mut call, _) = desk.begin(ms(0));
        assert_eq!(sent(&desk.fail(&mut call, ms(0), UNAVAILABLE)), Some(2));
        let end = desk.fail(&mut call, ms(0), UNAVAILABLE);
        assert_eq!(
            stopped(&end),
            Some(Stopped::AttemptsUsed),
            "charged as well"
        );
    }
    let (mut call, _) = desk.begin(ms(0));
    let end = desk.fail(&mut call, ms(0), UNAVAILABLE);
    assert_eq!(stopped(&end), Some(Stopped::BudgetEmpty));
}

#[test]
fn grpc_does_not_charge_a_status_that_is_not_retried_unless_told_not_to_retry() {
    let mut desk = with(2, grpc());
    for _ in 0..20 {
        let (mut call, _) = desk.begin(ms(0));
        desk.fail(&mut call, ms(0), FailureKind::Invalid);
    }
    assert_eq!(desk.client.budget_balance(ms(0)), 4.0);
    for _ in 0..5 {
        let (mut call, _) = desk.begin(ms(0));
        desk.asks(&mut call, ms(0), FailureKind::Invalid, Span::MAX);
    }
    assert_eq!(desk.client.budget_balance(ms(0)), 0.0);
    let (mut call, _) = desk.begin(ms(0));
    let end = desk.fail(&mut call, ms(0), UNAVAILABLE);
    assert_eq!(stopped(&end), Some(Stopped::BudgetEmpty));
}

#[test]
fn envoy_holds_a_slot_through_backoff_and_the_retried_attempt() {
    let spec = retrying(5);
    let mut desk = Desk::new(&Spec {
        retry: seawall::Retry {
            backoff: Backoff::Fixed {
                delay: Span::millis(10),
                jitter: Jitter::None,
            },
            ..spec.retry.clone()
        },
        budget: Budget::Envoy(Envoy {
            max_retries: 1,
            retry_budget: None,
        }),
        ..spec
    });
    let refused = |desk: &mut Desk, now| {
        let (mut call, _) = desk.begin(now);
        stopped(&desk.fail(&mut call, now, UNAVAILABLE)) == Some(Stopped::BudgetEmpty)
    };
    let (mut holder, _) = desk.begin(ms(0));
    assert_eq!(desk.fail(&mut holder, ms(0), UNAVAILABLE), []);
    assert!(refused(&mut desk, ms(5)), "in backoff");
    assert_eq!(sent(&desk.wake(&mut holder)), Some(2));
    assert!(refused(&mut desk, ms(15)), "in flight again");
    assert_eq!(
        desk.fail(&mut holder, ms(20), UNAVAILABLE),
        [],
        "frees its own slot first"
    );
    assert_eq!(sent(&desk.wake(&mut holder)), Some(3));
    desk.ok(&mut holder, ms(35));
    assert!(!refused(&mut desk, ms(40)), "free after the end");
}

#[test]
fn envoy_counts_attempts_in_flight_and_forgets_those_that_left() {
    let mut desk = with(
        2,
        Budget::Envoy(Envoy {
            max_retries: 3,
            retry_budget: Some(EnvoyRetryBudget {
                percent: 50.0,
                min_retry_concurrency: 0,
                interval: None,
            }),
        }),
    );
    let mut calls: Vec<_> = (0..5).map(|_| desk.begin(ms(0)).0).collect();
    // The one that fails has left: 4 in flight allow 2 retries, which are in flight themselves.
    assert_eq!(desk.client.budget_balance(ms(0)), 2.0);
    assert_eq!(sent(&desk.fail(&mut calls[0], ms(1), UNAVAILABLE)), Some(2));
    desk.client.cancel(&mut calls[1], ms(2));
    desk.ok(&mut calls[2], ms(3));
    desk.ok(&mut calls[3], ms(3));
    assert_eq!(
        desk.client.budget_balance(ms(3)),
        0.0,
        "2 in flight, 1 retry out"
    );
}

#[test]
fn aws_charges_by_kind_of_error_and_returns_what_the_last_retry_cost() {
    let quota = AwsQuota {
        capacity: 100,
        ..AwsQuota::new(AwsCosts::V21)
    };
    let mut desk = with(3, Budget::AwsQuota(quota));
    let (mut call, _) = desk.begin(ms(0));
    desk.fail(&mut call, ms(0), UNAVAILABLE);
    desk.fail(&mut call, ms(0), FailureKind::Overloaded);
    assert_eq!(
        desk.client.budget_balance(ms(0)),
        5.0,
        "(100 - 14 - 5) / 14"
    );
    desk.ok(&mut call, ms(0));
    assert_eq!(
        desk.client.budget_balance(ms(0)),
        6.0,
        "5 came back: 86 / 14"
    );
    for _ in 0..12 {
        let (mut call, _) = desk.begin(ms(0));
        desk.ok(&mut call, ms(0));
    }
    assert_eq!(desk.client.budget_balance(ms(0)), 7.0, "1 each: 98 / 14");
}

#[test]
fn aws_keeps_what_a_call_paid_that_fails_in_the_end() {
    let quota = AwsQuota {
        capacity: 28,
        ..AwsQuota::new(AwsCosts::V21)
    };
    let mut desk = with(2, Budget::AwsQuota(quota));
    for want in [Stopped::AttemptsUsed, Stopped::AttemptsUsed] {
        let (mut call, _) = desk.begin(ms(0));
        desk.fail(&mut call, ms(0), UNAVAILABLE);
        let end = desk.fail(&mut call, ms(0), UNAVAILABLE);
        assert_eq!(stopped(&end), Some(want));
    }
    let (mut call, _) = desk.begin(ms(0));
    let end = desk.fail(&mut call, ms(0), UNAVAILABLE);
    assert_eq!(stopped(&end), Some(Stopped::BudgetEmpty));
}

#[test]
fn the_sre_throttle_rejects_first_attempts_while_nothing_is_accepted() {
    let mut desk = with(1, Budget::SreAdaptive(SreAdaptive::default()));
    for _ in 0..3 {
        desk.draw = Draw(0.99);
        let (mut call, _) = desk.begin(ms(0));
        desk.fail(&mut call, ms(0), UNAVAILABLE);
    }
    desk.draw = Draw(0.7);
    let (_, rejected) = desk.begin(ms(0));
    assert_eq!(stopped(&rejected), Some(Stopped::Throttled), "0.7 < 3/4");
    desk.draw = Draw(0.8);
    let (_, sent_on) = desk.begin(ms(0));
    assert_eq!(
        sent(&sent_on),
        Some(1),
        "0.8 = 4/5: the rejected one counts as well"
    );
}

#[test]
fn the_sre_throttle_takes_any_answer_but_a_rejection_for_an_accept() {
    let mut desk = with(1, Budget::SreAdaptive(SreAdaptive::default()));
    for _ in 0..100 {
        let (mut call, actions) = desk.begin(ms(0));
        assert_eq!(sent(&actions), Some(1));
        desk.fail(&mut call, ms(0), FailureKind::Invalid);
    }
}

#[test]
fn finagle_deposits_on_success_and_tower_on_every_answer_that_is_not_retried() {
    let finagle = Budget::Finagle(Finagle {
        min_retries_per_sec: 0,
        percent_can_retry: 1.0,
        ..Finagle::default()
    });
    let tower = Budget::TowerTps(TowerTps {
        min_per_sec: 0,
        retry_percent: 1.0,
        ..TowerTps::default()
    });
    for (budget, after_failure) in [(finagle, 0.0), (tower, 1.0)] {
        let mut desk = with(2, budget);
        let (mut call, _) = desk.begin(ms(0));
        desk.fail(&mut call, ms(0), FailureKind::Invalid);
        assert_eq!(desk.client.budget_balance(ms(0)), after_failure);
        let (mut call, _) = desk.begin(ms(0));
        desk.ok(&mut call, ms(0));
        assert_eq!(desk.client.budget_balance(ms(0)), after_failure + 1.0);
        let (mut call, _) = desk.begin(ms(0));
        assert_eq!(sent(&desk.fail(&mut call, ms(0), UNAVAILABLE)), Some(2));
        assert_eq!(desk.client.budget_balance(ms(0)), after_failure);
    }
}

#[test]
fn a_ratio_of_answers_that_are_not_retried_works_for_the_generic_bucket_too() {
    let mut desk = with(
        2,
        Budget::Ratio {
            of: BudgetEvent::NotRetryable,
            ratio: 1.0,
            burst: 1.0,
        },
    );
    let (mut call, _) = desk.begin(ms(0));
    desk.fail(&mut call, ms(0), UNAVAILABLE);
    assert_eq!(desk.client.budget_balance(ms(0)), 0.0);
    desk.fail(&mut call, ms(0), FailureKind::Invalid);
    assert_eq!(desk.client.budget_balance(ms(0)), 1.0);
}
