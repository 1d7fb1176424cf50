//! Fallbacks: what a program gets where a call failed, and what it may not get.

use std::sync::Arc;

use seawall::{Span, Stopped, Time, Verdict};

use super::task::What;
use super::{TaskId, World};
use crate::event::Event;
use crate::metrics::{AnswerCount, Source};
use crate::scenario::fallbacks::{Fallbacks, Instead};
use crate::scenario::model::{Scenario, failure_of_failed_call};

/// Everything about fallbacks while a world runs.
#[derive(Clone, Debug)]
pub(super) struct FallbackState {
    rules: Arc<Fallbacks>,
    /// Permits in use, by engine: those of one process at one edge.
    permits: Vec<u32>,
    /// When each snapshot was taken: by item, one for each process.
    snapshots: Vec<Vec<Option<Time>>>,
    pub(super) count: Vec<AnswerCount>,
}

impl FallbackState {
    /// That of a scenario; `None` when it has none.
    pub(super) fn new(scenario: &Scenario, engines: usize) -> Option<Box<FallbackState>> {
        let rules = scenario.fallbacks.clone()?;
        let snapshots = rules.items.iter().map(|item| {
            let processes = scenario.processes(item.caller);
            vec![item.at; processes as usize]
        });
        Some(Box::new(FallbackState {
            permits: vec![0; engines],
            snapshots: snapshots.collect(),
            count: vec![AnswerCount::default(); rules.edges.len()],
            rules,
        }))
    }

    /// Whether a snapshot may be served, and how old it is.
    fn look(&self, item: u32, process: u32, max_age: Span, now: Time) -> (Source, Span) {
        match self.snapshots[item as usize][process as usize] {
            None => (Source::Missing, Span::ZERO),
            Some(taken) if taken > now => (Source::Future, Span::ZERO),
            Some(taken) if now.since(taken) > max_age => (Source::TooOld, Span::ZERO),
            Some(taken) => (Source::Snapshot, now.since(taken)),
        }
    }

    /// The laws that are broken; `open`: the sites of the calls that are.
    pub(super) fn broken_laws(&self, open: impl Iterator<Item = u32>) -> Vec<String> {
        let mut under_way = vec![0; self.count.len()];
        let (mut holding, mut broken) = (0, Vec::new());
        for rule in open.filter_map(|site| self.rules.rules[site as usize]) {
            under_way[rule.subject as usize] += 1;
            holding += u32::from(rule.permits.is_some());
        }
        for (count, open) in self.count.iter().zip(under_way) {
            if count.begun != count.ended() + open {
                broken.push(format!(
                    "each call with a fallback gets something once: {} began, {} ended, {open} are open",
                    count.begun,
                    count.ended()
                ));
            }
        }
        let held: u32 = self.permits.iter().sum();
        if held != holding {
            broken.push(format!(
                "permits are given back: {held} are out, {holding} calls hold one"
            ));
        }
        broken
    }
}

impl World {
    fn process(&self, root: TaskId) -> u32 {
        match &self.tasks[root].what {
            What::Iteration { instance, .. } => *instance,
            What::Job(job) => job.replica,
            What::Errand(errand) => errand.process,
            What::Block { .. } => unreachable!("a block is no root"),
        }
    }

    /// A call begins at a step. `Some`: it has a fallback and found no permit, and this follows.
    #[inline(never)]
    pub(super) fn admit_call(&mut self, id: TaskId, root: TaskId, site: u32) -> Option<Event> {
        let process = self.process(root);
        let state = self.fallbacks.as_deref_mut()?;
        let rule = state.rules.rules[site as usize]?;
        if rule.instead.is_made_instead() {
            return None; // it goes on under the permit of the call that failed
        }
        let count = &mut state.count[rule.subject as usize];
        count.begun += 1;
        let most = rule.permits?;
        let engine = self.sites[site as usize].first_engine + process;
        let used = &mut state.permits[engine as usize];
        if *used < most {
            *used += 1;
            return None;
        }
        count.tick(Source::Capacity);
        if self.effects.is_some() {
            self.intend(id, root, site, engine);
            self.enter_source(id, Source::Capacity, None);
            let verdict = Verdict {
                attempts: 0,
                stopped: Some(Stopped::BulkheadFull),
                last: None,
                phase: None,
            };
            self.conclude(id, &verdict);
        }
        self.after_failure(id, site, None)
    }

