//! What services do to the world apart from answering it: effects, the stores of keys that guard them, and
//! answers that are scripted.
//!
//! A scenario that uses none of it has none of this ([`Scenario::effects`](super::model::Scenario)).

use seawall::{Failure, Reply, Span};

use crate::step::{Code, Instr, Lookup, Pc};

/// Everything about effects.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Every effect there is; a service's `effect` steps of one name are one.
    pub effects: Vec<Effect>,
    /// Stores of keys.
    pub stores: Vec<Store>,
    /// Scripts.
    pub scripts: Vec<Script>,
    /// What holds for each operation: by service, then by operation.
    pub rules: Vec<Vec<Rules>>,
    /// What each call sends along, by call site.
    pub sends: Vec<Sends>,
    /// Whether a fault answers with a failure after the program has run.
    pub faults: bool,
}

/// One thing that is done to the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Index into `services`.
    pub service: u32,
    /// As in the file.
    pub name: String,
}

/// What holds for one operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Index into [`Effects::scripts`].
    pub script: Option<u32>,
    /// Index into [`Effects::stores`].
    pub store: Option<u32>,
    /// HTTP status of a good answer.
    pub status: u16,
    /// How often each effect is done at least when a program runs to its end; effects that some path leaves out
    /// are not listed.
    pub least: Vec<(u32, u32)>,
    /// Every effect the program may come to.
    pub touches: Vec<u32>,
}

/// A server's memory of keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Store {
    /// `service` or `service.operation`.
    pub name: String,
    /// Whether a key counts for the caller's tenant (the instance of the client it began at) only.
    pub by_tenant: bool,
    /// Whether it counts for the operation only.
    pub by_operation: bool,
    /// How long an answer is remembered, from when it was given.
    pub retention: Span,
    /// How long a claim holds that was never answered.
    pub lease: Span,
    /// Whether callers take the operation for idempotent only where they send a key.
    pub required: bool,
    /// How a key is claimed.
    pub claim: Claim,
    /// What a request gets whose key is being worked on.
    pub in_progress: InProgress,
    /// Whether a key that comes with another body is refused.
    pub fingerprint: bool,
    /// Whether failures are remembered and replayed as well.
    pub replays_failures: bool,
    /// The effects that a key is recorded with; `None`: it guards the request as a whole.
    pub protects: Option<Vec<u32>>,
}

/// How a key is claimed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Claim {
    /// Looking and writing are one step.
    #[default]
    Atomic,
    /// It is looked up first and written with the answer: requests that come in between see nothing.
    CheckThenAct,
}

/// What a request gets whose key is being worked on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InProgress {
    /// This, at once.
    Fails(Failure),
    /// The store is asked again, so often at most; then 409.
    Polls {
        /// Time between two looks.
        every: Span,
        /// Looks after the first.
        times: u32,
    },
}

/// Answers by number.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Answer 1, 2, 3 ….
    pub answers: Vec<Scripted>,
    /// Whether the last one is repeated for ever; otherwise the program answers from then on.
    pub repeat_last: bool,
    /// Whether attempts are counted within each call instead of over all calls.
    pub per_call: bool,
}

/// One scripted answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Scripted {
    /// What is said.
    pub say: Say,
    /// Whether the program runs first, with its effects.
    pub program: bool,
}

/// What is said.
#[derive(Clone, Debug, PartialEq)]
pub enum Say {
    /// What the program says.
    AsUsual,
    /// This.
    Answer {
        /// For the caller's policy.
        reply: Reply,
        /// HTTP status.
        status: u16,
        /// The `Retry-After` header where it is a date.
        date: Option<String>,
    },
    /// Nothing: the response is lost.
    Nothing,
}

/// What a call sends along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sends {
    /// The idempotency key.
    pub key: KeySent,
    /// Whether the file says so; otherwise there is none because nobody thought of it.
    pub says_key: bool,
    /// Whether every attempt has another body.
    pub changes_body: bool,
}

/// The idempotency key that a call sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeySent {
    /// None.
    #[default]
    None,
    /// A new one for the call, the same on each attempt.
    PerCall,
    /// A new one on each attempt.
    PerAttempt,
    /// How many calls the process has begun: 1, 2, 3 ….
    Numbered,
    /// One made from the request it is made for: the same when that is retried.
    Inherited,
}

