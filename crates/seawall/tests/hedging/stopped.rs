//! What keeps further copies from being sent.

use seawall::{FailureKind, Operation, Reply, Span};

use crate::{begin, client, failed, guarded, hedged, ms, polled, timer, two_out};

#[test]
fn what_must_not_be_sent_again_has_no_further_copy_and_none_takes_anything() {
    let mut client = client(&guarded());
    let mut call = begin(&mut client, Operation::default());
    assert_eq!(polled(&mut client, &mut call, ms(0)), ["send 1"]);
    call.forbid_retries();
    let at = timer(&mut client, &mut call);
    assert_eq!(polled(&mut client, &mut call, at), [""; 0]);
    assert_eq!(call.timer(), None, "and no further one is due");
    assert_eq!(client.bulkhead_load(), Some((1, 0)));
    assert_eq!(client.budget_balance(at), 3.0);
    client.on_reply(&mut call, ms(300), 1, Reply::Ok);
    assert_eq!(polled(&mut client, &mut call, ms(300)), ["ok of 1"]);
    let stats = client.stats();
    assert_eq!((stats.attempts, stats.retries, stats.hedges), (1, 0, 0));
    assert_eq!(client.bulkhead_load(), Some((0, 0)));
}

#[test]
fn what_must_not_be_sent_again_ends_with_its_next_failure_or_when_the_next_copy_is_due() {
    // A copy is out: its failure is the end.
    let mut client = client(&guarded());
    let mut call = two_out(&mut client);
    call.forbid_retries();
    client.on_reply(&mut call, ms(110), 1, failed(FailureKind::Unavailable));
    assert_eq!(
        polled(&mut client, &mut call, ms(110)),
        ["abandon 2", "not_retryable of 2"]
    );
    // None is out, and the server has set the wait for the next one.
    let mut call = begin(&mut client, Operation::default());
    assert_eq!(polled(&mut client, &mut call, ms(0)), ["send 1"]);
    let later = Reply::Failed(seawall::Failure {
        retry_after: Some(Span::millis(300)),
        ..FailureKind::Unavailable.into()
    });
    client.on_reply(&mut call, ms(20), 1, later);
    assert_eq!(polled(&mut client, &mut call, ms(20)), [""; 0]);
    call.forbid_retries();
    assert_eq!(timer(&mut client, &mut call), ms(320));
    assert_eq!(
        polled(&mut client, &mut call, ms(320)),
        ["not_retryable of 1"]
    );
    assert_eq!(client.bulkhead_load(), Some((0, 0)));
}

#[test]
fn the_end_names_what_kept_further_copies_from_being_sent() {
    let asked = |wait| {
        Reply::Failed(seawall::Failure {
            retry_after: Some(wait),
            ..FailureKind::Unavailable.into()
        })
    };
    // The server does not want to be asked again.
    let mut client = client(&hedged());
    let mut call = begin(&mut client, Operation::default());
    assert_eq!(polled(&mut client, &mut call, ms(0)), ["send 1"]);
    client.on_reply(&mut call, ms(10), 1, asked(Span::MAX));
    assert_eq!(
        polled(&mut client, &mut call, ms(10)),
        ["retry_after_too_long of 1"]
    );
    // So does it, but another one is out, which is the last to fail.
    let mut call = two_out(&mut client);
    client.on_reply(&mut call, ms(110), 1, asked(Span::MAX));
    assert_eq!(polled(&mut client, &mut call, ms(110)), [""; 0]);
    client.on_reply(&mut call, ms(120), 2, failed(FailureKind::Unavailable));
    assert_eq!(
        polled(&mut client, &mut call, ms(120)),
        ["retry_after_too_long of 2"]
    );
    // With the last attempt there is nothing left to forbid.
    let mut call = two_out(&mut client);
    assert_eq!(timer(&mut client, &mut call), ms(200));
    assert_eq!(polled(&mut client, &mut call, ms(200)), ["send 3"]);
    for attempt in 1..=3 {
        client.on_reply(&mut call, ms(210), attempt, asked(Span::MAX));
    }
    assert_eq!(
        polled(&mut client, &mut call, ms(210)),
        ["attempts_used of 3"]
    );
    // A third copy would be refused a permit while two are out.
    let mut client = crate::client(&guarded());
    let mut call = two_out(&mut client);
    let at = timer(&mut client, &mut call);
    assert_eq!(polled(&mut client, &mut call, at), [""; 0]);
    for attempt in 1..=2 {
        client.on_reply(
            &mut call,
            ms(250),
            attempt,
            failed(FailureKind::Unavailable),
        );
        let did = polled(&mut client, &mut call, ms(250));
        let ends: &[&str] = [&[] as &[&str], &["bulkhead_full of 2"]][attempt as usize - 1];
        assert_eq!(did, ends);
    }
}
