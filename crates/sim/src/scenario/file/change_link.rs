//! The fault that takes calls over another link.

use std::sync::Arc;

use crate::scenario::context::Context;
use crate::scenario::model::{Fault, FaultKind, Link};
use crate::scenario::tree::At;
use crate::scenario::written::record;

record! {
    /// Which link, and what takes its place.
    pub(crate) struct ChangeLinkFile {
        /// The link.
        link: At<String>,
        /// The link that takes its place: its `delay`, losses and `phases`. Connections and credentials stay those of the
        /// link that is replaced.
        to: At<String>,
    }
}

impl ChangeLinkFile {
    pub(crate) fn mean(&self, links: &[Link], context: &mut Context<'_>) -> Option<FaultKind> {
        let (link, to) = (context.link(&self.link), context.link(&self.to));
        let (link, to) = (link?, to?);
        let mut refuse = |message: String| {
            context.within("change_link.to", |c| c.report(self.to.at, message));
        };
        if link == to {
            refuse(format!("`{}` is the link that it replaces", self.to.value));
        }
        let passage = links
            .get(to as usize)
            .and_then(|link| link.passage.as_deref());
        if passage.is_some_and(|passage| passage.pool.is_some() || passage.credential.is_some()) {
            refuse(format!(
                "`{}` has a `pool` or a `credential` of its own; what takes the place of a link says how the way is: \
                 `delay`, `lose_request`, `lose_response` and `phases`",
                self.to.value
            ));
        }
        Some(FaultKind::ChangeLink { link, to })
    }
}

/// Attempts go leg by leg over a link whose place may be taken by one that has legs.
pub(crate) fn prepare(links: &mut [Link], faults: &[Fault]) {
    for fault in faults {
        if let FaultKind::ChangeLink { link, to } = fault.kind
            && links[to as usize].passage.is_some()
        {
            links[link as usize]
                .passage
                .get_or_insert_with(Arc::default);
        }
    }
}
