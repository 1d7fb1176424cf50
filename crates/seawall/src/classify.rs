//! Whether a failed attempt is tried again: the conditions, each with the reason that names it.

use crate::action::Stopped;
use crate::backoff::Hint;
use crate::call::Call;
use crate::deadline::remaining;
use crate::entropy::Entropy;
use crate::failure::{Failure, FailureKind, Phase};
use crate::guards::Guards;
use crate::order::Refusal;
use crate::spec::{Retry, Spec};
use crate::time::{Span, Time};

/// The wait before the retry, or the first condition that does not hold. A deadline that has passed comes before all of
/// them.
///
/// 1. The failure may be transient: its kind is retried by the policy and by the operation, its phase by
///    the policy.
/// 2. The operation is idempotent, or the server cannot have seen the request: its kind is in
///    `unprocessed`, or it failed in a phase before sending.
/// 3. Attempts are left, and retries are not switched off.
/// 4. Who may try again does so, which is drawn (`persistence`); otherwise the call ends as if its attempts were used.
/// 5. The wait the server asked for is within the longest accepted.
/// 6. After the wait there is time left for an attempt.
/// 7. The breaker is not known to refuse then, and the budget grants a retry. (The breaker is asked
///    for good, and the bulkhead, when the attempt is sent.)
///
/// The budget comes last, so that it pays only for what nothing else forbids.
pub(crate) fn retry_wait(
    call: &mut Call,
    now: Time,
    asked: Option<Span>,
    spec: &Spec,
    kill_switch: bool,
    guards: &mut Guards,
    entropy: &mut impl Entropy,
) -> Result<Span, Stopped> {
    let retry = &spec.retry;
    let remaining = remaining(call.deadline, now);
    if remaining == Span::ZERO {
        return Err(Stopped::DeadlineExceeded);
    }
    let Some((kind, phase)) = call.last else {
        return Err(Stopped::NotRetryable);
    };
    if !call.retry_on.contains(kind) || !retry.phases.contains(phase) {
        return Err(Stopped::NotRetryable);
    }
    if !call.idempotent && !retry.unprocessed.contains(kind) && phase >= Phase::Send {
        return Err(Stopped::NotIdempotent);
    }
    if call.tries() >= retry.max_attempts {
        return Err(Stopped::AttemptsUsed);
    }
    if kill_switch {
        return Err(Stopped::KillSwitch);
    }
    // Who always persists draws nothing.
    if retry.persistence < 1.0 && entropy.unit() >= retry.persistence {
        return Err(Stopped::AttemptsUsed);
    }
    let asked = asked.filter(|&asked| retry.retry_after.honour && retry.backoff.hears(asked));
    let hint = Hint {
        throttled: kind == FailureKind::Overloaded,
        asked,
    };
    let asked = asked.unwrap_or(Span::ZERO);
    let never = asked == Span::MAX && !retry.backoff.cuts_asked();
    if asked > retry.retry_after.max || never {
        return Err(Stopped::RetryAfterTooLong { needed: asked });
    }
    let own = retry.backoff.next(&mut call.backoff, hint, entropy);
    let mut wait = if retry.backoff.reads_asked() {
        own
    } else {
        own.max(asked)
    };
    if asked > Span::ZERO && retry.retry_after.spread > Span::ZERO {
        wait = wait.plus(retry.retry_after.spread.times(entropy.unit()));
    }
    if wait.plus(retry.min_attempt.max(Span(1))) > remaining {
        return Err(if asked > Span::ZERO && wait >= asked && asked >= own {
            Stopped::RetryAfterTooLong { needed: asked }
        } else {
            Stopped::DeadlineTooClose
        });
    }
    // Where a refusal is tried again, the retry goes and asks.
    if !retry.refusals.contains(Refusal::BreakerOpen)
        && guards
            .breaker_of_next_attempt(call)
            .is_some_and(|breaker| breaker.refuses(now.after(wait)))
    {
        return Err(Stopped::BreakerOpen);
    }
    call.grant = guards.withdraw(call, now, kind);
    match call.grant {
        Some(_) => Ok(wait),
        None => Err(Stopped::BudgetEmpty),
    }
}

/// Whether another copy of a hedged call may do better than the one that failed so.
pub(crate) fn is_transient(call: &Call, retry: &Retry, failure: &Failure) -> bool {
    call.retry_on.contains(failure.kind) && retry.phases.contains(failure.phase)
}

/// The wait before a try that this side refused is tried again; `None`: it is not.
///
/// Whether the operation is idempotent does not matter, since nothing was sent, nor what the server asked for. All
/// else holds as for a failed attempt.
pub(crate) fn refusal_wait(
    call: &mut Call,
    now: Time,
    stopped: Stopped,
    spec: &Spec,
    kill_switch: bool,
    guards: &mut Guards,
    entropy: &mut impl Entropy,
) -> Option<Span> {
    let retry = &spec.retry;
    let again = stopped
        .refusal()
        .is_some_and(|refusal| retry.refusals.contains(refusal));
    let tries = call.tries().saturating_add(1);
    if !again
        || kill_switch
        || !call.is_retryable()
        || !guards.plan.is_inside_retry(call.stage)
        || tries >= retry.max_attempts
        || call.refused == u8::MAX
    {
        return None;
    }
    let hint = Hint {
        throttled: false,
        asked: None,
    };
    let wait = retry.backoff.next(&mut call.backoff, hint, entropy);
    if wait.plus(retry.min_attempt.max(Span(1))) > remaining(call.deadline, now) {
        return None;
    }
    guards.step_back(call, now);
    call.grant = Some(guards.withdraw(call, now, FailureKind::Unavailable)?);
    call.refused = call.refused.saturating_add(1);
    Some(wait)
}
