//! In which order a call passes the parts of its policy, and what is tried again though this side refused it.

use seawall::{Layer, Order, Refusal, RefusalSet};
use serde_json::{Value as Json, json};

use crate::scenario::problem::Problems;
use crate::scenario::tree::{Node, Position, Value};
use crate::scenario::written::{
    Chosen, Defs, Layered, Several, Tag, Written, described, itself, open_choice, words,
};

words! {
    /// A part of a policy, as something that surrounds the parts inside it.
    Layer, "Layer" {
        "total_timeout" => Layer::TotalTimeout, "The limit of the deadline, which counts from the instant in which it is passed.";
        "retry" => Layer::Retry, "Retries: what is outside is passed once per call and kept, what is inside once per try.";
        "rate_limit" => Layer::RateLimit, "The rate limit.";
        "breaker" => Layer::Breaker, "The breaker: outside retry it counts calls, inside it attempts.";
        "bulkhead" => Layer::Bulkhead, "The bulkhead: outside retry a permit is held during backoff, inside it is not.";
        "attempt_timeout" => Layer::AttemptTimeout, "The attempt timeout: waits of layers inside it are part of the attempt.";
    }
}

/// A peer's order, by name.
const PEERS: &[Tag] = &[
    peer(
        "resilience4j",
        "Its Spring aspects: retry, breaker, rate limiter, time limiter, bulkhead.",
    ),
    peer(
        "dotnet-standard",
        "AddStandardResilienceHandler: limiter, total timeout, retry, breaker, attempt timeout.",
    ),
    peer(
        "envoy",
        "Filters, route timeout, retries, then what the cluster bounds per attempt.",
    ),
    peer(
        "finagle",
        "Total timeout, retries, failure accrual, the attempt's timeout, the pool.",
    ),
];

const fn peer(name: &'static str, doc: &'static str) -> Tag {
    Tag {
        name,
        doc,
        payload: false,
    }
}

impl Written for Order {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        if matches!(node.value, Value::Seq(_)) {
            let layers = Several::<Layer>::decode(node, problems)?;
            return Some(Order::of(&layers.0));
        }
        match open_choice(node, PEERS, false, problems)? {
            Chosen::Word(0) => Some(Order::resilience4j()),
            Chosen::Word(1) => Some(Order::dotnet_standard()),
            Chosen::Word(2) => Some(Order::envoy()),
            Chosen::Word(3) => Some(Order::finagle()),
            _ => None,
        }
    }

    fn schema(defs: &mut Defs) -> Json {
        defs.define::<Self>("Order", |defs| {
            let mut any_of: Vec<Json> = (PEERS.iter())
                .map(|peer| described(peer.doc, json!({ "const": peer.name })))
                .collect();
            let listed = Several::<Layer>::schema(defs);
            any_of.push(described(
                "Layers, outermost first: each part that the policy has, once.",
                listed,
            ));
            let doc = "In which order a call passes the parts of its policy.";
            described(doc, json!({ "anyOf": any_of }))
        })
    }
}

impl Layered for Order {
    fn write(&self) -> Value {
        listed(self.layers().iter())
    }
}

itself!(Order);

words! {
    /// Something that this side refuses, and that a retry outside of it may try again.
    Refusal, "Refusal" {
        "breaker_open" => Refusal::BreakerOpen, "The breaker refuses.";
        "bulkhead_full" => Refusal::BulkheadFull, "There is no permit, or none came in time.";
        "rate_limited" => Refusal::RateLimited, "The rate limit refuses.";
    }
}

const ALL_OR_NONE: &[Tag] = &[
    peer("none", "What this side refuses is final."),
    peer("all", "Whatever a layer inside retry refuses."),
];

impl Written for RefusalSet {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        if matches!(node.value, Value::Seq(_)) {
            let refusals = Vec::<Refusal>::decode(node, problems)?;
            return Some(RefusalSet::of(&refusals));
        }
        match open_choice(node, ALL_OR_NONE, false, problems)? {
            Chosen::Word(0) => Some(RefusalSet::NONE),
            Chosen::Word(1) => Some(RefusalSet::ALL),
            _ => None,
        }
    }

    fn schema(defs: &mut Defs) -> Json {
        defs.define::<Self>("Refusals", |defs| {
            let mut any_of: Vec<Json> = (ALL_OR_NONE.iter())
                .map(|word| described(word.doc, json!({ "const": word.name })))
                .collect();
            any_of.push(Vec::<Refusal>::schema(defs));
            described(
                "What this side refuses and is tried again.",
                json!({ "anyOf": any_of }),
            )
        })
    }
}

impl Layered for RefusalSet {
    fn write(&self) -> Value {
        match *self {
            RefusalSet::NONE => Value::String("none".into()),
            RefusalSet::ALL => Value::String("all".into()),
            some => listed(some.iter().collect::<Vec<_>>().iter()),
        }
    }
}

itself!(RefusalSet);

fn listed<'a, T: Layered + 'a>(items: impl Iterator<Item = &'a T>) -> Value {
    let node = |item: &T| Node {
        value: item.write(),
        at: Position::default(),
    };
    Value::Seq(items.map(node).collect())
}
