//! Effects: what is done to the world apart from what callers are told, and what guards it.
//!
//! A world without effects, keys, scripts and ledger has none of this, and each place that would need it asks once.
//! What belongs to calls and jobs is kept here beside them, by the slots of their tasks.

mod audit;
mod count;
mod guard;
mod intent;
mod ledger;
mod look_up;
mod message;
mod script;
mod store;

use std::sync::Arc;

use seawall::{Failure, Reply};

use super::TaskId;
use crate::arena::{Id, beside};
use crate::metrics::{By, EffectCount, KeyCount};
use crate::scenario::effects::Effects;
use crate::scenario::model::Scenario;

use intent::{IntentId, Intents};
use ledger::Ledger;
use store::{Key, StoreState};

pub(super) use guard::Claimed;

/// Everything about effects while a world runs.
#[derive(Clone, Debug)]
pub(super) struct EffectsState {
    rules: Arc<Effects>,
    intents: Intents,
    /// By the slot of the task that waits for the call.
    calls: Vec<CallNote>,
    /// By the slot of the job's task.
    jobs: Vec<JobNote>,
    /// By the slot of the message.
    messages: Vec<message::MessageNote>,
    stores: Vec<StoreState>,
    /// Attempts that each script has answered.
    scripted: Vec<u64>,
    /// Calls begun.
    begun: u64,
    /// Calls begun by each engine's process, for keys that are numbers.
    numbers: Vec<u64>,
    count: Vec<EffectCount>,
    /// Effects, duplicates left out, of intents that are over.
    settled: Vec<u64>,
    ledger: Option<Ledger>,
    /// Jobs that have arrived.
    tasks: u64,
}

/// What is known of a call besides its engine.
#[derive(Clone, Copy, Debug)]
struct CallNote {
    intent: IntentId,
    /// Its number among all calls.
    number: u64,
    /// Its number among the calls of its process.
    of_process: u64,
    /// Whether an attempt of its was given up without an answer.
    unanswered: bool,
    /// What the call before it wanted done, where this one asks whether it was; and whether an attempt of that one was given
    /// up without an answer.
    sought: IntentId,
    unheard: bool,
    /// Its latest entry in the ledger.
    entry: Option<usize>,
}

impl CallNote {
    const NONE: CallNote = CallNote {
        intent: Id::NONE,
        number: 0,
        of_process: 0,
        unanswered: false,
        sought: Id::NONE,
        unheard: false,
        entry: None,
    };
}

/// What is known of a job besides its place in the service.
#[derive(Clone, Debug)]
struct JobNote {
    /// `NONE` once it can do nothing more.
    intent: IntentId,
    key: Option<u64>,
    /// What is in the body, as a number.
    body: u64,
    /// Whether its answer has been decided.
    said: bool,
    /// What is said instead of what the program says.
    instead: Instead,
    /// The key it looked up and found new.
    claim: Option<(u32, Key)>,
    polled: u32,
    /// How often it came by each effect, and by each of its call steps.
    done: Vec<(u32, u32)>,
    called: Vec<(u32, u32)>,
    by: By,
    status: Option<u16>,
    /// The script and the answer whose date counts when it arrives.
    date: Option<(u32, u32)>,
    /// The key belongs to another body: not to be sent again.
    refused: bool,
    task: u64,
    entry: Option<usize>,
}

impl JobNote {
    fn new() -> JobNote {
        JobNote {
            intent: Id::NONE,
            key: None,
            body: 0,
            said: false,
            instead: Instead::Nothing,
            claim: None,
            polled: 0,
            done: Vec::new(),
            called: Vec::new(),
            by: By::Program,
            status: None,
            date: None,
            refused: false,
            task: 0,
            entry: None,
        }
    }

    /// As new, but for the room its lists take.
    fn clear(&mut self) {
        let (mut done, mut called) = (
            std::mem::take(&mut self.done),
            std::mem::take(&mut self.called),
        );
        done.clear();
        called.clear();
        *self = JobNote {
            done,
            called,
            ..JobNote::new()
        };
    }
}

/// What is said instead of what the program says.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Instead {
    Nothing,
    /// A fault.
    Fault(Failure),
    /// An answer of a script.
    Script(u32, u32),
}

impl EffectsState {
    /// That of a scenario; `None` when it uses nothing of it.
    pub(super) fn new(scenario: &Scenario, engines: usize) -> Option<Box<EffectsState>> {
        let rules = scenario.effects.clone()?;
        Some(EffectsState::of(rules, engines))
    }

    fn of(rules: Arc<Effects>, engines: usize) -> Box<EffectsState> {
        Box::new(EffectsState {
            intents: Intents::new(),
            calls: Vec::new(),
            jobs: Vec::new(),
            messages: Vec::new(),
            stores: rules.stores.iter().map(|_| StoreState::new()).collect(),
            scripted: vec![0; rules.scripts.len()],
            begun: 0,
            numbers: vec![0; engines],
            count: vec![EffectCount::default(); rules.effects.len()],
            settled: vec![0; rules.effects.len()],
            ledger: None,
            tasks: 0,
            rules,
        })
    }

    /// Counts so far, by effect and by store.
    pub(super) fn counts(&self) -> (Vec<EffectCount>, Vec<KeyCount>) {
        let keys = self.stores.iter().map(|store| store.count.clone());
        (self.count.clone(), keys.collect())
    }

    /// What grows with what is under way: intents, and the notes beside calls, jobs and messages; and keys.
    pub(super) fn bytes(&self) -> usize {
        let lists = |note: &JobNote| note.done.len() + note.called.len();
        let listed: usize = self.jobs.iter().map(lists).sum();
        self.intents.bytes()
            + self.calls.len() * size_of::<CallNote>()
            + self.jobs.len() * size_of::<JobNote>()
            + listed * size_of::<(u32, u32)>()
            + self.messages.len() * size_of::<message::MessageNote>()
            + self.stores.iter().map(StoreState::bytes).sum::<usize>()
    }

    fn call(&mut self, id: TaskId) -> &mut CallNote {
        beside(&mut self.calls, id, || CallNote::NONE)
    }

    fn job(&mut self, id: TaskId) -> &mut JobNote {
        beside(&mut self.jobs, id, JobNote::new)
    }
}

/// Adds one to the count of `what` in a short list; gives the count before.
fn tick(list: &mut Vec<(u32, u32)>, what: u32) -> u32 {
    match list.iter_mut().find(|(known, _)| *known == what) {
        Some((_, times)) => {
            *times += 1;
            *times - 1
        }
        None => {
            list.push((what, 1));
            0
        }
    }
}

/// Two numbers in one that differs, all but certainly, whenever one of them does (the finaliser of SplitMix64).
fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.rotate_left(32) ^ b.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x2545_F491_4F6C_DD1D;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Status of an answer, where one carries it.
fn status_of(reply: Reply, good: u16) -> Option<u16> {
    match reply {
        Reply::Ok => Some(good),
        Reply::Failed(failure) => failure.kind.http(),
    }
}

/// Whoever comes here has asked.
const IN_USE: &str = "effects are used in this world";
