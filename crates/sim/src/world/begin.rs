//! How a call begins: for whom it is made, and what its engine says first.

use seawall::{Action, CallKey, Operation, Request, Time};

use super::call::{Call, wake_admitted};
use super::job::NOWHERE;
use super::task::What;
use super::{TaskId, World};
use crate::arena::Id;
use crate::event::Event;

/// For whom a call is made.
struct Maker {
    process: u32,
    /// What its caller sent.
    deadline: Option<Time>,
    /// Whose worker may be free while the task waits.
    job: Option<TaskId>,
    tenant: u32,
}

impl World {
    /// For whom a task makes a call.
    #[inline(always)]
    fn maker(&self, id: TaskId) -> Maker {
        let task = &self.tasks[id];
        let (root, what) = match task.what {
            What::Block { root, .. } => (root, &self.tasks[root].what),
            _ => (id, &task.what),
        };
        let (process, deadline, job, tenant) = match what {
            What::Iteration { client, instance } => (*instance, None, None, *client),
            What::Job(job) => (job.replica, job.deadline, Some(root), job.tenant),
            What::Errand(errand) => (errand.process, None, None, errand.tenant),
            What::Block { .. } => unreachable!("a block is no root"),
        };
        Maker {
            process,
            deadline,
            job,
            tenant,
        }
    }

    /// The `call` step.
    #[inline(always)]
    pub(super) fn begin_call(&mut self, id: TaskId, index: u32) -> Option<Event> {
        let maker = self.maker(id);
        if self.asked_first
            && let Some(instead) = self.ask_first(id, index)
        {
            return instead;
        }
        self.calls_in_flight += 1;
        if self.calls_in_flight > self.calls_in_flight_max {
            self.more_calls_than_ever();
        }
        let site = &self.sites[index as usize];
        let engine = site.first_engine + maker.process;
        let request = Request {
            key: CallKey(id.bits()),
            deadline: maker.deadline,
            operation: Operation {
                tenant: u64::from(maker.tenant),
                ..site.semantics
            },
        };
        let policy = &mut self.engines[engine as usize];
        let edge = &mut self.edges[site.edge as usize];
        edge.meter.count.calls += 1;
        let call = self.tasks[id].call.insert(Call {
            state: policy.begin(self.now, request),
            engine,
            edge: site.edge,
            site: index,
            tenant: maker.tenant,
            host: NOWHERE,
            job: Id::NONE,
            sent: self.now,
            copies: None,
            began: self.now,
            armed: Time::MAX,
            cancelled: false,
        });
        if edge.hedges || self.looked_at || self.follow_ups_left == 0 {
            self.note_begin(id, engine, &request);
            return Some(Event::Poll(id));
        }
        self.follow_ups_left -= 1;
        let action = policy.poll(&mut call.state, self.now, &mut edge.jitter);
        // Nearly every call sends its first attempt now.
        let Some(Action::Send {
            attempt, deadline, ..
        }) = action
        else {
            return self.follow(id, action);
        };
        call.counts_as_sent(attempt, edge, self.now);
        call.arm(edge, self.now, &mut self.queue);
        wake_admitted(policy, &mut self.soon);
        let from = call.sender();
        if let Some(job) = maker.job {
            self.lend_worker(job);
        }
        self.send(id, from, attempt, deadline)
    }

    /// Whether a call begins at all. `Some`: it does not, and this follows.
    #[cold]
    #[inline(never)]
    fn ask_first(&mut self, id: TaskId, site: u32) -> Option<Option<Event>> {
        let root = self.tasks[id].root(id);
        if self.fallbacks.is_some()
            && let Some(refused) = self.admit_call(id, root, site)
        {
            return Some(Some(refused));
        }
        if !self.joins_another(id, root, site) {
            return None;
        }
        // The task waits, and its job with it.
        self.lend_worker(root);
        Some(None)
    }
}
