//! Calls that share one that is under way already: single flight.

use std::sync::Arc;

use seawall::{Entropy, Stopped, Verdict};

use super::index::Index;
use super::task::What;
use super::{TaskId, World};
use crate::arena::beside;
use crate::event::Event;
use crate::metrics::CoalesceCount;
use crate::rng::{Purpose, Stream};
use crate::scenario::coalesce::Coalescing;
use crate::scenario::model::{Scenario, failure_of_failed_call};

/// A call under way that others may share.
#[derive(Clone, Debug)]
struct Flight {
    leader: TaskId,
    rule: u32,
    /// The process that makes it, and what is asked for.
    key: u64,
    followers: Vec<TaskId>,
}

/// Everything about shared calls while a world runs.
#[derive(Clone, Debug)]
pub(super) struct CoalesceState {
    rules: Arc<Coalescing>,
    /// By call site: which of the rules.
    of_site: Vec<Option<u32>>,
    /// What is asked for, by rule.
    wishes: Vec<Stream>,
    /// By rule: the slot of the task whose call it is.
    flights: Vec<Index>,
    /// By slot of the calling task: the flight that it leads.
    led: Vec<Option<Flight>>,
    /// Lists of followers that are used again.
    spare: Vec<Vec<TaskId>>,
    pub(super) count: Vec<CoalesceCount>,
}

/// Whoever comes here has asked.
const IN_USE: &str = "calls are shared in this world";

impl CoalesceState {
    /// That of a scenario; `None` when it has none.
    pub(super) fn new(scenario: &Scenario, seed: u64) -> Option<Box<CoalesceState>> {
        let rules = scenario.coalescing.clone()?;
        let mut of_site = vec![None; scenario.sites.len()];
        for (index, wanted) in (0u32..).zip(&rules.wanted) {
            of_site[wanted.site as usize] = Some(index);
        }
        let wishes = (0..rules.wanted.len())
            .map(|index| Stream::new(seed, Purpose::Wish, &scenario.shared_name(index)));
        Some(Box::new(CoalesceState {
            wishes: wishes.collect(),
            of_site,
            flights: vec![Index::default(); rules.wanted.len()],
            led: Vec::new(),
            spare: Vec::new(),
            count: vec![CoalesceCount::default(); rules.wanted.len()],
            rules,
        }))
    }

    /// All its generators, by rule.
    pub(super) fn streams(&self) -> impl Iterator<Item = (u32, Purpose, &Stream)> {
        let wishes = (0u32..).zip(&self.wishes);
        wishes.map(|(index, stream)| (index, Purpose::Wish, stream))
    }

    /// What the notes of those take that lead others, and wait for them.
    pub(super) fn bytes(&self) -> usize {
        let waiting = self.led.iter().flatten().map(|flight| &flight.followers);
        let lists = waiting.chain(&self.spare).map(Vec::len).sum::<usize>();
        self.led.len() * size_of::<Option<Flight>>()
            + self.flights.iter().map(Index::bytes).sum::<usize>()
            + lists * size_of::<TaskId>()
    }

    /// The laws that are broken. `calls`: whether a task waits for a call of its own.
    pub(super) fn broken_laws(&self, calls: impl Fn(TaskId) -> bool) -> Vec<String> {
        let mut broken = Vec::new();
        for count in &self.count {
            if count.wanted != count.made + count.shared {
                broken.push(format!(
                    "each call that may share is made or shares one: {} began, {} made, {} shared",
                    count.wanted, count.made, count.shared
                ));
            }
        }
        let led = self.led.iter().flatten();
        let stray = led.clone().filter(|flight| !calls(flight.leader)).count();
        let (led, known) = (
            led.count(),
            self.flights.iter().map(Index::len).sum::<usize>(),
        );
        if led != known {
            broken.push(format!(
                "who leads is known by what it asks for: {led} lead, {known} are known"
            ));
        }
        if stray > 0 {
            broken.push(format!(
                "a shared call is under way: {stray} are not, and others wait for them"
            ));
        }
        broken
    }
}

impl World {
    /// A call of a task is about to begin. Whether it shares one that is under way.
    #[cold]
    #[inline(never)]
    pub(super) fn joins_another(&mut self, id: TaskId, root: TaskId, site: u32) -> bool {
        let What::Job(job) = &self.tasks[root].what else {
            return false;
        };
        let process = job.replica;
        let Some(state) = self.coalescing.as_deref_mut() else {
            return false;
        };
        let Some(rule) = state.of_site[site as usize] else {
            return false;
        };
        let at = state.wishes[rule as usize].unit();
        let upto = &state.rules.wanted[rule as usize].upto;
        let thing = upto.partition_point(|&upto| upto <= at) as u32;
        let key = u64::from(process) << 32 | u64::from(thing);
        let flights = &mut state.flights[rule as usize];
        let count = &mut state.count[rule as usize];
        count.wanted += 1;
        let leader = flights.get(key);
        if let Some(flight) = leader.and_then(|slot| state.led[slot as usize].as_mut()) {
            count.shared += 1;
            flight.followers.push(id);
            return true;
        }
        count.made += 1;
        flights.insert(key, id.slot() as u32);
        *beside(&mut state.led, id, || None) = Some(Flight {
            leader: id,
            rule,
            key,
            followers: state.spare.pop().unwrap_or_default(),
        });
        false
    }

    /// The call of a task is over: so it is for all who share it. If it was cancelled, they have to see for themselves.
    #[cold]
    #[inline(never)]
    pub(super) fn lands(&mut self, id: TaskId, site: u32, verdict: &Verdict) {
        let state = self.coalescing.as_deref_mut().expect(IN_USE);
        let led = state.led.get_mut(id.slot());
        let Some(flight) = led.and_then(|led| led.take_if(|flight| flight.leader == id)) else {
            return;
        };
        state.flights[flight.rule as usize].remove(flight.key);
        let optional = self.sites[site as usize].optional;
        let mut followers = flight.followers;
        for follower in followers.drain(..) {
            let Some(task) = self.tasks.get_mut(follower) else {
                continue; // it was cancelled while it waited
            };
            let event = match verdict.stopped {
                Some(Stopped::Cancelled) => {
                    task.step_back();
                    Event::Resume(follower)
                }
                Some(_) if !optional => {
                    task.fails(failure_of_failed_call(verdict.last));
                    Event::Fail(follower)
                }
                _ => Event::Resume(follower),
            };
            self.soon.push_back(event);
        }
        state.spare.push(followers);
    }
}
