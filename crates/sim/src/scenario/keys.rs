//! Whether those who send idempotency keys and those who read them go together.

use super::context::Context;
use super::effects::KeySent;
use crate::step::Compiled;

/// Reports keys that nobody reads, and stores that nobody sends a key to.
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
