//! gRPC's hedging: copies of a call that do not wait for each other.
//!
//! Source: grpc/proposal@1fd061ad A6-client-retries.md; grpc/grpc-java@5fda0c7c `RetriableStream.java`
//! where it differs.

use crate::failure::FailureSet;
use crate::pushback::Pushback;
use crate::time::{Span, Time};

/// Attempts a hedged call may have: what gRPC caps them at.
pub const HEDGED_ATTEMPTS_MAX: u32 = 5;

/// `hedgingPolicy`.
///
/// The next copy is sent `delay` after the one before; a non-fatal status sends it at once, and
/// the later ones follow at `delay` again. The first OK or fatal status commits the call and
/// cancels the other copies. A pushback sets the wait for the next copy, a negative one stops further
/// copies. When all copies have failed the call fails as the last one; there is no further retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hedge {
    /// `maxAttempts`, the first included, at least 2; gRPC caps it at 5.
    pub max_attempts: u32,
    /// `hedgingDelay`; zero sends all at once.
    pub delay: Span,
    /// `nonFatalStatusCodes`: failures after which the next copy is sent at once, and the others go on. For a call the
    /// operation may narrow them.
    pub on: FailureSet,
    /// Whose reading of the rule.
    pub variant: HedgeVariant,
}

/// What a pushback with a non-fatal status means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HedgeVariant {
    /// The wait for the next copy.
    #[default]
    Proposal,
    /// grpc-java: the next copy is sent at once.
    Java,
}

/// How a copy ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyEnd {
    /// Well.
    Ok,
    /// With a status that commits the call.
    Fatal,
    /// With one of `nonFatalStatusCodes`.
    NonFatal(Option<Pushback>),
}

/// What becomes of a call when one of its copies has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HedgeOutcome {
    /// Go on: poll, and wait.
    GoOn,
    /// The call ends as this copy did; so many others are to be cancelled.
    Commit {
        /// Copies still out.
        cancelled: u32,
    },
    /// The call is over already.
    Late,
}

/// One hedged call. Poll it whenever its timer has come or a copy has ended.
#[derive(Clone, Copy, Debug)]
pub struct HedgedCall {
    spec: Hedge,
    sent: u32,
    out: u32,
    /// When the next copy is due; `None`: never.
    next: Option<Time>,
    over: bool,
}

impl HedgedCall {
    /// A call whose first copy is due now.
    #[must_use]
    pub fn new(spec: &Hedge, now: Time) -> Self {
        HedgedCall {
            spec: *spec,
            sent: 0,
            out: 0,
            next: Some(now),
            over: false,
        }
    }

    /// The number, from 1, of the copy to send now, if one is due. Ask until `None`.
    ///
    /// `throttled`: the retry throttle forbids further copies now; the first is sent regardless, and
    /// once forbidden no further copy of this call is sent.
    #[must_use]
    pub fn poll(&mut self, now: Time, throttled: bool) -> Option<u32> {
        if self.over || self.next.is_none_or(|next| now < next) {
            return None;
        }
        if self.sent > 0 && throttled {
            self.next = None;
            return None;
        }
        self.sent += 1;
        self.out += 1;
        let more = self.sent < self.spec.max_attempts;
        self.next = more.then(|| now.after(self.spec.delay));
        Some(self.sent)
    }

    /// When the next copy is due.
    #[must_use]
    pub fn timer(&self) -> Option<Time> {
        self.next.filter(|_| !self.over)
    }

    /// A copy has ended.
    pub fn ended(&mut self, now: Time, end: CopyEnd) -> HedgeOutcome {
        if self.over || self.out == 0 {
            return HedgeOutcome::Late;
        }
        self.out -= 1;
        if let CopyEnd::NonFatal(pushback) = end {
            let wait = match (pushback, self.spec.variant) {
                (Some(Pushback::DoNotRetry), _) => None,
                (Some(Pushback::After(wait)), HedgeVariant::Proposal) => Some(wait),
                (Some(Pushback::After(_)), HedgeVariant::Java) | (None, _) => Some(Span::ZERO),
            };
            self.next = self.next.and(wait).map(|wait| now.after(wait));
            if self.out > 0 || self.next.is_some() {
                return HedgeOutcome::GoOn;
            }
        }
        self.over = true;
        HedgeOutcome::Commit {
            cancelled: self.out,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(variant: HedgeVariant) -> HedgedCall {
        let spec = Hedge {
            max_attempts: 3,
            delay: Span(100),
            on: FailureSet::NONE,
            variant,
        };
        let mut call = HedgedCall::new(&spec, Time(0));
        assert_eq!(
            call.poll(Time(0), true),
            Some(1),
            "the first is never throttled"
        );
        assert_eq!(call.poll(Time(0), false), None);
        call
    }

    #[test]
    fn a_pushback_sets_the_wait_for_the_next_copy_and_java_ignores_how_long() {
        let asked = CopyEnd::NonFatal(Some(Pushback::After(Span(300))));
        for (variant, due) in [(HedgeVariant::Proposal, 310), (HedgeVariant::Java, 10)] {
            let mut call = call(variant);
            assert_eq!(call.ended(Time(10), asked), HedgeOutcome::GoOn);
            assert_eq!(call.timer(), Some(Time(due)));
            assert_eq!(call.poll(Time(due), false), Some(2));
            assert_eq!(call.timer(), Some(Time(due + 100)));
        }
    }

    #[test]
    fn a_negative_pushback_stops_further_copies_and_waits_for_those_out() {
        let no = CopyEnd::NonFatal(Some(Pushback::DoNotRetry));
        let mut one = call(HedgeVariant::Proposal);
        assert_eq!(
            one.ended(Time(10), no),
            HedgeOutcome::Commit { cancelled: 0 }
        );
        let mut two = call(HedgeVariant::Proposal);
        assert_eq!(two.poll(Time(100), false), Some(2));
        assert_eq!(two.ended(Time(110), no), HedgeOutcome::GoOn);
        assert_eq!((two.timer(), two.poll(Time(900), false)), (None, None));
        assert_eq!(
            two.ended(Time(120), CopyEnd::Ok),
            HedgeOutcome::Commit { cancelled: 0 }
        );
        assert_eq!(two.ended(Time(121), CopyEnd::Ok), HedgeOutcome::Late);
    }

    #[test]
    fn a_throttled_call_sends_no_further_copy() {
        let mut call = call(HedgeVariant::Proposal);
        assert_eq!(call.poll(Time(100), true), None);
        assert_eq!(call.poll(Time(200), false), None);
        let end = call.ended(Time(300), CopyEnd::NonFatal(None));
        assert_eq!(end, HedgeOutcome::Commit { cancelled: 0 });
    }
}
