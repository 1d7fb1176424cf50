//! Intents: what a caller wants done once, however many attempts and layers it takes.
//!
//! A client's call is an intent of its own. A call that a service makes for a request is an intent below that of the
//! request, and the same one when the request is retried: so an effect two layers down that is done once for each of
//! two attempts at the top is a duplicate.

use crate::arena::{Arena, Id};

pub(super) type IntentId = Id<Intent>;

/// Something that is to be done once.
#[derive(Clone, Debug)]
pub(super) struct Intent {
    /// Tells it from all others; the same whatever else happens in the run.
    pub(super) name: u64,
    /// The client's instance that it began at.
    pub(super) tenant: u64,
    pub(super) service: u32,
    pub(super) operation: u32,
    /// Which call step, and which of the calls that one request makes there.
    step: (u32, u32),
    /// `NONE` at the top, and once the one above is over: nobody can come back to it then.
    parent: IntentId,
    child: IntentId,
    sibling: IntentId,
    /// Calls that wait for it and jobs that work on it.
    pub(super) holders: u32,
    pub(super) done: Vec<Done>,
    pub(super) told: Told,
}

/// An effect of an intent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub(super) effect: u32,
    /// Which of the items, where one request has several.
    pub(super) item: u32,
}

/// What callers have been told about an intent so far; a later, stronger word counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Told {
    Nothing,
    /// A failure, or no answer at all.
    NotWell,
    Well,
}

/// All intents that anybody may still come back to.
#[derive(Clone, Debug)]
pub(super) struct Intents {
    all: Arena<Intent>,
    /// Lists that intents gave back, for the next ones.
    spare: Vec<Vec<Done>>,
}

impl Intents {
    pub(super) fn new() -> Intents {
        Intents {
            all: Arena::new(),
            spare: Vec::new(),
        }
    }

    /// That of a client's call.
    pub(super) fn top(&mut self, name: u64, tenant: u64, target: (u32, u32)) -> IntentId {
        self.insert(name, tenant, target, (0, 0), Id::NONE)
    }

    /// That of a call made for `parent`; `step`: which call step, and how often it had been come by.
    pub(super) fn below(
        &mut self,
        parent: IntentId,
        step: (u32, u32),
        target: (u32, u32),
    ) -> IntentId {
        let above = &self.all[parent];
        let (name, tenant, mut child) = (above.name, above.tenant, above.child);
        while child != Id::NONE {
            let known = &mut self.all[child];
            if known.step == step {
                known.holders += 1;
                return child;
            }
            child = known.sibling;
        }
        let name = super::mix(super::mix(name, u64::from(step.0) << 32), u64::from(step.1));
        let id = self.insert(name, tenant, target, step, parent);
        let first = std::mem::replace(&mut self.all[parent].child, id);
        self.all[id].sibling = first;
        id
    }

    fn insert(
        &mut self,
        name: u64,
        tenant: u64,
        (service, operation): (u32, u32),
        step: (u32, u32),
        parent: IntentId,
    ) -> IntentId {
        let done = self.spare.pop().unwrap_or_default();
        self.all.insert(|| Intent {
            name,
            tenant,
            service,
            operation,
            step,
            parent,
            child: Id::NONE,
            sibling: Id::NONE,
            holders: 1,
            done,
            told: Told::Nothing,
        })
    }

    pub(super) fn get(&self, id: IntentId) -> Option<&Intent> {
        self.all.get(id)
    }

    pub(super) fn get_mut(&mut self, id: IntentId) -> Option<&mut Intent> {
        self.all.get_mut(id)
    }

    pub(super) fn hold(&mut self, id: IntentId) {
        if let Some(intent) = self.all.get_mut(id) {
            intent.holders += 1;
        }
    }

    /// One holder less. Each intent that nobody can come back to any more is given to `over` and forgotten.
    pub(super) fn release(&mut self, id: IntentId, over: &mut impl FnMut(&Intent)) {
        if let Some(intent) = self.all.get_mut(id) {
            intent.holders -= 1;
            self.forget(id, over);
        }
    }

    fn forget(&mut self, id: IntentId, over: &mut impl FnMut(&Intent)) {
        let Some(intent) = self.all.get_mut(id) else {
            return;
        };
        if intent.holders > 0 || intent.parent != Id::NONE {
            return;
        }
        over(intent);
        let mut done = std::mem::take(&mut intent.done);
        done.clear();
        let mut child = intent.child;
        self.spare.push(done);
        self.all.remove(id);
        while child != Id::NONE {
            let below = &mut self.all[child];
            below.parent = Id::NONE;
            let next = below.sibling;
            self.forget(child, over);
            child = next;
        }
    }

    /// What they take, but for their lists of effects, which are a few words each.
    pub(super) fn bytes(&self) -> usize {
        self.all.bytes()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Intent> {
        self.all.iter().map(|(_, intent)| intent)
    }
}
