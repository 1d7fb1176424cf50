//! Tasks: programs while they run. A task is a place in the code and what it waits for.
//!
//! A program runs in one root task; `parallel` and `repeat` run their blocks in child tasks, which
//! live until their parent goes on.

use seawall::{Entropy, FailureKind, Reply};

use super::service::JobId;
use super::{CallId, TaskId, World};
use crate::arena::Id;
use crate::event::Event;
use crate::queue::Rank;
use crate::scenario::model::answer_for_failed_call;
use crate::step::{Instr, Pc};

/// Whose program it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// One iteration of a client's instance.
    Iteration { client: u32, instance: u32 },
    /// A job at a service.
    Job(JobId),
}

/// A program, or a block of one, while it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    pub(super) root: Root,
    pc: u32,
    parent: TaskId,
    /// The first child; the others follow by `sibling`.
    child: TaskId,
    sibling: TaskId,
    /// Branches still running, or rounds still to run.
    left: u32,
    /// Start of the block of a `repeat`; `NO_BODY` for a `parallel`.
    body: u32,
    /// The call it waits for.
    call: CallId,
    /// Whether it is working (and not waiting for something).
    working: bool,
}

const NO_BODY: u32 = u32::MAX;

/// How a step leaves its task.
pub(super) enum Flow {
    /// Go on with the next step.
    Next,
    /// Something else will resume the task.
    Wait,
    /// A call that had to succeed failed like this.
    Failed(Option<FailureKind>),
}

impl Task {
    pub(super) fn root(root: Root, entry: Pc) -> Task {
        Task {
            root,
            pc: entry.0,
            parent: Id::NONE,
            child: Id::NONE,
            sibling: Id::NONE,
            left: 0,
            body: NO_BODY,
            call: Id::NONE,
            working: false,
        }
    }
}

impl World {
    /// Runs a task until it has to wait, or is over; then its job does without its worker if it can.
    pub(super) fn run_task(&mut self, id: TaskId) {
        let Some(root) = self.tasks.get(id).map(|t| t.root) else {
            return;
        };
        self.advance(id);
        if let Root::Job(job) = root {
            self.lend_worker(job);
        }
    }

    fn advance(&mut self, mut id: TaskId) {
        loop {
            let Some(task) = self.tasks.get_mut(id) else {
                return;
            };
            let root = task.root;
            let instr = self.scenario.code.instrs[task.pc as usize];
            task.pc += 1;
            let flow = match instr {
                Instr::Work(law) => self.work(id, root, law),
                Instr::Delay(law) => self.delay(id, root, law),
                Instr::Call(site) => self.begin_call(id, root, site),
                Instr::Respond(reply) => {
                    if let Root::Job(job) = root {
                        let reply = self.scenario.code.replies[reply as usize];
                        self.respond(job, reply);
                    }
                    Flow::Next
                }
                Instr::Jump(to) => {
                    task.pc = to.0;
                    Flow::Next
                }
                Instr::Choose { first, count } => {
                    let to = self.choose_arm(root, first, count);
                    self.tasks[id].pc = to.0;
                    Flow::Next
                }
                Instr::Repeat { times, body } => {
                    task.left = times;
                    task.body = body.0;
                    id = self.spawn(id, root, body);
                    continue;
                }
                Instr::Parallel { first, count } => {
                    task.left = count;
                    task.body = NO_BODY;
                    return self.fork(id, root, first, count);
                }
                Instr::End => match self.end_block(id, root) {
                    Some(parent) => {
                        id = parent;
                        continue;
                    }
                    None => return,
                },
            };
            match flow {
                Flow::Next => {}
                Flow::Wait => return,
                Flow::Failed(last) => {
                    self.end_program(root, id, answer_for_failed_call(last));
                    return;
                }
            }
        }
    }

    /// Starts all branches of a `parallel`, then runs each as far as it goes.
    fn fork(&mut self, id: TaskId, root: Root, first: u32, count: u32) {
        // The latest child is the first in the list, so spawning backwards lists them in order.
        for branch in (first..first + count).rev() {
            self.spawn(id, root, self.scenario.code.branches[branch as usize]);
        }
        let mut branch = self.tasks[id].child;
        // A branch that fails ends the whole program; its siblings' ids are stale then.
        while let Some(task) = self.tasks.get(branch) {
            let next = task.sibling;
            self.advance(branch);
            branch = next;
        }
    }

    fn spawn(&mut self, parent: TaskId, root: Root, entry: Pc) -> TaskId {
        let child = Task {
            parent,
            sibling: self.tasks[parent].child,
            ..Task::root(root, entry)
        };
        let id = self.tasks.insert(child);
        self.tasks[parent].child = id;
        id
    }

