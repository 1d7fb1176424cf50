//! Tasks: programs while they run. A task is a place in the code and what it waits for.
//!
//! An iteration of a client and a job at a service are one task each; `parallel` and `repeat` run their
//! blocks in child tasks, which live until their parent goes on.

use seawall::{Entropy, FailureKind, Reply};

use super::cache::Found;
use super::call::Call;
use super::credential::Errand;
use super::effects::Claimed;
use super::job::Job;
use super::{TaskId, World};
use crate::arena::Id;
use crate::event::Event;
use crate::queue::Rank;
use crate::step::{Instr, Pc};

/// A program, or a block of one, while it runs. What every task needs comes first, and so lies together; the call is
/// behind it, where it is touched only by tasks that make one.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Task {
    pc: u32,
    /// Branches still running, or rounds still to run.
    left: u32,
    /// Start of the block of a `repeat`; `NO_BODY` for a `parallel`.
    body: u32,
    /// How a call in it failed, until its program is told.
    failed: Option<FailureKind>,
    /// The first child; the others follow by `sibling`.
    child: TaskId,
    sibling: TaskId,
    pub(super) what: What,
    /// The call it waits for.
    pub(super) call: Option<Call>,
}

/// Whose program it is.
#[derive(Clone, Copy, Debug)]
#[repr(u8)] // a tag of its own is quicker to look at than one hidden in a job
pub(super) enum What {
    /// One iteration of a client's instance.
    Iteration { client: u32, instance: u32 },
    /// A job at a service.
    Job(Job),
    /// A process asks for a token.
    Errand(Errand),
    /// A block of the program of `root`, begun by `parent`.
    Block { root: TaskId, parent: TaskId },
}

const NO_BODY: u32 = u32::MAX;
/// Nobody draws for these: a block is part of another program, and who asks for a token does nothing else.
pub(super) const NO_STEPS: &str = "a block is no root, and an errand is one call";
/// An address behind all code.
const NOWHERE: u32 = u32::MAX;

impl Task {
    #[inline]
    pub(super) fn new(what: What, entry: Pc) -> Task {
        Task {
            what,
            call: None,
            pc: entry.0,
            left: 0,
            body: NO_BODY,
            failed: None,
            child: Id::NONE,
            sibling: Id::NONE,
        }
    }

    /// The task whose program it is part of; `id` is its own.
    #[inline]
    pub(super) fn root(&self, id: TaskId) -> TaskId {
        match self.what {
            What::Block { root, .. } => root,
            What::Iteration { .. } | What::Job(_) | What::Errand(_) => id,
        }
    }

    /// The job whose program it may be part of; `id` is its own.
    #[inline]
    pub(super) fn job_behind(&self, id: TaskId) -> Option<TaskId> {
        match self.what {
            What::Iteration { .. } | What::Errand(_) => None,
            What::Job(_) => Some(id),
            What::Block { root, .. } => Some(root),
        }
    }

    /// A call in it failed: its program ends with the first failure it is told of.
    pub(super) fn fails(&mut self, kind: FailureKind) {
        self.failed.get_or_insert(kind);
    }

    /// How a call in it failed, told once.
    pub(super) fn take_failure(&mut self) -> Option<FailureKind> {
        self.failed.take()
    }

    /// Whatever it still waits for, its program is over.
    pub(super) fn go_no_further(&mut self) {
        (self.pc, self.failed) = (NOWHERE, None);
    }

    /// Its program begins elsewhere.
    pub(super) fn begin_at(&mut self, entry: Pc) {
        self.pc = entry.0;
    }

    /// The step that it waits for is done again.
    pub(super) fn step_back(&mut self) {
        self.pc -= 1;
    }

    /// Whether its program is over, and only its answer is under way.
    pub(super) fn is_over(&self) -> bool {
        self.pc == NOWHERE
    }

    /// It goes on when one block has been run.
    pub(super) fn has_one_block(&mut self) {
        (self.left, self.body) = (1, NO_BODY);
    }

    /// Whether any blocks are run for it.
    pub(super) fn has_blocks(&self) -> bool {
        self.child != Id::NONE
    }

    /// The next step is left out.
    pub(super) fn step_over(&mut self) {
        self.pc += 1;
    }

