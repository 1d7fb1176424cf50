//! The laws that messages must keep.

use seawall::Time;

use super::{Message, MessageId, MessagesState};
use crate::arena::Id;
use crate::world::TaskId;

impl MessagesState {
    /// The laws that are broken. `inside`: how many deliveries of a service are at work, by service. `works`: whether a
    /// delivery still does.
    pub(in crate::world) fn broken_laws(
        &self,
        inside: impl Fn(u32) -> u64,
        works: impl Fn(TaskId) -> bool,
    ) -> Vec<String> {
        let mut broken = Vec::new();
        for (place, queue) in (0u32..).zip(&self.queues) {
            let own = || {
                let all = self.all.iter();
                all.filter(move |(_, message)| message.queue == place)
            };
            let of = queue.service;
            let count = &queue.count;
            let (kept, hidden) = (own().count() as u64, own().filter(is_hidden).count() as u64);
            if count.sent != count.gone() + kept {
                broken.push(format!(
                    "each message goes once: service {of} kept {}, {} are gone, {kept} are left",
                    count.sent,
                    count.gone()
                ));
            }
            if (hidden, kept - hidden) != (queue.hidden.count(), queue.visible) {
                broken.push(format!(
                    "a message can be seen or not: of {kept} at service {of} {hidden} are hidden; counted were {} and {} that \
                     can be seen",
                    queue.hidden.count(),
                    queue.visible
                ));
            }
            let at_work = inside(of);
            if count.received != count.over() + at_work {
                broken.push(format!(
                    "each delivery ends once: service {of} saw {}, {} are over, {at_work} at work",
                    count.received,
                    count.over()
                ));
            }
            let first = count.received - count.redelivered;
            if first > count.sent || count.duplicated > count.redelivered {
                broken.push(format!(
                    "a message is delivered for the first time once: service {of} kept {}, delivered {}, {} again, {} of \
                     them twice at once",
                    count.sent, count.received, count.redelivered, count.duplicated
                ));
            }
            let stray = own().filter(|(_, message)| !self.known(message, &works));
            let stray = stray.count();
            if stray > 0 {
                broken.push(format!(
                    "a message knows who is at it: {stray} at service {of} do not"
                ));
            }
            let in_line = queue.in_line();
            let waiting = |(id, message): &(MessageId, &Message)| {
                message.hidden || in_line.binary_search(&id.bits()).is_ok()
            };
            let lost = own().filter(|one| !waiting(one)).count();
            if lost > 0 {
                broken.push(format!(
                    "who can be seen can be fetched: {lost} messages at service {of} cannot"
                ));
            }
        }
        broken
    }

    /// Whether all deliveries that a message knows of are at work on it.
    fn known(&self, message: &Message, works: impl Fn(TaskId) -> bool) -> bool {
        let mut at = message.latest;
        while at != Id::NONE {
            if !works(at) {
                return false;
            }
            at = self.deliveries[at.slot()].before;
        }
        !message.hidden || message.until < Time::MAX
    }
}

impl super::Queue {
    /// Whoever is in line, or behind the first of its group, sorted.
    fn in_line(&self) -> Vec<u64> {
        let behind = self.groups.iter().flat_map(|group| &group.behind);
        let all = self.ready.iter().chain(behind);
        let mut all: Vec<u64> = all.map(|id| id.bits()).collect();
        all.sort_unstable();
        all
    }
}

fn is_hidden((_, message): &(MessageId, &Message)) -> bool {
    message.hidden
}
