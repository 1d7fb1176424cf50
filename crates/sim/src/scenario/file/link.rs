//! The `links` block.

use std::sync::Arc;

use seawall::Span;

use super::law::LawFile;
use super::phases::PhasesFile;
use super::pool::PoolFile;
use crate::law::Law;
use crate::scenario::context::Context;
use crate::scenario::model::Link;
use crate::scenario::passage::Passage;
use crate::scenario::tree::At;
use crate::scenario::written::{Share, record};

record! {
    /// A way between caller and service, taken by requests and by responses.
    pub(crate) struct LinkFile {
        /// One way.
        delay: LawFile = "0s",
        /// Probability that a request vanishes: the service never sees it.
        lose_request: Share = 0,
        /// Probability that a response vanishes: the service did the work.
        lose_response: Share = 0,
        /// What takes an attempt time besides. Without: nothing.
        phases: Option<PhasesFile>,
        /// Connections that are kept. Without: where there are `phases`, each attempt opens one of its own.
        pool: Option<PoolFile>,
        /// The credential that an attempt needs before it may be sent. Default: none.
        credential: Option<At<String>>,
    }
}

impl LinkFile {
    pub(crate) fn mean(&self, name: &str, context: &mut Context<'_>) -> Link {
        let delay = context.within("delay", |context| self.delay.mean(context));
        Link {
            name: name.into(),
            delay: delay.unwrap_or(Law::Constant(Span::ZERO)),
            lose_request: self.lose_request.0,
            lose_response: self.lose_response.0,
            passage: self.passage(context),
        }
    }

    fn passage(&self, context: &mut Context<'_>) -> Option<Arc<Passage>> {
        if self.phases.is_none() && self.pool.is_none() && self.credential.is_none() {
            return None;
        }
        let phases = self.phases.as_ref();
        let phases = phases.map(|phases| context.within("phases", |context| phases.mean(context)));
        let pool = self.pool.as_ref();
        Some(Arc::new(Passage {
            phases: phases.unwrap_or_default(),
            pool: pool.map(|pool| context.within("pool", |context| pool.mean(context))),
            credential: self
                .credential
                .as_ref()
                .and_then(|name| context.credential(name)),
        }))
    }
}
