//! Which calls share a breaker, a budget, a bulkhead, a rate limit.

use seawall::{Scope, Scopes};
use serde_json::Value as Json;

use crate::scenario::problem::Problems;
use crate::scenario::tree::{Node, Value};
use crate::scenario::written::{
    Chosen, Defs, Layered, Tag, Whole, Written, described, itself, mirror, open_choice,
    schema_of_choice, written_map,
};

mirror! {
    /// Which calls share one of what the policy has; by default all of the process.
    Scopes as "Scopes" {
        /// Of the breaker.
        breaker: Scope = "process",
        /// Of the retry budget; not `host`, since a retry may go to another one.
        budget: Scope = "process",
        /// Of the bulkhead and its limiter.
        bulkhead: Scope = "process",
        /// Of the rate limit.
        rate_limit: Scope = "process",
    }
}

/// How many keys are told apart when nobody says.
const USUAL_CAP: u16 = 1000;

const HOST: &str =
    "Attempts to the same replica. The balancer passes over replicas whose breaker refuses.";
const OPERATION: &str = "Calls of the same operation.";
const TENANT: &str = "Calls on behalf of the same client, however many services are in between.";

const fn word(name: &'static str, doc: &'static str) -> Tag {
    Tag {
        name,
        doc,
        payload: false,
    }
}

const WORDS: &[Tag] = &[
    word("process", "All calls of the process."),
    word("host", HOST),
    word("operation", OPERATION),
    word("tenant", TENANT),
];

const fn capped(name: &'static str, doc: &'static str) -> Tag {
    Tag {
        name,
        doc,
        payload: true,
    }
}

const CAPPED: &[Tag] = &[
    capped("host", HOST),
    capped("operation", OPERATION),
    capped("tenant", TENANT),
];

#[derive(Clone, Debug)]
struct Cap {
    cap: u32,
}

mirror! {
    /// How many keys are told apart.
    Cap as "ScopeCap" [cap] {
        /// Keys with an entry of their own, at most 65535; all beyond share one.
        cap: Whole<1> = 1000,
    }
}

fn scope_of(index: usize, cap: u16) -> Option<Scope> {
    match index {
        0 => Some(Scope::Host { cap }),
        1 => Some(Scope::Operation { cap }),
        2 => Some(Scope::Tenant { cap }),
        _ => None,
    }
}

impl Written for Scope {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        if !matches!(node.value, Value::Map(_)) {
            return match open_choice(node, WORDS, false, problems)? {
                Chosen::Word(0) => Some(Scope::Process),
                Chosen::Word(index) => scope_of(index - 1, USUAL_CAP),
                _ => None,
            };
        }
        match open_choice(node, CAPPED, false, problems)? {
            Chosen::Payload(index, below) => {
                let Cap { cap } =
                    problems.within(CAPPED[index].name, |problems| Cap::decode(below, problems))?;
                let Ok(cap) = u16::try_from(cap) else {
                    problems.report(below.at, format!("a cap of at most 65535, got {cap}"));
                    return None;
                };
                scope_of(index, cap)
            }
            _ => None,
        }
    }

    fn schema(defs: &mut Defs) -> Json {
        defs.define::<Self>("Scope", |defs| {
            let cap = Cap::schema(defs);
            let capped = CAPPED
                .iter()
                .map(|tag| (tag.name.to_string(), described(tag.doc, cap.clone())));
            let capped = Json::Object(capped.collect());
            schema_of_choice("Which calls share one.", WORDS, capped, None)
        })
    }
}

impl Layered for Scope {
    fn write(&self) -> Value {
        let (name, cap) = match *self {
            Scope::Process => return Value::String("process".into()),
            Scope::Host { cap } => ("host", cap),
            Scope::Operation { cap } => ("operation", cap),
            Scope::Tenant { cap } => ("tenant", cap),
        };
        let cap = Cap {
            cap: u32::from(cap),
        };
        written_map([(name, cap.write())])
    }
}

itself!(Scope);