impl Effects {
    /// Whether anything of it is used.
    #[must_use]
    pub fn is_used(&self) -> bool {
        let unused = self.effects.is_empty() && self.stores.is_empty() && self.scripts.is_empty();
        !unused || self.faults
    }

    /// Whether what call site `site` sends to an operation makes it safe to repeat; `None`: keys have no say in it.
    #[must_use]
    pub fn idempotent(&self, site: usize, service: u32, operation: u32) -> Option<bool> {
        let store = self.of(service, operation)?.store?;
        let key = self.sends.get(site)?.key;
        (self.stores[store as usize].required).then_some(key != KeySent::None)
    }

    /// What holds for an operation.
    #[must_use]
    pub fn of(&self, service: u32, operation: u32) -> Option<&Rules> {
        let of_service = self.rules.get(service as usize)?;
        of_service.get(operation as usize)
    }
}

/// How often each effect is done at least on the way from `entry` to the end.
pub(crate) fn least(code: &Code, entry: Pc) -> Vec<(u32, u32)> {
    let mut counts = Vec::new();
    let mut pc = entry;
    loop {
        let next = Pc(pc.0 + 1);
        pc = match code.instrs[pc.0 as usize] {
            Instr::Effect(effect) => {
                more(&mut counts, effect, 1);
                next
            }
            Instr::Parallel { first, count } => {
                for &branch in code.branches_of(first, count) {
                    for (effect, times) in least(code, branch) {
                        more(&mut counts, effect, times);
                    }
                }
                next
            }
            Instr::Repeat { times, body } => {
                for (effect, each) in least(code, body) {
                    more(&mut counts, effect, each.saturating_mul(times));
                }
                next
            }
            Instr::Choose { first, count } => {
                // Each arm jumps to what follows, so an arm's program is all the rest.
                let arms = code.arms_of(first, count).iter();
                let each: Vec<Vec<(u32, u32)>> = arms.map(|arm| least(code, arm.1)).collect();
                for &(effect, times) in &each[0] {
                    let of =
                        |arm: &Vec<(u32, u32)>| arm.iter().find(|e| e.0 == effect).map(|e| e.1);
                    let fewest = each[1..].iter().map(|arm| of(arm).unwrap_or(0)).min();
                    more(&mut counts, effect, times.min(fewest.unwrap_or(times)));
                }
                break;
            }
            Instr::Lookup(cache) => {
                let Lookup { hit, miss, .. } = code.lookups[cache as usize];
                let (hit, miss) = (hit.map(|hit| least(code, hit)), least(code, miss));
                for (effect, times) in hit.unwrap_or_default() {
                    let there = miss.iter().find(|missed| missed.0 == effect);
                    if let Some((_, missed)) = there {
                        more(&mut counts, effect, times.min(*missed));
                    }
                }
                next
            }
            Instr::Jump(to) | Instr::Otherwise(to) => to,
            Instr::End => break,
            Instr::Work(_)
            | Instr::Delay(_)
            | Instr::Call(_)
            | Instr::Hold(_)
            | Instr::Respond(_)
            | Instr::Claim(_)
            | Instr::Stored(_) => next,
        }
    }
    counts.retain(|(_, times)| *times > 0);
    counts
}

fn more(counts: &mut Vec<(u32, u32)>, effect: u32, times: u32) {
    match counts.iter_mut().find(|(known, _)| *known == effect) {
        Some((_, sum)) => *sum = sum.saturating_add(times),
        None => counts.push((effect, times)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_path_does_is_what_is_done_at_least() {
        // effect 0; choose [ effect 1, effect 1 twice ]; repeat 3 { effect 2 }; parallel { effect 0 }
        let code = Code {
            instrs: vec![
                Instr::Effect(0),
                Instr::Choose { first: 0, count: 2 },
                Instr::Repeat {
                    times: 3,
                    body: Pc(10),
                },
                Instr::Parallel { first: 0, count: 1 },
                Instr::End,
                Instr::Effect(1),
                Instr::Jump(Pc(2)),
                Instr::Effect(1),
                Instr::Effect(3),
                Instr::Jump(Pc(2)),
                Instr::Effect(2),
                Instr::End,
                Instr::Effect(0),
                Instr::End,
            ],
            arms: vec![(0.5, Pc(5)), (1.0, Pc(7))],
            branches: vec![Pc(12)],
            ..Code::default()
        };
        assert_eq!(least(&code, Pc(0)), [(0, 2), (1, 1), (2, 3)]);
    }
}
