//! Calls and jobs as far as effects go: from the intent to what its caller was told.

use seawall::Verdict;

use super::guard::key_of;
use super::intent::{Intent, Intents, Told};
use super::{CallNote, EffectsState, IN_USE, mix, tick};
use crate::arena::Id;
use crate::metrics::{By, EffectCount, JobEnd};
use crate::scenario::effects::{Effects, KeySent, Rules, Sends};
use crate::world::job::JobState;
use crate::world::task::What;
use crate::world::{TaskId, World};

impl World {
    /// A task begins a call at a step.
    #[inline(never)]
    pub(in crate::world) fn intend(&mut self, id: TaskId, root: TaskId, site: u32, engine: u32) {
        let state = self.effects.as_deref_mut().expect(IN_USE);
        state.begun += 1;
        let number = state.begun;
        let of_process = &mut state.numbers[engine as usize];
        *of_process += 1;
        let of_process = *of_process;
        let edge = self.scenario.sites[site as usize].edge;
        let service = self.scenario.edges[edge as usize].service;
        let target = (service, self.scenario.sites[site as usize].operation);
        let (intent, parent) = match &self.tasks[root].what {
            What::Iteration { client, instance } => {
                let tenant = mix(u64::from(*client) + 1, u64::from(*instance));
                let name = mix(number, 0);
                (state.intents.top(name, tenant, target), None)
            }
            What::Errand(errand) => {
                let tenant = mix(u64::from(errand.tenant) + 1, u64::from(errand.process));
                (state.intents.top(mix(number, 0), tenant, target), None)
            }
            What::Job(_) => {
                let note = state.job(root);
                let nth = tick(&mut note.called, site);
                let (above, entry, task) = (note.intent, note.entry, note.task);
                let parent = entry.map(|_| task);
                (state.intents.below(above, (site, nth), target), parent)
            }
            What::Block { .. } => unreachable!("a block is no root"),
        };
        let top = !matches!(self.tasks[root].what, What::Job(_));
        let call = state.open_call(top, parent);
        let CallNote {
            sought, unheard, ..
        } = *state.call(id);
        *state.call(id) = CallNote {
            intent,
            number,
            of_process,
            unanswered: false,
            sought,
            unheard,
            entry: None,
        };
        if let Some(call) = call {
            let process = self.edges[edge as usize].process_of(engine);
            state.enter_call(id, call, parent, (edge, target.1, process), self.now);
        }
    }

    /// An attempt of a task's call is sent; `job`: unless the link lost it.
    #[inline(never)]
    pub(in crate::world) fn send_intent(
        &mut self,
        id: TaskId,
        job: Option<TaskId>,
        attempt: u32,
        site: u32,
    ) {
        let state = self.effects.as_deref_mut().expect(IN_USE);
        let CallNote {
            intent,
            number,
            of_process,
            ..
        } = *state.call(id);
        let sends = state
            .rules
            .sends
            .get(site as usize)
            .copied()
            .unwrap_or_default();
        let Sends {
            key, changes_body, ..
        } = sends;
        let name = state.intents.get(intent).map_or(0, |intent| intent.name);
        let key = match key {
            KeySent::None => None,
            KeySent::PerCall => Some(key_of(1, number, 0)),
            KeySent::PerAttempt => Some(key_of(1, number, u64::from(attempt))),
            KeySent::Numbered => Some(key_of(2, of_process, 0)),
            KeySent::Inherited => Some(key_of(3, name, 0)),
        };
        let version = if changes_body { attempt } else { 1 };
        let entry = state.enter_attempt(id, attempt, key, version, self.now);
        if let Some(job) = job {
            state.intents.hold(intent);
            let note = state.job(job);
            note.clear();
            note.intent = intent;
            note.key = key;
            note.body = mix(name, u64::from(version));
            note.entry = entry;
        }
    }

    /// A probe reaches its replica: what it does it wants done once, and nobody tries again.
    #[inline(never)]
    pub(in crate::world) fn intend_probe(&mut self, id: TaskId, target: (u32, u32)) {
        let state = self.effects.as_deref_mut().expect(IN_USE);
        let name = mix(mix(id.bits(), self.now.0), u64::MAX);
        let intent = state.intents.top(name, 0, target);
        let note = state.job(id);
        note.clear();
        note.intent = intent;
    }

    /// A job has reached its service.
    #[inline(never)]
    pub(in crate::world) fn number_job(&mut self, id: TaskId) {
        let state = self.effects.as_deref_mut().expect(IN_USE);
        state.tasks += 1;
        let task = state.tasks;
        let note = state.job(id);
        note.task = task;
        let entry = note.entry;
        state.enter_arrival(entry, task);
    }

