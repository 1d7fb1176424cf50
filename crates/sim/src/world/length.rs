//! How long steps of programs take, as the queue sees it.

use crate::event::Event;
use crate::law::Law;
use crate::queue::{EventQueue, Lane, Rank};

/// How long a step of a program takes.
#[derive(Clone, Debug)]
pub(super) struct Length {
    pub(super) law: Law,
    /// Where it is always the same.
    pub(super) lane: Option<Lane>,
}

impl Length {
    pub(super) fn new(law: &Law, queue: &mut EventQueue<Event>) -> Length {
        Length {
            law: law.clone(),
            lane: match law {
                Law::Constant(span) => Some(queue.lane(*span, Rank::Normal)),
                _ => None,
            },
        }
    }
}
