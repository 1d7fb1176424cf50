//! Message queues: what is sent to such a service is kept, and its workers fetch it.

use seawall::Span;

use super::context::Context;
use super::model::{Discipline, Link, Service};
use crate::law::Law;
use crate::step::Compiled;

/// How the messages of a service are kept and given out.
#[derive(Clone, Debug, PartialEq)]
pub struct Messages {
    /// How long a message is hidden from others once a consumer has it; above 0.
    pub visibility: Span,
    /// Deliveries of one message at most, then it is a dead letter; `None`: as many as it takes.
    pub max_receives: Option<u32>,
    /// What a consumer does with a message that it failed with.
    pub gives_back: GivesBack,
    /// Whose receipt still deletes a message.
    pub receipt: Receipt,
    /// How often a consumer that works has its message hidden for another `visibility`; above 0 and below it.
    pub heartbeat: Option<Span>,
    /// Messages older than this are dropped; above 0.
    pub retention: Option<Span>,
    /// Groups whose messages go one after the other.
    pub groups: Option<Groups>,
}

/// What a consumer does with a message that it failed with.
#[derive(Clone, Debug, PartialEq)]
pub enum GivesBack {
    /// Others see it at once.
    AtOnce,
    /// Others see it so much later.
    After(Law),
    /// Nothing: it comes back when its visibility ends.
    Never,
}

/// Whose receipt still deletes a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// That of a consumer whose visibility has not ended.
    InTime,
    /// The latest, however late.
    Latest,
    /// Any.
    Any,
}

/// Groups of messages, each of which is given out in order and one at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    /// How many, at least 1.
    pub count: u32,
    /// By group: the share of messages that belong to it or one before it; ends with 1. Empty: all alike.
    pub upto: Vec<f64>,
}

impl Service {
    /// How it keeps messages, if it is a message queue: callers are answered before anything is done.
    #[must_use]
    pub fn messages(&self) -> Option<&Messages> {
        self.behaviour.as_ref()?.messages.as_ref()
    }

    /// How those line up who wait at a replica. Where consumers fetch messages these are probes alone, and a free worker asks
    /// who is next whether any of them waits or not.
    pub(crate) fn lines_up_by(&self) -> Discipline {
        match self.messages() {
            Some(_) => Discipline::Priority,
            None => self.queue.discipline,
        }
    }
}

/// Services that keep messages, by index.
pub fn queues(services: &[Service]) -> impl Iterator<Item = u32> {
    let all = (0u32..).zip(services);
    all.filter(|(_, service)| service.messages().is_some())
        .map(|(index, _)| index)
}

/// Reports calls that keep connections to the replicas of a message queue: those fetch for themselves.
pub(super) fn check(
    links: &[Link],
    services: &[Service],
    compiled: &Compiled,
    context: &mut Context<'_>,
) {
    for (site, place) in compiled.sites.iter().zip(&compiled.places) {
        let service = compiled.edges[site.edge as usize].service as usize;
        let (Some(service), Some(link)) = (services.get(service), links.get(site.link as usize))
        else {
            continue;
        };
        if service.messages().is_some() && link.keeps_connections() {
            let message = format!(
                "link `{}` keeps connections to replicas, and who sends to `{}`, which has `messages`, talks to none; \
                 take a link without a `pool`",
                link.name, service.name
            );
            context.report(*place, message);
        }
    }
}
