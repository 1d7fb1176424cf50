//! The `links` block.

use seawall::Span;

use super::law::LawFile;
use crate::law::Law;
use crate::scenario::context::Context;
use crate::scenario::model::Link;
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
        }
    }
}
