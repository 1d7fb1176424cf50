//! One absolute deadline per call. `Time::MAX` stands for none.

use crate::spec::{Deadline, Retry};
use crate::time::{Span, Time};

impl Deadline {
    /// The deadline of a call that begins `now` with what its caller sent:
    /// `min(now + limit, sent - slack)`, with neither `now + default`, else none (`Time::MAX`).
    #[inline]
    pub(crate) fn of_call(&self, now: Time, sent: Option<Time>) -> Time {
        let own = self.limit.map(|limit| now.after(limit));
        let sent = sent
            .filter(|&sent| self.inherit && sent != Time::MAX)
            .map(|sent| Time(sent.0.saturating_sub(self.slack.0)));
        match (own, sent) {
            (Some(own), Some(sent)) => own.min(sent),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => self.default.map_or(Time::MAX, |default| now.after(default)),
        }
    }
}

impl Deadline {
    /// The deadline of a call whose own limit counts from `now`, and that had `inherited` before.
    pub(crate) fn counted_from(&self, now: Time, inherited: Time) -> Time {
        match (self.limit, self.default) {
            (Some(limit), _) => now.after(limit).min(inherited),
            (None, Some(default)) if inherited == Time::MAX => now.after(default),
            _ => inherited,
        }
    }

    /// What a call has of its caller's deadline alone.
    pub(crate) fn inherited(&self, sent: Option<Time>) -> Time {
        let own = Deadline {
            limit: None,
            default: None,
            ..*self
        };
        own.of_call(Time::ZERO, sent)
    }
}

/// Time left; `Span::MAX` without a deadline, zero once it passed.
#[inline]
pub(crate) fn remaining(deadline: Time, now: Time) -> Span {
    if deadline == Time::MAX {
        Span::MAX
    } else {
        deadline.since(now)
    }
}

/// How long attempt number `attempt`, sent with `remaining` time left, may take; `Span::MAX` is no bound.
///
/// `min(attempt_timeout, remaining - reserve)`. The reserve is kept for a later backoff, hence not by
/// the last attempt, nor when keeping it would leave the attempt nothing.
#[inline]
pub(crate) fn attempt_timeout(
    configured: Option<Span>,
    retry: &Retry,
    remaining: Span,
    attempt: u32,
) -> Span {
    let mut room = remaining;
    if remaining != Span::MAX && attempt < retry.max_attempts && remaining > retry.reserve {
        room = remaining.minus(retry.reserve);
    }
    configured.map_or(room, |configured| configured.min(room))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_of_limit_and_inherited_wins_and_slack_is_kept_back() {
        let ms = |n: u64| Time(n * 1_000_000);
        let mut d = Deadline {
            limit: Some(Span::millis(100)),
            default: Some(Span::millis(800)),
            slack: Span::millis(30),
            ..Deadline::default()
        };
        assert_eq!(d.of_call(ms(10), None), ms(110));
        assert_eq!(d.of_call(ms(10), Some(ms(90))), ms(60));
        assert_eq!(d.of_call(ms(10), Some(ms(900))), ms(110));
        assert_eq!(d.of_call(ms(10), Some(ms(20))), Time::ZERO, "no time left");
        d.limit = None;
        assert_eq!(d.of_call(ms(10), None), ms(810));
        assert_eq!(d.of_call(ms(10), Some(ms(900))), ms(870));
        d.inherit = false;
        assert_eq!(d.of_call(ms(10), Some(ms(90))), ms(810));
        d.default = None;
        assert_eq!(d.of_call(ms(10), Some(ms(90))), Time::MAX);
    }

    #[test]
    fn an_attempt_leaves_the_reserve_unless_it_is_the_last() {
        let retry = Retry {
            max_attempts: 3,
            reserve: Span(20),
            ..Retry::default()
        };
        assert_eq!(
            attempt_timeout(Some(Span(50)), &retry, Span(100), 1),
            Span(50)
        );
        assert_eq!(
            attempt_timeout(Some(Span(90)), &retry, Span(100), 1),
            Span(80)
        );
        assert_eq!(
            attempt_timeout(Some(Span(90)), &retry, Span(100), 3),
            Span(90)
        );
        assert_eq!(attempt_timeout(None, &retry, Span(15), 1), Span(15));
        assert_eq!(attempt_timeout(None, &retry, Span::MAX, 1), Span::MAX);
    }
}
