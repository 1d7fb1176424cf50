//! From written steps to flat code.

use std::collections::VecDeque;

use seawall::Span;

use super::slot::Slot;
use super::{Code, Instr, Pc, Step};
use crate::law::Law;
use crate::scenario::cache::{Cache, Caches};
use crate::scenario::coalesce::Coalescing;
use crate::scenario::context::Context;
use crate::scenario::effects::{Effect, Effects, Sends, Store};
use crate::scenario::fallbacks::{Fallbacks, Rule};
use crate::scenario::file::law::LawFile;
use crate::scenario::model::{CallSite, Caller, Edge};
use crate::scenario::sessions::{Session, Sessions};
use crate::scenario::tree::Position;

/// Compiles the programs of a scenario, one after the other, into one [`Code`].
///
/// A program is laid out as its straight line first, ending in `End`; the blocks nested in it follow,
/// in the order in which they were met.
#[derive(Debug, Default)]
pub(crate) struct Compiler {
    compiled: Compiled,
    /// Nested blocks still to be laid out.
    pending: VecDeque<Pending>,
}

/// What all programs of a scenario come to.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    pub(crate) code: Code,
    pub(crate) edges: Vec<Edge>,
    pub(crate) sites: Vec<CallSite>,
    /// Where each call site is written.
    pub(crate) places: Vec<Position>,
    pub(crate) effects: Effects,
    pub(crate) fallbacks: Fallbacks,
    pub(crate) coalescing: Coalescing,
    pub(crate) caches: Caches,
    pub(crate) sessions: Sessions,
    /// Where each cache is written.
    pub(crate) cache_places: Vec<Position>,
    /// Where each store of keys is written.
    pub(crate) stores: Vec<Position>,
}

/// A nested block, where its address goes once it has one, and what it ends in.
#[derive(Debug)]
struct Pending {
    steps: Vec<Step>,
    slot: Slot,
    last: Instr,
}

impl Compiler {
    /// Compiles one program of `caller`; gives its address.
    pub(crate) fn program(
        &mut self,
        caller: Caller,
        steps: &[Step],
        context: &mut Context<'_>,
    ) -> Pc {
        let entry = self.block(caller, steps, Instr::End, context);
        while let Some(Pending { steps, slot, last }) = self.pending.pop_front() {
            let start = self.block(caller, &steps, last, context);
            let code = &mut self.compiled.code;
            match slot {
                Slot::Branch(i) => code.branches[i] = start,
                Slot::Arm(i) => code.arms[i].1 = start,
                Slot::Hit(i) => code.lookups[i].hit = Some(start),
                Slot::Miss(i) => code.lookups[i].miss = start,
                Slot::Body(i) => {
                    if let Instr::Repeat { body, .. } = &mut code.instrs[i] {
                        *body = start;
                    }
                }
            }
        }
        entry
    }

    /// What all programs came to.
    pub(crate) fn finish(self) -> Compiled {
        self.compiled
    }

    fn block(
        &mut self,
        caller: Caller,
        steps: &[Step],
        last: Instr,
        context: &mut Context<'_>,
    ) -> Pc {
        let start = self.here();
        for step in steps {
            match step {
                Step::Work(law) => super::work::work(law, caller, self, context),
                Step::Delay(law) => super::work::delay(law, self, context),
                Step::Call(call) => call.compile(caller, self, context),
                Step::Parallel(branches) => super::parallel::compile(&branches.0, self),
                Step::Choose(arms) => super::choose::compile(arms, self, context),
                Step::Repeat(repeat) => repeat.compile(self),
                Step::Cache(cache) => cache.value.compile(cache.at, caller, self, context),
                Step::Session(held) => held.value.compile(held.at, caller, self, context),
                Step::Respond(answer) => super::respond::compile(answer, caller, self, context),
                Step::Effect(name) => super::effect::compile(name, caller, self, context),
            }
        }
        self.push(last);
        start
    }

    /// The address of the next instruction.
    pub(super) fn here(&self) -> Pc {
        Pc(self.compiled.code.instrs.len() as u32)
    }

    pub(super) fn push(&mut self, instr: Instr) {
        self.compiled.code.instrs.push(instr);
    }

    /// Has `steps` laid out later, ending in `last`, and the address put into `slot`.
    pub(super) fn later(&mut self, steps: &[Step], slot: Slot, last: Instr) {
        self.pending.push_back(Pending {
            steps: steps.to_vec(),
            slot,
            last,
        });
    }

