//! Message queues: what is sent is kept, and consumers fetch it, once or more often.
//!
//! Consumers are the workers of the service. A delivery is a job that nobody waits for; the message is beside it, in here. While
//! a consumer has a message it is hidden from the others, for a while: whoever takes longer is taken for lost, and the message
//! is delivered again while the first one is still at it.

mod audit;
mod end;
mod fetch;
mod keep;
mod settle;

use std::collections::VecDeque;

use seawall::{Entropy, Time};

use super::job::{Job, JobState, Origin};
use super::service::ServiceState;
use super::{TaskId, World};
use crate::arena::{Arena, Id};
use crate::metrics::{Level, MessageCount};
use crate::rng::{Purpose, Stream};
use crate::scenario::messages::{Messages, queues};
use crate::scenario::model::Scenario;
use crate::step::Pc;

pub(crate) type MessageId = Id<Message>;

/// A message that is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    queue: u32,
    /// The program that is run with it.
    entry: Pc,
    /// The client for whose iteration it was sent, and what else a job knows about where it comes from.
    tenant: u32,
    class: u8,
    client: u32,
    group: u32,
    sent: Time,
    /// Since when others can see it.
    seen: Time,
    hidden: bool,
    /// When its visibility ends, if it is hidden.
    until: Time,
    /// When something is done about it next; `Time::MAX`: never.
    due: Time,
    receives: u32,
    /// The delivery whose end deletes it; with [`Receipt::Any`] the latest.
    receipt: TaskId,
    /// The delivery that began last of those that are still at it; the others follow by `Delivery::before`.
    latest: TaskId,
    /// Whether one has ended well without deleting it.
    executed: bool,
}

/// What is known of a delivery besides its job.
#[derive(Clone, Copy, Debug)]
struct Delivery {
    queue: u32,
    /// `NONE` once the message is gone.
    message: MessageId,
    before: TaskId,
}

/// The messages of one service.
#[derive(Clone, Debug)]
struct Queue {
    service: u32,
    rules: Messages,
    /// Messages that can be fetched, in order, and ids of some that are gone or hidden. Of a group that has any the first.
    ready: VecDeque<MessageId>,
    /// How many can be seen: those in `ready`, and those behind the first of their group.
    visible: u64,
    hidden: Level,
    groups: Vec<Group>,
    /// Which group a message belongs to.
    belongs: Stream,
    /// When one is seen again that a consumer failed with.
    returns: Stream,
    count: MessageCount,
}

/// Messages that go one after the other.
#[derive(Clone, Debug)]
struct Group {
    /// The one whose turn it is, or `NONE`.
    first: MessageId,
    /// Those behind it, and ids of some that are gone.
    behind: VecDeque<MessageId>,
}

/// Everything about messages while a world runs.
#[derive(Clone, Debug)]
pub(super) struct MessagesState {
    all: Arena<Message>,
    /// How many are kept.
    kept: u64,
    queues: Vec<Queue>,
    /// By service: its place among `queues`.
    places: Vec<Option<u32>>,
    /// By the slot of the delivery's task.
    deliveries: Vec<Delivery>,
}

/// Whoever comes here keeps messages.
const IN_USE: &str = "messages are kept in this world";

impl MessagesState {
    /// That of a scenario; `None` when no service keeps messages.
    pub(super) fn new(scenario: &Scenario, seed: u64) -> Option<Box<MessagesState>> {
        let queue = |service: u32| {
            let of = &scenario.services[service as usize];
            let rules = of.messages().expect("it is one of them").clone();
            let groups = rules.groups.as_ref().map_or(0, |groups| groups.count);
            let group = Group {
                first: Id::NONE,
                behind: VecDeque::new(),
            };
            Queue {
                service,
                ready: VecDeque::new(),
                visible: 0,
                hidden: Level::default(),
                groups: vec![group; groups as usize],
                belongs: Stream::new(seed, Purpose::Group, &of.name),
                returns: Stream::new(seed, Purpose::Redelivery, &of.name),
                count: MessageCount::default(),
                rules,
            }
        };
        let queues: Vec<Queue> = queues(&scenario.services).map(queue).collect();
        if queues.is_empty() {
            return None;
        }
        let mut places = vec![None; scenario.services.len()];
        for (place, queue) in (0u32..).zip(&queues) {
            places[queue.service as usize] = Some(place);
        }
        Some(Box::new(MessagesState {
            all: Arena::new(),
            kept: 0,
            queues,
            places,
            deliveries: Vec::new(),
        }))
    }

    /// All its generators, by service.
    pub(super) fn streams(&self) -> impl Iterator<Item = (u32, Purpose, &Stream)> {
        self.queues.iter().flat_map(|queue| {
            [
                (queue.service, Purpose::Group, &queue.belongs),
                (queue.service, Purpose::Redelivery, &queue.returns),
            ]
        })
    }

