//! Waiting rooms in which it is not the order of arrival that counts.

use std::collections::{BTreeMap, VecDeque};

use crate::rng::{Purpose, Stream};
use crate::scenario::model::Discipline;
use crate::world::job::Job;
use crate::world::task::What;
use crate::world::{TaskId, World};

/// The jobs that wait at one replica, and ids of jobs that were cancelled meanwhile.
#[derive(Clone, Debug)]
pub(in crate::world) struct Line {
    order: Order,
    len: usize,
}

#[derive(Clone, Debug)]
enum Order {
    /// One of them, drawn anew each time.
    Random(Vec<TaskId>, Stream),
    /// By how important they are, 0 first. Classes stay once they are known, so that nothing is allocated.
    Important(BTreeMap<u8, VecDeque<TaskId>>),
    /// By client, and whose turn it is: each that has somebody waiting is in `turns` once.
    InTurn {
        lines: BTreeMap<u32, VecDeque<TaskId>>,
        turns: VecDeque<u32>,
    },
}

impl Line {
    /// `None` for disciplines that the order of arrival is enough for.
    pub(in crate::world) fn new(
        discipline: Discipline,
        seed: u64,
        service: &str,
        replica: u32,
    ) -> Option<Box<Line>> {
        let order = match discipline {
            Discipline::Siro => {
                let name = format!("{service}#{replica}");
                Order::Random(Vec::new(), Stream::new(seed, Purpose::Turn, &name))
            }
            Discipline::Priority => Order::Important(BTreeMap::new()),
            Discipline::Fair => Order::InTurn {
                lines: BTreeMap::new(),
                turns: VecDeque::new(),
            },
            Discipline::Fifo
            | Discipline::Lifo
            | Discipline::DeadlineDrop
            | Discipline::AdaptiveLifo { .. } => return None,
        };
        Some(Box::new(Line { order, len: 0 }))
    }

    /// All its generators.
    pub(in crate::world) fn streams(&self) -> impl Iterator<Item = (Purpose, &Stream)> {
        let turn = match &self.order {
            Order::Random(_, stream) => Some((Purpose::Turn, stream)),
            Order::Important(_) | Order::InTurn { .. } => None,
        };
        turn.into_iter()
    }

    pub(in crate::world) fn len(&self) -> usize {
        self.len
    }

    pub(in crate::world) fn push(&mut self, id: TaskId, job: &Job) {
        self.len += 1;
        match &mut self.order {
            Order::Random(all, _) => all.push(id),
            Order::Important(classes) => classes.entry(job.class).or_default().push_back(id),
            Order::InTurn { lines, turns } => {
                let line = lines.entry(job.client).or_default();
                if line.is_empty() {
                    turns.push_back(job.client);
                }
                line.push_back(id);
            }
        }
    }

    /// Takes out whose turn it is, which may have been cancelled while it waited. Nobody's turn is lost by that: whose first one
    /// does not wait any more has his next one served instead.
    pub(in crate::world) fn pop(&mut self, waits: impl Fn(TaskId) -> bool) -> Option<TaskId> {
        let next = match &mut self.order {
            Order::Random(all, stream) => match all.len() {
                0 => None,
                n => Some(all.swap_remove(stream.below(n as u64) as usize)),
            },
            Order::Important(classes) => classes.values_mut().find_map(VecDeque::pop_front),
            Order::InTurn { lines, turns } => loop {
                let Some(client) = turns.pop_front() else {
                    break None;
                };
                let Some(line) = lines.get_mut(&client) else {
                    continue;
                };
                let before = line.len();
                while line.front().is_some_and(|&id| !waits(id)) {
                    line.pop_front();
                }
                self.len -= before - line.len();
                let next = line.pop_front();
                if !line.is_empty() {
                    turns.push_back(client);
                }
                if next.is_some() {
                    break next;
                }
            },
        };
        self.len -= usize::from(next.is_some());
        next
    }

    /// Drops the ids that do not live.
    pub(in crate::world) fn retain(&mut self, lives: impl Fn(TaskId) -> bool) {
        match &mut self.order {
            Order::Random(all, _) => {
                all.retain(|&id| lives(id));
                self.len = all.len();
            }
            Order::Important(classes) => {
                classes
                    .values_mut()
                    .for_each(|line| line.retain(|&id| lives(id)));
                self.len = classes.values().map(VecDeque::len).sum();
            }
            Order::InTurn { lines, turns } => {
                lines
                    .values_mut()
                    .for_each(|line| line.retain(|&id| lives(id)));
                turns.retain(|client| lines.get(client).is_some_and(|line| !line.is_empty()));
                self.len = lines.values().map(VecDeque::len).sum();
            }
        }
    }

    /// Everybody is gone.
    pub(in crate::world) fn clear(&mut self) {
        self.retain(|_| false);
    }
}

impl World {
    /// How important an attempt is that the call of a task sends, and whose: its own priority, else that of the
    /// request that caused it.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn origin(&self, task: TaskId, priority: Option<u8>) -> (u8, u32) {
        let root = self.tasks[task].root(task);
        let (class, client) = match &self.tasks[root].what {
            What::Job(job) => (job.class, job.client),
            What::Iteration { client, .. } => (0, *client),
            What::Errand(errand) => (0, errand.tenant),
            What::Block { .. } => unreachable!("a block is no root"),
        };
        (priority.unwrap_or(class), client)
    }
}