    #[inline]
    pub(super) fn job(&self) -> Option<&Job> {
        match &self.what {
            What::Job(job) => Some(job),
            What::Iteration { .. } | What::Errand(_) | What::Block { .. } => None,
        }
    }

    #[inline]
    pub(super) fn job_mut(&mut self) -> Option<&mut Job> {
        match &mut self.what {
            What::Job(job) => Some(job),
            What::Iteration { .. } | What::Errand(_) | What::Block { .. } => None,
        }
    }
}

impl World {
    /// Runs a task until it has to wait, or is over.
    #[inline(always)]
    pub(super) fn run_program(&mut self, mut id: TaskId) -> Option<Event> {
        loop {
            let task = self.tasks.get_mut(id)?;
            let instr = *self.program.get(task.pc as usize)?;
            task.pc += 1;
            match instr {
                Instr::Work(law) => {
                    let root = task.root(id);
                    return self.work(id, root, law);
                }
                Instr::Delay(law) => {
                    let root = task.root(id);
                    return self.delay(id, root, law);
                }
                Instr::Hold(session) => return self.hold(id, session),
                Instr::Call(site) => return self.begin_call(id, site),
                Instr::Respond(reply) => {
                    let root = task.root(id);
                    let reply = self.scenario.code.replies[reply as usize];
                    self.respond(root, reply);
                }
                Instr::Effect(effect) => {
                    let root = task.root(id);
                    if let Some(reply) = self.commit(root, effect) {
                        return self.end_program(id, reply);
                    }
                }
                Instr::Claim(store) => match self.claim(id, store) {
                    Claimed::GoesOn => {}
                    Claimed::Waits => {
                        self.tasks[id].pc -= 1;
                        return None;
                    }
                    Claimed::Answered(reply) => return self.end_program(id, reply),
                },
                Instr::Lookup(cache) => {
                    let root = task.root(id);
                    match self.look_up(id, root, cache) {
                        Found::There => {}
                        Found::Block(block) => id = block,
                        Found::Waits => {
                            self.lend_worker(root);
                            return None;
                        }
                    }
                }
                Instr::Stored(_) => self.fetched(id),
                Instr::Jump(to) | Instr::Otherwise(to) => task.pc = to.0,
                Instr::Choose { first, count } => {
                    let root = task.root(id);
                    let to = self.choose_arm(root, first, count);
                    self.tasks[id].pc = to.0;
                }
                Instr::Repeat { times, body } => {
                    task.left = times;
                    task.body = body.0;
                    let root = task.root(id);
                    id = self.spawn(id, root, body);
                }
                Instr::Parallel { first, count } => {
                    task.left = count;
                    task.body = NO_BODY;
                    let root = task.root(id);
                    return self.fork(id, root, first, count);
                }
                Instr::End => match task.what {
                    What::Job(_) => return self.end_job(id, Reply::Ok),
                    What::Iteration { client, instance } => {
                        self.tasks.remove(id);
                        self.end_iteration(client, instance, true);
                        return None;
                    }
                    What::Errand(_) => {
                        self.end_errand(id, None);
                        return None;
                    }
                    What::Block { parent, root } => match self.end_block(id, parent) {
                        Some(next) => id = next,
                        None => {
                            self.lend_worker(root);
                            return None;
                        }
                    },
                },
            }
        }
    }

    /// Begins all branches of a `parallel`, in their order. A branch that has not begun yet counts as one at
    /// work, so that the first one does not lend the worker that the second needs.
    fn fork(&mut self, id: TaskId, root: TaskId, first: u32, count: u32) -> Option<Event> {
        if let Some(job) = self.tasks[root].job_mut() {
            job.working += count;
        }
        for branch in first..first + count {
            let entry = self.scenario.code.branches[branch as usize];
            let branch = self.spawn(id, root, entry);
            self.soon.push_back(Event::Worked(branch));
        }
        None
    }

    pub(super) fn spawn(&mut self, parent: TaskId, root: TaskId, entry: Pc) -> TaskId {
        let sibling = self.tasks[parent].child;
        let id = self.tasks.insert(|| Task {
            sibling,
            ..Task::new(What::Block { root, parent }, entry)
        });
        self.tasks[parent].child = id;
        id
    }

