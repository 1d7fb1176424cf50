//! The ledger: every attempt of the first calls, as it goes.

use std::sync::Arc;

use seawall::{Reply, Span, Time, Verdict};

use super::EffectsState;
use crate::metrics::{By, Entry, Next, Response, Source};
use crate::scenario::effects::Effects;
use crate::world::{TaskId, World};

/// What is written down, and of how many calls.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    /// Calls of clients that are still to be taken in.
    left: u64,
    calls: u64,
    /// Keys in the order in which they were first sent.
    keys: Vec<u64>,
    pub(super) entries: Vec<Entry>,
}

impl World {
    /// The same world, keeping a ledger of the first `calls` calls of clients and of all calls made for them.
    #[must_use]
    pub fn with_ledger(mut self, calls: u64) -> World {
        let engines = self.engines.len();
        let state = (self.effects)
            .get_or_insert_with(|| EffectsState::of(Arc::new(Effects::default()), engines));
        (self.looked_at, self.hears_more, self.concluded) = (true, true, true);
        state.ledger = Some(Ledger {
            left: calls,
            calls: 0,
            keys: Vec::new(),
            entries: Vec::new(),
        });
        self
    }

    /// What the program of a task got where its call has a fallback.
    pub(in crate::world) fn enter_source(&mut self, id: TaskId, source: Source, age: Option<Span>) {
        let Some(state) = self.effects.as_deref_mut() else {
            return;
        };
        let entry = state.call(id).entry;
        if let (Some(entry), Some(ledger)) = (entry, &mut state.ledger) {
            (ledger.entries[entry].source, ledger.entries[entry].age) = (Some(source), age);
        }
    }

    /// The ledger, if one was kept.
    pub(in crate::world) fn take_ledger(&mut self) -> Option<Vec<Entry>> {
        let state = self.effects.as_deref_mut()?;
        state.ledger.take().map(|ledger| ledger.entries)
    }
}

impl EffectsState {
    /// The number of a call that is taken in.
    pub(super) fn open_call(&mut self, top: bool, parent: Option<u64>) -> Option<u64> {
        let ledger = self.ledger.as_mut()?;
        if top {
            ledger.left = ledger.left.checked_sub(1)?;
        } else {
            parent?;
        }
        ledger.calls += 1;
        Some(ledger.calls)
    }

    /// A call has begun: the entry that its first attempt will be, or what is left of it if there is none.
    pub(super) fn enter_call(
        &mut self,
        id: TaskId,
        call: u64,
        parent: Option<u64>,
        (edge, operation, process): (u32, u32, u32),
        now: Time,
    ) {
        let Some(ledger) = &mut self.ledger else {
            return;
        };
        ledger.entries.push(Entry {
            call,
            parent,
            edge,
            operation,
            process,
            key: None,
            body: 1,
            attempt: 0,
            sent: now,
            task: None,
            ended: None,
            response: Response::NotSent,
            by: None,
            effects: Vec::new(),
            next: Next::Open,
            source: None,
            age: None,
        });
        let entry = ledger.entries.len() - 1;
        self.call(id).entry = Some(entry);
    }

    /// An attempt is sent; gives its entry.
    pub(super) fn enter_attempt(
        &mut self,
        id: TaskId,
        attempt: u32,
        key: Option<u64>,
        body: u32,
        now: Time,
    ) -> Option<usize> {
        let latest = self.call(id).entry?;
        let ledger = self.ledger.as_mut()?;
        let key = key.map(|key| {
            let known = ledger.keys.iter().position(|known| *known == key);
            known.unwrap_or_else(|| {
                ledger.keys.push(key);
                ledger.keys.len() - 1
            }) as u64
                + 1
        });
        let before = &mut ledger.entries[latest];
        let mut entry = latest;
        if before.attempt > 0 {
            before.next = Next::Retried(now.since(before.ended.unwrap_or(now)));
            let next = Entry {
                task: None,
                ended: None,
                by: None,
                effects: Vec::new(),
                next: Next::Open,
                ..before.clone()
            };
            ledger.entries.push(next);
            entry = ledger.entries.len() - 1;
        }
        let now_sent = &mut ledger.entries[entry];
        (now_sent.attempt, now_sent.key, now_sent.body) = (attempt, key, body);
        (now_sent.sent, now_sent.response) = (now, Response::Open);
        self.call(id).entry = Some(entry);
        Some(entry)
    }

    pub(super) fn enter_arrival(&mut self, entry: Option<usize>, task: u64) {
        if let (Some(entry), Some(ledger)) = (entry, &mut self.ledger) {
            ledger.entries[entry].task = Some(task);
        }
    }

    /// A job never ran to its own answer.
    pub(super) fn refused_by(&mut self, id: TaskId, by: By) {
        let note = self.job(id);
        if note.by == By::Program {
            note.by = by;
        }
    }

    pub(super) fn enter_answer(&mut self, id: TaskId, reply: Reply, now: Time) {
        let note = self.job(id);
        let (entry, by) = (note.entry, note.by);
        let status = note.status.or(super::status_of(reply, 200));
        if let (Some(entry), Some(ledger)) = (entry, &mut self.ledger) {
            let entry = &mut ledger.entries[entry];
            entry.ended = Some(now);
            entry.by = Some(by);
            entry.response = Response::Answer { reply, status };
        }
    }

    pub(super) fn enter_silence(&mut self, id: TaskId, now: Time) {
        let entry = self.call(id).entry;
        if let (Some(entry), Some(ledger)) = (entry, &mut self.ledger) {
            let entry = &mut ledger.entries[entry];
            entry.ended = Some(now);
            entry.response = Response::Unknown;
        }
    }

    pub(super) fn enter_end(&mut self, id: TaskId, verdict: &Verdict, now: Time) {
        let entry = self.call(id).entry.take();
        if let (Some(entry), Some(ledger)) = (entry, &mut self.ledger) {
            let entry = &mut ledger.entries[entry];
            entry.ended.get_or_insert(now);
            entry.next = verdict.stopped.map_or(Next::Done, Next::GaveUp);
        }
    }
}