    pub(crate) fn code(&mut self) -> &mut Code {
        &mut self.compiled.code
    }

    /// The index of a law; one that is wrong has been reported and stands as nothing.
    pub(super) fn law(&mut self, law: &LawFile, context: &mut Context<'_>) -> u32 {
        let law = law.mean(context).unwrap_or(Law::Constant(Span::ZERO));
        self.code().laws.push(law);
        self.code().laws.len() as u32 - 1
    }

    /// The index of the edge, shared by all call sites that agree in it.
    pub(super) fn edge(&mut self, edge: Edge) -> u32 {
        let edges = &mut self.compiled.edges;
        let index = edges
            .iter()
            .position(|known| *known == edge)
            .unwrap_or_else(|| {
                edges.push(edge);
                edges.len() - 1
            });
        index as u32
    }

    /// Who makes the call of each site so far, and over which link.
    pub(crate) fn callers(&self) -> Vec<(Caller, u32)> {
        let edges = &self.compiled.edges;
        let sites = self.compiled.sites.iter();
        sites
            .map(|site| (edges[site.edge as usize].caller, site.link))
            .collect()
    }

    /// Whether any calls may share one.
    pub(crate) fn shares(&self) -> bool {
        !self.compiled.coalescing.wanted.is_empty()
    }

    /// What is known of calls that may share one so far.
    pub(super) fn coalescing(&mut self) -> &mut Coalescing {
        &mut self.compiled.coalescing
    }

    /// The index of a new cache.
    pub(super) fn cache(&mut self, cache: Cache, place: Position) -> u32 {
        self.compiled.cache_places.push(place);
        self.compiled.caches.all.push(cache);
        self.compiled.cache_places.len() as u32 - 1
    }

    /// The index of a new session.
    pub(super) fn session(&mut self, session: Session) -> u32 {
        self.compiled.sessions.all.push(session);
        self.compiled.sessions.all.len() as u32 - 1
    }

    /// The service at the far end of an edge.
    pub(super) fn service_of(&self, edge: u32) -> u32 {
        self.compiled.edges[edge as usize].service
    }

    /// Services that sessions are held to so far.
    pub(crate) fn sessions(&self) -> Vec<u32> {
        let all = self.compiled.sessions.all.iter();
        all.map(|session| session.service).collect()
    }

    /// The caches so far, and where they are written.
    pub(crate) fn caches(&self) -> (&Caches, &[Position]) {
        (&self.compiled.caches, &self.compiled.cache_places)
    }

    /// What is known of fallbacks so far.
    pub(crate) fn fallbacks(&mut self) -> &mut Fallbacks {
        &mut self.compiled.fallbacks
    }

    /// What holds for a call site.
    pub(super) fn rule(&mut self, site: u32, rule: Rule) {
        let rules = &mut self.compiled.fallbacks.rules;
        rules.resize(rules.len().max(site as usize + 1), None);
        rules[site as usize] = Some(rule);
    }

    /// What is known of effects so far.
    pub(crate) fn effects(&mut self) -> &mut Effects {
        &mut self.compiled.effects
    }

    /// The index of an effect, shared by all steps of a service that name it.
    pub(crate) fn effect(&mut self, service: u32, name: &str) -> u32 {
        let effects = &mut self.compiled.effects.effects;
        let known = effects.iter();
        let index = known
            .clone()
            .position(|known| known.service == service && known.name == name)
            .unwrap_or(known.len());
        if index == effects.len() {
            let name = name.to_owned();
            effects.push(Effect { service, name });
        }
        index as u32
    }

    /// The index of a new store of keys.
    pub(crate) fn store(&mut self, store: Store, place: Position) -> u32 {
        self.compiled.stores.push(place);
        self.compiled.effects.stores.push(store);
        self.compiled.stores.len() as u32 - 1
    }

    /// Has the program that comes next begin with a look at the keys of `store`; gives the address of that.
    pub(crate) fn claim(&mut self, store: u32) -> Pc {
        let here = self.here();
        self.push(Instr::Claim(store));
        here
    }

    /// The index of a new call site.
    pub(super) fn site(&mut self, site: CallSite, sends: Sends, place: Position) -> u32 {
        self.compiled.places.push(place);
        self.compiled.effects.sends.push(sends);
        self.compiled.sites.push(site);
        self.compiled.sites.len() as u32 - 1
    }
}
