//! What bounds calls in flight, and what moves that bound.

use seawall::limiter::{Aimd, Gradient2, SampleWindow, Vegas};
use seawall::{Bulkhead, FailureKind, FailureSet, Limiter, LimiterRule, Span};
use serde_json::Value as Json;

use crate::scenario::problem::Problems;
use crate::scenario::tree::{Node, Value};
use crate::scenario::written::{
    Bound, Defs, Fields, Key, Kinds, Layered, Opt, Ratio, Share, Tagged, Whole, Written, described,
    itself, lay_key, members, mirror, schema_of_record, unfold, written_map,
};

mirror! {
    /// A bound on calls in flight, with a bounded waiting room in front.
    Bulkhead as "Bulkhead" [max_in_flight] {
        /// Permits; with a limiter, the most that it may give.
        max_in_flight: Whole<1>,
        /// Calls in flight from which on others line up first, and go in flight only when the line is full:
        /// the core size of a thread pool with a queue. Without: `max_in_flight`.
        queue_from: Opt<Whole<1>> = "none",
        /// Calls that may wait for a permit; 0 refuses at once.
        max_waiting: Whole<0> = 0,
        /// The longest wait for a permit; the deadline bounds it as well.
        max_wait: Bound = "unlimited",
        /// Whether a call keeps its permit during backoff; if not, it queues anew for each attempt. Without: as `order`
        /// has it, and without one it does not.
        hold_during_backoff: Opt<bool> = "none",
    }
}

members! {
    /// How a limiter moves.
    LimiterRule as "LimiterRule" {
        /// Up by one, down by a share.
        aimd: Aimd [LimiterRule::Aimd(it)] [it],
        /// By the ratio of long-term to latest latency.
        gradient2: Gradient2 [LimiterRule::Gradient2(it)] [it],
        /// By the queue that latency betrays.
        vegas: Vegas [LimiterRule::Vegas(it)] [it],
    }
}

mirror! {
    /// Additive increase, multiplicative decrease: a drop or an answer later than `timeout` takes the limit
    /// times `backoff_ratio`; any other adds 1 if at least half the limit is in flight.
    Aimd as "AimdLimiter" {
        /// The limit at first.
        initial: Whole<0> = 20,
        /// The least limit, at least 1.
        min: Whole<0> = 20,
        /// The greatest limit.
        max: Whole<0> = 200,
        /// Part of the limit that a drop leaves, 0.5 to below 1.
        backoff_ratio: Ratio = 0.9,
        /// Answers later than this are drops, above 0s.
        timeout: Span = "5s",
    }
}

mirror! {
    /// Netflix' Gradient2Limit: the limit times the ratio of long-term to latest latency, plus a queue.
    Gradient2 as "Gradient2Limiter" {
        /// The limit at first.
        initial: Whole<0> = 20,
        /// The least limit, at least 1.
        min: Whole<0> = 20,
        /// The greatest limit.
        max: Whole<0> = 200,
        /// How much of each new limit is taken over.
        smoothing: Share = 0.2,
        /// rttTolerance: how many times the long-term latency is no sign of a queue, at least 1.
        tolerance: f64 = 1.5,
        /// longWindow: samples that make up the long-term latency.
        long_window: Whole<0> = 600,
        /// queueSize to allow for.
        queue: Whole<0> = 4,
    }
}

mirror! {
    /// Netflix' VegasLimit: keeps the queue that latency above its minimum betrays within bounds.
    Vegas as "VegasLimiter" {
        /// The limit at first.
        initial: Whole<0> = 20,
        /// maxConcurrency.
        max: Whole<0> = 1000,
        /// How much of each new limit is taken over.
        smoothing: Share = 1,
        /// How many times the limit, in samples, the minimum of latency is believed.
        probe_multiplier: Whole<0> = 30,
    }
}

