//! Messages as far as effects go: whoever fetches one does what its sender wanted, under the same key.

use super::EffectsState;
use super::intent::IntentId;
use crate::arena::{Id, beside};
use crate::world::{MessageId, TaskId};

/// What is known of a message besides its place in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageNote {
    intent: IntentId,
    key: Option<u64>,
    body: u64,
}

impl MessageNote {
    const NONE: MessageNote = MessageNote {
        intent: Id::NONE,
        key: None,
        body: 0,
    };
}

impl MessageNote {
    /// Whether a message is there, and holds on to what its sender wanted.
    pub(super) fn holds(&self) -> bool {
        self.intent != Id::NONE
    }
}

impl EffectsState {
    /// What a job wanted is kept with its message.
    pub(in crate::world) fn keep_message(&mut self, job: TaskId, message: MessageId) {
        let sender = self.job(job);
        let (intent, key, body) = (sender.intent, sender.key, sender.body);
        self.intents.hold(intent);
        *self.message(message) = MessageNote { intent, key, body };
    }

    /// A delivery is to do what the sender wanted.
    pub(in crate::world) fn deliver_message(&mut self, message: MessageId, delivery: TaskId) {
        let MessageNote { intent, key, body } = *self.message(message);
        self.intents.hold(intent);
        let note = self.job(delivery);
        note.clear();
        (note.intent, note.key, note.body) = (intent, key, body);
    }

    /// A message is gone.
    pub(in crate::world) fn drop_message(&mut self, message: MessageId) {
        let kept = std::mem::replace(self.message(message), MessageNote::NONE);
        self.release(kept.intent);
    }

    fn message(&mut self, id: MessageId) -> &mut MessageNote {
        beside(&mut self.messages, id, || MessageNote::NONE)
    }
}
