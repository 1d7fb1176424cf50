//! The waiting room of a replica.

use seawall::Span;
use seawall::shed::Codel;

use super::law::LawFile;
use crate::scenario::context::Context;
use crate::scenario::model::{Discipline, Queue, Waiting};
use crate::scenario::tree::At;
use crate::scenario::written::{Limit, Whole, choice, record};

record! {
    /// The waiting room of a replica. A bare number is its capacity.
    pub(crate) struct QueueFile [capacity] {
        /// Places, not counting those in service; an attempt that finds none is refused at once.
        capacity: Limit<0> = "unlimited",
        /// Who is next.
        discipline: DisciplineFile = "fifo",
        /// Drops jobs that have waited too long while the queue is too slow, when their turn comes.
        codel: Option<CodelFile>,
        /// How long a job may wait; it is refused in that very instant. Without: for ever.
        max_wait: Option<At<LawFile>>,
        /// How long the service asks those to stay away that it refuses for want of room or time. By default it
        /// does not ask.
        retry_after: Option<Span>,
    }
}

choice! {
    /// Who is next.
    pub(crate) enum DisciplineFile {
        /// Longest waiting first.
        fifo => Fifo,
        /// Shortest waiting first.
        lifo => Lifo,
        /// Longest waiting first, but a job whose deadline has passed is dropped instead of started.
        deadline_drop => DeadlineDrop,
        /// Any of them, with the same probability.
        siro => Siro,
        /// The most important first (`priority` of the call), among equals the longest waiting. Who has a worker
        /// keeps it.
        priority => Priority,
        /// One client after the other, of each the longest waiting. A job is the client's whose iteration caused
        /// it, however many services lie between.
        fair => Fair,
        /// Longest waiting first while few wait, shortest waiting first otherwise.
        adaptive_lifo => AdaptiveLifo(AdaptiveLifoFile),
    }
}

record! {
    /// When the order turns round. A bare number is `above`.
    pub(crate) struct AdaptiveLifoFile [above] {
        /// While more than so many wait at the replica, the shortest waiting goes first.
        above: Whole<0>,
    }
}

record! {
    /// Controlled delay as folly does it: an interval is overloaded when the smallest wait of the one before was
    /// above `target`; then jobs that waited more than twice the target are dropped.
    pub(crate) struct CodelFile {
        /// The wait that is good enough, above 0s and below the interval.
        target: At<Span> = "5ms",
        /// How long the smallest wait is looked for.
        interval: Span = "100ms",
    }
}

impl QueueFile {
    pub(crate) fn mean(&self) -> Queue {
        let discipline = match &self.discipline {
            DisciplineFile::Fifo => Discipline::Fifo,
            DisciplineFile::Lifo => Discipline::Lifo,
            DisciplineFile::DeadlineDrop => Discipline::DeadlineDrop,
            DisciplineFile::Siro => Discipline::Siro,
            DisciplineFile::Priority => Discipline::Priority,
            DisciplineFile::Fair => Discipline::Fair,
            DisciplineFile::AdaptiveLifo(lifo) => Discipline::AdaptiveLifo {
                above: lifo.above.0,
            },
        };
        Queue {
            capacity: self.capacity.0,
            discipline,
        }
    }

    /// What bounds waits, if anything does.
    pub(super) fn waiting(&self, unbounded: bool, context: &mut Context<'_>) -> Option<Waiting> {
        if let (true, Some(law)) = (unbounded, &self.max_wait) {
            context.report(
                law.at,
                "max_wait: nobody waits where workers are unlimited; give it a `concurrency`",
            );
        }
        if let Some(codel) = &self.codel {
            let Span(target) = codel.target.value;
            if target == 0 || codel.target.value >= codel.interval {
                let message = format!(
                    "must be above 0s and below the interval ({})",
                    codel.interval
                );
                context.within("queue.codel.target", |context| {
                    context.report(codel.target.at, message)
                });
            }
        }
        let max_wait = self
            .max_wait
            .as_ref()
            .and_then(|law| context.within("queue.max_wait", |context| law.value.mean(context)));
        let codel = self.codel.as_ref().map(|codel| Codel {
            interval: codel.interval,
            target: codel.target.value,
        });
        (codel.is_some() || max_wait.is_some() || self.retry_after.is_some()).then_some(Waiting {
            codel,
            max_wait,
            retry_after: self.retry_after,
        })
    }
}