    /// A call of a task at `site` is over. `Some`: it has a fallback, and this follows.
    #[inline(never)]
    pub(super) fn fall_back(&mut self, id: TaskId, site: u32, verdict: &Verdict) -> Option<Event> {
        let process = self.process(self.tasks[id].root(id));
        let now = self.now;
        let rule = self.fallbacks.as_deref()?.rules.rules[site as usize]?;
        let sought = match rule.instead {
            Instead::OfLookUp => self.sought(id, verdict),
            _ => Source::Failed,
        };
        let state = self.fallbacks.as_deref_mut()?;
        let covered = verdict.last.is_none_or(|kind| rule.on.contains(kind));
        let mut age = None;
        let source = match (verdict.stopped, rule.instead) {
            (None, Instead::OfDirect) => Source::Direct,
            (_, Instead::OfLookUp) => sought,
            (None, instead) => {
                if let Instead::Snapshot { item, .. } = instead {
                    state.snapshots[item as usize][process as usize] = Some(now);
                }
                Source::Live
            }
            (Some(Stopped::BulkheadFull | Stopped::BulkheadTimeout), _) => Source::Capacity,
            (Some(Stopped::Cancelled), _) | (Some(_), Instead::OfDirect) => Source::Failed,
            (Some(_), _) if !covered => Source::Failed,
            (Some(_), Instead::Omit) => Source::Omitted,
            (Some(_), Instead::Generic) => Source::Generic,
            (Some(_), Instead::Reject) => Source::Rejected,
            (Some(_), Instead::Snapshot { item, max_age }) => {
                let (source, old) = state.look(item, process, max_age, now);
                if source == Source::Snapshot {
                    age = Some(old);
                }
                source
            }
            // Where nothing was sent, nothing can have been done.
            (Some(_), Instead::LookUp) if verdict.attempts == 0 => Source::Failed,
            (Some(_), Instead::Direct | Instead::LookUp) => {
                if rule.instead == Instead::LookUp {
                    self.seek(id);
                }
                // The step behind this one, under the same permit.
                self.tasks[id].step_over();
                return Some(Event::Resume(id));
            }
        };
        let count = &mut state.count[rule.subject as usize];
        count.tick(source);
        count.age_ns += u128::from(age.unwrap_or_default().0);
        if rule.permits.is_some() {
            let edge = state.rules.edges[rule.subject as usize];
            let engine = self.edges[edge as usize].first_engine + process;
            state.permits[engine as usize] -= 1;
        }
        if self.effects.is_some() {
            self.enter_source(id, source, age);
        }
        match source.serves() {
            true => Some(Event::Resume(id)),
            false => self.after_failure(id, site, Some(verdict)),
        }
    }

    fn after_failure(&mut self, id: TaskId, site: u32, verdict: Option<&Verdict>) -> Option<Event> {
        if self.sites[site as usize].optional {
            return Some(Event::Resume(id));
        }
        self.tell_failure(id, failure_of_failed_call(verdict.and_then(|v| v.last)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule to the nanosecond, at both of its ends.
    #[test]
    fn a_snapshot_is_served_from_no_age_to_the_greatest_and_no_further() {
        let taken = Time::ZERO.after(Span::secs(10));
        let mut state = FallbackState {
            rules: Arc::new(Fallbacks::default()),
            permits: Vec::new(),
            snapshots: vec![vec![Some(taken), None]],
            count: Vec::new(),
        };
        let max = Span::secs(60);
        let look =
            |state: &FallbackState, process, nanos: u64| state.look(0, process, max, Time(nanos));
        let s = 1_000_000_000;
        assert_eq!(look(&state, 0, 10 * s), (Source::Snapshot, Span::ZERO));
        assert_eq!(look(&state, 0, 70 * s), (Source::Snapshot, max));
        assert_eq!(look(&state, 0, 70 * s + 1).0, Source::TooOld);
        assert_eq!(look(&state, 0, 10 * s - 1).0, Source::Future);
        assert_eq!(look(&state, 1, 20 * s).0, Source::Missing);
        // Serving it has not renewed it.
        assert_eq!(state.snapshots[0][0], Some(taken));
        state.snapshots[0][0] = Some(Time(70 * s));
        assert_eq!(look(&state, 0, 70 * s + 1), (Source::Snapshot, Span(1)));
    }
}