    /// An attempt was given up without an answer.
    #[inline(never)]
    pub(in crate::world) fn hear_nothing(&mut self, id: TaskId) {
        let state = self.effects.as_deref_mut().expect(IN_USE);
        state.call(id).unanswered = true;
        state.enter_silence(id, self.now);
    }

    /// A call is over, and its caller knows what it knows.
    #[inline(never)]
    pub(in crate::world) fn conclude(&mut self, id: TaskId, verdict: &Verdict) {
        let state = self.effects.as_deref_mut().expect(IN_USE);
        let CallNote {
            intent,
            unanswered,
            sought,
            ..
        } = *state.call(id);
        // Whoever asks what has become of it will know.
        let unanswered = unanswered && sought != intent;
        state.enter_end(id, verdict, self.now);
        let told = if verdict.is_ok() {
            Told::Well
        } else {
            Told::NotWell
        };
        if let Some(known) = state.intents.get_mut(intent) {
            known.told = known.told.max(told);
            let rules = state.rules.of(known.service, known.operation);
            if let Some(rules) = rules
                && unanswered
                && told == Told::NotWell
            {
                unknown(rules, &mut state.count);
            }
        }
        state.release(intent);
    }

    /// A job was counted as ended.
    #[inline(never)]
    pub(in crate::world) fn note_end(&mut self, id: TaskId, end: JobEnd) {
        let job = self.tasks[id].job().expect("the task is a job");
        // One that has answered already goes on with its program.
        let goes_on = job.state == JobState::Running && job.answered;
        let state = self.effects.as_deref_mut().expect(IN_USE);
        match end {
            JobEnd::Cancelled => state.give_up_claim(id, false),
            JobEnd::Lost => state.give_up_claim(id, true),
            JobEnd::Faulted => state.refused_by(id, By::Fault),
            JobEnd::ShedFull
            | JobEnd::ShedExpired
            | JobEnd::ShedWaited
            | JobEnd::RateLimited
            | JobEnd::Unreachable => {
                state.refused_by(id, By::Refusal);
            }
            JobEnd::Served | JobEnd::Failed => {}
        }
        if !goes_on {
            self.job_is_over(id);
        }
    }

    /// A job does nothing more.
    #[inline(never)]
    pub(in crate::world) fn job_is_over(&mut self, id: TaskId) {
        let state = self.effects.as_deref_mut().expect(IN_USE);
        let note = state.job(id);
        let intent = std::mem::replace(&mut note.intent, Id::NONE);
        state.release(intent);
    }

    /// What has become of everything that nobody will come back to, at the very end.
    pub(in crate::world) fn settle_effects(&mut self) {
        let Some(state) = self.effects.as_deref_mut() else {
            return;
        };
        let EffectsState {
            intents,
            rules,
            count,
            ..
        } = state;
        for intent in intents.iter().filter(|intent| intent.told != Told::Nothing) {
            judge(intent, rules, count, intent.holders > 0);
        }
    }
}

impl EffectsState {
    /// One holder of an intent less; what is over is counted.
    pub(super) fn release(&mut self, intent: super::IntentId) {
        let EffectsState {
            intents,
            rules,
            count,
            settled,
            ..
        } = self;
        Intents::release(intents, intent, &mut |over: &Intent| {
            for done in &over.done {
                settled[done.effect as usize] += 1;
            }
            judge(over, rules, count, false);
        });
    }
}

/// Whoever wanted it does not know whether it was done.
pub(super) fn unknown(rules: &Rules, count: &mut [EffectCount]) {
    for &effect in &rules.touches {
        count[effect as usize].unknown += 1;
    }
}

/// Counts what an intent came to. `goes_on`: somebody still works on it, so nothing is missing yet.
fn judge(intent: &Intent, rules: &Effects, count: &mut [EffectCount], goes_on: bool) {
    if intent.told == Told::Nothing {
        return;
    }
    if intent.told == Told::NotWell {
        for done in &intent.done {
            count[done.effect as usize].hidden += 1;
        }
    }
    let Some(rules) = rules.of(intent.service, intent.operation) else {
        return;
    };
    if goes_on || (intent.told == Told::NotWell && intent.done.is_empty()) {
        return;
    }
    for &(effect, least) in &rules.least {
        let there = intent
            .done
            .iter()
            .filter(|done| done.effect == effect)
            .count() as u64;
        let missing = u64::from(least).saturating_sub(there);
        let count = &mut count[effect as usize];
        match intent.told {
            Told::Well => count.lost += missing,
            Told::NotWell => count.half_done += missing,
            Told::Nothing => {}
        }
    }
}