    /// The block of `id` has run to its end; the task to go on with, if any.
    fn end_block(&mut self, id: TaskId, parent: TaskId) -> Option<TaskId> {
        let above = &mut self.tasks[parent];
        above.left -= 1;
        match above.left {
            0 => {
                self.drop_children(parent);
                Some(parent)
            }
            _ if above.body == NO_BODY => None,
            _ => {
                let body = above.body;
                self.tasks[id].pc = body;
                Some(id)
            }
        }
    }

    /// Ends all blocks below a task, and cancels the calls it and they wait for.
    #[inline]
    pub(super) fn stop_program(&mut self, id: TaskId) {
        let task = &self.tasks[id];
        if task.child != Id::NONE || task.call.is_some() {
            self.stop_what_runs(id);
        }
    }

    #[cold]
    fn stop_what_runs(&mut self, id: TaskId) {
        self.fetch_stops(id);
        self.drop_children(id);
        if self.tasks[id].call.is_some() {
            self.cancel_call(id);
        }
    }

    pub(super) fn drop_children(&mut self, id: TaskId) {
        let mut child = std::mem::replace(&mut self.tasks[id].child, Id::NONE);
        while child != Id::NONE {
            let next = self.tasks[child].sibling;
            self.stop_program(child);
            self.tasks.remove(child);
            child = next;
        }
    }

    fn choose_arm(&mut self, root: TaskId, first: u32, count: u32) -> Pc {
        let stream = match &self.tasks[root].what {
            What::Job(job) => &mut self.services[job.service as usize].choose,
            What::Iteration { client, .. } => &mut self.clients[*client as usize].choose,
            What::Errand(_) | What::Block { .. } => unreachable!("{NO_STEPS}"),
        };
        let at = stream.unit();
        let arms = &self.scenario.code.arms[first as usize..(first + count) as usize];
        arms.iter()
            .find(|(upto, _)| at < *upto)
            .unwrap_or(&arms[arms.len() - 1])
            .1
    }

    /// A client has no workers: its work is a delay. A job needs one, and keeps it or not.
    #[inline(always)]
    fn work(&mut self, id: TaskId, root: TaskId, law: u32) -> Option<Event> {
        let Some(job) = self.tasks[root].job_mut() else {
            return self.delay(id, root, law);
        };
        let service = &mut self.services[job.service as usize];
        if !service.hold_worker(self.now, job, id) {
            // Not now: the step is tried again when a worker is given.
            self.tasks[id].pc -= 1;
            return None;
        }
        job.working += 1;
        if service.behaviour.is_some() {
            let span = self.laws[law as usize].law.sample(&mut service.work);
            self.begin_work(id, root, span);
            return None;
        }
        let event = Event::Worked(id);
        let law = &self.laws[law as usize];
        match law.lane {
            Some(lane) if service.slow == 1.0 => self.queue.push_lane(lane, self.now, event),
            _ => {
                let span = law.law.sample(&mut service.work);
                let span = match service.slow {
                    1.0 => span,
                    slow => span.times(slow),
                };
                self.queue.push(self.now.after(span), Rank::Normal, event);
            }
        }
        None
    }

    fn delay(&mut self, id: TaskId, root: TaskId, law: u32) -> Option<Event> {
        let stream = match &self.tasks[root].what {
            What::Job(job) => &mut self.services[job.service as usize].delay,
            What::Iteration { client, .. } => &mut self.clients[*client as usize].delay,
            What::Errand(_) | What::Block { .. } => unreachable!("{NO_STEPS}"),
        };
        let event = Event::Resume(id);
        let law = &self.laws[law as usize];
        match law.lane {
            Some(lane) => self.queue.push_lane(lane, self.now, event),
            None => {
                let at = self.now.after(law.law.sample(stream));
                self.queue.push(at, Rank::Normal, event);
            }
        }
        self.lend_worker(root);
        None
    }

    /// The work of a task's job is done.
    #[inline(always)]
    pub(super) fn on_worked(&mut self, id: TaskId) -> Option<Event> {
        let task = self.tasks.get_mut(id)?;
        match &mut task.what {
            What::Job(job) => job.working -= 1,
            What::Iteration { .. } | What::Errand(_) => {}
            What::Block { root, .. } => {
                let root = *root;
                if let Some(job) = self.tasks[root].job_mut() {
                    job.working -= 1;
                }
            }
        }
        Some(Event::Resume(id))
    }
}
