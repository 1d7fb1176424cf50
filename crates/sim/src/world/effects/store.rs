//! Stores of idempotency keys while they run.

use std::collections::VecDeque;
use std::hash::{BuildHasherDefault, Hasher};

use indexmap::IndexMap;
use seawall::{Failure, Reply, Time};

use crate::metrics::KeyCount;
use crate::scenario::effects::{Claim, Store};
use crate::world::TaskId;

/// What a key is in its scope: the key itself, the tenant, the operation, and the effect and item it is recorded with;
/// what does not count is 0.
pub(super) type Key = [u64; 4];

/// Keys are well mixed already, and only looked up: order comes from what is done, never from the table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = super::mix(self.0, u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = super::mix(self.0, word);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// What is known of a key.
#[derive(Clone, Copy, Debug)]
struct Entry {
    body: u64,
    /// It counts before this instant.
    until: Time,
    state: State,
}

/// How far a key has come.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// A job works on it; `crashed`: it did, and is gone.
    InProgress { job: TaskId, crashed: bool },
    /// Answered well, with this status.
    Succeeded(u16),
    /// Answered with a failure.
    Failed(Failure),
}

/// What is found when a key is looked up.
pub(super) enum Found {
    /// Nothing that counts: the request goes on.
    New,
    /// The key with another body.
    OtherBody,
    /// A job works on it.
    InProgress,
    /// The answer, with the status of a good one.
    Answer(Reply, u16),
}

/// A store while it runs.
#[derive(Clone, Debug)]
pub(super) struct StoreState {
    entries: IndexMap<Key, Entry, BuildHasherDefault<Mixed>>,
    /// When entries may have to go, in about that order.
    ends: VecDeque<(Time, Key)>,
    pub(super) count: KeyCount,
}

impl StoreState {
    pub(super) fn new() -> StoreState {
        StoreState {
            entries: IndexMap::default(),
            ends: VecDeque::new(),
            count: KeyCount::default(),
        }
    }

    /// What its keys take.
    pub(super) fn bytes(&self) -> usize {
        self.entries.len() * size_of::<(Key, Entry, u64)>()
            + self.ends.len() * size_of::<(Time, Key)>()
    }

    /// Forgets what no longer counts.
    fn sweep(&mut self, now: Time) {
        while let Some(&(end, key)) = self.ends.front()
            && end <= now
        {
            self.ends.pop_front();
            if self
                .entries
                .get(&key)
                .is_some_and(|entry| entry.until <= now)
            {
                self.entries.swap_remove(&key);
            }
        }
    }

    /// Looks a key up, and claims it if it is new and the store does so at once.
    pub(super) fn look(
        &mut self,
        rules: &Store,
        now: Time,
        key: Key,
        body: u64,
        job: TaskId,
    ) -> Found {
        self.sweep(now);
        if let Some(entry) = self.entries.get(&key) {
            let counts = now < entry.until;
            if counts && rules.fingerprint && entry.body != body {
                return Found::OtherBody;
            }
            match entry.state {
                State::InProgress { .. } if counts => return Found::InProgress,
                State::InProgress { .. } => self.count.taken_over += 1,
                State::Succeeded(status) if counts => return Found::Answer(Reply::Ok, status),
                State::Failed(failure) if counts => {
                    return Found::Answer(Reply::Failed(failure), 0);
                }
                State::Succeeded(_) | State::Failed(_) => {}
            }
        }
        if rules.claim == Claim::Atomic {
            let state = State::InProgress {
                job,
                crashed: false,
            };
            self.put(key, body, now.after(rules.lease), state);
        }
        Found::New
    }

    /// Whether an effect has been recorded with a key, and with which body.
    pub(super) fn recorded(&mut self, now: Time, key: Key) -> Option<u64> {
        self.sweep(now);
        let entry = self.entries.get(&key).filter(|entry| now < entry.until)?;
        Some(entry.body)
    }

    /// The job that looked the key up has this answer, or another that worked on it at the same time.
    pub(super) fn finish(
        &mut self,
        rules: &Store,
        now: Time,
        key: Key,
        body: u64,
        job: TaskId,
        answer: State,
    ) {
        let mine = match self.entries.get(&key).map(|entry| entry.state) {
            Some(State::InProgress { job: holder, .. }) => holder == job,
            Some(_) => self.entries[&key].until <= now,
            None => rules.claim == Claim::CheckThenAct || rules.protects.is_some(),
        };
        if !mine {
            return;
        }
        match answer {
            State::Failed(_) if !rules.replays_failures => {
                self.entries.swap_remove(&key);
            }
            answer => {
                let until = now.after(rules.retention);
                self.put(key, body, until, answer);
                self.ends.push_back((until, key));
            }
        }
    }

    /// The job is gone without an answer. `crashed`: nobody tells the store; otherwise the claim is given back.
    pub(super) fn give_up(&mut self, key: Key, job: TaskId, crashed: bool) {
        let Some(entry) = self.entries.get_mut(&key) else {
            return;
        };
        match &mut entry.state {
            State::InProgress {
                job: holder,
                crashed: gone,
            } if *holder == job => {
                if crashed {
                    *gone = true;
                    self.ends.push_back((entry.until, key));
                } else {
                    self.entries.swap_remove(&key);
                }
            }
            _ => {}
        }
    }

    fn put(&mut self, key: Key, body: u64, until: Time, state: State) {
        self.entries.insert(key, Entry { body, until, state });
    }

    /// The jobs that hold a claim and have not crashed.
    pub(super) fn holders(&self) -> impl Iterator<Item = TaskId> {
        self.entries.values().filter_map(|entry| match entry.state {
            State::InProgress {
                job,
                crashed: false,
            } => Some(job),
            _ => None,
        })
    }
}