    /// The block of `id` has run to its end; the task to go on with, if any.
    fn end_block(&mut self, id: TaskId, root: Root) -> Option<TaskId> {
        let parent = self.tasks[id].parent;
        if parent == Id::NONE {
            self.end_program(root, id, Reply::Ok);
            return None;
        }
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

    /// The program that `task` belongs to is over, well or not.
    fn end_program(&mut self, root: Root, task: TaskId, reply: Reply) {
        let mut top = task;
        while self.tasks[top].parent != Id::NONE {
            top = self.tasks[top].parent;
        }
        self.drop_tree(top);
        match root {
            Root::Iteration { client, instance } => {
                self.end_iteration(client, instance, reply == Reply::Ok);
            }
            Root::Job(job) => self.end_job(job, reply),
        }
    }

    /// Ends a task and all below it, cancelling the calls they wait for.
    pub(super) fn drop_tree(&mut self, id: TaskId) {
        self.drop_children(id);
        let call = self.tasks[id].call;
        self.tasks.remove(id);
        if call != Id::NONE {
            self.cancel_call(call);
        }
    }

    fn drop_children(&mut self, id: TaskId) {
        let mut child = std::mem::replace(&mut self.tasks[id].child, Id::NONE);
        while child != Id::NONE {
            let next = self.tasks[child].sibling;
            self.drop_tree(child);
            child = next;
        }
    }

    fn choose_arm(&mut self, root: Root, first: u32, count: u32) -> Pc {
        let at = match root {
            Root::Iteration { client, .. } => self.clients[client as usize].choose.unit(),
            Root::Job(job) => {
                let service = self.jobs[job].service;
                self.services[service as usize].choose.unit()
            }
        };
        let arms = &self.scenario.code.arms[first as usize..(first + count) as usize];
        arms.iter()
            .find(|(upto, _)| at < *upto)
            .unwrap_or(&arms[arms.len() - 1])
            .1
    }

    /// A client has no workers: its work is a delay. A job needs one, and keeps it or not.
    fn work(&mut self, id: TaskId, root: Root, law: u32) -> Flow {
        let Root::Job(job) = root else {
            return self.delay(id, root, law);
        };
        if !self.hold_worker(job, id) {
            // Not now: the step is tried again when a worker is given.
            self.tasks[id].pc -= 1;
            return Flow::Wait;
        }
        let service = self.jobs[job].service as usize;
        let state = &mut self.services[service];
        let slow = state.slow;
        let span = self.scenario.code.laws[law as usize].sample(&mut state.work);
        self.tasks[id].working = true;
        self.jobs[job].working += 1;
        match self.law_lanes[law as usize] {
            Some(lane) if slow == 1.0 => self.queue.push_lane(lane, self.now, Event::Done(id)),
            _ => {
                let span = if slow == 1.0 { span } else { span.times(slow) };
                self.queue
                    .push(self.now.after(span), Rank::Normal, Event::Done(id));
            }
        }
        Flow::Wait
    }

    fn delay(&mut self, id: TaskId, root: Root, law: u32) -> Flow {
        let stream = match root {
            Root::Iteration { client, .. } => &mut self.clients[client as usize].delay,
            Root::Job(job) => {
                let service = self.jobs[job].service;
                &mut self.services[service as usize].delay
            }
        };
        let span = self.scenario.code.laws[law as usize].sample(stream);
        match self.law_lanes[law as usize] {
            Some(lane) => self.queue.push_lane(lane, self.now, Event::Done(id)),
            None => self
                .queue
                .push(self.now.after(span), Rank::Normal, Event::Done(id)),
        }
        Flow::Wait
    }

    pub(super) fn on_done(&mut self, id: TaskId) {
        let Some(task) = self.tasks.get_mut(id) else {
            return;
        };
        if std::mem::take(&mut task.working)
            && let Root::Job(job) = task.root
        {
            self.jobs[job].working -= 1;
        }
        self.run_task(id);
    }

    pub(super) fn set_call(&mut self, id: TaskId, call: CallId) {
        self.tasks[id].call = call;
    }

    /// The call a task waited for is over.
    pub(super) fn resume_from_call(&mut self, id: TaskId, flow: Flow) {
        let Some(task) = self.tasks.get_mut(id) else {
            return;
        };
        task.call = Id::NONE;
        match flow {
            Flow::Failed(last) => {
                let root = task.root;
                self.end_program(root, id, answer_for_failed_call(last));
            }
            _ => self.run_task(id),
        }
    }
}
