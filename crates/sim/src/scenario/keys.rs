//! Whether those who send idempotency keys and those who read them go together, and whoever asks what was done asks about something.

use super::context::Context;
use super::effects::KeySent;
use super::fallbacks::Instead;
use crate::step::Compiled;

/// Reports keys that nobody reads, stores that nobody sends a key to, and look-ups of nothing.
pub(super) fn check(compiled: &Compiled, context: &mut Context<'_>) {
    let effects = &compiled.effects;
    let mut asked = vec![false; effects.stores.len()];
    let sites = compiled.sites.iter().zip(&effects.sends);
    for ((site, sends), place) in sites.zip(&compiled.places) {
        let service = compiled.edges[site.edge as usize].service;
        let store = effects
            .of(service, site.operation)
            .and_then(|rules| rules.store);
        match store {
            Some(store) => {
                asked[store as usize] |= sends.says_key;
                if sends.changes_body && !effects.stores[store as usize].fingerprint {
                    let message = "body: nobody looks at it: the key's `fingerprint` is false";
                    context.report(*place, message);
                }
            }
            None if sends.key != KeySent::None => {
                let message = "key: nobody reads it: the operation has no `idempotency`";
                context.report(*place, message);
            }
            None => {}
        }
    }
    let rules = compiled.fallbacks.rules.iter().zip(&compiled.sites);
    for ((rule, site), place) in rules.zip(&compiled.places) {
        let service = compiled.edges[site.edge as usize].service;
        let touches = effects.of(service, site.operation);
        let looked_up = rule.is_some_and(|rule| rule.instead == Instead::LookUp);
        if looked_up && touches.is_none_or(|rules| rules.touches.is_empty()) {
            let message = "fallback.look_up: there is nothing to look up: the operation does nothing that stays (`effect`)";
            context.report(*place, message);
        }
    }
    for ((store, place), asked) in effects.stores.iter().zip(&compiled.stores).zip(asked) {
        if !asked {
            let message = format!(
                "idempotency of `{}`: no call says which key it sends; write `key: per_call` (or `none`) there",
                store.name
            );
            context.report(*place, message);
        }
    }
}
