//! Caches: a look-up, and the way to what is not there.
//!
//! Whoever goes for something runs the way there as a block of its program and leads a fetch meanwhile. The fetch is over when
//! the block is (it is stored), when the program fails in it, or when the program is stopped.

mod fetch;
mod store;

use std::sync::Arc;

use seawall::{Entropy, Span, Time};

use super::task::What;
use super::{TaskId, World};
use crate::metrics::CacheCount;
use crate::rng::{Purpose, Stream};
use crate::scenario::cache::{Cache, Caches};
use crate::scenario::model::Scenario;
use crate::step::Pc;

use super::index::Index;
use fetch::Lead;
use store::{Store, key};

/// The caches of one step while a world runs.
#[derive(Clone, Debug)]
struct OfStep {
    /// What is asked for.
    wishes: Stream,
    /// How long entries are good for.
    lives: Stream,
    /// Which entries a fault takes.
    luck: Stream,
    store: Store,
    /// What is being fetched while others may wait for it: the slot of the task that does.
    flights: Index,
    /// How many wait.
    waiting: u64,
    count: CacheCount,
}

/// Everything about caches while a world runs.
#[derive(Clone, Debug)]
pub(super) struct CacheState {
    rules: Arc<Caches>,
    steps: Vec<OfStep>,
    /// By slot of a task: what it fetches.
    leads: Vec<Option<Lead>>,
    /// Lists of those who wait that are used again.
    spare: Vec<Vec<TaskId>>,
}

/// What comes of a look-up.
pub(super) enum Found {
    /// It is there, and nothing is done about it.
    There,
    /// This task goes on, with what is done about it or the way to it.
    Block(TaskId),
    /// Another one is on the way to it.
    Waits,
}

/// Whoever comes here looks something up.
const IN_USE: &str = "there are caches in this world";

impl OfStep {
    fn new(scenario: &Scenario, index: usize, rule: &Cache, seed: u64) -> OfStep {
        let name = scenario.cache_stream_name(index);
        let stream = |purpose| Stream::new(seed, purpose, &name);
        let mut lives = stream(Purpose::Lifetime);
        let places = rule.places(&scenario.services);
        let mut store = Store::new(places, rule.capacity);
        if rule.filled {
            for place in 0..places {
                // The most popular last, so that it is the last to go.
                for thing in (0..rule.capacity).rev() {
                    let until = rule
                        .ttl
                        .map_or(Time::MAX, |ttl| Time::ZERO.after(ttl.times(lives.unit())));
                    store.put(key(place, thing), until);
                }
            }
        }
        OfStep {
            wishes: stream(Purpose::Wish),
            luck: stream(Purpose::Fault),
            lives,
            store,
            flights: Index::default(),
            waiting: 0,
            count: CacheCount::default(),
        }
    }

    /// What is wanted now.
    fn thing(&mut self, rule: &Cache) -> u32 {
        match rule.upto.as_slice() {
            [] => self.wishes.below(u64::from(rule.keys)) as u32,
            upto => {
                let at = self.wishes.unit();
                upto.partition_point(|&upto| upto <= at) as u32
            }
        }
    }

    /// Until when is good what is stored now.
    fn good_until(&mut self, rule: &Cache, now: Time) -> Time {
        let Some(ttl) = rule.ttl else {
            return Time::MAX;
        };
        let lives: Span = match rule.jitter {
            0.0 => ttl,
            jitter => ttl.times(1.0 - jitter * self.lives.unit()),
        };
        now.after(lives)
    }
}

impl CacheState {
    /// That of a scenario; `None` when it has none.
    pub(super) fn new(scenario: &Scenario, seed: u64) -> Option<Box<CacheState>> {
        let rules = scenario.caches.clone()?;
        let steps = rules.all.iter().enumerate();
        let steps = steps.map(|(index, rule)| OfStep::new(scenario, index, rule, seed));
        Some(Box::new(CacheState {
            steps: steps.collect(),
            rules,
            leads: Vec::new(),
            spare: Vec::new(),
        }))
    }

    /// All its generators, by step.
    pub(super) fn streams(&self) -> impl Iterator<Item = (u32, Purpose, &Stream)> {
        (0u32..).zip(&self.steps).flat_map(|(index, step)| {
            [
                (index, Purpose::Wish, &step.wishes),
                (index, Purpose::Lifetime, &step.lives),
                (index, Purpose::Fault, &step.luck),
            ]
        })
    }

    /// What was counted, by step.
    pub(super) fn counts(&self) -> Vec<CacheCount> {
        self.steps.iter().map(|step| step.count.clone()).collect()
    }

    /// What its entries take.
    pub(super) fn bytes(&self) -> usize {
        self.steps.iter().map(|step| step.store.bytes()).sum()
    }
}

impl World {
    /// The `cache` step.
    #[cold]
    #[inline(never)]
    pub(super) fn look_up(&mut self, id: TaskId, root: TaskId, cache: u32) -> Found {
        let What::Job(job) = &self.tasks[root].what else {
            unreachable!("only services have caches");
        };
        let (replica, now) = (job.replica, self.now);
        let state = self.caches.as_deref_mut().expect(IN_USE);
        let rule = &state.rules.all[cache as usize];
        let step = &mut state.steps[cache as usize];
        let place = if rule.shared { 0 } else { replica };
        let wanted = key(place, step.thing(rule));
        let blocks = self.scenario.code.lookups[cache as usize];
        step.count.lookups += 1;
        let until = step.store.look_up(wanted);
        if until.is_some_and(|until| now < until) {
            step.count.hits += 1;
            self.tasks[id].step_over();
            return match blocks.hit {
                Some(hit) => Found::Block(self.spawn_alone(id, root, hit)),
                None => Found::There,
            };
        }
        step.count.misses += 1;
        step.count.expired += u64::from(until.is_some());
        if let Some(slot) = step.flights.get(wanted) {
            let flight = state.leads[slot as usize].as_mut();
            flight.expect(fetch::LED).followers.push(id);
            step.count.waits += 1;
            step.waiting += 1;
            return Found::Waits;
        }
        step.count.fetches += 1;
        self.leads(id, cache, wanted);
        Found::Block(self.spawn_alone(id, root, blocks.miss))
    }

    /// Has one block run, after which the task goes on.
    fn spawn_alone(&mut self, id: TaskId, root: TaskId, entry: Pc) -> TaskId {
        self.tasks[id].has_one_block();
        self.spawn(id, root, entry)
    }

    /// A replica begins, after its death or as a new one: its own caches are empty.
    pub(super) fn lose_caches(&mut self, service: u32, replica: u32) {
        let Some(state) = self.caches.as_deref_mut() else {
            return;
        };
        let steps = state.rules.all.iter().zip(&mut state.steps);
        for (_, step) in steps.filter(|(rule, _)| rule.service == service && !rule.shared) {
            step.count.emptied += step.store.empty(replica, 1, || true);
        }
    }

    /// Entries of a service are lost, each with the chance `share`.
    pub(super) fn empty_caches(&mut self, service: u32, share: f64, replicas: u32) {
        let Some(state) = self.caches.as_deref_mut() else {
            return;
        };
        let steps = state.rules.all.iter().zip(&mut state.steps);
        for (rule, step) in steps.filter(|(rule, _)| rule.service == service) {
            let places = if rule.shared { 1 } else { replicas };
            let luck = &mut step.luck;
            step.count.emptied += step.store.empty(0, places, || luck.bernoulli(share));
        }
    }
}
