//! `cache`: looks something up, and goes for it where it is not there.

use seawall::Span;

use super::code::Lookup;
use super::slot::Slot;
use super::{Block, Compiler, Instr, Pc, Step};
use crate::scenario::cache::{Cache, OnFailure};
use crate::scenario::context::Context;
use crate::scenario::model::Caller;
use crate::scenario::tree::{At, Position};
use crate::scenario::written::{Factor, Limit, Share, Whole, record, words};

/// Different things that there is room for.
const KEYS_MAX: u32 = 1_000_000;

record! {
    /// A cache of single things: each time a program comes here it wants one of them, drawn by how popular they are.
    pub(crate) struct CacheFile {
        /// How many different things are asked for.
        keys: At<Whole<1>>,
        /// How unevenly: the n-th is asked for in proportion to 1 / n^skew. 0: all alike.
        skew: Factor = 0,
        /// How many of them one cache has room for; the one that was not asked for the longest makes room. `unlimited`: all.
        capacity: Limit<1> = "unlimited",
        /// How long an entry is good for, above 0s. Default: for ever.
        ttl: Option<At<Span>>,
        /// Each entry is good for up to such a part of `ttl` less, drawn evenly.
        ttl_jitter: Option<At<Share>>,
        /// Whose it is.
        scope: CacheScope = "replica",
        /// Whether those who miss what is being fetched wait for that, good or bad, instead of fetching it as well.
        coalesce: bool = false,
        /// What becomes of the program, and of the entry, when `miss` fails.
        on_failure: At<OnFailure> = "keep",
        /// Whether it is full at the start, of the most popular things, each at some age below its `ttl`.
        filled: bool = false,
        /// What is done when it is there: a step or a list of steps. Default: nothing.
        hit: Option<Block>,
        /// The way to get it when it is not there: a step or a list of steps. If all goes well it is stored.
        miss: Block,
    }
}

/// Whose a cache is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheScope {
    Replica,
    Service,
}

words! {
    /// Whose a cache is.
    CacheScope, "CacheScope" {
        "replica" => CacheScope::Replica, "Each replica has its own, and loses it when it dies.";
        "service" => CacheScope::Service, "One for all replicas, beside them: it outlives them.";
    }
}

words! {
    /// What happens when what is to be stored cannot be had.
    OnFailure, "CacheFailure" {
        "keep" => OnFailure::Keep, "The program fails. What another one has stored meanwhile stays.";
        "delete" => OnFailure::Delete,
            "The program fails, and what another one has stored meanwhile is deleted: the failure is taken for a bad value.";
        "stale" => OnFailure::Stale,
            "If there is an entry that is too old, the program goes on with that; otherwise it fails.";
    }
}

impl CacheFile {
    /// What is wrong has been reported.
    pub(super) fn compile(
        &self,
        at: Position,
        caller: Caller,
        compiler: &mut Compiler,
        context: &mut Context<'_>,
    ) {
        let Caller::Service(service) = caller else {
            context.report(at, "cache: only services have one; put it into theirs");
            return;
        };
        let keys = self.keys.value.0;
        if keys > KEYS_MAX {
            let message = format!("cache.keys: must be at most {KEYS_MAX}, got {keys}");
            context.report(self.keys.at, message);
            return;
        }
        if let Some(ttl) = self.ttl.as_ref().filter(|ttl| ttl.value == Span::ZERO) {
            context.report(ttl.at, "cache.ttl: must be above 0s");
        }
        if let (Some(jitter), None) = (&self.ttl_jitter, &self.ttl) {
            let message = "cache.ttl_jitter: goes with a `ttl`; without one nothing expires";
            context.report(jitter.at, message);
        }
        if self.on_failure.value == OnFailure::Stale {
            if self.ttl.is_none() {
                let message = "cache.on_failure: `stale` goes with a `ttl`; without one nothing is ever too old";
                context.report(self.on_failure.at, message);
            }
            // Whoever still works in another branch would work on for a program that has gone on.
            if branches(&self.miss.0) {
                let message = "cache.on_failure: `stale` goes with no `parallel` under `miss`; put that into a service of its own";
                context.report(self.on_failure.at, message);
            }
        }
        let cache = Cache {
            service,
            keys,
            upto: Cache::upto(keys, self.skew.0),
            capacity: self.capacity.0.map_or(keys, |capacity| capacity.min(keys)),
            ttl: self.ttl.as_ref().map(|ttl| ttl.value),
            jitter: self
                .ttl_jitter
                .as_ref()
                .map_or(0.0, |jitter| jitter.value.0),
            shared: self.scope == CacheScope::Service,
            coalesce: self.coalesce,
            on_failure: self.on_failure.value,
            filled: self.filled,
        };
        let misses = cache.misses_at_best();
        let index = compiler.cache(cache, at);
        compiler.push(Instr::Lookup(index));
        compiler.push(Instr::Stored(index));
        compiler.code().lookups.push(Lookup {
            hit: None,
            miss: Pc::default(),
            misses,
        });
        let index = index as usize;
        if let Some(hit) = &self.hit {
            compiler.later(&hit.0, Slot::Hit(index), Instr::End);
        }
        compiler.later(&self.miss.0, Slot::Miss(index), Instr::End);
    }
}

/// Whether several tasks may be at work at once.
fn branches(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Step::Parallel(_) => true,
        Step::Repeat(repeat) => branches(&repeat.r#do.0),
        Step::Choose(arms) => arms.value.0.iter().any(|arm| branches(&arm.r#do.0)),
        Step::Cache(cache) => {
            let hit = cache.value.hit.as_ref();
            branches(&cache.value.miss.0) || hit.is_some_and(|hit| branches(&hit.0))
        }
        _ => false,
    })
}
