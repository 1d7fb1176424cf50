//! Requests that ask a replica how it is. They are jobs like any other.

use super::{BehaviourState, Plan, Tick};
use crate::arena::Id;
use crate::event::Event;
use crate::metrics::JobEnd;
use crate::queue::Rank;
use crate::scenario::model::{Probe, ProbeKind};
use crate::world::job::{Job, Origin};
use crate::world::service::Admission;
use crate::world::task::{Task, What};
use crate::world::{TaskId, World};

/// What is known of one kind of probe of a replica.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    /// The one that is under way.
    pub(super) pending: Option<TaskId>,
    /// Failures in a row, and successes.
    pub(super) bad: u32,
    pub(super) good: u32,
}

impl BehaviourState {
    fn probe(&self, kind: ProbeKind) -> Option<Probe> {
        self.probes.iter().find(|probe| probe.kind == kind).copied()
    }

    /// Whether a new replica has to answer a startup probe, and a readiness probe, before it gets requests.
    pub(super) fn asked_at_first(&self) -> (bool, bool) {
        let has = |kind| self.probe(kind).is_some();
        (has(ProbeKind::Startup), has(ProbeKind::Readiness))
    }
}

impl World {
    /// A replica is asked, if it is there to be asked.
    pub(super) fn on_probe(
        &mut self,
        service: u32,
        replica: u32,
        kind: ProbeKind,
    ) -> Option<Event> {
        let now = self.now;
        let state = &mut self.services[service as usize];
        let behaviour = state.behaviour.as_mut()?;
        let probe = behaviour.probe(kind)?;
        let next = Tick::new(Plan::Probe(kind), service, replica);
        let it = &mut behaviour.replicas[replica as usize];
        let is_time = it.there
            && it.up
            && now >= it.since.after(probe.initial_delay)
            && it.begun != (kind == ProbeKind::Startup);
        if !is_time {
            let at = now.after(probe.period);
            self.queue.push(at, Rank::Normal, Event::Tick(next));
            return None;
        }
        if state.out || state.refusing {
            state.meter.count.probes += 1;
            state.meter.count.probes_over += 1;
            let at = now.after(probe.period);
            self.queue.push(at, Rank::Normal, Event::Tick(next));
            self.judge(service, replica, probe, false);
            return None;
        }
        let service_of = &self.scenario.services[service as usize];
        let entry = service_of.operations[probe.operation as usize].entry;
        let mut job = Job::sent(Id::NONE, 1, u32::MAX, service, None, now);
        (job.origin, job.caller_waits, job.replica) = (Origin::Probe, false, replica);
        let id = self.tasks.insert(|| Task::new(What::Job(job), entry));
        it.asked(kind).pending = Some(id);
        state.meter.count.probes += 1;
        let late = Tick::new(Plan::Late(kind), service, replica);
        for (wait, tick) in [(probe.timeout, late), (probe.period, next)] {
            let at = now.after(wait);
            self.queue.push(at, Rank::Normal, Event::Tick(tick));
        }
        if self.effects.is_some() {
            self.intend_probe(id, (service, probe.operation));
        }
        let state = &mut self.services[service as usize];
        let job = self.tasks[id].job_mut()?;
        let admission = match probe.aside {
            true => state.admit_aside(now, job),
            false => state.admit_here(now, id, job),
        };
        match admission {
            Admission::Starts => {
                state.start(now, job);
                self.came_in(id)
            }
            Admission::Waits => self.came_in(id),
            Admission::Full | Admission::Expired | Admission::Kept | Admission::Refused(..) => {
                self.ended(id, JobEnd::ShedFull);
                if self.effects.is_some() {
                    self.job_is_over(id);
                }
                self.tasks.remove(id);
                None
            }
        }
    }

    /// The answer to a probe is late, if it is still awaited.
    pub(super) fn on_late_probe(
        &mut self,
        service: u32,
        replica: u32,
        kind: ProbeKind,
    ) -> Option<Event> {
        let now = self.now;
        let state = &mut self.services[service as usize];
        let behaviour = state.behaviour.as_mut()?;
        let probe = behaviour.probe(kind)?;
        let asked = behaviour.replicas[replica as usize].asked(kind);
        let job = self.tasks.get_mut(asked.pending?)?.job_mut()?;
        if job.arrived.after(probe.timeout) != now {
            return None; // another one, asked since
        }
        let id = asked.pending.take()?;
        state.orphan(now, job);
        if state.honours_cancellation {
            self.ended(id, JobEnd::Cancelled);
            self.remove_job(id);
        }
        self.judge(service, replica, probe, false);
        None
    }

    /// The job of a probe has ended.
    #[cold]
    #[inline(never)]
    pub(in crate::world) fn probe_ended(&mut self, id: TaskId, end: JobEnd) {
        let Some(&Job {
            service, replica, ..
        }) = self.tasks[id].job()
        else {
            return;
        };
        let state = &mut self.services[service as usize];
        state.meter.count.probes_over += 1;
        let Some(behaviour) = &mut state.behaviour else {
            return;
        };
        let it = &mut behaviour.replicas[replica as usize];
        let awaited = |kind: &ProbeKind| it.probes[*kind as usize].pending == Some(id);
        // One that was late has been judged.
        if let Some(kind) = ProbeKind::ALL.into_iter().find(awaited) {
            it.asked(kind).pending = None;
            if let Some(probe) = behaviour.probe(kind) {
                self.judge(service, replica, probe, end == JobEnd::Served);
            }
        }
    }

    /// What follows from an answer, or from none.
    fn judge(&mut self, service: u32, replica: u32, probe: Probe, well: bool) {
        let state = &mut self.services[service as usize];
        state.meter.count.probes_failed += u64::from(!well);
        let Some(behaviour) = &mut state.behaviour else {
            return;
        };
        let it = &mut behaviour.replicas[replica as usize];
        let asked = it.asked(probe.kind);
        match well {
            true => (asked.good, asked.bad) = (asked.good.saturating_add(1), 0),
            false => (asked.good, asked.bad) = (0, asked.bad.saturating_add(1)),
        }
        let (good, bad) = (asked.good >= probe.successes, asked.bad >= probe.failures);
        match probe.kind {
            ProbeKind::Startup if good => it.begun = true,
            ProbeKind::Readiness if good => it.ready = true,
            ProbeKind::Readiness if bad => it.ready = false,
            ProbeKind::Startup | ProbeKind::Liveness if bad => {
                // Not now: whoever tells of the answer is still at it.
                let tick = Tick::new(Plan::Condemned, service, replica);
                self.soon.push_back(Event::Tick(tick));
            }
            _ => return,
        }
        self.rotate(service);
    }
}