mirror! {
    /// Netflix' WindowedLimit: the limiter sees the mean of a window of answers instead of each. A bare length is `min`.
    SampleWindow as "SampleWindow" [min] {
        /// minWindowTime, at least 100ms.
        min: Span = "1s",
        /// maxWindowTime; a window lasts twice the least latency, between `min` and this. Default: 1s, or `min` where that is
        /// longer.
        max: Span => min.max(SampleWindow::default().max),
        /// windowSize: answers without which a window is forgotten, at least 10.
        samples: Whole<10> = 10,
        /// minRttThreshold: faster answers are not looked at.
        min_rtt: Span = "100us",
    }
}

/// What the service drops, seen from its caller.
fn drops() -> FailureSet {
    FailureSet::of(&[
        FailureKind::Timeout,
        FailureKind::Unavailable,
        FailureKind::Overloaded,
        FailureKind::DeadlineExceeded,
    ])
}

impl Written for Limiter {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        const KEYS: &[Key] = &[Key::of("dropped"), Key::of("window")];
        let mut fields = Fields::open(node, KEYS, LimiterRule::TAGS, None, problems)?;
        let dropped: Option<Option<Kinds>> = fields.take(None);
        let window: Option<Option<Opt<SampleWindow>>> = fields.take(None);
        let rule = fields.rest();
        Some(Limiter {
            dropped: dropped?.map_or_else(drops, |kinds| kinds.0),
            window: window?.and_then(|window| window.0),
            rule: rule?,
        })
    }

    fn schema(defs: &mut Defs) -> Json {
        defs.define::<Self>("Limiter", |defs| {
            let doc = "Kinds of failure that are drops; any other failure tells nothing. By default \
                timeout, unavailable, overloaded and deadline_exceeded.";
            let dropped = described(doc, Kinds::schema(defs));
            let doc = "What is gathered before the limiter moves; without, it moves with every answer.";
            let window = described(doc, Opt::<SampleWindow>::schema(defs));
            let keys = vec![("dropped", false, None, dropped), ("window", false, None, window)];
            let rule = LimiterRule::schema_of_tags(defs);
            let doc = "What moves the permits of the bulkhead: latency and drops of attempts.";
            schema_of_record(doc, keys, Some(rule), None)
        })
    }
}

impl Layered for Limiter {
    fn write(&self) -> Value {
        let mut rule = self.rule.write();
        let others = written_map([
            ("dropped", Kinds(self.dropped).write()),
            ("window", Opt(self.window).write()),
        ]);
        if let (Value::Map(rule), Value::Map(others)) = (&mut rule, others) {
            rule.extend(others);
        }
        rule
    }

    fn lay(own: &mut Node, base: &Node) {
        unfold(own, None);
        lay_key(own, base, "dropped", |_, _| {});
        lay_key(own, base, "window", Opt::<SampleWindow>::lay);
        lay_tag::<LimiterRule>(own, base);
    }
}

itself!(Limiter);

/// Lays the one key of `own` that is a tag of `T`, if `base` has the same or `own` has none.
pub(super) fn lay_tag<T: Tagged + Layered>(own: &mut Node, base: &Node) {
    let tag_of = |node: &Node| match &node.value {
        Value::Map(entries) => {
            let known = |name: &str| T::TAGS.iter().any(|tag| tag.name == name);
            entries.iter().find(|(key, _)| known(&key.value)).cloned()
        }
        _ => None,
    };
    let Some((key, below)) = tag_of(base) else {
        return;
    };
    match tag_of(own) {
        Some((other, _)) if other.value != key.value => {}
        _ => lay_key(own, base, &key.value, |own, _| {
            let wrap = |node: &Node| Node {
                value: Value::Map(vec![(key.clone(), node.clone())]),
                at: node.at,
            };
            let mut both = wrap(own);
            T::lay(&mut both, &wrap(&below));
            if let Some(laid) = both.get(&key.value) {
                *own = laid.clone();
            }
        }),
    }
}
