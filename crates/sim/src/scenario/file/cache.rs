//! The fault that empties caches, as written.

use crate::scenario::context::Context;
use crate::scenario::model::FaultKind;
use crate::scenario::tree::At;
use crate::scenario::written::{Limit, Share, record};

record! {
    /// Whose caches, and how much of them. A bare word is the service.
    pub(crate) struct EmptyCacheFile [service] {
        /// The service.
        service: At<String>,
        /// The share of entries; each is lost with this chance.
        share: Share = "100%",
        /// Those of the first so many replicas; `unlimited` is all. Not for a cache that all replicas share.
        replicas: At<Limit<1>> = "unlimited",
    }
}

impl EmptyCacheFile {
    pub(super) fn mean(&self, context: &mut Context<'_>) -> Option<FaultKind> {
        let service = context.service(&self.service)?;
        let own = context.names.caches.iter().filter(|(of, _)| *of == service);
        let (all, shared) = (
            own.clone().count(),
            own.filter(|(_, shared)| *shared).count(),
        );
        let replicas = self.replicas.value.0;
        if all == 0 {
            let message = format!("`{}` has no `cache` step", self.service.value);
            context.within("empty_cache", |c| c.report(self.service.at, message));
        } else if shared == all && replicas.is_some() {
            let message = format!(
                "the replicas of `{}` share one cache; leave this out",
                self.service.value
            );
            context.within("empty_cache.replicas", |c| {
                c.report(self.replicas.at, message)
            });
        }
        Some(FaultKind::EmptyCache {
            service,
            share: self.share.0,
            replicas: replicas.unwrap_or(u32::MAX),
        })
    }
}
