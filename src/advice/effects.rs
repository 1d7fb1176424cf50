//! Effects that retries double, and keys that do not keep them from it.

use seawall::{FailureKind, Phase};
use sim::scenario::effects::{Claim, Effects, KeySent, Store};
use sim::scenario::model::Caller;

use super::facts::{Facts, Hop};
use super::{Finding, Severity, Trap};

pub(super) const TRAPS: [Trap; 3] = [
    Trap {
        name: "effect-without-key",
        severity: Severity::Mistake,
        seen: "An operation that has an effect is retried after failures that may come after it, and no key tells the \
               service so: none is sent, a new one on each attempt, or a new one for each attempt of a layer above.",
        why: "Every attempt that gets through does it again.",
        source: "requirements C1, C3; istio issue 50506",
        find: without_key,
    },
    Trap {
        name: "key-races",
        severity: Severity::Mistake,
        seen: "Attempts that time out are retried, and the service looks their key up before it writes it \
               (`claim: check_then_act`).",
        why: "The first attempt may be at work still: both see an unknown key, and both do it.",
        source: "requirement C6",
        find: races,
    },
    Trap {
        name: "key-forgotten-early",
        severity: Severity::Mistake,
        seen: "A service forgets keys sooner than a call to it may end.",
        why: "A late retry is a new request, and does it again.",
        source: "requirement C6",
        find: forgotten,
    },
];

/// One call site of a hop, with what is known of keys there.
struct Keyed<'a> {
    key: KeySent,
    store: Option<&'a Store>,
    /// An effect that no key is recorded with.
    bare: Option<&'a str>,
}

fn sites<'a>(facts: &'a Facts<'_>, hop: &'a Hop<'_>) -> impl Iterator<Item = Keyed<'a>> {
    let effects: Option<&Effects> = facts.scenario.effects.as_deref();
    effects.into_iter().flat_map(move |effects| {
        hop.sites.iter().filter_map(move |&site| {
            let operation = facts.scenario.sites[site as usize].operation;
            let rules = effects.of(hop.edge.service, operation)?;
            let semantics = hop.service.operations[operation as usize].semantics;
            let by_key = effects.idempotent(site as usize, hop.edge.service, operation);
            // What is not taken for idempotent is not repeated once it may have been done.
            let repeated = semantics.retryable && by_key.unwrap_or(semantics.idempotent);
            let store = rules.store.map(|store| &effects.stores[store as usize]);
            let bare = rules.touches.iter().find(|effect| {
                let protects = store.and_then(|store| store.protects.as_ref());
                protects.is_none_or(|protects| !protects.contains(effect))
            });
            let bare = bare.or(rules.touches.first());
            repeated.then(|| Keyed {
                key: effects.sends[site as usize].key,
                store,
                bare: bare.map(|&effect| effects.effects[effect as usize].name.as_str()),
            })
        })
    })
}

/// Failures that are retried and may come after the effect.
fn late(hop: &Hop<'_>) -> Vec<&'static str> {
    let kinds = hop.spec.retry.on.iter();
    let late = kinds.filter(|kind| kind.phase() >= Phase::Send && *kind != FailureKind::Overloaded);
    late.filter(|kind| hop.retries_on(*kind))
        .map(FailureKind::name)
        .collect()
}

fn without_key(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in &facts.hops {
        let again = late(hop);
        let above = facts.above(hop).any(|above| !late(above).is_empty());
        let why = sites(facts, hop).find_map(|site| {
            let effect = site.bare?;
            let why = match site.key {
                KeySent::None if !again.is_empty() => "no key is sent",
                KeySent::PerAttempt if !again.is_empty() => "each attempt has a key of its own",
                KeySent::PerCall if above && matches!(hop.edge.caller, Caller::Service(_)) => {
                    "it makes up a new key when its caller tries again; `inherited` is the same"
                }
                _ => return None,
            };
            Some((effect, why))
        });
        let Some((effect, why)) = why else { continue };
        found.push(Finding {
            place: facts.of_call(hop),
            subject: hop.name.clone(),
            reason: format!("a retry does `{effect}` again: {why}"),
            figures: Vec::new(),
            mend: "send one key with all attempts (`key: per_call`, in services `inherited`) to an operation with \
                   `idempotency`, or say `idempotent: false`"
                .into(),
        });
    }
    found
}

fn races(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in facts
        .hops
        .iter()
        .filter(|hop| hop.retries_on(FailureKind::Timeout))
    {
        let racy = sites(facts, hop).find(|site| {
            site.key != KeySent::None && site.store.is_some_and(|s| s.claim == Claim::CheckThenAct)
        });
        if racy.is_none() {
            continue;
        }
        found.push(Finding {
            place: facts.of_call(hop),
            subject: hop.name.clone(),
            reason: format!(
                "an attempt that timed out may still be at work in {} when the next looks up the same key, which is only \
                 written with the answer",
                hop.service.name
            ),
            figures: Vec::new(),
            mend: "claim the key in one step: `claim: atomic`".into(),
        });
    }
    found
}

fn forgotten(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for hop in facts.hops.iter().filter(|hop| !late(hop).is_empty()) {
        let Some(longest) = hop.deadline else {
            continue;
        };
        let keyed = sites(facts, hop).filter(|site| site.key != KeySent::None);
        let short = keyed
            .filter_map(|site| site.store)
            .find(|store| store.retention < longest);
        let Some(store) = short else { continue };
        found.push(Finding {
            place: facts.of_call(hop),
            subject: hop.name.clone(),
            reason: format!(
                "{} forgets a key {} after its answer, and a call may go on trying for {longest}",
                store.name, store.retention
            ),
            figures: vec![
                ("retention_s", store.retention.as_secs_f64()),
                ("deadline_s", longest.as_secs_f64()),
            ],
            mend: format!("remember keys for more than {longest}"),
        });
    }
    found
}
