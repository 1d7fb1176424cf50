//! What keeps further copies from being sent.

use seawall::{FailureKind, Operation, Reply, Span};

use crate::{begin, client, failed, guarded, ms, polled, timer, two_out};

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