    /// Everything counted so far.
    pub(super) fn counts(&self, now: Time) -> Vec<MessageCount> {
        let count = |queue: &Queue| MessageCount {
            hidden_ns: queue.hidden.integral(now),
            time_ns: u128::from(now.0),
            ..queue.count.clone()
        };
        self.queues.iter().map(count).collect()
    }

    /// Whether none is left.
    pub(super) fn is_empty(&self) -> bool {
        self.kept == 0
    }

    /// What the messages take.
    pub(super) fn bytes(&self) -> usize {
        let ids = |queue: &Queue| {
            let behind = queue.groups.iter().map(|group| group.behind.len());
            queue.ready.len() + behind.sum::<usize>()
        };
        let ids: usize = self.queues.iter().map(ids).sum();
        let deliveries = self.deliveries.len() * size_of::<Delivery>();
        self.all.bytes() + ids * size_of::<MessageId>() + deliveries
    }
}

impl Queue {
    /// The group of a new message.
    fn draw_group(&mut self) -> u32 {
        let Some(groups) = &self.rules.groups else {
            return 0;
        };
        match groups.upto.as_slice() {
            [] => self.belongs.below(u64::from(groups.count)) as u32,
            upto => {
                let at = self.belongs.unit();
                upto.partition_point(|&upto| upto <= at) as u32
            }
        }
    }

    /// A new message waits for its turn.
    fn line_up(&mut self, id: MessageId, group: u32) {
        self.visible += 1;
        match self.groups.get_mut(group as usize) {
            Some(group) if group.first != Id::NONE => group.behind.push_back(id),
            Some(group) => {
                group.first = id;
                self.ready.push_back(id);
            }
            None => self.ready.push_back(id),
        }
    }

    /// The next of the group has its turn, if the one that is gone had it.
    fn next_of_group(&mut self, gone: MessageId, group: u32, all: &Arena<Message>) {
        let Some(group) = self.groups.get_mut(group as usize) else {
            return;
        };
        if group.first != gone {
            return;
        }
        group.first = Id::NONE;
        while let Some(next) = group.behind.pop_front() {
            if all.contains(next) {
                group.first = next;
                self.ready.push_back(next);
                return;
            }
        }
    }

    /// Takes out the message whose turn it is.
    fn pop(&mut self, all: &Arena<Message>) -> Option<MessageId> {
        loop {
            let id = self.ready.pop_front()?;
            if all.get(id).is_some_and(|message| !message.hidden) {
                return Some(id);
            }
        }
    }

    /// Ids of messages that are gone are skipped when they come up; too many are swept out.
    fn sweep(&mut self, all: &Arena<Message>) {
        if self.ready.len() as u64 > 64 + 2 * self.visible {
            let waits = |id: &MessageId| all.get(*id).is_some_and(|message| !message.hidden);
            self.ready.retain(waits);
        }
    }
}

impl World {
    /// Deliveries of a service that began, and that are over.
    pub(super) fn deliveries(&self, service: usize) -> (u64, u64) {
        let Some(place) = self.queue_of(service as u32) else {
            return (0, 0);
        };
        let state = self.messages.as_deref().expect(IN_USE);
        let count = &state.queues[place as usize].count;
        (count.received, count.over())
    }

    /// The place of a service among those that keep messages.
    fn queue_of(&self, service: u32) -> Option<u32> {
        self.messages.as_ref()?.places[service as usize]
    }
}

impl ServiceState {
    /// A job answers, of whatever origin. The time that counts for a message is that from sending to deleting it.
    pub(super) fn answered_apart(&mut self, now: Time, job: &mut Job) {
        match job.origin {
            Origin::Delivery => job.answered = true,
            Origin::Attempt | Origin::Probe => self.answered(now, job),
        }
    }

    /// A message can be seen from now on, and waits for a consumer.
    fn message_waits(&mut self, now: Time) {
        self.queued.rise(now);
        self.queued_max = self.queued_max.max(self.queued.count());
    }

    /// A message waits no longer.
    fn message_goes(&mut self, now: Time) {
        self.queued.fall(now);
    }

    /// A consumer begins with a message that could be seen since `seen`.
    fn start_delivery(&mut self, now: Time, seen: Time, job: &mut Job) {
        self.message_goes(now);
        job.state = JobState::Running;
        job.started = now;
        self.replicas[job.replica as usize].inside += 1;
        self.inside.rise(now);
        let waited = now.since(seen).0;
        let count = &mut self.meter.count;
        count.started += 1;
        job.turn = count.started as u32;
        count.waited += u64::from(waited > 0);
        count.wait_ns += u128::from(waited);
        self.take_worker(now, job);
    }
}
