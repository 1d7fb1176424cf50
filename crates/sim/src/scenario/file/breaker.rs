//! The breaker and the bulkhead of a policy.

use seawall::{
    Breaker, BreakerRule, Bulkhead, Counts, FailureKind, FailureSet, Rates, Span, Window,
};
use serde_json::json;

use crate::scenario::problem::Problems;
use crate::scenario::tree::{Node, Value};
use crate::scenario::written::{Defs, Kinds, Share, Whole, Written, record, words};

record! {
    /// A circuit breaker. Closed: results go into the window; once it holds `minimum_calls`, a failure rate
    /// of at least `failure_rate`, or a slow rate of at least `slow_rate`, opens it. Open: everything is
    /// refused for `open_for`. Half-open: `half_open_calls` trials decide by the same thresholds.
    pub(crate) struct BreakerFile {
        /// What the rates are taken over: so many results (100), or the results of so much time ("10s").
        window: Window = 100,
        /// Share of failures that opens it, above 0.
        failure_rate: Share = "50%",
        /// Share of slow results that opens it, above 0. Without: slowness is ignored.
        slow_rate: Option<Share>,
        /// A result slower than this is slow.
        slow_after: Span = "1min",
        /// Results needed before any rate is believed. Default: 100, or as many as the window counts if
        /// that is fewer.
        minimum_calls: Option<Whole<1>>,
        /// How long it stays open.
        open_for: Span = "1min",
        /// Trials let through when half-open.
        half_open_calls: Whole<1> = 10,
        /// Whether each attempt is one result, or each call.
        counts: Counts = "attempts",
        /// Kinds that count as failures. By default all but those that are the caller's fault: conflict,
        /// permission_denied, invalid, cancelled.
        on: Option<Kinds>,
        /// Kinds that are no result at all.
        ignored: Option<Kinds>,
    }
}

record! {
    /// A bound on calls in flight, with a bounded waiting room in front.
    pub(crate) struct BulkheadFile [max_in_flight] {
        /// Permits.
        max_in_flight: Whole<1>,
        /// Calls that may wait for a permit; 0 refuses at once.
        max_waiting: Whole<0> = 0,
        /// The longest wait for a permit. Without: until the deadline.
        max_wait: Option<Span>,
        /// Whether a call keeps its permit during backoff; if not, it queues anew for each attempt.
        hold_during_backoff: bool = false,
    }
}

words! {
    /// What a policy counts.
    Counts, "Counts" {
        "attempts" => Counts::Attempts, "Each attempt.";
        "calls" => Counts::Calls, "Each call, by how it ended.";
    }
}

impl Written for Window {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        match node.value {
            Value::Number(_) => Whole::<1>::decode(node, problems).map(|n| Window::Count(n.0)),
            _ => Span::decode(node, problems).map(Window::Time),
        }
    }

    fn schema(defs: &mut Defs) -> serde_json::Value {
        json!({ "anyOf": [Whole::<1>::schema(defs), Span::schema(defs)] })
    }
}

impl BreakerFile {
    pub(super) fn mean(&self) -> Breaker {
        let usual = match self.window {
            Window::Count(count) => count.min(100),
            Window::Time(_) => 100,
        };
        Breaker {
            rule: BreakerRule::Rates(Rates {
                window: self.window,
                failure_rate: self.failure_rate.0,
                slow_rate: self.slow_rate.map(|share| share.0),
                slow_after: self.slow_after,
                minimum_calls: self.minimum_calls.map_or(usual, |calls| calls.0),
                open_for: self.open_for,
                half_open_calls: self.half_open_calls.0,
            }),
            ignored: self.ignored.map_or(FailureSet::NONE, |kinds| kinds.0),
            counts: self.counts,
            on: self.on.map_or_else(not_the_callers_fault, |kinds| kinds.0),
        }
    }
}

fn not_the_callers_fault() -> FailureSet {
    let callers = FailureSet::of(&[
        FailureKind::Conflict,
        FailureKind::PermissionDenied,
        FailureKind::Invalid,
        FailureKind::Cancelled,
    ]);
    let others = FailureKind::ALL
        .iter()
        .copied()
        .filter(|&kind| !callers.contains(kind));
    others.fold(FailureSet::NONE, FailureSet::with)
}

impl BulkheadFile {
    pub(super) fn mean(&self) -> Bulkhead {
        Bulkhead {
            max_in_flight: self.max_in_flight.0,
            queue_from: None,
            max_waiting: self.max_waiting.0,
            max_wait: self.max_wait.unwrap_or(Span::MAX),
            hold_during_backoff: self.hold_during_backoff,
        }
    }
}
