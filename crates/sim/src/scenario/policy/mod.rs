//! The `policies` block: every field of [`seawall::Spec`] under a key of its own.

mod backoff;
mod breaker;
mod budget;
pub(crate) mod extends;
mod hedge;
mod limits;
mod order;
mod preset;
mod rate_limit;
mod retry;
mod scope;
pub(crate) mod settings;

use seawall::{
    Breaker, Budget, Bulkhead, Deadline, Hedge, Jitter, Limiter, Order, Preset, RateLimit, Retry,
    Scopes, Span, Spec, SpecError,
};

use super::context::Context;
use super::tree::{Node, Position, Value};
use super::written::{Opt, mirror};

mirror! {
    /// What each process of a caller does about its calls to one service.
    Spec as "Policy" {
        /// The absolute deadline of a call; a bare length is its `limit`.
        deadline: Deadline => Deadline::default(),
        /// The longest one attempt may take; without, the deadline alone bounds it.
        attempt_timeout: Opt<Span> = "none",
        /// How the timeout of each attempt is spread, given `attempt_timeout` as its cap; not decorrelated. Needs one, and neither
        /// `order` nor `hedge`.
        attempt_timeout_jitter: Jitter = "none",
        /// When, how often and how soon to try again. Without: never.
        retry: Retry => Retry::default(),
        /// Copies of a call that do not wait for each other; takes the place of retries. Only what is idempotent is hedged.
        hedge: Opt<Hedge> = "none",
        /// What bounds retries over all calls of a process.
        budget: Budget = "none",
        /// What stops calls to a service that is failing.
        breaker: Opt<Breaker> = "none",
        /// What bounds calls in flight.
        bulkhead: Opt<Bulkhead> = "none",
        /// What moves the number of permits of the bulkhead.
        limiter: Opt<Limiter> = "none",
        /// What bounds how often attempts are sent.
        rate_limit: Opt<RateLimit> = "none",
        /// In which order a call passes these parts: a library's, or layers, outermost first. Without: total timeout,
        /// retry, rate limit, breaker, bulkhead, attempt timeout, as far as `breaker.counts` and
        /// `bulkhead.hold_during_backoff` do not say otherwise.
        order: Opt<Order> = "none",
        /// Which calls share a breaker, a budget, a bulkhead, a rate limit.
        scope: Scopes => Scopes::default(),
    }
    also {
        /// Another policy whose keys hold where this one does not say otherwise.
        extends: String,
        /// A library whose documented defaults hold where neither this policy nor one it extends says
        /// otherwise.
        preset: Preset,
    }
}

mirror! {
    /// The absolute deadline of a call: the earliest of now + `limit` and, with `inherit`, the caller's
    /// deadline less `slack`; with neither, now + `default`.
    Deadline as "Deadline" [limit] {
        /// The longest a call may take. Without: no limit of its own.
        limit: Opt<Span> = "none",
        /// The longest a call may take when there is no limit and the caller sent no deadline.
        default: Opt<Span> = "none",
        /// Whether the caller's deadline, when shorter, wins.
        inherit: bool = true,
        /// Time kept back from an inherited deadline for the way home.
        slack: Span = "0s",
        /// Whether attempts carry the deadline to the service.
        propagate: bool = true,
    }
}

/// A policy checked by the engine; `node` is where it is written.
pub(crate) fn mean(spec: &Spec, node: &Node, context: &mut Context<'_>) -> seawall::Policy {
    spec.check().unwrap_or_else(|errors| {
        for SpecError { field, message } in errors {
            let at = place(node, field);
            context.within(field, |context| context.report(at, message));
        }
        seawall::Policy::default()
    })
}

/// Where the engine's `field` is written: as far down its path as there are keys.
fn place(node: &Node, field: &str) -> Position {
    let mut node = node;
    for part in field.split('.') {
        // The scenario says some things in other words, and puts a tag above each of several kinds.
        let words: &[&str] = match part {
            "ratio" => &["percent", "ratio", "plusminus"],
            "floor_per_sec" => &["floor"],
            "period" => &["rate"],
            _ => &[part],
        };
        let tagged = match &node.value {
            Value::Map(entries) => entries.as_slice(),
            _ => &[],
        };
        let tagged = tagged.iter().map(|(_, below)| below);
        let mut places = std::iter::once(node).chain(tagged);
        match places.find_map(|place| words.iter().find_map(|word| place.get(word))) {
            Some(below) => node = below,
            None => break,
        }
    }
    node.at
}
