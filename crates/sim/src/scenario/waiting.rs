//! Who waits for a worker of a replica, who is next, and who is let go.

use seawall::Span;
use seawall::shed::Codel;

use crate::law::Law;

/// A replica's waiting room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Places, not counting those in service; `None` is unlimited.
    pub capacity: Option<u32>,
    /// Who is next.
    pub discipline: Discipline,
}

/// Who is next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discipline {
    /// Longest waiting first.
    #[default]
    Fifo,
    /// Shortest waiting first.
    Lifo,
    /// Longest waiting first, but a job whose deadline has passed is dropped instead of started.
    DeadlineDrop,
    /// Any of them, with the same probability.
    Siro,
    /// The most important first; among equals, the longest waiting.
    Priority,
    /// One client population after the other, each known by the iteration that caused the request, however many
    /// services lie between; of each, the longest waiting.
    Fair,
    /// Shortest waiting first while more than `above` wait, longest waiting first otherwise.
    AdaptiveLifo {
        /// How many may wait in turn.
        above: u32,
    },
}

/// What else bounds a wait.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    /// Jobs that have waited too long while the queue is too slow are dropped when their turn comes.
    pub codel: Option<Codel>,
    /// A job that has waited so long is refused, in that very instant.
    pub max_wait: Option<Law>,
    /// How long the service asks those to stay away that it refuses for want of room or time.
    pub retry_after: Option<Span>,
}
